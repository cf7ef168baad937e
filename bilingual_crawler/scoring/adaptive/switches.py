"""Which links lead to the other language: by the language they name, or by what they did before.

A link that says "Euskara", "EU" or shows the file `eu.png` names a language. What says
neither ("Other language", a globe) is found out: a slot, that is the words or the image of a
link, that has led from one language to the other again and again is a switch as well.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from bilingual_crawler.documents.document import Link
from bilingual_crawler.languages import LanguagePair, language_of_tag, languages_of_token

MOST_WORDS = 3
"""A language switch is short; a longer anchor only speaks of the language."""
LEAST_NAME = 4
LONGEST_SLOT = 60
MOST_SLOTS = 2_000
LEAST_CROSSINGS = 2
SURE = 0.6

_WORDS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=1 << 14)
def languages_named(text: str) -> frozenset[str]:
    """The ISO 639-3 codes that a short text means: a code, a name, or a name with a word."""
    words = _WORDS.findall(text.lower())
    if not words or len(words) > MOST_WORDS:
        return frozenset()
    if whole := languages_of_token("-".join(words)):
        return whole
    for word in words:
        if len(word) >= LEAST_NAME and (found := languages_of_token(word)):
            return found
    return frozenset()


class Switches:
    """What is known of the links of one site that change the language."""

    def __init__(self, pair: LanguagePair) -> None:
        self._flags = {
            country: language.code
            for language in reversed(tuple(pair))
            for country in language.countries[:3]
        }
        self.slots: dict[str, list[int]] = {}

    def named(self, link: Link) -> frozenset[str]:
        """The languages that a link names, by its `hreflang`, its words or its image."""
        if link.hreflang and (declared := language_of_tag(link.hreflang)):
            return frozenset((declared.code,))
        return (
            (languages_named(link.anchor) if link.anchor else frozenset())
            or (languages_named(link.image_alt) if link.image_alt else frozenset())
            or (self._shown(link.image_src) if link.image_src else frozenset())
        )

    def crosses(self, slot: str) -> float:
        """How often a slot led from one language of the pair to the other; 0 if too seldom."""
        crossed, followed = self.slots.get(slot, (0, 0))
        return crossed / followed if crossed >= LEAST_CROSSINGS else 0.0

    def learn(self, slot: str, *, crossed: bool) -> None:
        """Note where a link led to."""
        known = self.slots.get(slot)
        if known is None:
            if not slot or len(self.slots) >= MOST_SLOTS:
                return
            known = self.slots[slot] = [0, 0]
        known[0] += crossed
        known[1] += 1

    def _shown(self, source: str) -> frozenset[str]:
        """The language of a flag, by the name of its file."""
        return frozenset(self._shown_in(source[-200:]))

    def _shown_in(self, source: str) -> Iterator[str]:
        try:
            path = PurePosixPath(urlsplit(source).path.lower())
        except ValueError:
            return
        words = _WORDS.findall(path.stem)
        if not words or len(words) > MOST_WORDS:
            return
        is_flag = "flag" in source.lower()
        for word in words:
            if is_flag and word in self._flags:
                yield self._flags[word]
            elif is_flag or len(words) == 1:
                yield from languages_of_token(word)


def slot_of(link: Link) -> str:
    """What a link looks like on every page where it stands."""
    return (link.anchor or link.image_alt or link.image_src)[:LONGEST_SLOT]
