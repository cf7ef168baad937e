"""Parses a page once, without building a tree.

lxml's parser passes its events to `PageReader`. That is faster than building and walking a tree,
and among the alternatives that were measured (the trees of lxml and Lexbor) the only one that
stays linear on hostile pages: with 100,000 attributes in a tag, or elements nested 100,000 deep,
a tree takes minutes or loses the rest of the page.
"""

import re
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, cast

from lxml import etree

from bilingual_crawler.documents.document import ParagraphKind
from bilingual_crawler.documents.encoding import clean, split_paragraphs
from bilingual_crawler.documents.page import (
    MOST_BLOCKS,
    MOST_TAGS,
    NEUTRAL,
    Block,
    ParsedPage,
    Reference,
    region_of,
)
from bilingual_crawler.documents.scripted import Control, leads_nowhere
from bilingual_crawler.documents.switches import languages_written
from bilingual_crawler.urls.resolver import may_be_page

MOST_ELEMENTS = 250_000
DEEPEST = 256
CHUNK_BYTES = 1 << 14
ANCHOR_LENGTH = 300
CONTEXT_LENGTH = 200
ATTRIBUTE_LENGTH = 500
SHORTEST_SETTINGS = 20
ROBOTS_NAMES = frozenset(("robots", "bilingual-crawler"))

SHOWN, HIDDEN, TEXTLESS, INERT = range(4)

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LIST_ITEMS = frozenset(("li", "dt", "dd"))
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "button", "caption"),
        *("center", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset"),
        *("figcaption", "figure", "footer", "form", "header", "hr", "legend", "li", "main"),
        *("menu", "nav", "ol", "optgroup", "option", "p", "pre", "section", "select"),
        *("summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul"),
        *_HEADINGS,
    )
)
_UNSHOWN = {
    **dict.fromkeys(("noscript", "svg", "object", "iframe", "video", "audio", "canvas"), HIDDEN),
    **dict.fromkeys(("head", "script", "style"), TEXTLESS),
    "template": INERT,
}
_NO_DISPLAY = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_FEED = re.compile(r"rss|atom|json|xml", re.IGNORECASE)
_DIRECTIVES = re.compile(r"[\s,;]+")
_LETTER = re.compile(r"\w")

TAG_LETTERS = {
    tag: chr(0x30 + at)
    for at, tag in enumerate((*sorted(_BLOCKS), *("a", "b", "em", "i", "img", "span", "strong")))
}
"""The elements that make up the structure of a page, each as one letter."""

Attributes = Mapping[str, str]
Scope = tuple[int, int, ParagraphKind, int, bool]  # unshown, region, kind, heading level, pre


class _OpenLink:
    """A link that has not ended yet, or whose block has not."""

    __slots__ = ("end", "label", "length", "parts", "reference", "start")

    def __init__(self, reference: Reference, label: str, start: int) -> None:
        self.reference = reference
        self.label = label
        self.parts: list[str] = []
        self.length = 0
        self.start = start
        self.end = -1


