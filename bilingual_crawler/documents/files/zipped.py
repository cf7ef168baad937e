"""Files that are zip archives of XML: Word (docx), OpenDocument text (odt) and EPUB.

The files are untrusted. A member is never unpacked beyond a limit, whatever the archive says of its
size; XML is parsed without entities, network and DTD.
"""

import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import Literal
from urllib.parse import unquote

from lxml import etree

from bilingual_crawler.documents.files.text import FileBlock, FileProblemError, FileText
from bilingual_crawler.documents.reader import read_page

MOST_MEMBERS = 10_000
MAX_MEMBER = 50_000_000
MAX_UNPACKED = 150_000_000
MOST_CHAPTERS = 2_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ENCRYPTED_FLAG = 0x1
_OUTLINE_NONE = 9


class Archive:
    """A zip archive that is read within limits."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise FileProblemError("broken_file") from error
        if len(self._zip.namelist()) > MOST_MEMBERS:
            raise FileProblemError("file_limit")
        self._left = MAX_UNPACKED

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """Return the content of a member."""
        try:
            info = self._zip.getinfo(name)
            if info.flag_bits & _ENCRYPTED_FLAG:
                raise FileProblemError("encrypted")
            most = min(self._left, MAX_MEMBER)
            with self._zip.open(info) as member:
                content = member.read(most + 1)
        except (KeyError, zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
            raise FileProblemError("broken_file") from error
        except (RuntimeError, NotImplementedError) as error:  # how it is packed is not known
            raise FileProblemError("broken_file") from error
        if len(content) > most:
            raise FileProblemError("file_limit")
        self._left -= len(content)
        return content

    def xml(self, name: str) -> etree._Element:
        """Return the root of a member that is XML."""
        return parse_xml(self.read(name))

    def xml_if_there(self, name: str) -> etree._Element | None:
        """Return the root of a member; None if it is missing or damaged."""
        try:
            return self.xml(name) if name in self else None
        except FileProblemError:
            return None


def parse_xml(content: bytes) -> etree._Element:
    """Parse untrusted XML."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise FileProblemError("broken_file") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise FileProblemError("broken_file")  # these formats have none
    return root


def read_docx(body: bytes) -> FileText:
    """Return the text of a Word file: its body, without headers, notes and deleted text."""
    archive = Archive(body)
    main = archive.xml("word/document.xml")
    headings = _heading_styles(archive)
    blocks = [
        FileBlock(text, _docx_kind(paragraph, headings))
        for paragraph in main.iter(f"{_W}p")
        if not _is_fallback(paragraph) and (text := _docx_text(paragraph))
    ]
    return _described(blocks, archive.xml_if_there("docProps/core.xml"))


def _heading_styles(archive: Archive) -> set[str]:
    """Return the styles of headings: those with an outline level, or a name that says so."""
    styles = archive.xml_if_there("word/styles.xml")
    found: set[str] = set()
    for style in () if styles is None else styles.iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        level = style.find(f"{_W}pPr/{_W}outlineLvl")
        said = "" if name is None else (name.get(f"{_W}val") or "").lower()
        if level is not None or said == "title" or said.startswith("heading"):
            found.add(style.get(f"{_W}styleId") or "")
    return found


def _docx_kind(
    paragraph: etree._Element, headings: set[str]
) -> Literal["heading", "listitem", "paragraph"]:
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        return "paragraph"
    style = properties.find(f"{_W}pStyle")
    level = properties.find(f"{_W}outlineLvl")
    if style is not None and style.get(f"{_W}val") in headings:
        return "heading"
    if level is not None and (level.get(f"{_W}val") or "") != str(_OUTLINE_NONE):
        return "heading"
    return "listitem" if properties.find(f"{_W}numPr") is not None else "paragraph"


def _is_fallback(element: etree._Element) -> bool:
    """Return whether a text box is there a second time, for old programs."""
    return any(
        isinstance(each.tag, str) and each.tag.endswith("}Fallback")
        for each in element.iterancestors()
    )


