"""The summary at the end of a crawl."""

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.outcomes import stop_sentence
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.reporting.counts import Counts
from bilingual_crawler.reporting.summary import Ending, best_pairs, summary_text

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
