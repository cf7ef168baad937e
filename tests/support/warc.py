"""What the tests of WARC files share: exchanges, and two readers of what was written."""

import gzip
import io
import sqlite3
import warnings
from contextlib import closing
from types import SimpleNamespace
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.warc import Exchange, Records, WarcFiles

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of its own names, on import
    from fastwarc.warc import ArchiveIterator as FastIterator
    from fastwarc.warc import WarcRecordType

URL = "https://example.org/eu/kaixo?a=1"
ARRIVED = 1_700_000_000.25
ABOUT = {"software": "bilingual-crawler/test", "format": "WARC File Format 1.1"}
HTML = b"<html><p>Kaixo mundua</html>"
LARGE = 1 << 30


def exchange(url=URL, **changes):
    fields: dict[str, Any] = {
        "arrived": ARRIVED,
        "status": 200,
        "headers": (),
        "body": HTML,
    } | changes
    return Exchange(url=url, **fields)


def read(data):
    """The records of a file, digests checked: (WARC headers, HTTP headers, body) each."""
    records = []
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise"):
        body = record.raw_stream.read()
        assert record.digest_checker.passed, record.digest_checker.problems
        records.append(
            SimpleNamespace(warc=record.rec_headers, http=record.http_headers, body=body)
        )
    return records


def records_of(one):
    """The response and the request record of an exchange."""
    response, request = read(Records(ABOUT).of(one))
    return response, request


def block_of(one):
    """The response as it stands in the file."""
    text = gzip.decompress(Records(ABOUT).of(one))
    return text.split(b"\r\n\r\n", 1)[1].split(b"WARC/1.1", 1)[0].removesuffix(b"\r\n\r\n")


class Archive:
    """WARC files in a folder with a journal, as a crawl has them."""

    def __init__(self, folder, max_bytes=LARGE):
        self.folder = folder
        self.journal = Journal(folder / "crawl.sqlite")
        self.files = WarcFiles(folder, self.journal, ABOUT, max_bytes)
        self.journal.attach_sink(self.files)

    def add(self, *exchanges):
        for each in exchanges:
            self.journal.append("warc", each)
        self.journal.checkpoint(wait=True)

    def __enter__(self):
        return self

    def __exit__(self, *_args):
        self.journal.close()


def files_in(folder):
    return sorted(path for path in folder.iterdir() if path.name.endswith(".warc.gz"))


def urls_in(folder):
    """The URLs of all response records, as two readers find them."""
    found = []
    for path in files_in(folder):
        records = read(path.read_bytes())
        assert records[0].warc["WARC-Type"] == "warcinfo"
        urls = [r.warc["WARC-Target-URI"] for r in records if r.warc["WARC-Type"] == "response"]
        assert urls == fast_urls(path.read_bytes())
        found += urls
    return found


def fast_urls(data):
    records = FastIterator(
        io.BytesIO(data), record_types=WarcRecordType.response, verify_digests=True
    )
    return [record.headers["WARC-Target-URI"] for record in records]


def note_growth(folder, sink, most):
    """Leave a journal as a checkpoint does that is interrupted while it appends."""
    with closing(sqlite3.connect(folder / "crawl.sqlite", isolation_level=None)) as journal:
        journal.execute("INSERT INTO growth VALUES (?, ?)", (sink, most))
