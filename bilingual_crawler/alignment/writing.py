"""sentences.jsonl.gz, there as a whole or not at all, and the same bytes for the same pairs."""

import fcntl
import gzip
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.sentence_pair import SentencePair

LEVEL = 6


def write_sentences(file: Path, pairs: Iterable[SentencePair]) -> int:
    """Write a file of sentence pairs, and tell how many they were.

    It takes the place of an older one at once, when it is complete on the disk. What a kill
    leaves behind is overwritten by the next run.
    """
    count = 0
    with (
        replacing(file) as fresh,
        fresh.open("xb") as raw,
        gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as packed,
    ):
        for count, pair in enumerate(pairs, 1):  # noqa: B007 - told at the end
            packed.write(to_line(pair))
    return count


def to_line(pair: SentencePair) -> bytes:
    """A sentence pair as a line of the file."""
    return json.dumps(pair.to_dict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


@contextmanager
def sole_writer(file: Path) -> Iterator[None]:
    """Hold a file's folder against another alignment; the kernel lets go of it in the end."""
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(
                f"Another alignment is writing to {file.parent}: wait for it, or name another"
                " file with --out."
            ) from None
        yield
    finally:
        os.close(descriptor)
