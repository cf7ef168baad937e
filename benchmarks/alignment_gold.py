"""Real parallel text with a known alignment, for benchmarks/alignment.py; none of it is kept.

The help pages of LibreOffice give each paragraph the same name in every language, and its message
catalogues pair text with text. Paragraphs with the same number of sentences in both languages are
paired sentence by sentence; others, and untranslated text, are left out. Then the texts are
disturbed at random, with a seed: sentences, paragraphs and whole stretches are removed on one side,
and neighbouring sentences and paragraphs are joined. The gold alignment follows from that.

apt-get install libreoffice-help-{en-us,es,eu,fi,el,hi,zh-cn} libreoffice-l10n-is
"""

import gettext
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from lxml import html

from bilingual_crawler.alignment.costs import Bead
from bilingual_crawler.alignment.splitting import Segment, sentences

HELP = "usr/share/libreoffice/help"
CATALOGUES = "usr/lib/libreoffice/program/resource"
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LEAST_SENTENCES = 8
LEAST_MESSAGE = 15
MESSAGES = 60
"""Messages per document."""
PARAGRAPH_GONE, SENTENCE_GONE, JOINED, STRETCH_GONE = 0.04, 0.04, 0.25, 0.15
STRETCH = 10
PARAGRAPHS_JOINED = 0.15
"""How often a paragraph is joined to the one before it on one side."""


class Languages(NamedTuple):
    """Two languages, by code and by the names of their folders."""

    first: str
    second: str
    folder1: str
    folder2: str

    @property
    def name(self) -> str:
        return f"{self.first}-{self.second}"


PAIRS = (
    Languages("spa", "eus", "es", "eu"),
    Languages("eng", "fin", "en-US", "fi"),
    Languages("eng", "ell", "en-US", "el"),
    Languages("eng", "hin", "en-US", "hi"),
    Languages("eng", "zho", "en-US", "zh-CN"),
    Languages("eng", "isl", "", "is"),
)


class Paragraph(NamedTuple):
    pairs: list[tuple[str, str]]
    kind: str


class Case(NamedTuple):
    """Two texts, and the beads with text on both sides that a perfect aligner finds."""

    name: str
    first: list[Segment]
    second: list[Segment]
    gold: frozenset[Bead]


def cases(root: Path, pair: Languages, half: str, most: int = 10_000) -> list[Case]:
    """Return the disturbed texts of one half of the data: "dev" to tune, "test" to report."""
    documents = catalogue(root, pair) if not pair.folder1 else help_pages(root, pair)
    found = []
    for name, paragraphs in documents:
        if (crc32(name.encode()) % 2 == 0) == (half == "dev"):
            found.append(disturbed(name, paragraphs))
        if len(found) == most:
            break
    return found


def page_names(root: Path, pair: Languages) -> list[str]:
    """Return the help pages of the first language, in random order."""
    folder = root / HELP / pair.folder1 / "text"
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    return sorted(names, key=lambda name: crc32(name.encode()[::-1]))


def help_pages(root: Path, pair: Languages) -> Iterator[tuple[str, list[Paragraph]]]:
    for name in page_names(root, pair):
        page1 = named_paragraphs(root / HELP / pair.folder1 / "text" / name)
        page2 = named_paragraphs(root / HELP / pair.folder2 / "text" / name)
        paragraphs = []
        for key, (text1, kind) in page1.items():
            text2 = page2.get(key, (text1, ""))[0]
            parts1, parts2 = sentences(text1, pair.first), sentences(text2, pair.second)
            if text1 != text2 and len(parts1) == len(parts2):
                paragraphs.append(Paragraph(list(zip(parts1, parts2, strict=True)), kind))
        if sum(len(each.pairs) for each in paragraphs) >= LEAST_SENTENCES:
            yield name, paragraphs


