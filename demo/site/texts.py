"""The prose of the site: one file per topic, with all languages side by side."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROSE = Path(__file__).parent / "prose"
HEADING = re.compile(r"^\[(\w+)\] (.+)\n", re.MULTILINE)
IMAGE = re.compile(r"^image: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one page in one language; translations share the images."""

    title: str
    paragraphs: tuple[str, ...]
    images: tuple[str, ...]

    @property
    def words(self) -> int:
        """The number of words without the title."""
        return sum(len(paragraph.split()) for paragraph in self.paragraphs)


@cache
def read_topic(name: str) -> dict[str, Text]:
    """Return the texts of a topic by language code (es, eu, en)."""
    source = (PROSE / f"{name}.txt").read_text(encoding="utf-8")
    preamble, *sections = HEADING.split(source)
    images = tuple(IMAGE.findall(preamble))
    return {
        language: Text(title, tuple(body.strip().split("\n\n")), images)
        for language, title, body in zip(sections[::3], sections[1::3], sections[2::3], strict=True)
    }