class PageReader:
    """The target of lxml's parser: turns the events of one document into a `ParsedPage`."""

    def __init__(self) -> None:
        self.page = ParsedPage()
        self.elements = 0
        self._scopes: list[Scope] = [(SHOWN, NEUTRAL, "paragraph", 0, False)]
        self._buffer: list[str] = []
        self._length = 0
        self._anchored = False
        self._anchors = 0
        self._linked = 0
        self._text_scope = self._scopes[0]
        self._title: list[str] | None = None
        self._link: _OpenLink | None = None
        self._links: list[_OpenLink] = []
        self._control: Control | None = None
        self._openers: dict[str, Callable[[Attributes], None]] = {
            "html": self._open_html,
            "title": self._open_title,
            "base": self._open_base,
            "meta": self._open_meta,
            "link": self._open_head_link,
            "a": self._open_link,
            "area": self._open_area,
            "img": self._open_image,
            "iframe": self._open_frame,
            "frame": self._open_frame,
            "script": self._open_script,
            "noscript": self._open_noscript,
            "button": self._open_button,
            "select": self.page.scripts.read_select,
            "option": self._open_option,
            "app-root": lambda _: self.page.scripts.read_name("app-root"),
            "font": self.page.machine.read_font,
            "div": self._open_division,
        }

    @property
    def depth(self) -> int:
        """The number of open elements."""
        return len(self._scopes) - 1

    def start(self, tag: str, attributes: Attributes) -> None:
        """Handle the start of an element."""
        self.elements += 1
        if self.elements <= MOST_TAGS and tag in TAG_LETTERS:
            self.page.tags.append(TAG_LETTERS[tag])
        scope = self._scopes[-1]
        if tag in _BLOCKS:
            if self._buffer or self._links:
                self._end_block()
            scope = _block_scope(tag, attributes, scope)
        if tag in _UNSHOWN:
            scope = (max(scope[0], _UNSHOWN[tag]), *scope[1:])
        if attributes and scope[0] == SHOWN and _is_hidden(attributes):
            scope = (HIDDEN, *scope[1:])
        self._scopes.append(scope)
        opener = self._openers.get(tag)
        if opener is not None and scope[0] != INERT:
            opener(attributes)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if len(self._scopes) > 1:
            self._scopes.pop()
        if self._control is not None and tag == self._control.tag:
            self._end_control()
        if tag in _BLOCKS:
            if self._buffer or self._links:
                self._end_block()
        elif tag == "a":
            self._end_link()
        elif tag == "title":
            self._end_title()
        elif tag == "noscript":
            self.page.scripts.in_noscript = False
        elif tag == "script":
            self.page.licence.close_script()

    def data(self, text: str) -> None:
        """Handle text, which may be only a part of that between two tags."""
        scope = self._scopes[-1]
        link = self._link
        if self._control is not None:
            self._control.read(text)
        if scope[0] != SHOWN:
            if self.page.scripts.in_noscript:
                self.page.scripts.read_noscript(text)
            if self._title is not None:
                self._title.append(text)
            elif scope[0] != HIDDEN or link is None:
                if scope[0] == TEXTLESS:
                    self._read_script_text(text)
                return
        else:
            if not self._buffer and text.isspace():
                return
            self._buffer.append(text)
            self._length += len(text)
            self._text_scope = scope
            if self._anchored:
                self._linked += len(text.strip())
        if link is not None and link.length < ANCHOR_LENGTH:
            link.parts.append(text[:ANCHOR_LENGTH])
            link.length += len(text)

    def _read_script_text(self, text: str) -> None:
        self.page.licence.read_script_text(text)
        if len(text) > SHORTEST_SETTINGS:
            self.page.machine.read_script_text(text)
            self.page.scripts.read_script_text(text)

    def comment(self, text: str) -> None:
        """Handle a comment, in which a translation service may have signed the page."""
        self.page.machine.read_comment(text)

    def close(self) -> ParsedPage:
        """End the document, or a part of it that was nested too deeply."""
        self._end_link()
        self._end_block()
        del self._scopes[1:]
        return self.page

    def _end_block(self) -> None:
        raw = "".join(self._buffer)
        text = clean(raw)
        if text and _LETTER.search(text):
            self._add_block(raw, text)
        for link in self._links:
            if not link.reference.context:
                link.reference.context = _context(link, raw, text)
            if link is not self._link:
                self._settle(link)
        self._links.clear()
        if self._link is not None:
            self._links.append(self._link)
            self._link.parts.append(" ")
            self._link.start = 0
        self._buffer.clear()
        self._length = self._linked = self._anchors = 0

    def _add_block(self, raw: str, text: str) -> None:
        blocks = self.page.blocks
        _, region, kind, level, preformatted = self._text_scope
        linked, links = self._linked, self._anchors
        texts = [text]
        if preformatted and "\n" in raw:
            texts = split_paragraphs(raw)
        for part in texts[: MOST_BLOCKS - len(blocks)]:
            blocks.append(Block(part, kind, level, region, min(linked, len(part)), links))

    def _open_link(self, attributes: Attributes) -> None:
        self._end_link()
        if self._links and self._links[-1].end == self._length and self._buffer:
            self._buffer.append(" ")  # a row of links that only style separates
            self._length += 1
        href = attributes.get("href", "").strip()
        self.page.licence.read_link(attributes)
        if "data-gt-lang" in attributes:
            self.page.machine.read_names("gtranslate", None)
        self._anchored = bool(href)
        self._anchors += self._anchored
        if not may_be_page(href or "#") and leads_nowhere(href):
            self._control = Control("a", attributes)
        if not href or self._scopes[-1][0] > HIDDEN or not may_be_page(href):
            return
        reference = Reference(href, _words(attributes, "rel"), _words(attributes, "hreflang"))
        label = attributes.get("title") or attributes.get("aria-label") or ""
        self._link = _OpenLink(reference, label[:ATTRIBUTE_LENGTH], self._length)
        self._links.append(self._link)

    def _end_link(self) -> None:
        self._anchored = False
        if self._link is not None:
            self._link.end = self._length
            self._link = None

    def _settle(self, link: _OpenLink) -> None:
        reference = link.reference
        reference.anchor = clean("".join(link.parts))[:ANCHOR_LENGTH] or clean(link.label)
        if reference.hreflang and _declares_translation(reference):
            self.page.add_alternate(reference.href, reference.hreflang)
        self.page.add_reference(reference)

    def _open_script(self, attributes: Attributes) -> None:
        self.page.machine.read_script(attributes)
        self.page.licence.open_script(attributes.get("type", ""))
        self.page.scripts.read_script(attributes)

    def _open_noscript(self, _attributes: Attributes) -> None:
        self.page.scripts.in_noscript = True

    def _open_button(self, attributes: Attributes) -> None:
        self._control = Control("button", attributes)

    def _open_option(self, attributes: Attributes) -> None:
        if self.page.scripts.about_language:
            self._control = Control("option", attributes)

    def _end_control(self) -> None:
        assert self._control is not None
        self.page.scripts.add(self._control)
        self._control = None

    def _open_division(self, attributes: Attributes) -> None:
        if attributes:
            self.page.machine.read_names(attributes.get("id"), attributes.get("class"))
            self.page.scripts.read_name(attributes.get("id"))

    def _open_area(self, attributes: Attributes) -> None:
        self._add_bare(attributes, "href", attributes.get("alt") or attributes.get("title") or "")

    def _open_frame(self, attributes: Attributes) -> None:
        self._add_bare(attributes, "src", attributes.get("title") or "")

    def _add_bare(self, attributes: Attributes, where: str, label: str) -> None:
        href = attributes.get(where, "").strip()
        if href and may_be_page(href):
            anchor = clean(label[:ATTRIBUTE_LENGTH])
            reference = Reference(href, _words(attributes, "rel"), anchor=anchor)
            self.page.add_reference(reference)

    def _open_image(self, attributes: Attributes) -> None:
        src = attributes.get("src", "").strip()
        if not src or not may_be_page(src):  # a placeholder until a script has run
            src = (attributes.get("data-src") or attributes.get("data-lazy-src") or "").strip()
        if not src or not may_be_page(src):
            return
        alt = clean(attributes.get("alt", "")[:ATTRIBUTE_LENGTH])
        self.page.add_image(src, alt)
        if self._link is not None and not self._link.reference.image_src:
            self._link.reference.image_src = src
            self._link.reference.image_alt = alt

    def _open_html(self, attributes: Attributes) -> None:
        page = self.page
        language = attributes.get("lang") or attributes.get("xml:lang") or ""
        page.html_language = page.html_language or language.strip()[:ATTRIBUTE_LENGTH]
        page.machine.read_html(attributes)

    def _open_title(self, _attributes: Attributes) -> None:
        if not self.page.title and self._scopes[-1][0] != HIDDEN:
            self._title = []
            self._scopes[-1] = (TEXTLESS, *self._scopes[-1][1:])

    def _end_title(self) -> None:
        if self._title is not None:
            self.page.title = clean("".join(self._title))[:ATTRIBUTE_LENGTH]
            self._title = None

    def _open_base(self, attributes: Attributes) -> None:
        self.page.base = self.page.base or attributes.get("href", "")

    def _open_meta(self, attributes: Attributes) -> None:
        page = self.page
        name = (attributes.get("name") or attributes.get("http-equiv") or "").strip().lower()
        content = attributes.get("content", "")[:ATTRIBUTE_LENGTH].strip()
        if name in ROBOTS_NAMES:
            page.robots.update(word for word in _DIRECTIVES.split(content.lower()) if word)
        elif name == "tdm-reservation":
            page.tdm_reservation = page.tdm_reservation or content == "1"
        elif name == "content-language":
            page.content_language = page.content_language or content
        elif name == "description":
            page.description = page.description or clean(content)
        elif name == "keywords":
            page.keywords = page.keywords or clean(content)
        else:
            page.machine.read_meta(name, content)
            page.licence.read_meta(name, attributes)

    def _open_head_link(self, attributes: Attributes) -> None:
        page = self.page
        page.machine.read_link(attributes)
        page.licence.read_link(attributes)
        rel = _words(attributes, "rel").split()
        href = attributes.get("href", "").strip()
        if not href or not may_be_page(href):
            return
        hreflang = _words(attributes, "hreflang")
        if "alternate" in rel and hreflang and not _FEED.search(attributes.get("type", "")):
            page.add_alternate(href, hreflang)
        if "canonical" in rel:
            page.canonical = page.canonical or href


