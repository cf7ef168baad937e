"""Builds a `Document` from the bytes of a response, with a single parse."""

import re
from urllib.parse import urlsplit

from bilingual_crawler.config.file_kinds import FileKind, kind_of_file
from bilingual_crawler.documents.boilerplate import boilerplate
from bilingual_crawler.documents.document import Alternate, Document, Image, Link, Paragraph
from bilingual_crawler.documents.encoding import clean, decode, split_paragraphs
from bilingual_crawler.documents.files.reader import READER
from bilingual_crawler.documents.files.text import FileProblemError
from bilingual_crawler.documents.language import (
    CLD2,
    LanguageIdentifier,
    detect_page,
    label_paragraphs,
)
from bilingual_crawler.documents.licence import is_address
from bilingual_crawler.documents.page import MOST_BLOCKS, NEUTRAL, Block, ParsedPage, Reference
from bilingual_crawler.documents.reader import read_page
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.urls.resolver import UrlResolver
from bilingual_crawler.urls.traps import ending_of

_NO_PROSE = frozenset(("text/css", "text/csv", "text/javascript"))
_NO_TITLE = re.compile(
    r"^\s*$|^microsoft (?:office )?(?:word|powerpoint)|\.(?:docx?|odt|rtf|indd|qxd|pdf)$|^untitled",
    re.IGNORECASE,
)
"""What programs write where a title should be."""
FIRST_BLOCKS = 10
_TITLE_SEPARATOR = re.compile(
    r"(?<!\s)\s++(?:[|\u2013\u2014\u00b7\u00bb\u00ab:-]++\s+|[|\u00bb\u00ab])|[|\u00bb\u00ab]\s*"
)


def build_document(
    url: str,
    body: bytes,
    *,
    content_type: str = "",
    headers_language: str = "",
    hints: tuple[str, ...] = (),
    identifier: LanguageIdentifier = CLD2,
    text_lines: bool = False,
) -> Document:
    """Return the document at `url`; it is empty if the bytes are not text.

    A fragment is not part of the address of a page, so it is dropped.
    `hints` are the ISO 639-3 codes of the wanted languages. With `text_lines` each line of plain
    text is a paragraph; otherwise blank lines separate them.
    """
    url = url.partition("#")[0]
    kind = kind_of_file(body, content_type, ending_of(url))
    if kind is not None:
        document, said = _file_document(url, body, kind)
        _add_language(document, (headers_language, said), hints, identifier)
        return document
    decoded = decode(body, content_type, (headers_language, *hints))
    page = _read(decoded.utf8, content_type, text_lines=text_lines)
    document = Document(
        url,
        title=page.title,
        description=page.description,
        keywords=page.keywords,
        canonical=None,
        html_language=page.html_language,
        robots=frozenset(page.robots),
        tdm_reservation=page.tdm_reservation,
        encoding=decoded.encoding,
        declared_encoding=decoded.declared,
        tags="".join(page.tags),
        size=len(body),
    )
    document.paragraphs = _paragraphs(page)
    resolve = UrlResolver(url, page.base, decoded.encoding)
    _add_addresses(document, page, resolve)
    document.licence = _licence(page, resolve)
    declared = (page.html_language, headers_language, page.content_language)
    _add_language(document, declared, hints, identifier)
    document.machine_translated = page.machine.mark_of(url, page.html_language, document.language)
    document.translation_service = page.machine.service
    document.needs_scripts = page.scripts.reason(document, hints)
    return document


def _file_document(url: str, body: bytes, kind: FileKind) -> tuple[Document, str]:
    """Return the document of a file that is not HTML, and the language that the file names.

    The document says why if the file has no text.
    """
    document = Document(url, size=len(body))
    try:
        text = READER.read(kind, body)
    except FileProblemError as problem:
        document.unreadable = problem.reason
        return document, ""
    blocks = [
        Block(plain, block.kind, 2 if block.kind == "heading" else 0, NEUTRAL)
        for block in text.blocks[:MOST_BLOCKS]
        if (plain := clean(block.text))
    ]
    headings = (block.text for block in blocks[:FIRST_BLOCKS] if block.kind == "heading")
    title = clean(text.title)
    document.title = next(headings, "") if _NO_TITLE.search(title) else title
    document.paragraphs = _paragraphs(ParsedPage(title=document.title, blocks=blocks))
    return document, text.language


