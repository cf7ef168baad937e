"""What one page says, before anything is concluded from it."""

from dataclasses import dataclass, field

from bilingual_crawler.documents.document import ParagraphKind
from bilingual_crawler.documents.machine import MachineMarks
from bilingual_crawler.documents.scripted import ScriptSigns

MOST_LINKS = 5_000
MOST_IMAGES = 2_000
MOST_ALTERNATES = 1_000
MOST_BLOCKS = 20_000
MOST_TAGS = 2_000


@dataclass(slots=True)
class Block:
    """A stretch of text between two block elements, with where it stands."""

    text: str
    kind: ParagraphKind
    level: int  # of a heading, 0 otherwise
    region: int
    linked: int = 0  # characters of it that are anchor text
    links: int = 0


@dataclass(slots=True)
class Reference:
    """A link as it is written; addresses are resolved once the whole page is read."""

    href: str
    rel: str = ""
    hreflang: str = ""
    anchor: str = ""
    context: str = ""
    image_alt: str = ""
    image_src: str = ""

    def merge(self, other: "Reference") -> None:
        """Keep the richer of two links to one address; what either tells is told.

        A link that one place recommends is not made worse by `nofollow` in another.
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
    """Everything that is read from a page in its one parse."""

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
    scripts: ScriptSigns = field(default_factory=ScriptSigns)

    def add_reference(self, reference: Reference) -> None:
        """Note a link; a second one to the same address makes the first richer."""
        known = self.references.get(reference.href)
        if known is not None:
            known.merge(reference)
        elif len(self.references) < MOST_LINKS:
            self.references[reference.href] = reference

    def add_alternate(self, href: str, hreflang: str) -> None:
        """Note a claim that `href` is this page in another language."""
        if len(self.alternates) < MOST_ALTERNATES:
            self.alternates[href, hreflang] = None

    def add_image(self, src: str, alt: str) -> None:
        """Note an image, once."""
        if len(self.images) < MOST_IMAGES and not self.images.get(src):
            self.images[src] = alt