setattr(PageReader.start, "__signature__", signature(PageReader.start))  # noqa: B010 - lxml asks for it once per page, which takes as long as reading a small one


def read_page(markup: bytes) -> ParsedPage:
    """Return everything that a page says; `markup` is UTF-8.

    The parser gets the markup in pieces, so that a stack that has grown too deep (it is searched
    for every end tag without a start tag) can be replaced by an empty one, and a page of millions
    of elements can be cut off.
    """
    reader = PageReader()
    parser = _parser(reader)
    start, size = 0, len(markup)
    while start < size and reader.elements < MOST_ELEMENTS:
        end = start + CHUNK_BYTES
        if end < size:
            tag = markup.rfind(b"<", start + 1, end)
            end = tag if tag > 0 else end
        parser.feed(markup[start:end])
        start = end
        if reader.depth > DEEPEST:
            _close(parser)
            parser = _parser(reader)
    _close(parser)
    return reader.close()


def _parser(reader: PageReader) -> etree.HTMLParser:
    target = cast("Any", reader)  # the stubs want methods that take bytes as well
    return etree.HTMLParser(encoding="utf-8", huge_tree=True, target=target)


def _close(parser: etree.HTMLParser) -> None:
    try:
        parser.close()
    except etree.LxmlError:
        return  # a piece without any element


