"""Reads crawl.json of a folder that anyone may have made: bounded, and with the expected types.

Whatever is of another type is left out, so that no page fails over it.
"""

import json
import math
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bilingual_crawler.store.folder import REPORT

MAX_BYTES = 16_000_000
"""The largest report that is read: one of a crawl with thousands of sites has one megabyte."""
_MOST = 10**15
Check = Callable[[Any], bool]


class UnreadableReportError(ValueError):
    """A report that is not what it should be; the message ends a sentence about it."""


def read_report(folder: Path) -> dict[str, Any]:
    """Return crawl.json without what is of a wrong type; {} if it cannot be read."""
    with suppress(OSError, UnreadableReportError):
        return checked_report(folder)
    return {}


def checked_report(folder: Path) -> dict[str, Any]:
    """Return crawl.json without what is of a wrong type; raise an error if it cannot be read."""
    try:
        found = json.loads(read_small(folder / REPORT), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UnreadableReportError(f"is not a report of a crawl ({_short(error)})") from None
    if not isinstance(found, dict):
        raise UnreadableReportError("is not a report of a crawl")
    return {name: value for name, value in found.items() if _SHAPES.get(name, _anything)(value)}


def made_of_files(report: Mapping[str, Any]) -> str:
    """Return "built" or "imported" for a corpus without a crawl; "" for a crawl."""
    if "built_from" in report:
        return "built"
    return "imported" if report.get("seeds") == [] and "merged_from" not in report else ""


def imported_sentences(report: Mapping[str, Any]) -> int | None:
    """Return how many sentence pairs were imported; None if that is not known."""
    counted = report.get("import")
    written = counted.get("written") if isinstance(counted, dict) else None
    number = written.get("sentence pairs") if isinstance(written, dict) else None
    return number if _count(number) else None


def read_small(path: Path, most: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file; no link is followed, and no pipe is waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnreadableReportError("is not a file")
        content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableReportError(f"is larger than {most:,} bytes")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _short(error: BaseException) -> str:
    return str(error)[:200]


def _anything(_: Any) -> bool:
    return True


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _maybe_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _amount(value: Any) -> bool:
    return _count(value) or (isinstance(value, float) and 0 <= value < _MOST)


def _score(value: Any) -> bool:
    return value is None or (
        isinstance(value, (int, float)) and math.isfinite(value) and abs(value) < _MOST
    )


def _table(key: str, check: Check) -> Check:
    def is_table(value: Any) -> bool:
        return isinstance(value, dict) and all(
            check(each if not key else each.get(key) if isinstance(each, dict) else None)
            for each in value.values()
        )

    return is_table


def _rows(**columns: Check) -> Check:
    def is_rows(value: Any) -> bool:
        return isinstance(value, list) and all(
            isinstance(row, dict) and all(check(row.get(name)) for name, check in columns.items())
            for row in value
        )

    return is_rows


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def is_curve(value: Any) -> bool:
    """Return True for a yield curve: a list of pages and pairs."""
    return isinstance(value, list) and all(map(_point, value))


def _point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_count, value))  # noqa: PLR2004


_SHAPES: dict[str, Check] = {
    **dict.fromkeys(("langs", "started", "updated", "state", "harvest", "seeds_from"), _text),
    **dict.fromkeys(("stopped_by", "stopped_why"), _maybe_text),
    **dict.fromkeys(("pages", "pairs", "urls_waiting", "urls_failed", "runs", "bytes"), _count),
    **dict.fromkeys(("seconds", "pairs_per_100_pages"), _amount),
    **dict.fromkeys(("documents", "off_language", "pairs_by_detector"), _table("", _count)),
    **dict.fromkeys(("urls_ended", "links_refused"), _table("count", _count)),
    **dict.fromkeys(("seeds", "explanation"), _texts),
    "languages": _rows(code=_text, name=_text),
    "best_waiting": _rows(url=_text, score=_score),
    "yield": is_curve,
    "settings": _table("", _anything),
}
"""What the keys must hold that the pages read; other keys are left as they are."""
