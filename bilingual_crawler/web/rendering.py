"""Templates, and what they need: everything is escaped unless a template is ours."""

import mimetypes
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import jinja2

from bilingual_crawler.languages import language_of_tag

_PACKAGE = files("bilingual_crawler.web")
STATIC = ("style.css", "page.js", "icon.svg")


class StaticFile(NamedTuple):
    """A file of ours, and the short name of its content."""

    content: bytes
    kind: str
    version: str


@lru_cache(maxsize=1)
def static_files() -> dict[str, StaticFile]:
    """The style, the script and the icon; read once, from a wheel or an egg alike."""
    found = {}
    for name in STATIC:
        content = (_PACKAGE / "static" / name).read_bytes()
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        found[name] = StaticFile(content, kind, sha256(content).hexdigest()[:12])
    return found


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    """The templates; a name that is not given to one is an error, not an empty place."""
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
    """Read all templates and the table of languages, so that the first page is no slower."""
    for file in (_PACKAGE / "templates").iterdir():
        environment().get_template(file.name)
    language_tag("eng")
    static_files()


def render(template: str, **values: Any) -> str:
    """A page."""
    return environment().get_template(template).render(**values)


def _template(name: str) -> str | None:
    file = _PACKAGE / "templates" / name
    return file.read_text("utf-8") if file.is_file() else None


@lru_cache(maxsize=1 << 10)
def language_tag(code: str) -> str:
    """The code of a language as HTML wants it: the shortest there is; "und" if it is none."""
    language = language_of_tag(code)
    if language is None:
        return "und"
    return language.iso639_1 or language.code


def web_url(url: str) -> str:
    """The URL if a link may lead there, "" if not: no scripts, no files, no mail."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in {"http", "https"} and parts.netloc else ""


def short_url(url: str) -> str:
    """A URL as people read it."""
    return url.removeprefix("https://").removeprefix("http://").removeprefix("www.")


def moment(text: str) -> str:
    """A time of the report, to the minute."""
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def query_string(given: Mapping[str, Any], **changes: Any) -> str:
    """The query of a link: what was asked, with changes; what is empty is left out."""
    asked = {**given, **changes}
    return urlencode({name: value for name, value in asked.items() if value not in (None, "")})
