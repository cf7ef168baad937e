"""crawl.json, the explanation of a crawl without pairs, and the summary."""

import ast
import json
import math
import sqlite3
import time
from pathlib import Path

import pytest
from scrapy.settings import Settings

from bilingual_crawler.frontier.memory import MemoryFrontier
from bilingual_crawler.journal import Journal
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.reporting import reasons
from bilingual_crawler.reporting.counts import Counts
from bilingual_crawler.reporting.explain import explain
from bilingual_crawler.reporting.gather import announced
from bilingual_crawler.reporting.report import changed_settings, figures, versions, write_report
from bilingual_crawler.reporting.resume import resume_command
from bilingual_crawler.reporting.summary import Ending, best_pairs, summary_text
from bilingual_crawler.reporting.tally import RUNS, Tally, under
from bilingual_crawler.settings import Config
from demo.content import expected_pairs
from tests.crawls import ROOT, crawl, start
from tests.crawls import report as read_report
from tests.servers import serve_demo

PACKAGE = ROOT / "bilingual_crawler"
LANGS = LanguagePair.parse("spa-eus")
ESCAPE = "\x1b]0;owned\x07\x1b[31m\u202e"


def counts(**values):
    return Counts(langs=LANGS, **values)


def said(**values):
    return " ".join(explain(counts(**values)))


# Why there are no pairs


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
    assert "Nothing was fetched from the seed: The name of the host leads to no address." in text
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
    assert "led to other addresses" in text
    assert "1 redirect not followed: The settings of its site exclude it." in text


def test_a_worker_that_others_left_nothing_says_so():
    text = said(seeds=1, known=40)
    assert "other workers of the crawl had everything" in text
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
    assert "10 pages (fra 8, eng 2): The page is in neither of the two languages." in text
    assert "2 pages: The page has no text but menus." in text
    assert "Are Spanish and Basque the languages of these sites?" in text


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


