"""What the readers of all sources share: what they yield, and how they report the rest."""

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

EXAMPLES = 3
"""Examples that are kept per reason."""


class Alias(NamedTuple):
    """Another name of a page: a redirect, or a second record of the same bytes."""

    source: str
    target: str


Found = Document | Alias | Sitemap
"""What sources yield."""


class Skips:
    """What was skipped: a count per reason, and the first few examples."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def add(self, reason: str, what: str) -> None:
        """Count one thing that was not read, or read and not used."""
        self.counts[reason] += 1
        shown = self.examples.setdefault(reason, [])
        if len(shown) < EXAMPLES:
            shown.append(what)


def unchanged(_url: str, answer: RecordedResponse) -> RecordedResponse:
    """Return a response as it was recorded."""
    return answer


@dataclass(slots=True)
class SourceReading:
    """How to read sources, and what was skipped so far."""

    languages: Languages
    """The wanted languages."""
    change: Callable[[str, RecordedResponse], RecordedResponse] = unchanged
    """Changes a response before it is parsed."""
    progress: Callable[[int], None] = lambda _bytes: None
    """Called after each page with the number of bytes that were read since the last call."""
    skips: Skips = field(default_factory=Skips)
    identifier: LanguageIdentifier = CLD2

    def read(self, url: str, answer: RecordedResponse) -> Document | Sitemap:
        """Return the page or sitemap in a response."""
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