def named_paragraphs(path: Path) -> dict[str, tuple[str, str]]:
    if not path.is_file():
        return {}
    root = html.parse(str(path), html.HTMLParser(encoding="utf-8")).getroot()
    found: dict[str, tuple[str, str]] = {}
    for element in root.iter("p", *HEADINGS):
        key, text = element.get("id") or "", " ".join(element.text_content().split())
        if text and key.startswith(("par_", "hd_")):
            found.setdefault(key, (text, "heading" if element.tag in HEADINGS else "paragraph"))
    return found


def catalogue(root: Path, pair: Languages) -> Iterator[tuple[str, list[Paragraph]]]:
    folder = root / CATALOGUES / pair.folder2 / "LC_MESSAGES"
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.mo")):
        with path.open("rb") as file:
            catalog: dict[object, str] = vars(gettext.GNUTranslations(file))["_catalog"]
        for key, text2 in catalog.items():
            text1 = key.rpartition("\4")[2] if isinstance(key, str) else ""
            short = min(len(text1), len(str(text2))) < LEAST_MESSAGE
            if not short and text1 != text2 and "\n" not in text1 + text2:
                found[text1.replace("~", "")] = text2.replace("~", "")
    messages = sorted(found.items())
    random.Random(0).shuffle(messages)
    for start in range(0, len(messages), MESSAGES):
        some = messages[start : start + MESSAGES]
        yield (
            f"messages {start}",
            [Paragraph(some[at : at + 4], "paragraph") for at in range(0, len(some), 4)],
        )


def disturbed(name: str, paragraphs: list[Paragraph]) -> Case:
    """Omit and join sentences; return the texts and the remaining beads."""
    chance = random.Random(name)
    sides: tuple[list[Segment], list[Segment]] = ([], [])
    gold: set[Bead] = set()
    gone = _stretch(chance, sum(len(each.pairs) for each in paragraphs))
    at, numbers = 0, [0, 0]
    for pairs, kind in paragraphs:
        for side in (0, 1):
            numbers[side] += chance.random() >= PARAGRAPHS_JOINED
        whole = chance.randrange(2) if chance.random() < PARAGRAPH_GONE else None
        open_bead = False
        for texts in pairs:
            missing = whole if whole is not None else gone.get(at)
            if missing is None and chance.random() < SENTENCE_GONE:
                missing = chance.randrange(2)
            at += 1
            if missing is None and open_bead and chance.random() < JOINED:
                parts = [Segment(texts[side], numbers[side], kind) for side in (0, 1)]
                _join(chance.randrange(2), sides, gold, parts)
                open_bead = False
                continue
            for side in (0, 1):
                if missing != side:
                    sides[side].append(Segment(texts[side], numbers[side], kind))
            open_bead = missing is None
            if open_bead:
                size1, size2 = len(sides[0]), len(sides[1])
                gold.add(Bead(size1 - 1, size1, size2 - 1, size2))
    return Case(name, *sides, frozenset(gold))


def _stretch(chance: random.Random, size: int) -> dict[int, int]:
    """Return a stretch of sentences that one side lacks, for some of the texts."""
    if size < 3 * STRETCH or chance.random() > STRETCH_GONE:
        return {}
    start, side = chance.randrange(size - STRETCH), chance.randrange(2)
    return dict.fromkeys(range(start, start + chance.randint(3, STRETCH)), side)


def _join(
    joined: int,
    sides: tuple[list[Segment], list[Segment]],
    gold: set[Bead],
    added: list[Segment],
) -> None:
    """Add a sentence to the bead before it, joined to its neighbour on only one side."""
    size1, size2 = len(sides[0]), len(sides[1])
    gold.discard(Bead(size1 - 1, size1, size2 - 1, size2))
    last = sides[joined][-1]
    sides[joined][-1] = replace(last, text=f"{last.text} {added[joined].text}")
    sides[1 - joined].append(added[1 - joined])
    gold.add(Bead(size1 - 1, len(sides[0]), size2 - 1, len(sides[1])))
