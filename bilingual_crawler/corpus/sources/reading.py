"""What the readers of all sources share, and the readers of what crawlers have written.

In a WARC file (ours, wget's, Heritrix's, Common Crawl's), `response` and `resource` records are
pages, `conversion` records are their text (WET files of Common Crawl) or what a browser made of
them (our own, in one or several variants), redirects and `revisit` records are further names of
pages, and sitemaps say which pages are translations. Records that are never pages (requests,
metadata, DNS lookups) are ignored; pages that cannot be read are counted and reported. The other
kind of file that a crawler has written is the folder of one of our own crawls.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.language import CLD2, LanguageIdentifier
from bilingual_crawler.documents.optouts import robots_directives
from bilingual_crawler.documents.serialise import document_from_dict
from bilingual_crawler.documents.sitemap import Sitemap, is_sitemap, read_sitemap
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Languages
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, unpacked
from bilingual_crawler.store.warc import VARIANT
from bilingual_crawler.store.warc_reader import (
    LARGEST_RECORD,
    OK,
    REDIRECTS,
    DamagedRecordError,
    RecordedResponse,
    WarcRecord,
    WarcRecordType,
    answer_of,
    block_of,
    read_records,
    redirect_target,
    referred_by,
    target_of,
)

EXAMPLES = 3
"""Examples that are kept per reason."""

ENDINGS = (".warc", ".warc.gz", ".warc.wet", ".warc.wet.gz")
_PAGES = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.conversion)


class Alias(NamedTuple):
    """Another name of a page: a redirect, or a second record of the same bytes."""

    source: str
    target: str


Found = Document | Alias | Sitemap
"""What sources yield."""


class Skips:
    """What was skipped: a count per reason, and the first few examples."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def add(self, reason: str, what: str) -> None:
        """Count one thing that was not read, or read and not used."""
        self.counts[reason] += 1
        shown = self.examples.setdefault(reason, [])
        if len(shown) < EXAMPLES:
            shown.append(what)


def unchanged(_url: str, answer: RecordedResponse) -> RecordedResponse:
    """Return a response as it was recorded."""
    return answer


@dataclass(slots=True)
class SourceReading:
    """How to read sources, and what was skipped so far."""

    languages: Languages
    """The wanted languages."""
    change: Callable[[str, RecordedResponse], RecordedResponse] = unchanged
    """Changes a response before it is parsed."""
    progress: Callable[[int], None] = lambda _bytes: None
    """Called after each page with the number of bytes that were read since the last call."""
    skips: Skips = field(default_factory=Skips)
    identifier: LanguageIdentifier = CLD2
    text_lines: bool = False
    """Whether each line of plain text is a paragraph."""
    is_new: Callable[[], bool] = lambda: True
    """Called before each page is read: False for one that an earlier run has taken in."""

    def read(self, url: str, answer: RecordedResponse) -> Document | Sitemap | None:
        """Return the page or sitemap in a response; None if an earlier run has taken it in.

        What the headers of a page say about its use counts like what the page says itself.
        """
        if not self.is_new():
            return None
        if is_sitemap(answer.body, url):
            return read_sitemap(answer.body, url)
        document = build_document(
            url,
            answer.body,
            content_type=answer.header("Content-Type"),
            headers_language=answer.header("Content-Language"),
            hints=self.languages.codes,
            identifier=self.identifier,
            text_lines=self.text_lines,
        )
        document.robots |= robots_directives(answer.all_headers("X-Robots-Tag"))
        document.tdm_reservation |= b"1" in answer.all_headers("tdm-reservation")
        return document


def is_warc(path: Path) -> bool:
    """Return whether a file has the name of a WARC file."""
    return path.name.lower().endswith(ENDINGS)


