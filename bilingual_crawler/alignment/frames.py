"""The text around the content of pages: menus, footers, forms, titles, descriptions.

It is translated as carefully as the rest, and it is what translators of user interfaces look for.
But the same frame is on every page of a site, so aligning it with each page would take longer than
the content and give nothing new. So a text is aligned until it has found its counterpart, and given
up after a few pages without one.
"""

from collections.abc import Iterable
from hashlib import blake2b

from bilingual_crawler.alignment.splitting import Segment, sentences
from bilingual_crawler.documents.document import Document

FRAME, PAGE_TITLE, DESCRIPTION = "frame", "page_title", "description"
"""The kinds of such segments."""
SHORT = 60
"""Texts up to this many characters are one sentence: labels of menus and buttons."""
MOST_SEGMENTS = 400
"""Segments of a page that are looked at."""
MOST_TRIES = 4
"""Pages on which a text is aligned as long as it has no counterpart."""
SETTLED = 0.5
"""The score from which on a text has found its counterpart."""
MOST_KNOWN = 500_000
"""Texts that are remembered; after that frames are left out."""


def frame_of(document: Document, language: str) -> list[Segment]:
    """Return the sentences of a page that are not its content, title and description first."""
    found: list[Segment] = []
    if not (isinstance(document.title, str) and isinstance(document.description, str)):
        raise TypeError("not text")
    headings = [each.text for each in document.main_paragraphs if each.kind in {"title", "heading"}]
    if document.title and not any(each in document.title for each in headings):
        found.append(Segment(document.title, -1, PAGE_TITLE))
    if document.description:
        texts = enumerate(sentences(document.description, language))
        found += [Segment(text, -1, DESCRIPTION, at) for at, text in texts]
    for number, paragraph in enumerate(document.paragraphs):
        if not paragraph.boilerplate or len(found) >= MOST_SEGMENTS:
            continue
        if not isinstance(paragraph.text, str):
            raise TypeError("not text")
        if len(paragraph.text) <= SHORT:
            found.append(Segment(paragraph.text, number, FRAME))
        else:
            split = enumerate(sentences(paragraph.text, language))
            found += [Segment(text, number, FRAME, at) for at, text in split]
    return found[:MOST_SEGMENTS]


class KnownFrames:
    """The texts of frames that need not be aligned again."""

    def __init__(self) -> None:
        self._tries: dict[bytes, int] = {}

    def fresh(
        self, segments: Iterable[Segment], languages: tuple[str, str], side: int
    ) -> list[Segment]:
        """Return those segments that have no counterpart yet, once each; count the try."""
        found: dict[bytes, Segment] = {}
        for each in segments:
            place = _place(languages, side, each.text)
            tries = self._tries.get(place, 0)
            if tries < MOST_TRIES and place not in found and len(self._tries) < MOST_KNOWN:
                found[place] = each
                self._tries[place] = tries + 1
        return list(found.values())

    def settle(self, text: str, languages: tuple[str, str], side: int) -> None:
        """Note that a text has found its counterpart."""
        self._tries[_place(languages, side, text)] = MOST_TRIES


def _place(languages: tuple[str, str], side: int, text: str) -> bytes:
    key = "\n".join((*languages, str(side), text))
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