def _docx_text(paragraph: etree._Element) -> str:
    parts: list[str] = []
    for element in paragraph.iter():
        owner = next(element.iterancestors(f"{_W}p"), None)
        if owner is not paragraph:
            continue
        if element.tag == f"{_W}t":
            parts.append(element.text or "")
        elif element.tag in {f"{_W}tab", f"{_W}br", f"{_W}cr"}:
            parts.append(" ")
        elif element.tag == f"{_W}noBreakHyphen":
            parts.append("-")
    return " ".join("".join(parts).split())


def read_odt(body: bytes) -> FileText:
    """Return the text of an OpenDocument file, without notes, comments and deleted text."""
    archive = Archive(body)
    manifest = archive.xml_if_there("META-INF/manifest.xml")
    if manifest is not None and any(
        isinstance(each.tag, str) and each.tag.endswith("}encryption-data")
        for each in manifest.iter()
    ):
        raise FileProblemError("encrypted")
    main = archive.xml("content.xml").find(f"{_OFFICE}body")
    if main is None:
        raise FileProblemError("broken_file")
    blocks: list[FileBlock] = []
    for element in main.iter(f"{_TEXT}h", f"{_TEXT}p"):
        above = {each.tag for each in element.iterancestors()}
        if above & _NOT_TEXT:
            continue
        if text := " ".join(_odt_text(element).split()):
            is_item = f"{_TEXT}list-item" in above
            kind: Literal["heading", "listitem", "paragraph"] = (
                "heading" if element.tag == f"{_TEXT}h" else "listitem" if is_item else "paragraph"
            )
            blocks.append(FileBlock(text, kind))
    return _described(blocks, archive.xml_if_there("meta.xml"))


_NOT_TEXT = frozenset({f"{_TEXT}note", f"{_OFFICE}annotation", f"{_TEXT}tracked-changes"})


def _odt_text(element: etree._Element) -> str:
    parts = [element.text or ""]
    for child in element:
        if child.tag in {f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"}:
            parts.append(" ")
        elif (
            isinstance(child.tag, str)
            and child.tag not in _NOT_TEXT
            and child.tag not in {f"{_TEXT}p", f"{_TEXT}h"}
            and not child.tag.endswith("}frame")
        ):
            parts.append(_odt_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def read_epub(body: bytes) -> FileText:
    """Return the text of an EPUB: its chapters in their order, each read like a page."""
    archive = Archive(body)
    container = archive.xml("META-INF/container.xml")
    package = next((each.get("full-path") for each in container.iter("{*}rootfile")), None)
    if not package:
        raise FileProblemError("broken_file")
    if "META-INF/encryption.xml" in archive and "META-INF/rights.xml" in archive:
        raise FileProblemError("encrypted")
    root = archive.xml(package)
    items = {each.get("id"): each for each in root.iter("{*}item")}
    blocks: list[FileBlock] = []
    for number, reference in enumerate(root.iter("{*}itemref")):
        item = items.get(reference.get("idref"))
        if number >= MOST_CHAPTERS or item is None:
            continue
        if "nav" in (item.get("properties") or "").split():
            continue
        name = normpath(join(dirname(package), unquote(item.get("href") or "")))
        if name in archive:
            blocks += _chapter(archive.read(name))
    return _described(blocks, root)


def _chapter(content: bytes) -> Iterator[FileBlock]:
    for block in read_page(content).blocks:
        yield FileBlock(block.text, "paragraph" if block.kind == "title" else block.kind)


def _described(blocks: list[FileBlock], about: etree._Element | None) -> FileText:
    """Return a text with the title and language that the file names."""
    if not blocks:
        raise FileProblemError("no_text")
    found = {"title": "", "language": ""}
    for name in found:
        if about is not None:
            element = next(about.iter(f"{_DC}{name}"), None)
            found[name] = ((element.text or "") if element is not None else "").strip()
    return FileText(blocks, found["title"], found["language"])
