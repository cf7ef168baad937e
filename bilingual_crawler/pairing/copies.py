"""Copies: one content under several addresses is one node, and is paired once.

Many sites serve a text under the address of every language until it is translated, with menus and
titles that differ; others have a mobile and a print version. Such copies would compete with each
other for one partner, and each for a pair of its own.

While pages come in, a page is a copy of the first one of its site and language with the same title
and the same paragraphs. In the end, when it is known which paragraphs belong to a template,
pages are grouped once more: those that share most of their text, weighed by how rare it is. A list
with a single entry (a tag, a page of a blog) shares nearly all of its text with that entry. It
stays a page of its own, because its counterpart may list more, but is no second pair with that
content. Two lists of the same entries are copies, whatever they are called.
"""

from collections import defaultdict
from collections.abc import Collection, Container
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages
from bilingual_crawler.pairing.profile import ParagraphMark, block_hash, blocks_of
from bilingual_crawler.pairing.substance import Sections, SectionStatistics
from bilingual_crawler.store.compact import CompactMap, unsigned

LONGEST_COMPARED = 3
LEAST_TEXT = 60
"""Letters in the longest paragraphs; pages with less are not compared."""
SAME_CONTENT = 0.85
"""The share of their text that two copies have in common at least."""
MOST_COMPARED = 20
"""Groups with one of a page's longest paragraphs that it is compared with at most."""


class FirstCopies:
    """Finds the first page with the title and text of another, by the numbers of pages."""

    def __init__(self) -> None:
        self._first = CompactMap()

    def first_of(self, page: KnownPage) -> int:
        """Return the number of the first page with the content of this one, or its own."""
        longest = _longest(page)
        if sum(each.size for each in longest) < LEAST_TEXT:
            return page.number
        texts = tuple(sorted(each.hash for each in _own(page)))
        title = page.page.profile.title.lower()
        key = (page.site, page.page.language, title, texts)
        known = self._first.setdefault(unsigned(hash(key)), page.number + 1)
        return known - 1 if known else page.number


class Copies(NamedTuple):
    """The copies among some pages."""

    same: dict[str, str]
    """The page whose content a copy has."""
    listed: dict[str, str]
    """The page that a list has as its only entry: a tag, a page of a blog."""


def copies_among(
    urls: Collection[str], pages: KnownPages, sections: Sections, in_both: Container[str] = ()
) -> Copies:
    """Return what repeats the content of another page; their order decides which is the original.

    `in_both` are the keys of URLs that have pages in both languages. Two variants of a product that
    both have such URLs are two contents, however alike they are; two lists of one content are not.
    """
    found = Copies({}, {})
    titles: defaultdict[_Section, set[int]] = defaultdict(set)
    for page in map(pages.__getitem__, urls):
        titles[_section(page)].add(block_hash(page.page.profile.title))
    texts: dict[str, _Text] = {}
    kept: defaultdict[tuple[_Section, int], list[str]] = defaultdict(list)
    for page in map(pages.__getitem__, urls):
        longest = _longest(page)
        if sum(each.size for each in longest) < LEAST_TEXT:
            continue
        url, section = page.page.url, sections.of(page)
        text = _Text.of(page, titles[_section(page)], is_apart=page.key.key in in_both)
        keys = [(_section(page), each.hash) for each in longest]
        known = dict.fromkeys(other for key in keys for other in kept[key][:MOST_COMPARED])
        blocks = text.blocks if known else []
        alike = [each for each in known if _in_common(texts[each].blocks, blocks, section)]
        for other in alike:
            if text.has_as_only_entry(texts[other]):
                found.listed[url] = other
            elif texts[other].has_as_only_entry(text):
                found.listed[other] = url
            elif text.is_same(texts[other]):
                found.same[url] = other
                break
        if url not in found.same:
            texts[url] = text
            for key in keys:
                kept[key].append(url)
    return found


class _Text(NamedTuple):
    """The content of a page, packed as in its profile, and the hash of its title."""

    packed: bytes
    title: int
    is_apart: bool
    """True if its URL alone leads to a page in the other language."""
    is_list: bool
    """True if it has the titles of other pages."""

    @classmethod
    def of(cls, page: KnownPage, titles: AbstractSet[int], *, is_apart: bool) -> "_Text":
        profile = page.page.profile
        title = block_hash(profile.title)
        is_list = any(
            each.hash in titles and each.hash != title for each in _own_blocks(profile.blocks)
        )
        return cls(profile.blocks, title, is_apart, is_list)

    @property
    def blocks(self) -> list[ParagraphMark]:
        """Its paragraphs in the language of the page."""
        return _own_blocks(self.packed)

    @property
    def hashes(self) -> AbstractSet[int]:
        """The hashes of these paragraphs."""
        return {each.hash for each in self.blocks}

    def is_same(self, other: "_Text") -> bool:
        """Return True if two pages that have most of their text in common are copies."""
        if self.title == other.title:
            return True
        if self.is_apart and other.is_apart:
            return self.is_list and self.hashes ^ other.hashes <= {self.title, other.title}
        return True

    def has_as_only_entry(self, other: "_Text") -> bool:
        """Return True if the title of the other page, which is no list, is on this one."""
        return not other.is_list and other.title in self.hashes and self.title not in other.hashes


_Section = tuple[str, str]
"""A site and a language."""


def _section(page: KnownPage) -> _Section:
    return page.site, page.page.language


def _in_common(
    one: list[ParagraphMark], other: list[ParagraphMark], section: SectionStatistics
) -> bool:
    hashes, others = {each.hash for each in one}, {each.hash for each in other}
    shared = rest = 0.0
    for each, rarity in zip(one, section.rarities(one), strict=True):
        if each.hash in others:
            shared += each.size * rarity
        else:
            rest += each.size * rarity
    new = [each for each in other if each.hash not in hashes]
    rest += sum(each.size * r for each, r in zip(new, section.rarities(new), strict=True))
    return shared > 0 and shared >= SAME_CONTENT * (shared + rest)


def _own(page: KnownPage) -> list[ParagraphMark]:
    return _own_blocks(page.page.profile.blocks)


def _own_blocks(packed: bytes) -> list[ParagraphMark]:
    return [each for each in blocks_of(packed) if not each.foreign]


def _longest(page: KnownPage) -> list[ParagraphMark]:
    """Return what copies have in common; nothing for files, which the user has chosen."""
    return [] if page.page.url.startswith("file:") else _own(page)[:LONGEST_COMPARED]
