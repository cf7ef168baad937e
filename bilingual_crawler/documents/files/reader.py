"""Reads files in a child process, so that a hostile file costs a child and not the crawl.

One child reads file after file; it is started when the first file comes, and again after one that
used up its memory or time. It may be asked from any thread.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import Any

from bilingual_crawler.config.file_kinds import FileKind
from bilingual_crawler.documents.files.old_word import is_encrypted, to_docx
from bilingual_crawler.documents.files.text import FileProblemError, FileText

SECONDS = 30
"""Processor time for one file; it may wait for it four times as long."""
IDLE_SECONDS = 20
"""A child that had nothing to do for longer is not asked; it ends by itself after 30 seconds."""
MAX_ANSWER = 200_000_000
FILES_PER_CHILD = 500
"""Libraries lose a little memory with each file."""
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
_PROGRAM += " from bilingual_crawler.documents.files.child import main; main()"


class FileReader:
    """A child process, started when it is needed."""

    def __init__(self, seconds: int = SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._count = 0
        self._used = 0.0

    def read(self, kind: FileKind, body: bytes) -> FileText:
        """Return the text of a file; raise FileProblemError if it has none that can be read."""
        if is_encrypted(body):
            raise FileProblemError("encrypted")
        if kind is FileKind.DOC:
            kind, body = FileKind.DOCX, to_docx(body)
        with self._lock:
            try:
                answer = self._ask(kind, body)
            except _ChildEndedError:
                self._end()
                raise FileProblemError("file_limit") from None
        if "problem" in answer:
            raise FileProblemError(str(answer["problem"]))
        return FileText.from_dict(answer["text"])

    def _ask(self, kind: FileKind, body: bytes) -> dict[str, Any]:
        child = self._running()
        assert child.stdin is not None
        head = {"kind": kind, "size": len(body), "seconds": self._seconds}
        deadline = time.monotonic() + 4 * self._seconds + 5  # others may need the processor
        try:
            child.stdin.write(json.dumps(head).encode() + b"\n" + body)
            child.stdin.flush()
        except OSError:
            raise _ChildEndedError from None
        self._count += 1
        self._used = time.monotonic()
        answer = json.loads(self._line(child, deadline))
        if self._count >= FILES_PER_CHILD:
            self._end()
        return dict(answer)

    def _line(self, child: "subprocess.Popen[bytes]", deadline: float) -> bytes:
        assert child.stdout is not None
        descriptor = child.stdout.fileno()
        parts: list[bytes] = []
        size = 0
        while not (parts and parts[-1].endswith(b"\n")):
            ready, _, _ = select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
            part = os.read(descriptor, 1 << 20) if ready else b""
            size += len(part)
            if not part or size > MAX_ANSWER:
                raise _ChildEndedError
            parts.append(part)
        return b"".join(parts)

    def _running(self) -> "subprocess.Popen[bytes]":
        is_idle = time.monotonic() > self._used + IDLE_SECONDS  # it may be about to end
        if self._child is None or is_idle or self._child.poll() is not None:
            self._end()
            environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
            self._child = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment | _marks(),
            )
            self._count = 0
        return self._child

    def close(self) -> None:
        """End the child, if there is one; whoever waits for its answer gets none."""
        child = self._child
        if child is not None:
            child.kill()
        with self._lock:
            self._end()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue


class _ChildEndedError(Exception):
    """The child has ended, or does not answer in time."""


def _marks() -> dict[str, str]:
    """Return what a child inherits so that it can be found, and nothing that is secret."""
    return {name: value for name, value in os.environ.items() if name.startswith("BILINGUAL_TEST")}


READER = FileReader()
"""The reader of this process."""
atexit.register(READER.close)
