"""How well taught languages are told from their neighbours, with languages hidden from CLD2.

    cd DIR && apt-get download gnome-user-docs installation-guide-amd64 libreoffice-help-{ca,...}
    for package in *.deb; do dpkg-deb -x $package .; done
    python -m benchmarks.taught_languages DIR

Pages are those of LibreOffice's help, GNOME's help and Debian's installation guide, and pieces of
LibreOffice's messages and of Debian Edu's manual, the only text in Slovak and Bokmål. A page counts
if CLD2 agrees about its language. Each language in turn is hidden: CLD2's answer becomes its
nearest neighbour, as for a language that CLD2 does not know. It is taught with lines of some pages,
which are sentences and short paragraphs, and 60 other pages are identified, beside 40 of each near
neighbour and 5 of every other language. With --against, as many lines of each near neighbour, from
other pages, are given too.
"""

import gettext
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree, html

from bilingual_crawler.documents.identifiers.taught import TaughtIdentifier
from bilingual_crawler.documents.identifiers.teaching import teach
from bilingual_crawler.documents.language import CLD2, Identification, LanguageIdentifier
from bilingual_crawler.languages import find_language

NEIGHBOURS = {
    "glg": ("por", "spa", "cat"),
    "slk": ("ces", "pol", "slv"),
    "nor": ("dan", "swe"),
    "cat": ("spa", "fra", "por"),
    "slv": ("hrv", "ces", "slk"),
    "hrv": ("slv", "slk"),
    "eus": ("spa", "fin"),
    "nld": ("deu", "dan"),
    "ukr": ("rus",),
    "ind": ("eus", "nld"),
}
"""The languages that are hidden, and what CLD2 would say instead, nearest first."""
CHOSEN_ON = {
    "por": ("spa", "glg"),
    "swe": ("dan", "nor"),
    "ces": ("slk", "pol"),
    "ita": ("spa", "ron"),
    "deu": ("nld", "dan"),
    "fra": ("cat", "ita"),
}
"""Those that the constants were chosen on."""
SIZES = (20, 100, 500)
OWN, NEAR, OTHER = 60, 40, 5
LEAST_LINE, LEAST_PAGE = 25, 200
AGREED = 90
PIECE = 25
MALLARD = "{http://projectmallard.org/1.0/}"
FOLDERS = {
    "gnome": "usr/share/help/{}/gnome-help/*.page",
    "help": "usr/share/libreoffice/help/{}/text/**/*.html",
    "guide": "usr/share/doc/installation-guide-amd64/{}/*.html",
    "messages": "usr/lib/libreoffice/program/resource/{}/LC_MESSAGES/*.mo",
    "edu": "usr/share/doc/debian-edu-doc-{}*/*bookworm*.html",
}
LOCALES = (
    "ca cs da de el es et eu fi fr gl hr hu id it lv nb nl pl pt ro ru sk sl sv uk".split()  # noqa: SIM905
)
Page = list[str]


class Hiding(LanguageIdentifier):
    """CLD2 as if it did not know a language, and took it for another."""

    def __init__(self, hidden: str, instead: str) -> None:
        self._hidden, self._instead = hidden, instead

    def identify(self, text: str, hints: Sequence[str] = (), domain: str = "") -> Identification:
        answer = CLD2.identify(text, hints, domain)
        shares: dict[str, int] = defaultdict(int)
        for code, percent in answer.shares:
            shares[self._instead if code == self._hidden else code] += percent
        return Identification(answer.reliable, sorted(shares.items(), key=lambda each: -each[1]))


def pages_of(folder: Path) -> dict[str, list[Page]]:
    """Return the pages of every language that CLD2 agrees about."""
    found: dict[str, list[Page]] = defaultdict(list)
    for locale in LOCALES:
        language = find_language(locale).code
        for source, pattern in FOLDERS.items():
            for path in sorted(folder.glob(pattern.format(locale))):
                for page in _pages(source, path):
                    shares = CLD2.identify("\n".join(page)).shares
                    if shares and shares[0][0] == language and shares[0][1] >= AGREED:
                        found[language].append(page)
    return found


