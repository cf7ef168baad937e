"""The types that a page becomes: built once, read by every later station."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from bilingual_crawler.documents.relevance import Relevance

_VARIANT = "#variant="

ParagraphKind = Literal["title", "heading", "listitem", "paragraph"]


@dataclass(slots=True)
class Paragraph:
    """A block of text as a reader sees it, with what is known about it.

    `kind` and `boilerplate` are the annotations of ILSP-FC (type, crawlinfo);
    `language` is an ISO 639-3 code, None where the text is too short to tell; `topic` are
    the terms of the crawl's topic that the text has, as the topic writes them.
    """

    text: str
    kind: ParagraphKind = "paragraph"
    boilerplate: bool = False
    language: str | None = None
    topic: list[str] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Link:
    """A hyperlink with everything a scorer may look at before it is followed."""

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
    """A claim of the page that `url` is its version in another language.

    `hreflang` is what the page says ("eu-ES", "x-default"), `language` its ISO 639-3
    code, None where it names no language we know.
    """

    url: str
    hreflang: str
    language: str | None = None


class DocumentKey(NamedTuple):
    """What identifies a document: its URL and, where one URL has several, the variant.

    As a string it is the URL itself or the URL with a fragment, so that it names no page that
    could be fetched, and can be read back.
    """

    url: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.url}{_VARIANT}{self.variant}" if self.variant else self.url

    @classmethod
    def parse(cls, text: str) -> "DocumentKey":
        """The identity that was written as `text`."""
        url, mark, variant = text.rpartition(_VARIANT)
        return cls(url, variant) if mark else cls(text)


@dataclass(slots=True)
class Document:
    """One page: its text, its language and what it says about other pages.

    `language_source` says what decided: "main text", "whole page", "hints", "declaration",
    "paragraphs" (of a page that was split) or "none". `language_shares` are percents of the
    text that decided, `encoding` is the one the bytes are really in.

    `variant` tells apart documents of one URL: the ISO 639-3 code of the language, where a
    page has two languages in it or is served in several; "" for all others.
    `machine_translated` is the mark by which the page tells that its text is machine output,
    `translation_service` a service on it that translates by machine, perhaps this page and
    perhaps not; both are "" for most.
    `needs_scripts` says what is missing until the scripts of the page have run, "text" or
    "switch"; "" for most. `rendered` tells that they have: this is the page that a browser made.
    `tags` are the first elements of the page, a letter each, `size` are its bytes: what
    PPLocator compares.
    `description` and `keywords` are what its <meta> elements of these names say, `topic` how
    much it is about the topic of the crawl, None where the crawl has none.
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
    needs_scripts: str = ""
    rendered: bool = False
    depth: int = 0
    requested_url: str = ""
    fetched_at: str = ""
    topic: Relevance | None = None

    @property
    def key(self) -> str:
        """The identity of the document, as one string."""
        return str(DocumentKey(self.url, self.variant))

    @property
    def main_paragraphs(self) -> list[Paragraph]:
        """The paragraphs that are content: not boilerplate, not in a foreign language."""
        return [
            paragraph
            for paragraph in self.paragraphs
            if not paragraph.boilerplate
            and (paragraph.language is None or paragraph.language == self.language)
        ]

    @property
    def text(self) -> str:
        """The content, a paragraph a line."""
        return "\n".join(paragraph.text for paragraph in self.main_paragraphs)
