"""Three parts of the site that never end, as real sites have them by accident.

Every address in a part shows the same prose, so one stored page of each part is enough. All are
chains, not trees: a crawl that falls for one wastes requests in proportion to its depth limit.
"""

import calendar
import hashlib
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

CALENDAR = "/calendario"
SESSION = "/es/buzon"
MAZE = "/es/laberinto/"

FIRST_MONTH = (2031, 5)
MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
    "octubre", "noviembre", "diciembre",
)  # fmt: skip

_MONTH = re.compile(r"/calendario/(\d{1,6})/(0[1-9]|1[0-2])")
_MAZE = re.compile(r"/es/laberinto/(?:subir/bajar/)*(?:subir/)?")


class EndlessPage(NamedTuple):
    """One page of an endless part: its topic, its further links, what else it shows."""

    topic: str
    links: tuple[tuple[str, str], ...]
    extra_html: str = ""


def month_path(months: int) -> str:
    """Return the address of the month that is `months` after the first one shown."""
    year, month = divmod(FIRST_MONTH[0] * 12 + FIRST_MONTH[1] - 1 + months, 12)
    return f"{CALENDAR}/{year}/{month + 1:02}"


def next_session(session: str) -> str:
    """Return the session number that a page gives a visitor who came with `session`."""
    return hashlib.sha256(session.encode()).hexdigest()[:16]


def first_session() -> str:
    """Return the address by which the rest of the site links to the part with sessions."""
    return f"{SESSION}?sid={next_session('')}"


def find(target: str) -> EndlessPage | None:
    """Return the endless page at an address, or None."""
    path, query = urlsplit(target)[2:4]
    if path == SESSION:
        session = parse_qs(query).get("sid", [""])[0]
        return EndlessPage("buzon", ((f"?sid={next_session(session)}", "Nueva consulta"),))
    if _MAZE.fullmatch(path):
        step = "bajar/" if path.endswith("/subir/") else "subir/"
        return EndlessPage("laberinto", ((step, f"Seguir: {step[:-1]}"),))
    if path == CALENDAR:
        return _month(*FIRST_MONTH)
    if match := _MONTH.fullmatch(path):
        return _month(int(match[1]), int(match[2]))
    return None


def _month(year: int, month: int) -> EndlessPage:
    offset = (year - FIRST_MONTH[0]) * 12 + month - FIRST_MONTH[1]
    links = [(month_path(offset + 1), "Mes siguiente")]
    if year > 1:
        links.append((month_path(offset - 1), "Mes anterior"))
    weekday, days = calendar.monthrange(year, month)
    cells = [""] * weekday + [str(day) for day in range(1, days + 1)]
    rows = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells[start : start + 7]) + "</tr>"
        for start in range(0, len(cells), 7)
    )
    table = f"<table><caption>{MONTHS[month - 1]} de {year}</caption>{rows}</table>"
    return EndlessPage("calendario", tuple(links), table)


def _sessions() -> Iterator[str]:
    session = ""
    while True:
        session = next_session(session)
        yield f"{SESSION}?sid={session}"


def _maze() -> Iterator[str]:
    path = MAZE
    while True:
        yield path
        path += "bajar/" if path.endswith("/subir/") else "subir/"


def copies(steps: int = 100) -> tuple[frozenset[str], ...]:
    """Return the addresses that a crawl meets within `steps` links, one set per part."""
    return (
        frozenset({SESSION, *islice(_sessions(), steps)}),
        frozenset({CALENDAR, *(month_path(month) for month in range(-steps, steps + 1))}),
        frozenset(islice(_maze(), steps)),
    )
