"""A corpus whose pages are visited again ends as if it had only ever known the new pages."""

import contextlib

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.corpus import SITE, Crawl, page
from tests.support.crawling import documents, pairs

PATHS = [f"/{code}/{n}" for code in ("es", "eu") for n in range(4)]
texts = st.integers(0, 9)
webs = st.dictionaries(st.sampled_from(PATHS), texts, min_size=1)


def a_page(path, text):
    """A page that names its translation; pages of one text are copies."""
    language, other = ("spa", "eus") if path.startswith("/es") else ("eus", "spa")
    twin = path.replace("/es/", "/eu/") if language == "spa" else path.replace("/eu/", "/es/")
    claims = [(path, language), (twin, other)]
    return page(path, language, 2 * text, 2 * text + 1, alternates=claims)


def filled(folder, web):
    crawl = Crawl(folder)
    crawl.add(*(a_page(path, text) for path, text in sorted(web.items())))
    return crawl


def revisit(crawl, before, now):
    for path in sorted(before.keys() | now.keys()):
        if path in now:
            crawl.corpus.add(a_page(path, now[path]), again=True)
        else:
            crawl.corpus.remove(SITE + path)


def texts_of(folder):
    """The documents by their texts, and the pairs: of copies, any one may be kept."""
    of_url = {each["url"]: each["paragraphs"][0]["text"] for each in documents(folder)}
    return sorted(of_url.values()), sorted(
        (of_url[p["url1"]], of_url[p["url2"]]) for p in pairs(folder)
    )


@settings(max_examples=15, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(webs, webs, st.booleans(), st.booleans())
def test_it_has_the_documents_and_pairs_of_a_new_crawl(tmp_path_factory, before, now, killed, tidy):
    folder = tmp_path_factory.mktemp("crawls")
    crawl = filled(folder / "again", before)
    crawl.restart(tidy=tidy)
    revisit(crawl, before, now)
    if killed:  # after a checkpoint: what the revisit found is in the journal
        crawl.restart(tidy=False)
    crawl.close()
    filled(folder / "new", now).close()
    assert texts_of(folder / "again") == texts_of(folder / "new")
    assert {url.removeprefix(SITE) for url in crawl.files()[0]} <= now.keys()
    found = crawl.files()
    crawl.open()  # and the journal says the same as the files
    crawl.close()
    assert crawl.files() == found


@pytest.mark.parametrize("at", range(7))
def test_a_kill_between_any_two_checkpoints_of_settling_loses_nothing(tmp_path, at, monkeypatch):
    before, now = {"/es/0": 0, "/eu/0": 0, "/es/1": 1}, {"/es/0": 4, "/eu/0": 0, "/eu/1": 1}
    crawl = filled(tmp_path / "again", before)
    crawl.restart()
    revisit(crawl, before, now)
    journal, made = crawl.folder.journal, list[bool]()
    journal.checkpoint(wait=True)
    checkpoint = journal.checkpoint

    def killed(*, wait=False):
        if len(made) == at:
            raise KeyboardInterrupt
        made.append(wait)
        return checkpoint(wait=wait)

    monkeypatch.setattr(journal, "checkpoint", killed)
    with contextlib.suppress(KeyboardInterrupt):
        crawl.corpus.tidy()
    crawl.folder.close(save=False)
    crawl.open()
    crawl.close()
    filled(tmp_path / "new", now).close()
    assert texts_of(tmp_path / "again") == texts_of(tmp_path / "new")
