"""Recorded sites written again and again, as other sites: input of any size for a cluster.

Each copy has other host names, and in its text every few words another word of the same length
from the same page, so that copies are not near copies of one another. All names are as long as
those of the first copy, so a record keeps its length and a copy costs one pass over prepared
pieces. Only words of small ASCII letters are exchanged, so sites in other scripts stay near copies.

    python -m benchmarks.repeated_sites FOLDER --pages 100000
"""

import argparse
import re
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.store.warc import Exchange, Records
from bilingual_crawler.store.warc_reader import answer_of, read_records, target_of

SITES = {
    "eulaliavila": "cat-spa",
    "grial": "eng-spa",
    "laugar": "eng-spa",
    "management-durable": "deu-fra",
    "sabda": "eng-spa",
    "tabernaedariak": "eng-spa",
    "xezpeleta": "eng-eus",
}
"""The recorded sites that are repeated, with the languages that are paired."""
EXCHANGED = 7
"""One in so many words is another one in each copy."""
NUMBER = b"00000000"
"""Stands for the number of the copy in the names of hosts."""
_TEXT = re.compile(rb">[^<>]{20,}<")
_WORD = re.compile(rb"(?<![\w&#%@.-])[a-z]{5,12}(?![\w;@.-])")
_UNREAD = re.compile(rb"<(script|style|head)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_SECONDS = 1.7e9


class Slot(NamedTuple):
    """A word that is another one in each copy."""

    pool: Sequence[bytes]
    at: int


class RepeatedSite:
    """A recorded site, prepared to be written under other names."""

    def __init__(self, path: Path) -> None:
        records = Records({"software": "benchmark"})
        exchanges = list(answers_of(path))
        self.pages = len(exchanges)
        hosts = sorted({re.match(r"https?://([^/:]+)", each.url)[1] for each in exchanges})  # type: ignore[index]
        self._names = {host.encode(): _renamed(host) for host in hosts}
        draw = Random(1)
        self._pieces: list[bytes | Slot] = []
        for exchange in exchanges:
            body = self._rename(exchange.body)
            made = exchange.__class__(
                url=self._rename(exchange.url.encode()).decode(),
                arrived=_SECONDS,
                status=exchange.status,
                headers=[
                    (name, self._rename(value))
                    for name, value in exchange.headers
                    if name.lower() not in (b"content-encoding", b"content-length")
                ],
                body=body,
            )
            head, _, tail = unpacked(records.of(made)).partition(body or b"\0")
            self._pieces += [head, *_slots(body, draw), tail]

    def _rename(self, data: bytes) -> bytes:
        for host, name in self._names.items():
            data = data.replace(host, name)
        return data

    def copy(self, number: int) -> bytes:
        """Return the WARC file of a copy, compressed as a whole."""
        step = 1 + number
        told = b"".join(
            piece if isinstance(piece, bytes) else piece.pool[piece.at * step % len(piece.pool)]
            for piece in self._pieces
        )
        packer = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16)
        renamed = told.replace(NUMBER, f"{number:08d}".encode())
        return packer.compress(renamed) + packer.flush()


def answers_of(path: Path) -> Iterator[Exchange]:
    """Yield the answers in a recorded site."""
    for record in read_records(path, lambda _: None):
        url = target_of(record)
        if url is None or not record.is_http or record.headers.get("WARC-Type") != "response":
            continue
        answer = answer_of(record)
        yield Exchange(
            url=url,
            arrived=_SECONDS,
            status=answer.status,
            headers=list(answer.headers),
            body=answer.body,
        )


def unpacked(members: bytes) -> bytes:
    """Return the bytes in gzip members."""
    parts = []
    while members:
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        parts.append(reader.decompress(members))
        members = reader.unused_data
    return b"".join(parts)


def _renamed(host: str) -> bytes:
    """Return the name of a host in a copy: a site of its own, with the labels below it kept."""
    return re.sub(r"[^a-z0-9-]", "-", host.lower()).encode() + b"-" + NUMBER + b".example"


def _slots(body: bytes, draw: Random) -> Iterator[bytes | Slot]:
    """Yield the pieces of a page, with some words of its text as slots."""
    hidden = [match.span() for match in _UNREAD.finditer(body)]
    words: list[re.Match[bytes]] = []
    for text in _TEXT.finditer(body):
        if not any(start <= text.start() < end for start, end in hidden):
            words += _WORD.finditer(body, text.start(), text.end())
    pools: defaultdict[int, list[bytes]] = defaultdict(list)
    for word in words:
        pools[len(word[0])].append(word[0])
    done = 0
    for word in words:
        if draw.randrange(EXCHANGED) == 0:
            yield body[done : word.start()]
            pool = pools[len(word[0])]
            yield Slot(pool, draw.randrange(len(pool)))
            done = word.end()
    yield body[done:]


def write_sites(folder: Path, pages: int, names: Sequence[str] = tuple(SITES)) -> int:
    """Write copies of the sites in turn until there are so many answers; return their number."""
    sites = [RepeatedSite(SHARED / "sites" / f"{name}.warc.gz") for name in names]
    written = number = 0
    folder.mkdir(parents=True, exist_ok=True)
    while written < pages:
        for name, site in zip(names, sites, strict=True):
            (folder / f"{name}-{number:08d}.warc.gz").write_bytes(site.copy(number))
            written += site.pages
        number += 1
    return written


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=100_000)
    args = parser.parse_args()
    began = time.process_time()
    written = write_sites(args.folder, args.pages)
    files = list(args.folder.glob("*.warc.gz"))
    size = sum(file.stat().st_size for file in files)
    print(f"{written:,} answers in {len(files):,} files, {size / 1e6:,.0f} MB,", end=" ")
    print(f"{time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
