"""`scrapy seeds` with a search engine, and `scrapy pairs` with what it found, over real HTTP."""

import json
import os
import sys
from urllib.parse import parse_qs, urlsplit

from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.edited_site import EditedSite, serving
from tests.support.two_domains import body

SETTINGS = ("BILINGUAL_ALLOW_PRIVATE=1", "DOWNLOAD_DELAY=0", "BILINGUAL_BACKLINKS_DELAY=0")
AT_ONCE = [word for setting in SETTINGS for word in ("-s", setting)]


def run(*words):
    return processes.run(
        [sys.executable, "-m", "scrapy", *map(str, words)],
        capture_output=True, text=True, cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip


class Engine(EditedSite):
    """SearXNG's JSON: results of one site, the same on every page but the first two."""

    def __init__(self, site):
        super().__init__({})
        self.site, self.queries = site, []

    def answer(self, path, headers):
        given = parse_qs(urlsplit(path).query)
        self.queries.append((given["q"][0], given["pageno"][0]))
        found = {"1": ["links"], "2": ["none"]}.get(given["pageno"][0], [])
        results = [{"url": f"{self.site.url}{each}", "title": "x"} for each in found]
        answer = json.dumps({"query": "x", "number_of_results": 0, "results": results})
        return 200, {"Content-Type": "application/json"}, answer.encode()


def test_pages_that_name_both_languages_give_seeds_and_pairs(tmp_path):
    links = '<p><a href="/a1">Español</a> <a href="/b1">Euskara</a> <a href="/x">Contacto</a></p>'
    pages = {
        "/links": f"<html><title>Bi</title><body>{links}<p>Testua. Texto.</p></body></html>",
        "/none": "<html><body><p>Ez dago ezer hemen.</p></body></html>",
        "/a1": body("spa", 1).decode(),
        "/b1": body("eus", 1).decode(),
    }
    site = EditedSite(pages, robots="User-agent: *\nDisallow: /none\n")
    engine = Engine(site)
    with serving(site), serving(engine):
        api = f"{engine.url}search?q={{query}}&format=json&pageno={{page}}"
        words = ("--search-api", api, "--query", "both", "--hits", tmp_path / "hits")
        found = run("seeds", "--langs", "spa-eus", *words, *AT_ONCE)
        asked = {each.path for each in site.new()}
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [f"{site.url}  # 2 pages in pairs"]
    assert "1 pairs of links on 1 pages" in found.stderr
    assert "robots.txt forbids the page." in found.stderr
    assert engine.queries == [("both", "1"), ("both", "2"), ("both", "3")]
    assert asked == {"/links", "/a1", "/b1"}
    pair = f"{site.url}a1", f"{site.url}b1"
    hits = tmp_path / "hits"
    assert (hits / "pairs.tsv").read_text() == "\t".join([*pair, "spa", "eus"]) + "\n"
    judged = run("pairs", hits / "pages.warc.gz", hits / "pairs.tsv", "--langs", "spa-eus")
    assert judged.returncode == 0, judged.stderr
    (line,) = judged.stdout.splitlines()
    assert tuple(line.split("\t")[:2]) == pair
    assert "alternates" in line
