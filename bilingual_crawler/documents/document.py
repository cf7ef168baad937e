"""What a page becomes: a document, its parts, and how relevant it is to the topic of the crawl."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from bilingual_crawler.languages import Languages
from bilingual_crawler.outcomes import outcome_sentence

_VARIANT = "#variant="

LOCATIONS: Mapping[str, float] = {"title": 10.0, "metadata": 4.0, "keywords": 2.0, "text": 1.0}
"""The places of a page in which terms count, with their weights, as in ILSP-FC."""
SCORE_DIGITS = 6


NO_TEXT = "no_text"


ParagraphKind = Literal["title", "heading", "listitem", "paragraph"]


@dataclass(slots=True)
class Paragraph:
    """A block of text as a reader sees it, with its annotations.

    `kind` and `boilerplate` are the annotations of ILSP-FC (type, crawlinfo);
    `language` is an ISO 639-3 code, None if the text is too short to tell; `topic` lists the
    terms of the crawl's topic in the text, as the topic writes them.
    """

    text: str
    kind: ParagraphKind = "paragraph"
    boilerplate: bool = False
    language: str | None = None
    topic: list[str] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Link:
    """A hyperlink, with all that a scorer can know before it is followed."""

    url: str
    anchor: str = ""
    context: str = ""
    rel: str = ""
    hreflang: str = ""
    image_alt: str = ""
    image_src: str = ""


@dataclass(slots=True, frozen=True)
class Image:
    """An image of a page; its file name is evidence for pairing."""

    src: str
    alt: str = ""


@dataclass(slots=True, frozen=True)
class Alternate:
    """The page's claim that `url` is its version in another language.

    `hreflang` is the tag on the page ("eu-ES", "x-default"), `language` its ISO 639-3 code,
    None if it names no known language.
    """

    url: str
    hreflang: str
    language: str | None = None


class DocumentKey(NamedTuple):
    """The identity of a document: its URL and, if one URL has several documents, the variant.

    As a string it is the URL, or the URL with a fragment that no real page has; `parse` reads it.
    """

    url: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.url}{_VARIANT}{self.variant}" if self.variant else self.url

    @classmethod
    def parse(cls, text: str) -> "DocumentKey":
        """Return the key that `str` turned into `text`."""
        url, mark, variant = text.rpartition(_VARIANT)
        return cls(url, variant) if mark else cls(text)

    @staticmethod
    def url_of(text: str) -> str:
        """Return the URL of the key that `str` turned into `text`."""
        return text.rpartition(_VARIANT)[0] or text


@dataclass(frozen=True, slots=True)
class TermHits:
    """A term of the topic, and how often it occurs in each place of a page."""

    term: str
    weight: float
    subdomain: str = ""
    title: int = 0
    metadata: int = 0
    keywords: int = 0
    text: int = 0

    @property
    def score(self) -> float:
        """Return what the term adds to the score of the page."""
        places = sum(weight * int(getattr(self, name)) for name, weight in LOCATIONS.items())
        return self.weight * places


@dataclass(frozen=True, slots=True)
class Relevance:
    """The terms of the topic that a page has, and whether they make it relevant."""

    on_topic: bool
    hits: tuple[TermHits, ...] = ()
    """Those that add most to the score come first."""

    @property
    def score(self) -> float:
        """Return p of ILSP-FC: the sum of all occurrences, weighted by term and by place."""
        return round(sum(hit.score for hit in self.hits), SCORE_DIGITS)

    @property
    def unique_terms(self) -> int:
        """Return m of ILSP-FC: the number of different terms in the content itself."""
        return sum(1 for hit in self.hits if hit.text)

    @property
    def subdomains(self) -> dict[str, float]:
        """Return the share of the score that each part of the topic has, largest first."""
        parts: dict[str, float] = {}
        for hit in self.hits:
            if hit.subdomain:
                parts[hit.subdomain] = parts.get(hit.subdomain, 0.0) + hit.score
        total = self.score or 1.0
        ranked = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
        return {name: round(score / total, 4) for name, score in ranked}

    def to_dict(self) -> dict[str, Any]:
        """Return the relevance for JSON; places without the term are left out."""
        return {
            "score": self.score,
            "on_topic": self.on_topic,
            "unique_terms": self.unique_terms,
            "subdomains": self.subdomains,
            "terms": [
                {name: value for name, value in asdict(hit).items() if value or name == "weight"}
                for hit in self.hits
            ],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Relevance":
        """Return the relevance from the result of `to_dict`."""
        return cls(bool(fields["on_topic"]), tuple(map(_hits, fields["terms"])))


def _hits(fields: Mapping[str, Any]) -> TermHits:
    term, subdomain = str(fields["term"]), str(fields.get("subdomain", ""))
    places = (int(fields.get(name, 0)) for name in LOCATIONS)
    return TermHits(term, float(fields["weight"]), subdomain, *places)


@dataclass(slots=True)
class Document:
    """One page: its text, its language and its claims about other pages.

    `language_source` is what decided the language: "main text", "whole page", "hints",
    "declaration", "paragraphs" (of a page that was split) or "none". `language_shares` are
    percentages of the text that decided. `encoding` is the real one of the bytes.

    `variant` distinguishes documents of one URL: the ISO 639-3 code of the language if a page
    contains two languages or is served in several, otherwise "".
    `machine_translated` is the mark by which the page says that its text is machine output,
    `translation_service` a machine translation service on the page, which may or may not have
    translated it; usually both are "".
    `licence` is the licence that the page states for itself, usually an address; "" without one.
    `needs_scripts` is what the page lacks until its scripts have run, "text" or "switch", usually
    "". `rendered` is True if they have: this is the page as a browser made it.
    `tags` are the first elements of the page, one letter each, and `size` its number of bytes,
    which PPLocator compares.
    `description` and `keywords` are its <meta> elements of these names; `topic` is its relevance
    to the topic of the crawl, None if the crawl has none.
    `unreadable` is why a file (PDF, say) gave no text, as the code of an outcome; usually "".
    """

    url: str
    language: str | None = None
    language_source: str = "none"
    language_shares: list[tuple[str, int]] = field(default_factory=list)
    title: str = ""
    description: str = ""
    keywords: str = ""
    paragraphs: list[Paragraph] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    tags: str = ""
    size: int = 0
    variant: str = ""
    alternates: list[Alternate] = field(default_factory=list)
    canonical: str | None = None
    html_language: str = ""
    robots: frozenset[str] = frozenset()
    tdm_reservation: bool = False
    encoding: str = "utf-8"
    declared_encoding: str | None = None
    machine_translated: str = ""
    translation_service: str = ""
    licence: str = ""
    needs_scripts: str = ""
    rendered: bool = False
    depth: int = 0
    requested_url: str = ""
    fetched_at: str = ""
    topic: Relevance | None = None
    unreadable: str = ""

    @property
    def key(self) -> str:
        """Return the identity of the document as one string."""
        return str(DocumentKey(self.url, self.variant))

    @property
    def main_paragraphs(self) -> list[Paragraph]:
        """Return the paragraphs that are content: not boilerplate, not in another language."""
        return list(filter(self.is_content, self.paragraphs))

    def is_content(self, paragraph: Paragraph) -> bool:
        """Return True for a paragraph that is neither boilerplate nor in another language."""
        return not paragraph.boilerplate and paragraph.language in {None, self.language}

    @property
    def text(self) -> str:
        """Return the content, one paragraph per line."""
        return "\n".join(paragraph.text for paragraph in self.main_paragraphs)


class Unwanted(NamedTuple):
    """The reason why a document is not used: a word for statistics and a sentence."""

    reason: str
    message: str


def why_unwanted(document: Document, wanted: Languages, least_share: int) -> Unwanted | None:
    """Return why a document is of no use, in a crawl or anywhere else; None if it is.

    `least_share` is the percentage of its text that must be in its language.
    """
    if document.unreadable:
        return Unwanted(document.unreadable, outcome_sentence(document.unreadable))
    if all(paragraph.boilerplate for paragraph in document.paragraphs):
        return Unwanted(NO_TEXT, "the page has no text except menus")
    language = document.language or "unknown"
    if language not in wanted:
        return Unwanted("off_language", f"the page is in another language: {language}")
    share = dict(document.language_shares).get(language, 100)
    if share < least_share:
        return Unwanted("mixed_language", f"only {share}% of the page is in its language")
    return None
