"""Templates, and what they need: filters, static files, and the drawing of the yield curve.

Everything that a template inserts is escaped.
"""

import math
import mimetypes
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import jinja2

from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.reporting.tally import Point

_PACKAGE = files("bilingual_crawler.web")
STATIC = ("style.css", "page.js", "run.js", "icon.svg")


WIDTH, HEIGHT = 760, 284
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 14, 28
TICKS = 4
STEPS = (1, 2, 2.5, 5, 10)


class StaticFile(NamedTuple):
    """A static file; `version` changes with its content."""

    content: bytes
    kind: str
    version: str


@lru_cache(maxsize=1)
def static_files() -> dict[str, StaticFile]:
    """Return the style sheet, the script and the icon; read once, from a wheel or an egg."""
    found = {}
    for name in STATIC:
        content = (_PACKAGE / "static" / name).read_bytes()
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        found[name] = StaticFile(content, kind, sha256(content).hexdigest()[:12])
    return found


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    """Return the templates; a missing value is an error, not an empty string."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=lambda value: f"{value:,}",
        tag=language_tag,
        web_url=web_url,
        short_url=short_url,
        moment=moment,
        duration=duration,
    )
    made.globals.update(
        query=query_string,
        static=lambda name: f"/static/{name}?v={static_files()[name].version}",
    )
    return made


def prepare() -> None:
    """Load all templates and the table of languages, so that the first page is not slower."""
    for file in (_PACKAGE / "templates").iterdir():
        environment().get_template(file.name)
    language_tag("eng")
    static_files()


def render(template: str, **values: Any) -> str:
    """Return a page; half a character, as JSON of anyone may have, becomes a question mark."""
    text = environment().get_template(template).render(**values)
    return text.encode("utf-8", "replace").decode()


def _template(name: str) -> str | None:
    file = _PACKAGE / "templates" / name
    return file.read_text("utf-8") if file.is_file() else None


@lru_cache(maxsize=1 << 10)
def language_tag(code: str) -> str:
    """Return the tag of a language for HTML: the shortest code; "und" if it is unknown."""
    language = language_of_tag(code)
    if language is None:
        return "und"
    return language.iso639_1 or language.code


def web_url(url: str) -> str:
    """Return the URL if it is safe to link to, or else "": no scripts, files or mail."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in {"http", "https"} and parts.netloc else ""


def short_url(url: str) -> str:
    """Return a URL without its scheme and www."""
    return url.removeprefix("https://").removeprefix("http://").removeprefix("www.")


def moment(text: str) -> str:
    """Return a time of the report, to the minute."""
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text


def duration(seconds: float) -> str:
    """Return a duration in its two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def query_string(given: Mapping[str, Any], **changes: Any) -> str:
    """Return the query string of a link: what was given, with changes, without empty values."""
    asked = {**given, **changes}
    return urlencode({name: value for name, value in asked.items() if value not in (None, "")})


class Tick(NamedTuple):
    """A line of the grid: its position and its label."""

    at: float
    label: str


class Drawing(NamedTuple):
    """The yield curve in the coordinates of an SVG."""

    line: str
    area: str
    end: tuple[float, float]
    across: list[Tick]
    up: list[Tick]
    points: list[tuple[float, float, int, int]]
    """x, y, pages, pairs"""


def draw(points: Sequence[Point]) -> Drawing | None:
    """Return the drawing of a curve; None if there is nothing to draw."""
    if not points or points[-1][0] == 0:
        return None
    pages, pairs = points[-1][0], max(1, *(each[1] for each in points))
    up = steps(pairs)
    top = max(pairs, up[-1])

    def place(point: Point) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * point[0] / pages
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * point[1] / top
        return round(x, 1), round(y, 1)

    places = [place(each) for each in points]
    line = "M" + "L".join(f"{x} {y}" for x, y in places)
    floor = HEIGHT - BOTTOM
    return Drawing(
        line=line,
        area=f"{line}L{places[-1][0]} {floor}L{places[0][0]} {floor}Z",
        end=places[-1],
        across=[Tick(place((each, 0))[0], f"{each:,}") for each in steps(pages) if each <= pages],
        up=[Tick(place((0, each))[1], f"{each:,}") for each in up],
        points=[(*at, *point) for at, point in zip(places, points, strict=True)],
    )


def steps(highest: int) -> list[int]:
    """Return round whole numbers from 0 to at least the highest."""
    rough = max(1.0, highest / TICKS)
    power = 10 ** math.floor(math.log10(rough))
    step = next(each * power for each in STEPS if each * power >= rough)
    step = math.ceil(step)
    return list(range(0, highest + step, step))