def _read(utf8: bytes, content_type: str, *, text_lines: bool) -> ParsedPage:
    media = content_type.partition(";")[0].strip().lower()
    if "/" not in media or "html" in media or "xml" in media:
        return read_page(utf8)
    if media.startswith("text/") and media not in _NO_PROSE:
        return _read_plain_text(utf8.decode("utf-8", "replace"), text_lines=text_lines)
    return ParsedPage()


def _read_plain_text(text: str, *, text_lines: bool) -> ParsedPage:
    paragraphs = split_paragraphs(text, lines=text_lines)[:MOST_BLOCKS]
    return ParsedPage(
        blocks=[Block(paragraph, "paragraph", 0, NEUTRAL) for paragraph in paragraphs]
    )


def _paragraphs(page: ParsedPage) -> list[Paragraph]:
    paragraphs = [
        Paragraph(block.text, block.kind, flag)
        for block, flag in zip(page.blocks, boilerplate(page.blocks), strict=True)
    ]
    title = _title_position(page, paragraphs)
    if title is not None:
        paragraphs[title].kind = "title"
    return paragraphs


def _title_position(page: ParsedPage, paragraphs: list[Paragraph]) -> int | None:
    """Return the heading that equals <title> or a part of it; otherwise the first h1.

    The latter treats two sides of a translation alike if only one has been reworded.
    """
    names = {page.title, *_TITLE_SEPARATOR.split(page.title)} - {""}
    first = None
    for at, (block, paragraph) in enumerate(zip(page.blocks, paragraphs, strict=True)):
        if block.level == 0 or paragraph.boilerplate:
            continue
        if paragraph.text in names:
            return at
        if first is None and block.level == 1:
            first = at
    return first


def _add_addresses(document: Document, page: ParsedPage, resolve: UrlResolver) -> None:
    links: dict[str, Reference] = {}
    for reference in page.references.values():
        address = resolve(reference.href)
        if address is None:
            continue
        if address in links:
            links[address].merge(reference)
        else:
            links[address] = reference
    document.links = [_link(address, reference, resolve) for address, reference in links.items()]
    images = {address: alt for src, alt in page.images.items() if (address := resolve(src))}
    document.images = [Image(address, alt) for address, alt in images.items()]
    alternates = {
        Alternate(address, hreflang, language.code if language else None): None
        for href, hreflang in page.alternates
        if (address := resolve(href))
        for language in (language_of_tag(hreflang),)
    }
    document.alternates = list(alternates)
    document.canonical = resolve(page.canonical) if page.canonical else None


def _licence(page: ParsedPage, resolve: UrlResolver) -> str:
    """Return the licence of a page; an address is made absolute, a name stays as it is."""
    found = page.licence.best()
    return " ".join((resolve(each) or each) if is_address(each) else each for each in found)


def _link(address: str, reference: Reference, resolve: UrlResolver) -> Link:
    return Link(
        address,
        reference.anchor,
        reference.context,
        reference.rel,
        reference.hreflang,
        reference.image_alt,
        (resolve(reference.image_src) or "") if reference.image_src else "",
    )


def _add_language(
    document: Document,
    declared: tuple[str, ...],
    wanted: tuple[str, ...],
    identifier: LanguageIdentifier,
) -> None:
    language = detect_page(
        document.paragraphs,
        declared=declared,
        wanted=wanted,
        domain=_top_level(document.url),
        identifier=identifier,
    )
    document.language = language.code
    document.language_source = language.source
    document.language_shares = language.shares
    label_paragraphs(document.paragraphs, language, identifier)


def _top_level(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    domain = host.rpartition(".")[2]
    return domain if domain.isascii() and domain.isalpha() else ""