def _pages(source: str, path: Path) -> Iterator[Page]:
    lines = [" ".join(line.split()) for line in _lines(source, path)]
    lines = list(dict.fromkeys(line for line in lines if len(line) >= LEAST_LINE))
    whole = source not in ("messages", "edu")
    size = len(lines) if whole else PIECE
    for at in range(0, len(lines), size or 1):
        page = lines[at : at + size]
        if sum(map(len, page)) >= LEAST_PAGE:
            yield page


def _lines(source: str, path: Path) -> Iterator[str]:
    if source == "messages":
        with path.open("rb") as file:
            catalogue = gettext.GNUTranslations(file)
        for key, text in catalogue._catalog.items():  # type: ignore[attr-defined]  # noqa: SLF001
            if isinstance(key, str) and key:
                yield re.sub("<[^>]*>|[~_]", "", text)
    elif source == "gnome":
        for element in etree.parse(path).iter(f"{MALLARD}p", f"{MALLARD}title"):
            yield "".join(map(str, element.itertext()))
    else:
        root = html.parse(path, html.HTMLParser(encoding="utf-8")).getroot()
        places = root.xpath('//*[@id="DisplayArea"]') or [root]
        for element in places[0].iter("p", "h1", "h2", "h3", "li"):
            yield "".join(element.itertext())


class Trial:
    """One language, hidden and taught with one number of sentences."""

    def __init__(
        self, pages: dict[str, list[Page]], hidden: str, near: Sequence[str], size: int
    ) -> None:
        chance = random.Random(f"{hidden} {size}")
        own = list(pages[hidden])
        chance.shuffle(own)
        lines: list[str] = []
        while len(lines) < size:
            lines += own.pop()
        self.hidden = hidden
        against = {}
        for code in near if "--against" in sys.argv else ():
            some = chance.sample(pages[code], len(pages[code]))
            pages = pages | {code: some[len(some) // 2 :]}
            against[code] = [line for page in some[: len(some) // 2] for line in page][:size]
        base = Hiding(hidden, near[0])
        began = time.process_time()
        self.taught = teach(hidden, lines[:size], against, base.identify)
        self.identifier = TaughtIdentifier(base, [self.taught])
        self.seconds = time.process_time() - began
        self.own = own[:OWN]
        self.near = [page for code in near for page in _some(pages[code], NEAR, chance)]
        self.other = [
            page
            for code in sorted(pages)
            if code != hidden and code not in near
            for page in _some(pages[code], OTHER, chance)
        ]

    def taken(self, pages: list[Page]) -> int:
        """Return how many pages are taken for the hidden language."""
        answers = (self.identifier.identify("\n".join(page)).shares for page in pages)
        return sum(bool(shares) and shares[0][0] == self.hidden for shares in answers)


def _some(pages: list[Page], number: int, chance: random.Random) -> list[Page]:
    return chance.sample(pages, min(number, len(pages)))


def main() -> None:
    pages = pages_of(Path(sys.argv[1]))
    table = CHOSEN_ON if "--chosen-on" in sys.argv else NEIGHBOURS
    print("| language | sentences | characters | F1 | recall | near wrong | others wrong |")
    print("|---|---|---|---|---|---|---|")
    sums: dict[int, list[float]] = defaultdict(list)
    for hidden, near in table.items():
        for size in SIZES:
            trial = Trial(pages, hidden, near, size)
            right = trial.taken(trial.own)
            wrong, others = trial.taken(trial.near), trial.taken(trial.other)
            f1 = 2 * right / (right + wrong + others + len(trial.own))
            sums[size].append(f1)
            print(
                f"| {hidden} | {size} | {trial.taught.characters:,} | {f1:.3f}"
                f" | {right / len(trial.own):.3f} | {wrong} of {len(trial.near)}"
                f" | {others} of {len(trial.other)} |",
                flush=True,
            )
    for size, values in sums.items():
        print(f"| **mean** | {size} | | **{sum(values) / len(values):.3f}** | | | |")


if __name__ == "__main__":
    main()
