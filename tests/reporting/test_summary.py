"""The summary at the end of a crawl."""

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.outcomes import Outcome, is_drop, is_failure, stop_sentence
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.reporting.counts import Counts, settled
from bilingual_crawler.reporting.summary import Ending, best_pairs, next_steps, summary_text

LANGS = LanguagePair.parse("spa-eus")
ESCAPE = "\x1b]0;owned\x07\x1b[31m\u202e"


def counts(**values):
    return Counts(langs=LANGS, **values)


def pair(number, *evidence):
    evidence = evidence or (Evidence("url_key", 0.9, "URLs differ only in the tokens"),)
    return DocumentPair(
        f"http://a.org/es/{number}", f"http://a.org/eu/{number}", LANGS.codes, evidence
    )


def ending(tmp_path, pairs=(), **values):
    values = {"finished": True, "stopped_why": "Nothing is left to fetch.", **values}
    shown = best_pairs(pairs)
    figures = values.pop("counts", None) or counts(pages=10, pairs=len(pairs))
    return Ending(counts=figures, pairs=shown, folder=tmp_path, seconds=65, **values)


def test_every_pair_is_shown_with_its_score_and_every_reason(tmp_path):
    found = pair(
        1,
        Evidence("alternates", 0.95, "each page names the other"),
        Evidence("url_key", 0.9, "URLs differ only in the tokens 'es' and 'eu'"),
    )
    text = summary_text(ending(tmp_path, [found]))
    for part in (
        "0.995",
        found.first,
        found.second,
        "alternates 0.95: each page names the other",
        "url_key 0.90: URLs differ only in the tokens 'es' and 'eu'",
        "1 pair of Spanish and Basque documents in 10 pages",
    ):
        assert part in text


def test_of_many_pairs_the_surest_are_shown_and_the_others_counted(tmp_path):
    sure = pair("sure", Evidence("alternates", 0.99, "sure"))
    text = summary_text(ending(tmp_path, [*map(pair, range(30)), sure]))
    assert "and 11 more in pairs.jsonl" in text
    assert sure.first in text


def test_drops_failures_and_links_are_accounted_for(tmp_path):
    figures = counts(
        pages=3,
        pairs=0,
        documents={"spa": 2},
        outcomes={"stored": 2, "off_language": 1, "http_404": 4, "redirected": 9},
        off_language={"fra": 1},
        links_refused={"offsite": 7},
        waiting=5,
    )
    lines = summary_text(ending(tmp_path, counts=figures)).splitlines()
    found = [" ".join(line.split()) for line in lines]
    assert "kept 2 documents (spa 2)" in found
    assert "not kept 1 The page is in another language. (fra 1)" in found
    assert "not fetched 4 The server answered 404 (Not Found)." in found
    assert any(line.startswith("not followed 7 It leads to a host outside") for line in found)
    assert "waiting 5 URLs that have not been fetched yet" in found


@given(
    st.dictionaries(st.sampled_from([*Outcome, "http_404", "of_a_plugin"]), st.integers(0, 50)),
    st.data(),
)
def test_every_page_is_in_exactly_one_line_of_the_account(outcomes, data):
    """Whatever the corpus takes back or gives up later, pages are kept or dropped for a reason."""
    read = {w: n for w, n in outcomes.items() if not is_failure(w) and w != Outcome.REDIRECTED}
    drops = sum(n for why, n in read.items() if is_drop(why))
    kept = data.draw(st.integers(0, drops + read.get(Outcome.STORED, 0)))
    now = settled(outcomes, kept, sum(read.values()))
    dropped = sum(number for why, number in now.items() if is_drop(why))
    assert min(now.values(), default=1) > 0
    assert kept + dropped + now.get(Outcome.EXAMINED, 0) == sum(read.values())
    failures = {why: number for why, number in outcomes.items() if is_failure(why) and number}
    assert {why: now[why] for why in now if is_failure(why)} == failures


