"""How a crawl was started from the page: crawl.run.json, found again after a restart."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bilingual_crawler.errors import writing
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import RUN
from bilingual_crawler.web.report_file import UnreadableReportError, read_small
from bilingual_crawler.web.runs.order import CrawlOrder

MAX_BYTES = 1_000_000
Via = Literal["process", "scrapyd"]
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One start of a crawl: by what, when, and what was ordered."""

    id: str
    """A random name; it is part of the command line of the process, or the name of the job."""
    via: Via
    order: CrawlOrder
    started: str
    pid: int = 0

    def write(self) -> None:
        """Replace the record in the folder of the crawl; it is on disk when this returns."""
        fields = {
            "id": self.id, "via": self.via, "pid": self.pid, "started": self.started,
            **self.order.to_dict(),
        }  # fmt: skip
        file = self.order.output / RUN
        with writing(file), replacing(file) as fresh:
            fresh.touch(0o600)  # seeds may have passwords
            fresh.write_text(json.dumps(fields, ensure_ascii=False, indent=1) + "\n", "utf-8")


def read_record(folder: Path) -> RunRecord | None:
    """Return the record in a folder; None if there is none, or something else in its place."""
    with suppress(OSError, TypeError, ValueError, RecursionError, UnreadableReportError):
        found = json.loads(read_small(folder / RUN, MAX_BYTES))
        return _record(folder, found) if isinstance(found, dict) else None
    return None


def _record(folder: Path, found: Mapping[str, Any]) -> RunRecord:
    name, pid = found.get("id"), found.get("pid")
    via: Via = "scrapyd" if found.get("via") == "scrapyd" else "process"
    if not isinstance(name, str) or not isinstance(pid, int) or isinstance(pid, bool):
        raise TypeError("not a record")
    if not _ID.fullmatch(name):
        raise ValueError("not a record")
    return RunRecord(
        id=name,
        via=via,
        order=CrawlOrder.from_dict(folder, found),
        started=str(found.get("started", ""))[:40],
        pid=pid,
    )
