"""The folder of a crawl that version 0.1.0 has begun is continued by this one.

`first_version/` is what 0.1.0 wrote about the site below when it was stopped after nine pages: its
journal as SQL, its documents unpacked, its pairs and its report as they were. One page of a pair is
there and the other waiting, on a domain that the first one declares; an address has redirected,
three were missing, and the scorer has learned from all of it.
"""

import gzip
import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.crawling import crawl, documents, pairs, report
from tests.support.named_hosts import NamedHosts

pytestmark = pytest.mark.crawl
WRITTEN = Path(__file__).parent / "first_version"
SITE, OTHER = "http://www.example.org", "http://www.example.eus"
ARTICLES = range(1, 6)
ON_OTHER_DOMAIN = (1, 3)
HALF_LINE = b'{"url1": "http://www.exam'


def page(language, number, translation, *links):
    other, texts = ("eu", SPANISH) if language == "es" else ("es", BASQUE)
    return f"""<!DOCTYPE html><html lang="{language}"><head><title>{texts[number][:30]}</title>
<link rel="alternate" hreflang="{other}" href="{translation}"></head><body>
<main><p>{texts[number]}</p><p>{texts[number - 1]} {number}</p></main>
<nav>{"".join(f'<a href="{each}">{each}</a> ' for each in links)}</nav></body></html>""".encode()


def true_pairs():
    yield f"{SITE}/", f"{SITE}/eu/"
    for number in ARTICLES:
        basque = f"{OTHER}/{number}" if number in ON_OTHER_DOMAIN else f"{SITE}/eu/{number}"
        yield f"{SITE}/es/{number}", basque


def site():
    spanish, basque = ([f"/{code}/{each}" for each in ARTICLES] for code in ("es", "eu"))
    (home, second), *articles = true_pairs()
    pages = {
        home: page("es", 0, second, *spanish, "/es/old", "/de/1"),
        second: page("eu", 0, home, *basque, "/eu/gone"),
        f"{SITE}/es/old": f"{SITE}/es/2",
        f"{SITE}/de/1": b"<html lang=de><p>Das Rathaus teilt mit, dass die Arbeiten am Platz am"
        b" Montag beginnen und bis zum Ende des Sommers dauern werden.</p>",
    }
    for number, (one, other) in enumerate(articles, 1):
        pages |= {one: page("es", number, other), other: page("eu", number, one)}
    return pages


@pytest.fixture(params=["stopped", "killed"])
def begun(request, tmp_path):
    """The folder as 0.1.0 left it; a kill while it wrote leaves half a line behind."""
    folder = tmp_path / "crawl"
    shutil.copytree(WRITTEN, folder, ignore=shutil.ignore_patterns("journal.sql", "*.jsonl"))
    packed = gzip.compress((WRITTEN / "documents.jsonl").read_bytes())
    (folder / "documents.jsonl.gz").write_bytes(packed)
    killed = request.param == "killed"
    lines = (WRITTEN / "pairs.jsonl").read_bytes()
    (folder / "pairs.jsonl").write_bytes(lines + HALF_LINE if killed else lines)
    end = len(packed), hashlib.blake2b(packed[-4096:], digest_size=8).digest()
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as journal:
        journal.executescript((WRITTEN / "journal.sql").read_text())
        journal.execute("PRAGMA journal_mode = WAL")
        journal.execute("UPDATE files SET size = ? WHERE name = 'documents.jsonl.gz'", end[:1])
        journal.execute("UPDATE ends SET digest = ? WHERE name = 'documents.jsonl.gz'", end[1:])
        if killed:
            journal.execute("INSERT INTO growth VALUES ('pairs.jsonl', 1000)")
        journal.commit()
    return folder


def test_a_crawl_of_version_0_1_0_goes_on_where_it_was(begun):
    before = documents(begun)
    earlier = report(begun)
    hosts = NamedHosts(site())
    with hosts.served() as proxy:
        printed = crawl(f"{SITE}/", begun, proxy=proxy)
    fetched = {host: sorted(hosts.pages_of(host)) for host in hosts.asked}
    assert fetched == {"www.example.org": ["/de/1", "/es/5", "/eu/5"], "www.example.eus": ["/3"]}
    stored = documents(begun)
    assert stored[: len(before)] == before
    assert sorted(each["url"] for each in stored) == sorted(sum(true_pairs(), ()))
    found = [(pair["url1"], pair["url2"]) for pair in pairs(begun)]
    assert sorted(found) == sorted(true_pairs())
    now = report(begun)
    assert (now["state"], now["runs"], now["started"]) == ("finished", 2, earlier["started"])
    assert now["pages"] == earlier["pages"] + 4
    ended = {code: each["count"] for code, each in now["urls_ended"].items()}
    assert ended == {"stored": 12, "http_404": 3, "off_language": 1, "redirected": 1}
    assert "starts from scratch" not in printed, "what the scorer had learned was read"
    assert "ERROR" not in printed