def test_a_page_that_is_read_again_is_accounted_for(tmp_path):
    figures = counts(pages=3, outcomes={"stored": 2}, documents={"spa": 2}, kept_pages=2)
    assert "read again 1 pages" in " ".join(summary_text(ending(tmp_path, counts=figures)).split())


def test_pages_with_two_documents_are_named_beside_them(tmp_path):
    figures = counts(pages=2, outcomes={"stored": 2}, documents={"spa": 2, "eus": 2}, kept_pages=2)
    text = " ".join(summary_text(ending(tmp_path, counts=figures)).split())
    assert "kept 4 documents (spa 2, eus 2) of 2 pages" in text


def test_the_next_steps_name_the_folder_so_that_they_can_be_copied(tmp_path):
    folder = tmp_path / "my crawl"
    folder.mkdir()
    steps = dict(next_steps(folder, counts(pages=9, pairs=2), "bilingual-crawler"))
    assert list(steps) == [
        f"bilingual-crawler align '{folder}'",
        f"bilingual-crawler export '{folder}' --to tmx",
        f"bilingual-crawler serve '{folder}'",
    ]
    text = summary_text(ending(tmp_path, next_steps=list(steps.items())))
    assert all(command in text for command in steps)


def test_sentences_that_are_aligned_need_no_second_alignment(tmp_path):
    (tmp_path / "sentences.jsonl.gz").touch()
    steps = next_steps(tmp_path, counts(pages=9, pairs=2), "scrapy")
    assert not any(" align " in command for command, _ in steps)


def test_the_next_step_of_a_worker_is_the_merge(tmp_path):
    ((command, _),) = next_steps(
        tmp_path / "all" / "one", counts(pages=9, pairs=2, is_shared=True), "scrapy"
    )
    assert command == f"scrapy merge {tmp_path}/all --into {tmp_path}/all-all"


def test_a_crawl_without_a_harvest_has_no_next_step(tmp_path):
    assert next_steps(tmp_path, counts(pages=9), "scrapy") == []


def test_only_files_with_something_in_them_are_named(tmp_path):
    (tmp_path / "pairs.jsonl").write_text("{}")
    (tmp_path / "crawl.log").touch()
    text = summary_text(ending(tmp_path))
    assert f"Files in {tmp_path}" in text
    assert "pairs.jsonl" in text
    assert "crawl.log" not in text


def test_a_crawl_that_was_stopped_says_how_to_go_on(tmp_path):
    command = "scrapy crawl bilingual " + "-a seeds=http://a.org/" * 20
    text = summary_text(
        ending(tmp_path, finished=False, stopped_why=stop_sentence("shutdown"), command=command)
    )
    assert "The crawl is not finished. It was stopped by Ctrl-C or a signal. To resume:" in text
    assert f"\n  {command}" in text


def test_a_stopped_crawl_without_a_command_says_which_folder_to_name(tmp_path):
    text = summary_text(ending(tmp_path, finished=False, stopped_why="It was stopped."))
    assert f"To resume, start it again with output={tmp_path}" in text


def test_a_crawl_that_was_finished_before_says_so(tmp_path):
    text = summary_text(ending(tmp_path, nothing_new=True))
    assert "This crawl is finished: nothing is left to fetch." in text


def test_the_explanation_is_part_of_the_summary(tmp_path):
    text = summary_text(ending(tmp_path, explanation=["212 pages are Spanish."]))
    assert "Why there are no pairs" in text
    assert "  212 pages are Spanish." in text


def test_hostile_urls_and_reasons_cannot_write_to_the_terminal(tmp_path):
    hostile = f"http://a.org/[bold]{ESCAPE}\nfake line"
    found = DocumentPair(hostile, hostile, LANGS.codes, (Evidence("x", 0.9, hostile),))
    figures = counts(pages=1, pairs=1, outcomes={ESCAPE: 1}, off_language={ESCAPE: 1})
    text = summary_text(ending(tmp_path, [found], counts=figures))
    assert not set("\x1b\x07\u202e") & set(text)
    assert "\nfake line" not in text
    assert "[bold]" in text
