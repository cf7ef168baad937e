"""Signs that a page is incomplete until its scripts have run.

Two things can be missing in a page as served: its text, if scripts put it into an empty element,
and its translation, if a button changes the language and not a link. Most pages have scripts and
are complete without them, so a single sign proves nothing: text must be missing *and* something
must show that a script would supply it; and a button that names a language counts only if no link
leads to that language.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.switches import LEAST_NAME, languages_named, languages_of_link
from bilingual_crawler.languages import language_of_tag

LEAST_TEXT = 200
"""Characters of text below which a page is nearly empty."""
LEAST_TEXT_DESPITE_WARNING = 500
"""The same for a page that warns that it needs scripts."""
LEAST_SIGNS = 2
MOST_CONTROLS = 200
LONGEST_LABEL = 40
ATTRIBUTE_LENGTH = 200

ROOTS = frozenset(
    (
        *("app", "root", "__next", "___gatsby", "__nuxt", "react-root", "app-root", "q-app"),
        *("svelte", "main-app", "vue-app", "mount", "application"),
    )
)
"""Names of the elements that scripts fill with a whole page."""

_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-locale", "hreflang", "lang")
_LABELS = ("aria-label", "title", "alt")
_TELLING = ("id", "class", "name", "aria-label", "onclick", "onchange")
_ABOUT_LANGUAGE = re.compile(r"lang(?!le)|locale|i18n|idiom|hizkun|llengua|sprach", re.IGNORECASE)
_NO_ADDRESS = re.compile(r"(?:#!?|javascript:.*)?", re.IGNORECASE | re.DOTALL)
_MOVES_ON = re.compile(r"\blocation(?:\.href)?\s*=[^=]|\blocation\.(?:replace|assign)\s*\(")
_WARNING = re.compile(r"java\s?script", re.IGNORECASE)

Attributes = Mapping[str, str]


class Named(NamedTuple):
    """A language that a control names; `plainly` if it can hardly mean anything else."""

    code: str
    plainly: bool


def leads_nowhere(href: str | None) -> bool:
    """Return True if a link has no address, so that only a script can use it."""
    return href is None or _NO_ADDRESS.fullmatch(href.strip()) is not None


def languages_of_control(label: str, attributes: Attributes) -> list[Named]:
    """Return the languages that a button or a link without address names.

    Short words name languages by chance ("No", "IT"), so a code is plain only if the control
    says elsewhere that it is about languages.
    """
    for name in _LANGUAGE_ATTRIBUTES:
        declared = language_of_tag(attributes.get(name, "")[:ATTRIBUTE_LENGTH])
        if declared is not None:
            return [Named(declared.code, plainly=name != "lang" or len(label) <= LONGEST_LABEL)]
    hint = any(
        _ABOUT_LANGUAGE.search(attributes.get(name, "")[:ATTRIBUTE_LENGTH]) for name in _TELLING
    )
    for text in (label, *(attributes.get(name, "") for name in _LABELS)):
        if 0 < len(text) <= LONGEST_LABEL and (codes := languages_named(text)):
            return [Named(code, hint or len(text) >= LEAST_NAME) for code in sorted(codes)]
    return []


class Control:
    """A control that has not ended yet."""

    __slots__ = ("_attributes", "_length", "_parts", "tag")

    def __init__(self, tag: str, attributes: Attributes) -> None:
        self.tag = tag
        self._attributes = dict(attributes)
        self._parts: list[str] = []
        self._length = 0

    def read(self, text: str) -> None:
        """Add a piece of its label."""
        if self._length <= LONGEST_LABEL:
            self._parts.append(text[: LONGEST_LABEL + 1])
            self._length += len(text)

    def languages(self) -> list[Named]:
        """Return the languages that it names, once its label is complete."""
        label = " ".join("".join(self._parts).split())
        return languages_of_control(label, self._attributes)


@dataclass(slots=True)
class ScriptSigns:
    """The signs of scripts that were seen while a page was read."""

    scripts: int = 0
    has_module: bool = False
    has_root: bool = False
    warns: bool = False
    moves_on: bool = False
    controls: list[Named] = field(default_factory=list)
    in_noscript: bool = False
    about_language: bool = False

    def read_script(self, attributes: Attributes) -> None:
        """Count a script that is fetched from elsewhere."""
        if "src" in attributes:
            self.scripts += 1
            self.has_module = self.has_module or attributes.get("type") == "module"

    def read_script_text(self, text: str) -> None:
        """Look for a script that leads to another page, as on the home pages of bilingual sites."""
        if not self.moves_on and "location" in text and _MOVES_ON.search(text):
            self.moves_on = True

    def read_name(self, name: str | None) -> None:
        """Look at the name of an element that scripts may fill."""
        if name is not None and name.lower() in ROOTS:
            self.has_root = True

    def read_noscript(self, text: str) -> None:
        """Look for a warning in the text that is shown if no script runs."""
        if not self.warns and _WARNING.search(text):
            self.warns = True

    def read_select(self, attributes: Attributes) -> None:
        """Note whether the options that follow are languages."""
        self.about_language = any(
            _ABOUT_LANGUAGE.search(attributes.get(name, "")[:ATTRIBUTE_LENGTH]) for name in _TELLING
        )

    def add(self, control: Control) -> None:
        """Add a complete control."""
        if len(self.controls) < MOST_CONTROLS:
            self.controls += control.languages()

    def reason(self, document: Document, wanted: Collection[str]) -> str:
        """Return what rendering would add to the page, "text" or "switch"; "" if nothing.

        `wanted` are the codes of the wanted languages.
        """
        if self._lacks_text(document):
            return "text"
        if self.controls and not document.translation_service:
            missing = set(wanted) - {document.language} - linked_languages(document)
            if missing & switched_by(self.controls):
                return "switch"
        return ""

    def _lacks_text(self, document: Document) -> bool:
        length = sum(len(each.text) for each in document.paragraphs)
        if length >= (LEAST_TEXT_DESPITE_WARNING if self.warns else LEAST_TEXT):
            return False
        signs = (self.scripts > 0) + self.has_module + self.has_root + self.warns
        leads_on = self.moves_on and not document.links
        return leads_on or (self.scripts > 0 and signs >= LEAST_SIGNS)


def switched_by(controls: Iterable[Named]) -> frozenset[str]:
    """Return the languages that controls switch to: all if several, otherwise if named plainly."""
    controls = list(controls)
    codes = frozenset(each.code for each in controls)
    if len(codes) > 1:
        return codes
    return frozenset(each.code for each in controls if each.plainly)


def linked_languages(document: Document) -> set[str]:
    """Return the languages to which the page has a plain link, and the one it declares."""
    found = {each.language for each in document.alternates if each.language}
    declared = language_of_tag(document.html_language)
    if declared is not None:
        found.add(declared.code)
    for link in document.links:
        found |= languages_of_link(link)
    return found
