"""The folder of a crawl may come from somebody else, who wants more than a crawl."""

import sqlite3

import msgpack
import pytest

from bilingual_crawler.frontier.view import JournalView, UrlSelection
from tests.support.crawling import crawl, report
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl
ROW = "INSERT OR REPLACE INTO urls VALUES (?, 0, ?, ?, 0, 0.0, ?, ?, ?, NULL)"


def planted_rows(server, secret):
    """Rows that a crawl never writes, each with what it is to lead to."""
    host, page = "127.0.0.1", server.url
    return [
        (1, 5.0, 1, page + "?planted=1", host, msgpack.packb({"_class": "planted.Bait"})),
        (2, 5.0, 2, page + "?planted=2", host, msgpack.packb({"callback": "prepare"})),
        (3, 5.0, 3, page + "?planted=3", host, msgpack.packb({"meta": {"proxy": page}})),
        (4, 5.0, 4, page + "?planted=4", "other.example", None),
        (5, 5.0, 5, page + "?planted=5", host, b"\x81"),
        (6, 5.0, 6, secret.as_uri(), host, None),
        (7, 5.0, 7, b"\xff\xfe", host, None),
        (8, "high", 8, page + "?planted=8", host, None),
        (9, 5.0, "first", page + "?planted=9", host, None),
    ]


def test_what_was_planted_in_a_folder_is_neither_run_nor_fetched(tmp_path, monkeypatch):
    output, home = tmp_path / "out", tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(home))
    (home / "planted.py").write_text("open(__file__ + '.ran', 'w').close()\nBait = print\n")
    secret = home / "secret.html"
    secret.write_text("<p>secret</p>" * 100)
    with serve_demo(pages=12) as server:
        crawl(server.url, output, settings={"CLOSESPIDER_PAGECOUNT": 3})
        with sqlite3.connect(output / "crawl.sqlite") as journal:
            rows = planted_rows(server, secret)
            good = [row for row in rows if isinstance(row[1], float) and isinstance(row[3], str)]
            journal.executemany(ROW, rows)
            journal.execute("UPDATE urls SET state = 9 WHERE state = 2 AND rowid % 2")
        journal.close()
        view = JournalView(output)
        assert {each.url for each in view.top(100)} >= {page for _, _, _, page, _, _ in good}
        assert view.status().waiting
        assert all(isinstance(each.url, str) for each in view.urls())
        view.requeue_failed(UrlSelection())
        view.close()
        printed = crawl(server.url, output)
        assert not [path for path in server.paths() if "planted" in path]
    assert not (home / "planted.py.ran").exists()
    assert "rows that are not URLs of a crawl" in printed
    told = report(output)
    assert told["state"] == "finished"
    assert told["urls_ended"]["unreadable"]["count"] == 6
