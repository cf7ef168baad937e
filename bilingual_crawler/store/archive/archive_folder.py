"""A folder of WARC files as an archive: its CDXJ index, written and read.

The index is that of pywb: one line per capture, sorted, with the key of the page, the moment and
a JSON object. Ours is written here because cdxj-indexer needs a library under the AGPL for its
keys, and because it stops at the first damaged record. Keys only order the lines: pages are
found by URL.
"""

import contextlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.store.archive.archived_answer import UnusableCaptureError
from bilingual_crawler.store.archive.capture import REVISIT, Capture, capture_in
from bilingual_crawler.store.archive.capture_index import CaptureIndex
from bilingual_crawler.store.durable import replacing_file
from bilingual_crawler.store.input_files import bounded_lines, open_unpacked
from bilingual_crawler.store.warc import VARIANT
from bilingual_crawler.store.warc_reader import (
    LARGEST_RECORD,
    OK,
    WarcRecord,
    WarcRecordType,
    read_records,
    target_of,
)

logger = logging.getLogger(__name__)

INDEX_ENDINGS = (".cdxj", ".cdxj.gz")
WARC_ENDINGS = (".warc", ".warc.gz")
MAX_LINE = 1 << 16
_NO_DIGIT = re.compile("[^0-9]")
_KINDS = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.revisit)


class IndexedFolder(NamedTuple):
    """What was indexed: WARC files, their captures, and the records that could not be read."""

    files: int
    captures: int
    damaged: int


def files_below(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """Return the files with one of these endings in a folder and below it; no symbolic links."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        paths = (Path(place, name) for name in sorted(names) if name.lower().endswith(endings))
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
    return found


def index_folder(folder: Path, read: Callable[[int], None] = lambda _bytes: None) -> IndexedFolder:
    """Write an index beside each WARC file that has none or is newer than its index.

    `read` gets the number of bytes read.
    """
    warcs = files_below(folder, WARC_ENDINGS)
    if not warcs:
        raise ConfigurationError(
            f"{folder} has no WARC files (.warc, .warc.gz): name the folder that holds them."
        )
    files = captures = damaged = 0

    def note_damage(_position: int) -> None:
        nonlocal damaged
        damaged += 1

    for path in warcs:
        file = path.with_name(path.name + INDEX_ENDINGS[0])
        if file.is_file() and file.stat().st_mtime_ns >= path.stat().st_mtime_ns:
            continue
        name = path.relative_to(folder).as_posix()
        lines = sorted(cdxj_line(each) for each in captures_of(path, name, note_damage, read))
        with writing(file, "Make the folder writable."), replacing_file(file) as part:
            part.write_text("".join(f"{line}\n" for line in lines), "ascii")
        files, captures = files + 1, captures + len(lines)
    return IndexedFolder(files, captures, damaged)


def captures_of(
    path: Path,
    name: str,
    damaged: Callable[[int], None] = lambda _position: None,
    read: Callable[[int], None] = lambda _bytes: None,
) -> Iterator[Capture]:
    """Yield the captures of a WARC file; each is as long as the way to the next record."""
    last: Capture | None = None
    place = 0
    for record in read_records(path, damaged):
        start = record.stream_pos
        if last is not None:
            yield last._replace(length=max(start - last.offset, 1))
        last = _capture(record, name)
        read(start - place)
        place = start
    end = path.stat().st_size
    if last is not None:
        yield last._replace(length=max(end - last.offset, 1))
    read(end - place)


def _capture(record: WarcRecord, name: str) -> Capture | None:
    """Return the capture of a record without its length; None if it is not that of a page."""
    url = target_of(record)
    if record.record_type not in _KINDS or url is None or record.headers.get(VARIANT):
        return None
    moment = _NO_DIGIT.sub("", record.headers.get("WARC-Date") or "")[:14]
    status, mime = OK, record.headers.get("Content-Type") or ""
    if record.record_type != WarcRecordType.resource:
        status, mime = _answer_line(record)
    if record.record_type == WarcRecordType.revisit:
        mime = REVISIT
    return Capture(
        url,
        moment.ljust(14, "0"),
        status,
        mime.partition(";")[0].strip().lower(),
        (record.headers.get("WARC-Payload-Digest") or "").removeprefix("sha1:"),
        name,
        record.stream_pos,
        1,
        bool(record.headers.get("WARC-Truncated")),
    )


def _answer_line(record: WarcRecord) -> tuple[int, str]:
    if record.is_http and record.content_length <= LARGEST_RECORD:
        with contextlib.suppress(OSError, ValueError):
            record.parse_http(quirks_mode=True)
    headers = record.http_headers
    if headers is None:
        return 0, ""
    return headers.status_code or 0, headers.get("Content-Type") or ""


def cdxj_line(capture: Capture) -> str:
    """Return a capture as a line of an index."""
    fields: dict[str, Any] = {
        "url": capture.url,
        "mime": capture.mime,
        "status": str(capture.status),
        "digest": capture.digest,
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.file,
    }
    if capture.truncated:
        fields["truncated"] = "unspecified"
    kept = {name: value for name, value in fields.items() if value}
    return f"{sort_key(capture.url)} {capture.moment} {json.dumps(kept, ensure_ascii=True)}"


def sort_key(url: str) -> str:
    """Return the key of a page, with its host backwards: org,example)/path."""
    parts = urlsplit(url)
    host, _, port = parts.netloc.rpartition("@")[2].lower().partition(":")
    labels = host.removeprefix("www.").split(".")
    path = (parts.path.rstrip("/") or "/").lower().replace(" ", "%20")
    query = f"?{parts.query.lower()}".replace(" ", "%20") if parts.query else ""
    return f"{','.join(reversed(labels))}{f':{port}' if port else ''}){path}{query}"


def read_folder(folder: Path, index: CaptureIndex) -> int:
    """Take the index files of a folder into a table; return how many lines were not captures.

    Files that have not changed since are not read again. If one has gone or changed, everything
    is read anew.
    """
    files = files_below(folder, INDEX_ENDINGS)
    stamps = {str(path): f"{path.stat().st_size} {path.stat().st_mtime_ns}" for path in files}
    known = index.sources(INDEX_ENDINGS)
    if not known.items() <= stamps.items():
        index.forget(known)
        known = {}
    bad = 0

    def captures(path: Path) -> Iterator[Capture]:
        nonlocal bad
        try:
            with open_unpacked(path) as content:
                for line in bounded_lines(content, MAX_LINE):
                    text = "" if line is None else line.decode("utf-8", "replace").strip()
                    found = capture_in(text)
                    if found is not None:
                        yield found
                    else:
                        bad += not text.startswith("!")  # the first line may be a header
        except (OSError, EOFError) as error:
            logger.warning("%s is damaged; what comes before is used: %s", path, error)

    for path in files:
        if str(path) not in known:
            number = index.take_source(str(path), stamps[str(path)], captures(path))
            logger.info("%s: %d captures", path, number)
    return bad


def bytes_of(folder: Path, capture: Capture) -> bytes:
    """Return the bytes of a capture in a folder; nothing outside of the folder is read."""
    try:
        root = folder.resolve()
        path = (root / capture.file).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            raise UnusableCaptureError("its file is not in the folder of the archive")
        with path.open("rb") as stream:
            stream.seek(capture.offset)
            return stream.read(min(capture.length, LARGEST_RECORD))
    except (OSError, ValueError):
        raise UnusableCaptureError("its file cannot be read") from None
