"""Crawls that take their pages from a web archive."""

import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.cluster.site_harvest import harvest_site
from bilingual_crawler.corpus.cluster.source_rows import rows_of
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.crawl.archive.archive import check_archive
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.archive.archive_folder import captures_of, cdxj_line
from tests.support import crawling
from tests.support.fetching import Site
from tests.support.recordings import exchange, page, redirect, to, write_warc
from tests.support.web_archive import ArchiveServer

PATHS = [f"/{language}/{number}" for number in range(6) for language in ("es", "eu")]
EXTRA = ["/es/truncated", "/es/damaged", "/es/else", "/es/nowhere", "/es/www", "/old", "/es/closed"]
CAPTURED = "2023-11-14T22:13:20+00:00"
SPA_EUS = LanguagePair.parse("spa-eus")
LATER = 1_760_000_000.0


def archive_of(site, folder, crawl_delay):
    """An archive of a site with two languages, some records of which are of no use."""
    pages = [exchange(site + path, page(path[1:3], int(path[4:]), to("/"))) for path in PATHS]
    file = write_warc(
        folder / "a.warc.gz",
        [
            exchange(f"{site}/", page("es", 100, to(*PATHS, *EXTRA))),
            *pages,
            replace(exchange(f"{site}/es/truncated", page("es", 50)), truncated="length"),
            exchange(f"{site}/es/damaged", page("es", 51)),
            exchange(f"{site}/es/else", page("es", 52)),
            exchange(f"{site}/es/www/", page("es", 53)),
            redirect(f"{site}/old", f"{site}/es/0"),
            replace(exchange(f"{site}/es/1", page("es", 999)), arrived=LATER, status=503),
            exchange(
                f"{site}/robots.txt",
                f"User-agent: *\nCrawl-delay: {crawl_delay}\nDisallow: /es/closed".encode(),
                headers=((b"Content-Type", b"text/plain"),),
            ),
            exchange(f"{site}/es/closed", page("es", 54)),
        ],
    )
    lines = []
    for each in captures_of(file, file.name):
        changed = each
        if each.url.endswith("/damaged"):
            changed = each._replace(offset=each.offset + 3)
        if each.url.endswith("/else"):
            changed = each._replace(file="../a.warc.gz")
        lines.append(cdxj_line(changed))
    return [*lines, f'x 2026 {{"url": "{site}/es/bad", "offset": "-1"}}']


def crawl(site, archive, output, **more):
    settings = {
        "BILINGUAL_ARCHIVE": "cc:CC-MAIN-2026-40",
        "BILINGUAL_ARCHIVE_INDEX": archive.url,
        "BILINGUAL_ARCHIVE_FILES": f"{archive.url}/files",
        "BILINGUAL_ARCHIVE_DELAY": 0,
        "BILINGUAL_PROBES": 0,
    }
    crawling.finish(crawling.start(f"{site}/", output, settings=settings | more))
    with gzip.open(output / "documents.jsonl.gz", "rt") as lines:
        documents = {each["url"].removeprefix(site): each for each in map(json.loads, lines)}
    ended = json.loads((output / "crawl.json").read_text())["urls_ended"]
    pairs = {
        tuple(url.removeprefix(site) for url in line.split("\t"))
        for line in (output / "pairs.tsv").read_text().splitlines()
    }
    return documents, {reason: each["count"] for reason, each in ended.items()}, pairs


def pairs_of_tasks(warc, site):
    """The pairs that the tasks of a cluster find in the same pages."""
    rows = rows_of(str(warc), [SPA_EUS], Config(), Counter())
    things = [(row.kind, row.data) for row in rows]
    harvest = harvest_site(things, SPA_EUS, Config(), pairing_aids(Config()))
    found = (json.loads(each.pair) for each in harvest.pairs)
    return {tuple(each[name].removeprefix(site) for name in ("url1", "url2")) for each in found}


@pytest.mark.crawl
def test_a_crawl_of_an_archive_pairs_its_pages_and_asks_the_site_for_nothing(tmp_path):
    with Site() as site:
        lines = archive_of(site.url, tmp_path, crawl_delay=3600)
        with ArchiveServer(tmp_path, lines, pages=True) as archive:
            documents, ended, pairs = crawl(site.url, archive, tmp_path / "out")
            questions = [parse_qs(urlsplit(path).query) for path in archive.asked if "?" in path]
    assert site.connections == 0
    assert pairs == pairs_of_tasks(tmp_path / "a.warc.gz", site.url)
    assert {(f"/es/{n}", f"/eu/{n}") for n in range(6)} <= pairs
    assert {each["fetched_at"] for each in documents.values()} == {CAPTURED}
    assert "/es/www/" in documents
    assert ended["unusable_capture"] == 3
    assert ended["not_archived"] == 1
    assert ended["redirected"] == 2
    assert ended["robots_txt"] == 1
    # the host is listed in pages, after one busy answer, and no page is asked for by itself
    assert len(questions) == 2 + -(-len(lines) // 5)
    assert all(each["matchType"] == ["host"] for each in questions)


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("cc:", "write cc:CC-MAIN-2026-40"),
        ("cc:2026-40", "write cc:CC-MAIN-2026-40"),
        ("cc:CC-MAIN-2026-40/../x", "write cc:CC-MAIN-2026-40"),
        ("s3://bucket/warcs", "write cc:CC-MAIN-2026-40, the address of a CDX server, or a folder"),
        (".", "To write it: scrapy corpus index"),
    ],
)
def test_what_is_no_archive_is_refused_with_what_to_write(tmp_path, monkeypatch, source, advice):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=re.escape(advice)):
        check_archive(Config(archive=source))


@pytest.mark.parametrize("name", ["CC-MAIN-2026-40", "CC-MAIN-2009-2010", "CC-NEWS-2026-09"])
def test_the_names_of_all_crawls_are_accepted(name):
    check_archive(Config(archive=f"cc:{name}"))


@pytest.mark.crawl
def test_with_a_fallback_what_the_archive_lacks_comes_from_the_site(tmp_path):
    robots = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /es/nowhere\n")
    with Site({"/robots.txt": robots}) as site:
        lines = archive_of(site.url, tmp_path, crawl_delay=0)
        with ArchiveServer(tmp_path, lines) as archive:
            _, ended, pairs = crawl(
                site.url, archive, tmp_path / "out", BILINGUAL_ARCHIVE_FALLBACK=1
            )
    # what the site says now counts, and not what it said when it was captured
    assert set(site.pages_asked) == {"/es/truncated", "/es/damaged", "/es/else"}
    assert ended["robots_txt"] == 1
    assert "not_archived" not in ended
    assert {(f"/es/{n}", f"/eu/{n}") for n in range(6)} <= pairs
