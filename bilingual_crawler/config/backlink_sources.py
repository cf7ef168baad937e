"""The sources of backlinks that BILINGUAL_BACKLINKS names, checked at the start."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.plugins import installed_plugins, is_import_path

OWN = "own"
KINDS = ("webgraph", "links", "http", "python")
_BETWEEN = re.compile(rf",\s*(?=(?:{OWN}|{'|'.join(KINDS)})\b)")
_HOW = (
    "own, webgraph:FOLDER, links:FILE, http:TEMPLATE with {url} or {site} in it, or"
    " python:package.module.Class, with commas between them"
)


class SourceSpec(NamedTuple):
    """A source as it is named: its kind, and what follows the colon."""

    kind: str
    place: str = ""


def read_sources(value: Any) -> tuple[SourceSpec, ...]:
    """The sources named in a setting; ValueError tells what is wrong with one.

    The crawler's own reverse links are always among them.
    """
    parts = _BETWEEN.split(value) if isinstance(value, str) else list(value or ())
    specs = [_read(str(part).strip()) for part in parts if str(part).strip()]
    return tuple(dict.fromkeys([SourceSpec(OWN), *specs]))


def _read(text: str) -> SourceSpec:
    if text == OWN:
        return SourceSpec(OWN)
    kind, colon, place = text.partition(":")
    if not colon or kind not in KINDS or not place:
        raise ValueError(f"knows {_HOW}")
    if kind == "http":
        _check_template(place)
    elif kind == "python":
        _check_class(place)
    else:
        _check_place(kind, Path(place).expanduser())
    return SourceSpec(kind, place)


def _check_template(template: str) -> None:
    if not template.startswith(("http://", "https://")):
        raise ValueError(
            "needs the whole address behind http:, such as"
            " http:https://api.example.org/links?to={url}#results.source"
        )
    try:
        template.format(url="", site="")
    except (KeyError, IndexError, ValueError):
        raise ValueError("knows no other field than {url} and {site} in an address") from None
    if "{url}" not in template and "{site}" not in template:
        raise ValueError("needs {url} or {site} where the question goes in the address")


def _check_class(name: str) -> None:
    installed = () if is_import_path(name) else installed_plugins("bilingual_crawler.backlinks")
    if not is_import_path(name) and name not in installed:
        known = f"one of {', '.join(installed)}, or " if installed else ""
        raise ValueError(f"needs {known}package.module.Class after python:, not {name}")


def _check_place(kind: str, path: Path) -> None:
    if kind == "links" and not path.is_file():
        raise ValueError(f"names the file {path}, which is not there")
    if kind == "webgraph" and not path.is_dir():
        raise ValueError(f"names the folder {path}, which is not there")
