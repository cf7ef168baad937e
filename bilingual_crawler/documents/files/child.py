"""The child process that reads files: with limits, because files are hostile.

It takes one file after the other: a line of JSON (`kind`, `size`, `seconds`) and the bytes on its
standard input, and answers with one line of JSON. It cannot write files or start programs, and it
ends when its memory or time are used up, or when nothing comes for a while: the process that asks
starts another one.
"""

import json
import os
import resource
import select
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

MEMORY = 1_500_000_000
"""Bytes of address space."""
IDLE_SECONDS = 30.0
LONGEST_TEXT = 20_000_000
"""Characters of a file."""
MOST_BLOCKS = 100_000


def main() -> None:
    """Read files until the other end is closed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not disturb the answers
    sys.path[:] = json.loads(sys.argv[1])
    readers = load_readers()
    _limit(readers)
    requests = sys.stdin.buffer.raw if hasattr(sys.stdin.buffer, "raw") else sys.stdin.buffer
    while line := _line(requests):
        asked = json.loads(line)
        body = _exactly(requests, int(asked["size"]))
        _limit_time(int(asked["seconds"]))
        answer = _answer(readers[asked["kind"]], body)
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def load_readers() -> Mapping[str, Callable[[bytes], Any]]:
    """Return the reader of each kind; everything they need is imported before the limits hold."""
    from bilingual_crawler.documents.files import pdf, rtf, zipped  # noqa: PLC0415

    return MappingProxyType(
        {
            "pdf": pdf.read_pdf,
            "docx": zipped.read_docx,
            "odt": zipped.read_odt,
            "epub": zipped.read_epub,
            "rtf": rtf.read_rtf,
        }
    )


def _answer(read: Callable[[bytes], Any], body: bytes) -> dict[str, Any]:
    from bilingual_crawler.documents.files.text import FileProblemError  # noqa: PLC0415

    try:
        text = read(body)
    except FileProblemError as problem:
        return {"problem": problem.reason}
    except (MemoryError, RecursionError):
        return {"problem": "file_limit"}
    except Exception:  # noqa: BLE001 - whatever a library makes of a damaged file
        return {"problem": "broken_file"}
    size = sum(len(block.text) for block in text.blocks)
    if size > LONGEST_TEXT or len(text.blocks) > MOST_BLOCKS:
        return {"problem": "file_limit"}
    return {"text": text.to_dict()}


def _limit(_readers: object) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    so_far = int(used.ru_utime + used.ru_stime)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (so_far + seconds + 1, hard))


def _line(stream: Any) -> bytes:
    """Return the next line, b"" at the end or when nothing comes for a while."""
    ready, _, _ = select.select([stream], [], [], IDLE_SECONDS)
    found = b""
    while ready and not found.endswith(b"\n"):
        letter = stream.read(1)
        if not letter:
            return b""
        found += letter
    return found


def _exactly(stream: Any, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = stream.read(min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    main()
