"""Revisit recorded sites that were edited by a script: changes found per request and per byte.

Each site is served on loopback and crawled. Then two years pass (the journal's clock is set back
after each crawl), and each time a script edits the site: a fifth of the pages are lively, and half
of those change each time; of the others, one in fifty does. One page in a hundred goes away, and
one in fifty is new each time, with the links to it. The crawl is revisited both times. In the end
the site is also crawled anew. A change is found when the page is fetched with its new text.

    BILINGUAL_SHARED=FOLDER python -m benchmarks.revisit [--sites arima-blog,laugar] [--seed 1]
"""

import argparse
import random
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.replay.recording import Recording
from tests.support.crawling import crawl, report
from tests.support.edited_site import Asked, EditedSite, serving

SITES = {"arima-blog": "eng-spa", "exsports": "eng-fin", "irhpc": "eng-isl", "laugar": "eng-eus"}
LIVELY, CHANGES, OTHERS_CHANGE, GO, COME = 0.2, 0.5, 0.02, 0.01, 0.02
YEAR = 365 * 86_400
LINK = re.compile(rb"href\s*=\s*([\"'])(.*?)\1", re.IGNORECASE | re.DOTALL)
PARAGRAPH = re.compile(rb"<(p|li|td)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
SCRIPT = re.compile(rb"<script\b.*?</script>", re.IGNORECASE | re.DOTALL)
SHARES = (0.5, 0.8, 1.0)


class EditedRecording:
    """A recorded site, edited; all addresses are those of the loopback server."""

    def __init__(self, warc: Path, seed: int) -> None:
        self._rng = random.Random(seed)
        recording = Recording(warc)
        home = recording.homes()[0]
        self._origin = "{0.scheme}://{0.netloc}".format(urlsplit(home)).encode()
        self.start = urlsplit(home).path or "/"
        self._bodies: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        for url in recording.pages:
            answer = recording.answer(url)
            if answer is not None and url.startswith(self._origin.decode()):
                self._bodies[self._path(url)] = answer.body
        for source, target in recording.aliases():
            if source.startswith(self._origin.decode()):
                self.moved[self._path(source)] = self._path(target)
        pages = sorted(self._bodies.keys() - {self.start})
        self._lively = set(self._rng.sample(pages, round(LIVELY * len(pages))))
        coming = self._rng.sample(pages, 2 * round(COME * len(pages)))
        self._coming = [coming[: len(coming) // 2], coming[len(coming) // 2 :]]
        self._hidden = set(coming)
        self._edits: dict[str, int] = {}
        self.site = EditedSite(self.pages())

    @staticmethod
    def _path(url: str) -> str:
        parts = urlsplit(url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def pages(self) -> dict[str, object]:
        """Return the site as it is now."""
        now: dict[str, object] = {
            path: self._edited(path, body)
            for path, body in self._bodies.items()
            if path not in self._hidden
        }
        moved = {source: target for source, target in self.moved.items() if target in now}
        return moved | now

    def _edited(self, path: str, body: bytes) -> bytes:
        def link(found: re.Match[bytes]) -> bytes:
            target = urljoin(self._origin.decode() + path, found[2].decode("utf-8", "replace"))
            if not target.startswith(self._origin.decode()):
                return found[0]
            place = self._path(target)
            return b'href="#"' if self.moved.get(place, place) in self._hidden else found[0]

        body = LINK.sub(link, body)
        if number := self._edits.get(path, 0):
            news = f"The committee met again and decided matter {number} of {path}. ".encode()
            blank = SCRIPT.sub(lambda found: b" " * len(found[0]), body)
            places = [found for found in PARAGRAPH.finditer(blank) if found[1] in b"pP"]
            places = places or list(PARAGRAPH.finditer(blank))
            if places:  # in the longest, which is hardly part of a menu
                at = max(places, key=lambda found: len(found[2])).start(2)
                body = body[:at] + news + body[at:]
        return body.replace(self._origin, b"{site}")

    def edit(self) -> tuple[set[str], set[str]]:
        """Let a year pass; return the paths that are changed or new, and those that are gone."""
        before = self.site.pages
        there = sorted(self._bodies.keys() - self._hidden - {self.start})
        changed = {
            path
            for path in there
            if self._rng.random() < (CHANGES if path in self._lively else OTHERS_CHANGE)
        }
        for path in changed:
            self._edits[path] = self._edits.get(path, 0) + 1
        self._hidden -= (new := set(self._coming.pop(0)))
        gone = set(self._rng.sample(sorted(set(there) - changed), round(GO * len(there))))
        for path in gone:
            del self._bodies[path]
        self.site.pages = self.pages()
        changed = {path for path in changed if self.site.pages[path] != before.get(path)}
        return changed | new, gone


class Found(NamedTuple):
    """What one crawl found of the changes."""

    requests: int
    kilobytes: int
    changes: int
    of: int
    at: tuple[int | None, ...]
    """Requests after which these shares of the changes were found."""

    def row(self, *name: object) -> str:
        at = " | ".join("-" if each is None else str(each) for each in self.at)
        found = f"{self.changes} of {self.of}"
        cells = (*map(str, name), found, str(self.requests), f"{self.kilobytes:,}", at)
        return f"| {' | '.join(cells)} |"


def found_by(asked: Iterable[Asked], changes: set[str]) -> Found:
    asked = list(asked)
    left, curve = set(changes), []
    for each in asked:
        if each.status == 200:
            left.discard(each.path)
        curve.append(len(changes) - len(left))
    total = curve[-1] if curve else 0
    at = tuple(
        next((n for n, value in enumerate(curve, 1) if value >= share * total), None)
        for share in SHARES
    )
    return Found(len(asked), sum(each.sent for each in asked) // 1000, total, len(changes), at)


def age(folder: Path) -> None:
    """Set the journal's clock back by a year."""
    with sqlite3.connect(folder / "crawl.sqlite") as journal:
        journal.execute("UPDATE visits SET first = first - ?, latest = latest - ?", (YEAR, YEAR))
        journal.execute("UPDATE visits SET changed = changed - ? WHERE changed > 0", (YEAR,))


def measure(name: str, langs: str, seed: int) -> None:
    recorded = EditedRecording(SHARED / "sites" / f"{name}.warc.gz", seed)
    settings = {
        "BILINGUAL_PROBES": 0,
        "BILINGUAL_HONOUR": "",
        "BILINGUAL_FOLLOW_ALTERNATES": 0,  # to no other host
        "CONCURRENT_REQUESTS": 1,
        "METAREFRESH_ENABLED": 0,
    }
    again = settings | {"BILINGUAL_REVISIT": "30d"}
    with tempfile.TemporaryDirectory() as place, serving(recorded.site) as site:
        folder, url = Path(place) / "crawl", site.url.rstrip("/") + recorded.start
        crawl(url, folder, langs=langs, settings=settings)
        site.new()
        for year in (1, 2):
            age(folder)
            changes, _gone = recorded.edit()
            crawl(url, folder, langs=langs, settings=again)
            print(found_by(site.new(), changes).row(name, f"revisit {year}"), flush=True)
            print(report(folder)["revisited"], file=sys.stderr)
            crawl(url, Path(place) / f"new{year}", langs=langs, settings=settings)
            print(found_by(site.new(), changes).row(name, "new crawl"), flush=True)
            pairs = [report(each)["pairs"] for each in (folder, Path(place) / f"new{year}")]
            print(f"pairs: {pairs[0]} revisited, {pairs[1]} new", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sites", default=",".join(SITES))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    heads = (
        "site",
        "crawl",
        "changes found",
        "requests",
        "kB",
        *(f"{share:.0%} at" for share in SHARES),
    )
    print("| " + " | ".join(heads) + " |\n|---|---|" + "---:|" * (len(heads) - 2))
    for name in given.sites.split(","):
        measure(name, SITES[name], given.seed)


if __name__ == "__main__":
    main()
