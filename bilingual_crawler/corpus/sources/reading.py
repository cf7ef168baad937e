"""What the readers of all sources share: what they give, and what they tell of the rest."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.language import CLD2, LanguageIdentifier
from bilingual_crawler.documents.sitemap import Sitemap, is_sitemap, read_sitemap
from bilingual_crawler.languages import Languages
from bilingual_crawler.store.warc_reader import RecordedResponse

SHOWN = 3


class Alias(NamedTuple):
    """Another name of a page: a redirect, or a second record of the same bytes."""

    source: str
    target: str


Found = Document | Alias | Sitemap
"""What sources give."""


class Skips:
    """What was passed over: how much for each reason, and the first few by name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def add(self, reason: str, what: str) -> None:
        """Count one thing that is not read, or read and not used."""
        self.counts[reason] += 1
        shown = self.examples.setdefault(reason, [])
        if len(shown) < SHOWN:
            shown.append(what)


def unchanged(_url: str, answer: RecordedResponse) -> RecordedResponse:
    """An answer as it was recorded."""
    return answer


@dataclass(slots=True)
class SourceReading:
    """How sources are read, and what came of it so far."""

    languages: Languages
    """The languages that are wanted."""
    change: Callable[[str, RecordedResponse], RecordedResponse] = unchanged
    """What is done to the bytes of a page before they are parsed."""
    progress: Callable[[int], None] = lambda _bytes: None
    """Told after each page how many more bytes were read."""
    skips: Skips = field(default_factory=Skips)
    identifier: LanguageIdentifier = CLD2

    def read(self, url: str, answer: RecordedResponse) -> Document | Sitemap:
        """The page that an answer holds, or what it says of other pages."""
        if is_sitemap(answer.body, url):
            return read_sitemap(answer.body, url)
        return build_document(
            url,
            answer.body,
            content_type=answer.header("Content-Type"),
            headers_language=answer.header("Content-Language"),
            hints=self.languages.codes,
            identifier=self.identifier,
        )