def _block_scope(tag: str, attributes: Attributes, outside: Scope) -> Scope:
    unshown, region, kind, level, preformatted = outside
    region = region_of(tag, attributes, region)
    if tag in _HEADINGS:
        kind, level = "heading", _HEADINGS[tag]
    elif tag in _LIST_ITEMS:
        kind, level = "listitem", 0
    return unshown, region, kind, level, preformatted or tag == "pre"


def _is_hidden(attributes: Attributes) -> bool:
    if "hidden" in attributes:
        return attributes["hidden"] != "until-found"
    style = attributes.get("style")
    return style is not None and _NO_DISPLAY.search(style[:ATTRIBUTE_LENGTH]) is not None


def _declares_translation(link: Reference) -> bool:
    """Return True if a link with `hreflang` leads to this page in another language.

    In running text `hreflang` only says that some other page is in that language.
    """
    return "alternate" in link.rel.split() or bool(
        languages_written(link.anchor, link.image_alt, link.image_src)
    )


def _words(attributes: Attributes, name: str) -> str:
    value = attributes.get(name)
    return " ".join(value[:ATTRIBUTE_LENGTH].lower().split()) if value else ""


def _context(link: _OpenLink, raw: str, text: str) -> str:
    """Return the text around a link, in its own block."""
    if len(text) <= CONTEXT_LENGTH:
        return text
    margin = CONTEXT_LENGTH // 2
    end = link.end if link.end >= 0 else len(raw)
    window = raw[max(0, link.start - margin) : min(end, link.start + margin) + margin]
    return clean(window)[:CONTEXT_LENGTH]
