"""Files of Word before 2007 (doc), converted by LibreOffice where that is installed.

No library under a permissive licence reads them well. LibreOffice runs without a profile of its
own that macros could change, and with limits of time and of what it may write.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from bilingual_crawler.documents.files.text import FileProblemError

SECONDS = 60
MAX_WRITTEN = 200_000_000
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LIMITED = (
    "import os, resource, sys;"
    f" resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}));"
    f" resource.setrlimit(resource.RLIMIT_FSIZE, ({MAX_WRITTEN}, {MAX_WRITTEN}));"
    " os.execv(sys.argv[1], sys.argv[1:])"
)


def office_program() -> str | None:
    """Return the path of LibreOffice, if it is installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def is_encrypted(body: bytes) -> bool:
    """Return whether a file is a new one of Word that a password protects."""
    return body.startswith(b"\xd0\xcf\x11\xe0") and _ENCRYPTED in body


def to_docx(body: bytes) -> bytes:
    """Return a file of old Word as one of new Word."""
    program = office_program()
    if program is None:
        raise FileProblemError("old_word")
    with tempfile.TemporaryDirectory(prefix="word-") as name:
        folder = Path(name)
        (folder / "file.doc").write_bytes(body)
        profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
        words = [program, profile, "--headless", "--norestore", "--convert-to", "docx"]
        words += ["--outdir", name, str(folder / "file.doc")]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": name, "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(  # noqa: S603 - a program of the system
            [sys.executable, "-c", _LIMITED, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise FileProblemError("file_limit") from None
        finally:
            _end(process)
        made = folder / "file.docx"
        if not made.is_file():
            raise FileProblemError("broken_file")
        return made.read_bytes()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End LibreOffice and everything it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
