"""How discovery searches for bilingual sites: its strategies and its sources of backlinks."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.plugins import check_plugin_name


class Strategy(NamedTuple):
    """Which links discovery follows, and in what order, after Barbosa's comparison."""

    back_and_forth: bool
    """Search only the bipartite graph of hubs and sites; otherwise follow every link to a site."""
    learns: bool
    """Rank links by classifiers once these have learned; otherwise first come, first served."""

    @property
    def may_focus(self) -> bool:
        """True if a topic, where there is one, restricts the search to pages about it."""
        return self.learns and not self.back_and_forth


STRATEGIES = {
    "forward": Strategy(back_and_forth=False, learns=False),
    "focused": Strategy(back_and_forth=False, learns=True),
    "back-forward": Strategy(back_and_forth=True, learns=False),
    "classifier": Strategy(back_and_forth=True, learns=True),
}
ONE, TWO = "one", "two"
QUEUES = (ONE, TWO)
"""How backlinks and forward links wait: in one order, or in two that take turns."""

OWN = "own"
KINDS = ("webgraph", "links", "http", "python")
_BETWEEN = re.compile(rf",\s*(?=(?:{OWN}|{'|'.join(KINDS)})\b)")


class SourceSpec(NamedTuple):
    """A source of backlinks as the user names it: its kind, and the text after the colon."""

    kind: str
    place: str = ""


def read_sources(value: Any) -> tuple[SourceSpec, ...]:
    """Check the sources named in BILINGUAL_BACKLINKS; the crawler's own is always one of them."""
    parts = _BETWEEN.split(value) if isinstance(value, str) else list(value or ())
    specs = [_read(str(part).strip()) for part in parts if str(part).strip()]
    return tuple(dict.fromkeys([SourceSpec(OWN), *specs]))


def _read(text: str) -> SourceSpec:
    if text == OWN:
        return SourceSpec(OWN)
    kind, colon, place = text.partition(":")
    if not colon or kind not in KINDS or not place:
        raise ValueError(
            "must be own, webgraph:FOLDER, links:FILE, http:TEMPLATE with {url} or {site} in it, or"
            " python:package.module.Class, with commas between them"
        )
    if kind == "http":
        _check_template(place)
    elif kind == "python":
        check_plugin_name(place, "bilingual_crawler.backlinks")
    else:
        _check_place(kind, Path(place).expanduser())
    return SourceSpec(kind, place)


def _check_template(template: str) -> None:
    if not template.startswith(("http://", "https://")):
        raise ValueError(
            "needs the whole address after http:, such as"
            " http:https://api.example.org/links?to={url}#results.source"
        )
    try:
        template.format(url="", site="")
    except (KeyError, IndexError, ValueError):
        raise ValueError("accepts no other fields than {url} and {site} in an address") from None
    if "{url}" not in template and "{site}" not in template:
        raise ValueError("needs {url} or {site} in the address")


def _check_place(kind: str, path: Path) -> None:
    if kind == "links" and not path.is_file():
        raise ValueError(f"names the file {path}, which does not exist")
    if kind == "webgraph" and not path.is_dir():
        raise ValueError(f"names the folder {path}, which does not exist")