# The codes and their sentences


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
    return {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def returned_words(path, *functions):
    words = set()
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            constants = (
                each for found in ast.walk(node) if isinstance(found, ast.Return)
                for each in ast.walk(found)
            )  # fmt: skip
            words |= {c.value for c in constants if isinstance(c, ast.Constant) and c.value}
    return {word for word in words if isinstance(word, str)}


def test_every_reason_to_drop_or_refuse_a_page_has_a_sentence():
    codes = codes_in_the_source()
    assert {"off_language", "private_address", "stored", "redirected"} <= codes
    assert codes - reasons.OUTCOMES.keys() == set()


def test_every_failure_of_a_download_has_a_sentence():
    from bilingual_crawler.fetching import refusal  # noqa: PLC0415 - its tables are private

    codes = {row[1] for row in refusal._MEANINGS} | {row[1] for row in refusal._SAID_BY_SCRAPY}
    codes |= {code for code, _ in refusal._LIBRARIES.values()}
    assert codes - reasons.OUTCOMES.keys() == set()


def test_every_objection_to_a_link_has_a_sentence():
    codes = returned_words("scope.py", "objection")
    traps = ("trap_of", "_trap_in_path", "_trap_in_query", "_far_off")
    codes |= returned_words("fetching/limits.py", *traps)
    assert {"offsite", "calendar"} <= codes
    assert codes - reasons.LINKS.keys() == set()


def test_an_unknown_reason_stands_for_itself():
    assert reasons.outcome("my_own_rule") == "my_own_rule"
    assert reasons.outcome("http_799") == "The server answered 799."
    assert reasons.is_drop("my_own_rule")


# Sums over all runs


def test_sums_go_on_where_the_last_run_stopped(tmp_path):
    for _ in range(2):
        journal = Journal(tmp_path / "crawl.sqlite")
        tally = Tally(journal, lambda: {"bilingual/pages": 5, "scheduler/enqueued": 3})
        journal.checkpoint(wait=True)
        journal.checkpoint(wait=True)
        journal.close()
    totals = tally.totals()
    assert totals["bilingual/pages"] == 10
    assert totals[RUNS] == 2
    assert "scheduler/enqueued" not in totals


def test_a_kill_undoes_what_was_counted_after_the_last_checkpoint(tmp_path):
    stats = {"bilingual/pages": 5}
    journal = Journal(tmp_path / "crawl.sqlite")
    Tally(journal, lambda: stats)
    journal.checkpoint(wait=True)
    stats["bilingual/pages"] = 9
    with sqlite3.connect(tmp_path / "crawl.sqlite") as other:
        rows = dict(other.execute("SELECT name, amount FROM tally"))
    other.close()
    journal.close()
    assert rows["bilingual/pages"] == 5


def test_sums_in_a_table_of_hosts_are_kept_by_host(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    tally = Tally(journal, lambda: {"bilingual/optouts/hosts": {"a.org": {"noai": 2}}})
    assert under(tally.totals(), "bilingual/optouts/hosts/") == {"a.org/noai": 2}
    journal.close()


# What is waiting


def test_the_best_waiting_urls_are_those_that_come_out_first():
    frontier = MemoryFrontier()
    for number in range(300):
        frontier.push(
            number, f"http://h{number % 7}.org/{number}", f"h{number % 7}.org", number % 50
        )
    for number in range(0, 300, 9):
        frontier.raise_priority(number, 60.0 + number)
    best = [entry.fingerprint for entry in frontier.top(40)]
    assert best == [frontier.pop(0.0).fingerprint for _ in range(40)]


def test_hosts_whose_budget_is_spent_have_no_best_url():
    frontier = MemoryFrontier(lambda host, _active, now: None if host == "spent.org" else now)
    frontier.push(1, "http://spent.org/", "spent.org", 5.0)
    frontier.push(2, "http://open.org/", "open.org", 1.0)
    frontier.pop(0.0)
    frontier.push(3, "http://open.org/next", "open.org", 1.0)
    assert [entry.fingerprint for entry in frontier.top(5)] == [3]


def test_waiting_urls_are_counted_by_the_language_they_announce():
    frontier = MemoryFrontier()
    for number, url in enumerate(["http://a.org/eu/x", "http://a.org/eu/y", "http://a.org/es/x"]):
        frontier.push(number, url, "a.org", 1.0)
    languages = announced(frontier)
    assert (languages["eus"], languages["spa"]) == (2, 1)


# crawl.json


def test_a_waiting_seed_does_not_break_the_json(tmp_path):
    frontier = MemoryFrontier()
    frontier.push(1, "http://a.org/", "a.org", math.inf)
    report = figures(counts(waiting=1), frontier.top(5))
    write_report(tmp_path / "crawl.json", report, durable=True)
    read = json.loads((tmp_path / "crawl.json").read_text(encoding="utf-8"))
    assert read["best_waiting"] == [{"url": "http://a.org/", "score": None}]


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "crawl.json"
    write_report(path, {"pages": 1}, durable=False)
    with pytest.raises(TypeError):
        write_report(path, {"pages": object()}, durable=False)
    assert json.loads(path.read_text(encoding="utf-8")) == {"pages": 1}


def test_reasons_stand_in_the_report_with_their_sentence():
    report = figures(counts(outcomes={"robots_txt": 2}, links_refused={"offsite": 3}), [])
    assert report["urls_ended"]["robots_txt"] == {
        "count": 2,
        "meaning": "robots.txt forbids the page.",
    }
    assert report["links_refused"]["offsite"]["count"] == 3


def test_only_settings_that_differ_are_reported_and_in_their_own_type():
    settings = Settings({"DOWNLOAD_DELAY": "0.05", "COOKIES_ENABLED": "False"})
    changed = changed_settings(Config(site_pages=50), settings)
    assert changed["BILINGUAL_SITE_PAGES"] == 50
    assert changed["DOWNLOAD_DELAY"] == 0.05
    assert "COOKIES_ENABLED" not in changed
    assert "BILINGUAL_CONTENT_TYPES" not in changed


def test_versions_name_everything_that_bears_on_the_result():
    found = versions()
    assert set(found) == {
        "bilingual-crawler", "python", "scrapy", "twisted", "lxml", "pycld2", "libxml2",
    }  # fmt: skip
    assert "unknown" not in found.values()


# How to go on


@pytest.mark.parametrize(
    "argv",
    [
        ["/bin/python", "/bin/scrapy", "crawl", "bilingual", "-a", "langs=spa-eus"],
        ["python", "-m", "scrapy", "crawl", "bilingual", "-a", "langs=spa-eus"],
    ],
)
def test_the_command_to_go_on_has_the_folder_that_was_chosen(argv):
    expected = "scrapy crawl bilingual -a langs=spa-eus -a output=crawls/x"
    assert resume_command(argv, Path("crawls/x")) == expected


@pytest.mark.parametrize("option", [["-a", "output=my crawl"], ["-aoutput=my crawl"]])
def test_the_command_to_go_on_repeats_a_folder_that_was_given(option):
    argv = ["python", "scrapy", "crawl", "bilingual", *option]
    assert resume_command(argv, Path("my crawl")).count("output=") == 1


def test_the_command_to_go_on_keeps_secrets():
    argv = ["python", "scrapy", "crawl", "bilingual", "-s", "PROXY_PASSWORD=hush"]
    assert "hush" not in resume_command(argv, Path("x"))


def test_a_crawl_that_a_program_began_has_no_command():
    assert resume_command(["python", "-m", "scrapyd.runner", "crawl", "x"], Path("x")) is None
    assert resume_command(["python", "crawl"], Path("x")) is None


# The summary


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
    assert "not kept 1 The page is in neither of the two languages. (fra 1)" in found
    assert "not fetched 4 The server answered 404 (Not Found)." in found
    assert any(line.startswith("not followed 7 It leads to a host outside") for line in found)
    assert "waiting 5 URLs that were not fetched yet" in found


def test_only_files_that_are_there_are_named(tmp_path):
    (tmp_path / "pairs.jsonl").touch()
    text = summary_text(ending(tmp_path))
    assert f"Files in {tmp_path}" in text
    assert "pairs.jsonl" in text
    assert "crawl.log" not in text


def test_a_crawl_that_was_stopped_says_how_to_go_on(tmp_path):
    command = "scrapy crawl bilingual " + "-a seeds=http://a.org/" * 20
    text = summary_text(
        ending(tmp_path, finished=False, stopped_why=reasons.stop("shutdown"), command=command)
    )
    assert "The crawl is not finished. It was stopped by Ctrl-C or a signal. To go on:" in text
    assert f"\n  {command}" in text


def test_a_stopped_crawl_without_a_command_says_which_folder_to_name(tmp_path):
    text = summary_text(ending(tmp_path, finished=False, stopped_why="It was stopped."))
    assert f"To go on, start it again with output={tmp_path}" in text


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


# Whole crawls


def ended(report):
    return {reason: each["count"] for reason, each in report["urls_ended"].items()}


@pytest.mark.crawl
def test_the_report_of_a_crawl_accounts_for_every_url(tmp_path):
    with serve_demo() as site:
        printed = crawl(site.url, tmp_path / "crawl")
        expected = expected_pairs(site.url)
    report = read_report(tmp_path / "crawl")
    assert report["state"] == "finished"
    assert sum(ended(report).values()) == report["urls_known"]
    assert report["urls_waiting"] == 0
    assert ended(report)["stored"] >= sum(report["documents"].values())
    assert report["pairs"] >= len(expected)
    assert report["pairs_per_100_pages"] == round(100 * report["pairs"] / report["pages"], 2)
    assert sum(report["off_language"].values()) == ended(report)["off_language"]
    assert report["opt_outs"]["robots_txt"] == 2
    assert report["bytes"] > 10_000
    assert report["seeds_from"] == "-a seeds"
    assert report["settings"]["DOWNLOAD_DELAY"] == 0
    assert report["explanation"] == []
    assert "Summary of the crawl" in printed


@pytest.mark.crawl
def test_a_killed_crawl_has_a_report_and_the_next_run_counts_on(tmp_path):
    folder, slow = tmp_path / "crawl", {"DOWNLOAD_DELAY": 0.05, "BILINGUAL_CHECKPOINT_SECONDS": 0.1}
    with serve_demo() as site:
        process = start(site.url, folder, settings=slow)
        deadline = time.monotonic() + 60
        while len(site.paths()) < 30 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        process.communicate()
        assert read_report(folder)["state"] == "running"
        crawl(site.url, folder)
        crawl(site.url, tmp_path / "whole")
    resumed, whole = read_report(folder), read_report(tmp_path / "whole")
    assert resumed["runs"] == 2
    assert resumed["state"] == "finished"
    assert sum(ended(resumed).values()) == resumed["urls_known"]
    assert sum(resumed["off_language"].values()) == ended(resumed)["off_language"]
    assert (
        resumed["pages"] + resumed["urls_failed"] + ended(resumed)["redirected"]
        == (resumed["urls_known"])
    )
    assert resumed["pairs"] == whole["pairs"]
    assert 0.8 * whole["links_seen"] < resumed["links_seen"] < 1.2 * whole["links_seen"]


@pytest.mark.crawl
def test_a_finished_crawl_that_is_begun_again_says_that_nothing_is_left(tmp_path):
    with serve_demo() as site:
        crawl(site.url, tmp_path)
        before = read_report(tmp_path)
        printed = crawl(site.url, tmp_path)
    after = read_report(tmp_path)
    assert "This crawl is finished: nothing is left to fetch." in printed
    same = before.keys() - {"updated", "seconds", "runs"}
    assert {name: before[name] for name in same} == {name: after[name] for name in same}


@pytest.mark.crawl
def test_a_crawl_of_a_dead_site_says_why_it_has_no_pairs(tmp_path):
    printed = crawl("http://127.0.0.1:1/", tmp_path, settings={"RETRY_TIMES": 0})
    report = read_report(tmp_path)
    assert report["state"] == "finished"
    assert report["explanation"][0] == (
        "Nothing was fetched from the seed: The connection to the server failed."
    )
    assert report["explanation"][0] in printed


@pytest.mark.crawl
def test_a_crawl_that_was_stopped_early_says_how_to_go_on(tmp_path):
    with serve_demo() as site:
        printed = crawl(site.url, tmp_path, settings={"CLOSESPIDER_PAGECOUNT": 5})
    report = read_report(tmp_path)
    assert (report["state"], report["stopped_by"]) == ("stopped", "closespider_pagecount")
    assert report["best_waiting"]
    assert "It has fetched CLOSESPIDER_PAGECOUNT pages. To go on:" in printed
    command = printed[printed.index("To go on:\n") :].splitlines()[1].strip()
    assert command.startswith("scrapy crawl bilingual -a langs=spa-eus")
    assert f"output={tmp_path}" in command
