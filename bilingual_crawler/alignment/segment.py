"""A sentence in its place: what the aligner lines up."""

from collections.abc import Iterable
from dataclasses import dataclass

from bilingual_crawler.alignment.splitting import sentences
from bilingual_crawler.documents.document import Document, Paragraph

HEADINGS = frozenset({"title", "heading"})


@dataclass(slots=True, frozen=True)
class Segment:
    """A sentence, the number of the paragraph that it stands in, and what kind that is."""

    text: str
    paragraph: int = 0
    kind: str = "paragraph"

    @property
    def is_heading(self) -> bool:
        """Whether it stands above text rather than in it."""
        return self.kind in HEADINGS


def segments_of(document: Document, language: str) -> list[Segment]:
    """The sentences of the content of a page, in their order."""
    return split_all(document.main_paragraphs, language)


def split_all(paragraphs: Iterable[Paragraph], language: str) -> list[Segment]:
    """The sentences of paragraphs; a sentence never reaches into the next paragraph."""
    return [
        Segment(sentence, number, paragraph.kind)
        for number, paragraph in enumerate(paragraphs)
        for sentence in sentences(paragraph.text, language)
    ]
