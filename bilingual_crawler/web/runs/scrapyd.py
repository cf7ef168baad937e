"""Crawls as jobs of a scrapyd, which must see the served folder under the same path."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPResponse
from typing import Any, cast
from uuid import uuid4

from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.reporting.terminal import plain
from bilingual_crawler.urls.credentials import without_credentials
from bilingual_crawler.web.runs.log_tail import MAX_BYTES, last_lines
from bilingual_crawler.web.runs.order import SPIDER, CrawlOrder
from bilingual_crawler.web.runs.record import RunRecord

SECONDS = 5
SCHEDULING_SECONDS = 90
"""scrapyd answers nothing while it looks for the spiders of a project for the first time."""
MAX_ANSWER = 10_000_000
STATES = {"pending": "waiting", "running": "running"}
"""What the page calls the states of a job; every other one has ended."""


@dataclass(frozen=True, slots=True)
class ScrapydServer:
    """Where a scrapyd is, and the project that was sent to it."""

    url: str
    project: str = "bilingual_crawler"
    username: str = ""
    password: str = ""


class ScrapydRuns:
    """Starts, finds and stops crawls as jobs."""

    via = "scrapyd"

    def __init__(self, server: ScrapydServer, fixed: Mapping[str, str]) -> None:
        self._server = server
        self._url = server.url.rstrip("/") + "/"
        self._shown = without_credentials(self._url)
        self._fixed = fixed

    def start(self, order: CrawlOrder) -> RunRecord:
        """Schedule a job that writes to the folder of the order."""
        record = RunRecord(
            id=uuid4().hex, via="scrapyd", order=order,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        settings = {**order.settings, **self._fixed}
        form = [
            ("project", self._server.project),
            ("spider", SPIDER),
            ("jobid", record.id),
            ("output", str(order.output)),
            *order.arguments.items(),
            *(("setting", f"{name}={value}") for name, value in settings.items()),
        ]
        with writing(order.output):
            order.output.mkdir(parents=True, exist_ok=True)
        record.write()
        self._tell("schedule", form)
        return record

    def state(self, record: RunRecord) -> str:
        """Return "waiting", "running" or "ended"."""
        found = self._ask("status", job=record.id).get("currstate")
        return STATES.get(str(found), "ended")

    def status(self, record: RunRecord) -> int | None:
        """Return None: scrapyd does not say how a job ended."""
        del record
        return None

    def stop(self, record: RunRecord) -> bool:
        """Cancel a job. Return False if it has ended."""
        form = [("project", self._server.project), ("job", record.id)]
        return self._tell("cancel", form).get("prevstate") is not None

    def log(self, record: RunRecord) -> list[str]:
        """Return the last lines of the log of a job, which scrapyd keeps."""
        path = f"logs/{self._server.project}/{SPIDER}/{record.id}.log"
        try:
            with self._open(path, method="HEAD") as answer:
                begin = max(0, int(answer.headers.get("Content-Length") or 0) - MAX_BYTES)
            with self._open(path, headers={"Range": f"bytes={begin}-"}) as answer:
                content = answer.read(MAX_ANSWER)
        except (ConfigurationError, OSError, ValueError):
            return []
        return last_lines(content[-MAX_BYTES:], is_cut=begin > 0)

    def _ask(self, service: str, **question: str) -> dict[str, Any]:
        query = urllib.parse.urlencode({"project": self._server.project, **question})
        return self._answer(f"{service}.json?{query}")

    def _tell(self, service: str, form: list[tuple[str, str]]) -> dict[str, Any]:
        return self._answer(f"{service}.json", urllib.parse.urlencode(form).encode())

    def _answer(self, path: str, form: bytes | None = None) -> dict[str, Any]:
        try:
            with self._open(path, form) as answer:
                found = json.loads(answer.read(MAX_ANSWER))
        except (OSError, ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("status") != "ok":
            said = found.get("message", "") if isinstance(found, dict) else ""
            raise ConfigurationError(
                f"scrapyd at {self._shown} refused: {plain(str(said))[:300] or 'no reason given'}."
            )
        return found

    def _open(
        self,
        path: str,
        form: bytes | None = None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HTTPResponse:
        seconds = SECONDS if form is None else SCHEDULING_SECONDS
        request = urllib.request.Request(  # noqa: S310 - the address is the administrator's
            self._url + path, form, dict(headers or {}), method=method
        )
        if self._server.username:
            secret = f"{self._server.username}:{self._server.password}".encode()
            request.add_header("Authorization", f"Basic {base64.b64encode(secret).decode()}")
        try:
            return cast("HTTPResponse", urllib.request.urlopen(request, timeout=seconds))  # noqa: S310
        except (OSError, ValueError) as error:
            reason = plain(str(getattr(error, "reason", error)))[:200]
            raise ConfigurationError(
                f"scrapyd at {self._shown} cannot be asked ({reason}): is it running?"
            ) from error
