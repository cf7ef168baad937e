"""Why a crawl has no pairs, and the sentence for every way a URL may end."""

import ast

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.outcomes import LinkRefusal, Outcome, is_drop, outcome_sentence
from bilingual_crawler.reporting.counts import Counts
from bilingual_crawler.reporting.report import explain
from tests.support.crawling import ROOT

PACKAGE = ROOT / "bilingual_crawler"
LANGS = LanguagePair.parse("spa-eus")


def counts(**values):
    return Counts(langs=LANGS, **values)


def said(**values):
    return " ".join(explain(counts(**values)))


def test_a_crawl_with_pairs_needs_no_explanation():
    assert explain(counts(pairs=1)) == []


def test_seeds_that_robots_txt_forbids_are_named():
    text = said(seeds=3, seed_outcomes={"robots_txt": 3}, outcomes={"robots_txt": 3}, failed=3)
    assert text.startswith("Nothing was fetched: robots.txt forbids all 3 seeds.")


def test_seeds_that_are_not_done_are_not_counted_as_forbidden():
    text = said(seeds=3, seed_outcomes={"robots_txt": 1}, outcomes={"robots_txt": 1}, waiting=2)
    assert "forbids 1 of 3 seeds" in text
    assert "The crawl is not over: 2 URLs are still waiting." in text


def test_a_seed_that_cannot_be_reached_is_told_with_the_reason():
    text = said(seeds=1, seed_outcomes={"dns": 1}, outcomes={"dns": 1}, failed=1)
    assert "Nothing was fetched from the seed: The name of the host has no address." in text
    assert "browser" in text


def test_seeds_that_failed_for_several_reasons_are_told_one_by_one():
    sentences = explain(
        counts(seeds=3, seed_outcomes={"http_503": 2, "timeout": 1}, outcomes={"http_503": 2})
    )
    assert sentences[:3] == [
        "Nothing was fetched from any of the 3 seeds:",
        "2 seeds: The server answered 503 (Service Unavailable).",
        "1 seed: The server took longer than DOWNLOAD_TIMEOUT.",
    ]


def test_redirects_that_lead_nowhere_are_told():
    text = said(
        seeds=1,
        seed_outcomes={"redirected": 1},
        outcomes={"redirected": 1},
        redirects_refused={"excluded": 1},
    )
    assert "led to other URLs" in text
    assert "1 redirect not followed: The settings of its site exclude it." in text


def test_a_worker_that_others_left_nothing_says_so():
    text = said(seeds=1, known=40)
    assert "other workers of the crawl fetched everything" in text
    assert "stopped before" not in text


def test_a_worker_without_a_site_does_not_seem_to_have_been_stopped():
    text = said(seeds=1, known=40, waiting=30, is_shared=True)
    assert "this worker got no site" in text
    assert "stopped before" not in text


def test_a_crawl_that_was_stopped_at_once_says_so():
    text = said(seeds=1, waiting=1)
    assert "stopped before the first page" in text
    assert "1 URL is still waiting" in text


def test_pages_that_were_all_dropped_are_told_by_reason_and_language():
    text = said(
        pages=12,
        outcomes={"off_language": 10, "no_text": 2},
        off_language={"fra": 8, "eng": 2},
    )
    assert "All 12 pages were dropped" in text
    assert "10 pages (fra 8, eng 2): The page is in another language." in text
    assert "2 pages: The page has no text apart from menus." in text
    assert "Do these sites have pages in Spanish and Basque?" in text


def test_a_missing_language_is_named_with_what_is_waiting():
    text = said(
        pages=212,
        documents={"spa": 212},
        outcomes={"stored": 212},
        waiting=90,
        waiting_looks={"eus": 40},
    )
    assert "212 pages are Spanish, none is Basque: does the site have Basque pages?" in text
    assert "40 URLs that look Basque are still waiting." in text


def test_what_looks_like_the_missing_language_is_a_lower_bound_in_a_long_queue():
    text = said(pages=1, documents={"spa": 1}, waiting=50_000, waiting_looks={"eus": 40})
    assert "At least 40 URLs that look Basque are still waiting." in text


def test_a_missing_first_language_is_named_too():
    assert "1 page is Basque, none is Spanish" in said(pages=1, documents={"eus": 1})


def test_links_to_other_hosts_are_suspected_of_leading_to_the_missing_language():
    text = said(
        pages=5,
        documents={"spa": 5},
        links={"seen": 100},
        links_refused={"offsite": 80},
    )
    assert "if the Basque pages are on one of them, give it as a seed too" in text


def test_two_languages_without_evidence_are_told():
    text = said(pages=240, documents={"spa": 120, "eus": 118}, outcomes={"stored": 238})
    assert text == (
        "Both languages are there (120 spa, 118 eus), but no two pages name each other as"
        " translations, and no two URLs differ only in language tokens."
    )


def test_documents_of_sites_with_their_own_languages_are_not_called_missing():
    text = said(pages=3, documents={"eng": 2, "fra": 1})
    assert "in other languages (2 eng, 1 fra)" in text


def test_failures_are_told_when_most_urls_gave_no_page():
    text = said(
        pages=2,
        failed=30,
        documents={"spa": 2},
        outcomes={"stored": 2, "http_503": 28, "robots_txt": 2},
    )
    assert "Only 2 of 32 URLs gave a page:" in text
    assert "28 URLs: The server answered 503 (Service Unavailable)." in text


def test_a_spent_budget_is_told_with_the_setting_that_raises_it():
    text = said(pages=10, documents={"spa": 10}, over_budget=500)
    assert "500 URLs are left because the page budget" in text
    assert "BILINGUAL_SITE_PAGES" in text


def codes_in_the_source():
    """Every word that the crawler gives for the end of a URL: Dropped("x"), State.DONE, "x"."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            items = getattr(node, "args", None) or getattr(node, "elts", None) or []
            if getattr(getattr(node, "func", None), "id", "") in {"Dropped", "Refused", "Unwanted"}:
                found |= words(items[:1])
            elif isinstance(items, list):
                ends = [ast.unparse(each) in {"State.DONE", "State.FAILED"} for each in items]
                found |= words(each for end, each in zip(ends, items[1:], strict=False) if end)
    return found


def words(nodes):
    found = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "Outcome":
            found.add(Outcome[node.attr].value)
    return found


def test_every_reason_to_drop_or_refuse_a_page_has_a_sentence():
    codes = codes_in_the_source()
    assert {"off_language", "private_address"} <= codes
    assert codes - set(Outcome) == set()


def test_every_failure_of_a_download_has_a_sentence():
    from bilingual_crawler.crawl.fetching import failures  # noqa: PLC0415 - its tables are private

    codes = {code for _, code in failures._EXCEPTIONS}
    codes |= {*failures._SCRAPY_MESSAGES.values(), *failures._LIBRARIES.values()}
    assert all(code.fails for code in codes)


def test_every_refusal_of_a_link_has_a_sentence():
    assert all(each.sentence.endswith(".") for each in LinkRefusal)


def test_an_unknown_reason_stands_for_itself():
    assert outcome_sentence("my_own_rule") == "my_own_rule"
    assert outcome_sentence("http_799") == "The server answered 799."
    assert is_drop("my_own_rule")
