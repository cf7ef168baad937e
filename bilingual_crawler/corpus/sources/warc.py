"""The pages in a WARC file of anybody: ours, wget's, Heritrix's, Common Crawl's.

`response` and `resource` records are pages, `conversion` records are their text (Common Crawl's
WET files) or what a browser made of them (our own, in one variant or several), redirects and
`revisit` records are further names of pages, and sitemaps say which pages are translations. What
is no page by nature (requests, metadata, host names that were looked up) is passed over without a
word; what might have been one and cannot be read is counted and told.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bilingual_crawler.corpus.sources.reading import Alias, Found, SourceReading
from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
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

ENDINGS = (".warc", ".warc.gz", ".warc.wet", ".warc.wet.gz")
_PAGES = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.conversion)


def is_warc(path: Path) -> bool:
    """Whether a file calls itself a WARC file."""
    return path.name.lower().endswith(ENDINGS)


def warc_documents(path: Path, reading: SourceReading) -> Iterator[Found]:
    """Every page of a file, and every other name of one, in the order of the file."""
    place = 0
    found = False

    def tell(position: int) -> None:
        nonlocal place
        reading.progress(position - place)
        place = position

    def damaged(position: int) -> None:
        reading.skips.add("damaged record", f"{path} at byte {max(0, position):,}")

    for record in read_records(path, damaged, tell):
        found = True
        url = target_of(record)
        if url is None:
            continue
        if record.record_type == WarcRecordType.revisit:
            original = referred_by(record)
            if original is not None and original != url:
                yield Alias(url, original)
            else:
                reading.skips.add("revisit of what is not in the file", url)
        elif record.record_type in _PAGES:
            yield from _read(url, record, reading)
    if not found:
        raise ConfigurationError(
            f"{path} has no record in it: is it a WARC file? Write the name of one that ends in"
            " .warc or .warc.gz, as wget --warc-file, Heritrix and Common Crawl make them."
        )


def _read(url: str, record: WarcRecord, reading: SourceReading) -> Iterator[Found]:
    """The page of a record, or where it leads."""
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
    variant = record.headers.get(VARIANT) or ""
    yield replace(found, variant=variant) if variant and isinstance(found, Document) else found


def _answer(record: WarcRecord) -> RecordedResponse:
    """What was answered; a record without HTTP is the page itself."""
    if record.is_http:
        return answer_of(record)
    kind = record.headers.get("Content-Type") or ""
    return RecordedResponse(
        OK, ((b"Content-Type", kind.encode("latin-1", "replace")),), block_of(record)
    )