def warc_documents(path: Path, reading: SourceReading) -> Iterator[Found]:
    """Yield every page, alias and sitemap of a file, in its order."""
    place = 0
    found = False

    def report(position: int) -> None:
        nonlocal place
        reading.progress(position - place)
        place = position

    def damaged(position: int) -> None:
        reading.skips.add("damaged record", f"{path} at byte {max(0, position):,}")

    for record in read_records(path, damaged, report):
        found = True
        url = target_of(record)
        if url is None:
            continue
        if record.record_type == WarcRecordType.revisit:
            original = referred_by(record)
            if original is not None and original != url:
                yield Alias(url, original)
            else:
                reading.skips.add("revisit of a record that is not in the file", url)
        elif record.record_type in _PAGES:
            yield from _read(url, record, reading)
    if not found:
        raise ConfigurationError(
            f"{path} has no records: is it a WARC file? Name a file that ends in .warc or .warc.gz,"
            " such as wget --warc-file, Heritrix and Common Crawl write."
        )


def _read(url: str, record: WarcRecord, reading: SourceReading) -> Iterator[Found]:
    """Yield the page of a record, or where it leads."""
    if record.headers.get("WARC-Truncated"):
        reading.skips.add("truncated record", url)
        return
    if record.content_length > LARGEST_RECORD:
        reading.skips.add("too large", url)
        return
    try:
        answer = _answer(record)
    except DamagedRecordError:
        reading.skips.add("damaged record", url)
        return
    if answer.status in REDIRECTS:
        target = redirect_target(url, answer.header("Location"))
        if target is not None:
            yield Alias(url, target)
        return
    if answer.status == OK:
        answer = reading.change(url, answer)
    if answer.status != OK:
        reading.skips.add(f"status {answer.status}", url)
        return
    found = reading.read(url, answer)
    if isinstance(found, Document):
        found.variant = record.headers.get(VARIANT) or ""
        found.fetched_at = _moment(record.headers.get("WARC-Date") or "")
    if found is not None:
        yield found


def _moment(text: str) -> str:
    """Return the date of a record as a crawl writes it; "" for any other text."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return ""


def _answer(record: WarcRecord) -> RecordedResponse:
    """Return the response of a record; a record without HTTP is the page itself."""
    if record.is_http:
        return answer_of(record)
    kind = record.headers.get("Content-Type") or ""
    return RecordedResponse(
        OK, ((b"Content-Type", kind.encode("latin-1", "replace")),), block_of(record)
    )


def is_crawl(path: Path) -> bool:
    """Return whether a path is the folder of a crawl, or its file of documents."""
    if path.is_dir():
        return (path / DOCUMENTS).is_file()
    return path.name.lower().endswith((".jsonl", ".jsonl.gz"))


def crawl_documents(path: Path, reading: SourceReading) -> Iterator[Found]:
    """Yield every document of a crawl, and for a folder the redirects that it followed."""
    if path.is_dir():
        yield from _aliases(path / JOURNAL, reading)
        path /= DOCUMENTS
    place = 0
    try:
        with path.open("rb") as plain:
            for number, line in enumerate(bounded_lines(unpacked(plain)), 1):
                if not reading.is_new():
                    continue
                document = None if line is None else _document(line)
                if document is None:
                    reading.skips.add("not a document of a crawl", f"{path}, line {number}")
                else:
                    yield document
                reading.progress(plain.tell() - place)
                place = plain.tell()
    except DAMAGED_GZIP:
        reading.skips.add("cut off or damaged", str(path))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error


def _document(line: bytes) -> Document | None:
    try:
        fields: Any = json.loads(line)
        return document_from_dict(fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _aliases(journal: Path, reading: SourceReading) -> Iterator[Alias]:
    """Yield the redirects in the journal of a crawl, which may be running."""
    if not journal.is_file():
        return
    try:
        connection = sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)
        try:
            for source, target in connection.execute("SELECT source, target FROM aliases"):
                yield Alias(source, target)
        finally:
            connection.close()
    except sqlite3.Error as error:
        reading.skips.add("the redirects of the crawl cannot be read", f"{journal}: {error}")
