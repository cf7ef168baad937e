"""A crawl revisited: what has changed, what is new, what is gone, and what did not follow."""

import csv
import json
from urllib.parse import urlsplit

import pytest

from bilingual_crawler.export.delta import DOCUMENTS
from bilingual_crawler.export.exporters import export, find_exporter
from bilingual_crawler.export.source import Selection
from tests.support.crawling import crawl, documents, kill, pairs, report, start
from tests.support.edited_site import EditedSite, serving
from tests.support.export import sentence, write_sentences
from tests.support.two_domains import body

PAGES = 10
AGAIN = {"BILINGUAL_REVISIT": "0.001s", "BILINGUAL_CHECKPOINT_SECONDS": 0.1, "BILINGUAL_PROBES": 0}
SLOWLY = {"CONCURRENT_REQUESTS": 1, "DOWNLOAD_DELAY": 0.1}


def path(language, number):
    return f"/{language}/{number}"


def a_page(language, number, facts=None):
    """A page with a link to its translation and to the home page, about other facts if edited."""
    other = "eus" if language == "spa" else "spa"
    html = body(language, number if facts is None else facts).decode()
    links = f'<a hreflang="{other}" href="{path(other, number)}">{other}</a> <a href="/">home</a>'
    return html.replace("</body>", f"{links}</body>")


def home(numbers):
    links = "".join(f'<li><a href="{path("spa", number)}">{number}</a></li>' for number in numbers)
    return body("spa", 99).decode().replace("</body>", f"<ul>{links}</ul></body>")


def a_site():
    pages = {path(code, n): a_page(code, n) for code in ("spa", "eus") for n in range(PAGES)}
    return EditedSite({"/": home(range(PAGES))} | pages)


def edit(site):
    """Change an original, a pair, and the home page; add a pair, remove a page and move one."""
    site.pages["/spa/1"] = a_page("spa", 1, facts=41)
    for language in ("spa", "eus"):
        site.pages[path(language, 2)] = a_page(language, 2, facts=42)
        site.pages[path(language, 50)] = a_page(language, 50)
    site.pages["/"] = home([*range(PAGES), 50])
    site.pages["/eus/3"] = None
    site.pages["/eus/4"], site.pages["/eus/moved"] = "/eus/moved", a_page("eus", 4)


def changes(folder):
    with (folder / "changes.tsv").open(encoding="utf-8", newline="") as lines:
        return {
            urlsplit(each["url"]).path[1:]: (each["status"], each["translation_status"])
            for each in csv.DictReader(lines, delimiter="\t")
        }


def state(folder):
    """Everything that a crawl harvested, without addresses' hosts."""
    texts = {each["url"]: [p["text"] for p in each["paragraphs"]] for each in documents(folder)}
    return texts, {(each["url1"], each["url2"]) for each in pairs(folder)}


@pytest.mark.crawl
def test_a_crawl_is_brought_up_to_date_with_few_bytes_and_survives_a_kill(tmp_path):
    folder = tmp_path / "crawl"
    with serving(a_site()) as site:
        crawl(site.url, folder, settings={"BILINGUAL_PROBES": 0})
        before, first = state(folder), site.new()
        edit(site)
        process = start(site.url, folder, settings=AGAIN | SLOWLY)
        while len(site.asked) < 8:
            assert process.poll() is None
        kill(process)
        site.new()
        # the rest is visited, and not again what was: it is due after a day
        later = AGAIN | {"BILINGUAL_REVISIT": "1d"}
        crawl(site.url, folder, settings=later | {"BILINGUAL_HOST_PAGES": 5})
        second = site.new()
        assert len(second) <= 5 + 1, "five pages, one of which may redirect"
        assert report(folder)["urls_over_budget"] > 0
        crawl(site.url, folder, settings=later)
        second += site.new()
        crawl(site.url, tmp_path / "new", settings={"BILINGUAL_PROBES": 0})
    assert state(folder) == state(tmp_path / "new")
    assert len(state(folder)[1]) == PAGES  # one lost its translation, one is new
    told = changes(folder)
    assert told["spa/1"] == ("changed", "unchanged"), "its translation did not follow"
    assert told["spa/2"] == told["eus/2"] == ("changed", "changed")
    assert told["eus/3"][0] == told["eus/4"][0] == "gone"
    assert told["spa/50"] == told["eus/50"] == ("new", "new")
    assert {each for each in told if told[each][0] == "changed"} <= {"", "spa/1", "spa/2", "eus/2"}
    assert sum(each.status == 304 for each in second) > len(second) / 3
    assert report(folder)["revisited"]["gone"] == 2
    assert report(folder)["pages"] <= len(first) + 4, "a page counts once"
    (kept,) = (folder / "before").iterdir()
    assert state(kept) == before
    for each in (kept, folder):
        write_sentences(each, [sentence(0)])
    export(folder, find_exporter("delta"), tmp_path / "delta", selection=Selection())
    rows = (tmp_path / "delta" / DOCUMENTS).read_text().splitlines()[1:]
    changed = [row.split("\t") for row in rows if row.startswith("changed")]
    assert [(row[1][-6:], row[-1]) for row in changed if row[-1]] == [("/spa/1", "2")]
    assert json.loads((kept / "crawl.json").read_text())["state"] == "finished"
