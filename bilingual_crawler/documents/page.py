"""What the parser reads from a page, before anything is concluded from it.

Every block of text stands in a region: the main part of the page, or the frame around it. Three
kinds of hints tell which, all of them the same in every language: HTML's own landmarks, ARIA
roles, and the words that authors use in `class` and `id`. Landmarks and roles are statements,
names are habits; so a block in a part that is merely named can still be saved by its looks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bilingual_crawler.documents.document import ParagraphKind
from bilingual_crawler.documents.licence import LicenceMarks
from bilingual_crawler.documents.machine import MachineMarks
from bilingual_crawler.documents.scripted import ScriptSigns

MOST_LINKS = 5_000
MOST_IMAGES = 2_000
MOST_ALTERNATES = 1_000
MOST_BLOCKS = 20_000
MOST_TAGS = 2_000


LONGEST_NAME = 200

NEUTRAL, MAIN, NAMED_FRAME, FRAME = range(4)

_LANDMARKS = {
    "main": MAIN,
    "article": MAIN,
    "nav": FRAME,
    "footer": FRAME,
    "header": FRAME,
    "aside": FRAME,
    "menu": FRAME,
    "dialog": FRAME,
    "button": FRAME,
    "select": FRAME,
    "textarea": FRAME,
}
_INSIDE_MAIN = {"header": MAIN, "aside": NAMED_FRAME}  # of an article, not of the page
_ROLES = {
    "main": MAIN,
    "article": MAIN,
    **dict.fromkeys(
        (
            *("alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu"),
            *("menubar", "navigation", "search", "toolbar"),
        ),
        FRAME,
    ),
}
_NAMED = frozenset(("div", "section", "ul", "ol", "dl", "p", "table", "td", "form"))
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FRAME_WORDS = frozenset(
    (
        *("nav", "navbar", "navigation", "menu", "submenu", "breadcrumb", "breadcrumbs"),
        *("footer", "sidebar", "topbar", "toolbar", "masthead", "skip", "copyright"),
        *("pagination", "pager", "share", "sharing", "social", "related", "newsletter"),
        *("cookie", "cookies", "consent", "gdpr", "popup", "modal", "advert", "adverts", "ads"),
    )
)
_OPPOSITES = frozenset(("has", "no", "with", "without"))  # said of the whole, which has a sidebar


@dataclass(slots=True)
class Block:
    """A stretch of text between two block elements, with its region."""

    text: str
    kind: ParagraphKind
    level: int  # of a heading, 0 otherwise
    region: int
    linked: int = 0  # characters of it that are anchor text
    links: int = 0


@dataclass(slots=True)
class Reference:
    """A link as written; its address is resolved once the whole page has been read."""

    href: str
    rel: str = ""
    hreflang: str = ""
    anchor: str = ""
    context: str = ""
    image_alt: str = ""
    image_src: str = ""

    def merge(self, other: "Reference") -> None:
        """Merge two links to one address, keeping the richer data of either.

        `nofollow` counts only if both have it.
        """
        if len(other.anchor) > len(self.anchor):
            self.anchor, self.context = other.anchor, other.context or self.context
        if self.rel != other.rel:
            words = dict.fromkeys((self.rel + " " + other.rel).split())
            if "nofollow" not in self.rel or "nofollow" not in other.rel:
                words.pop("nofollow", None)
            self.rel = " ".join(words)
        self.context = self.context or other.context
        self.hreflang = self.hreflang or other.hreflang
        self.image_alt = self.image_alt or other.image_alt
        self.image_src = self.image_src or other.image_src


@dataclass(slots=True)
class ParsedPage:
    """Everything that is read from a page in its only parse."""

    title: str = ""
    description: str = ""
    keywords: str = ""
    blocks: list[Block] = field(default_factory=list)
    references: dict[str, Reference] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    alternates: dict[tuple[str, str], None] = field(default_factory=dict)
    base: str = ""
    canonical: str = ""
    html_language: str = ""
    content_language: str = ""
    robots: set[str] = field(default_factory=set)
    tdm_reservation: bool = False
    machine: MachineMarks = field(default_factory=MachineMarks)
    licence: LicenceMarks = field(default_factory=LicenceMarks)
    scripts: ScriptSigns = field(default_factory=ScriptSigns)

    def add_reference(self, reference: Reference) -> None:
        """Add a link, or merge it with an earlier one to the same address."""
        known = self.references.get(reference.href)
        if known is not None:
            known.merge(reference)
        elif len(self.references) < MOST_LINKS:
            self.references[reference.href] = reference

    def add_alternate(self, href: str, hreflang: str) -> None:
        """Add a claim that `href` is this page in another language."""
        if len(self.alternates) < MOST_ALTERNATES:
            self.alternates[href, hreflang] = None

    def add_image(self, src: str, alt: str) -> None:
        """Add an image, once."""
        if len(self.images) < MOST_IMAGES and not self.images.get(src):
            self.images[src] = alt


def region_of(tag: str, attributes: Mapping[str, str], outside: int) -> int:
    """Return the region inside an element, given the region around it."""
    if outside == FRAME:
        return FRAME
    role = attributes.get("role")
    region = _ROLES.get(role) if role else None
    if region is None:
        region = _LANDMARKS.get(tag)
        if outside == MAIN:
            region = _INSIDE_MAIN.get(tag, region)
    if region is None and attributes and tag in _NAMED:
        names = attributes.get("class", ""), attributes.get("id", "")
        if any(names) and _names_frame(names[0][:LONGEST_NAME], names[1][:LONGEST_NAME]):
            region = NAMED_FRAME
    return outside if region is None else region


@lru_cache(maxsize=1 << 14)
def _names_frame(classes: str, identifier: str) -> bool:
    names = (_WORDS.findall(name) for name in f"{classes} {identifier}".split())
    return any(
        not _FRAME_WORDS.isdisjoint(map(str.lower, words))
        for words in names
        if words and words[0] not in _OPPOSITES
    )
