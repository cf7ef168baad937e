"""The URLs of one site, the sections they are in, and the ties between them.

All tables have a maximum size: what comes later is judged by what is known, and forgotten again.
"""

from collections.abc import Iterator
from sys import intern

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.adaptive.evidence import SiteEvidence, leaning
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.sections import Group, LanguageSection, YieldSection
from bilingual_crawler.scoring.adaptive.traits import Traits, traits_of
from bilingual_crawler.urls.fingerprint import url_fingerprint

MOST_URLS = 30_000
MOST_ALTOGETHER = 300_000
"""The most URLs of one site, and of all sites; each takes about a kilobyte."""
MOST_GROUPS = 5_000
MOST_TIES = 12
MOST_ALIKE = 8
SURE_TOKEN = 0.85

Section = LanguageSection | YieldSection


class Room:
    """The room left for the URLs of all sites together."""

    def __init__(self, places: int = MOST_ALTOGETHER) -> None:
        self.places = places


class Memory:
    """What is known about the URLs of a site, and which of them must be judged again."""

    def __init__(self, pair: LanguagePair, room: Room) -> None:
        self._room = room
        self.codes = pair.codes
        self.tokens = pair.first.tokens | pair.second.tokens
        self.urls: dict[int, KnownUrl] = {}
        self.evidence = SiteEvidence()
        self.language_sections: dict[str, LanguageSection] = {}
        self.yield_sections: dict[str, YieldSection] = {}
        self._groups: dict[tuple[str, str], Group] = {}
        self._members: dict[Group, dict[KnownUrl, None]] = {}
        self._alike: dict[tuple[Tie, str], tuple[KnownUrl, ...]] = {}
        self.dirty: dict[KnownUrl, None] = {}
        self._touched: dict[Section, None] = {}

    def get(self, url: str) -> KnownUrl | None:
        """Return what is known about a URL, if anything."""
        return self.urls.get(url_fingerprint(url))

    def known(self, url: str, depth: int) -> KnownUrl:
        """Return the record of a URL; a new one is made with its ties to others."""
        fingerprint = url_fingerprint(url)
        known = self.urls.get(fingerprint)
        if known is None:
            traits = traits_of(url, self.tokens)
            known = self._new(url, traits, depth)
            if len(self.urls) < MOST_URLS and self._room.places > 0:
                self._room.places -= 1
                self.urls[fingerprint] = known
                self._members[known.group][known] = None
                for other, tie in self._alike_to(known, traits):
                    self.tie(known, other, tie)
        return known

    def remember(self, url: str, depth: int, fate: Fate) -> KnownUrl:
        """Add a URL of an earlier run, whose ties are known."""
        self._room.places -= 1
        traits = traits_of(url, self.tokens)
        known = self.urls[url_fingerprint(url)] = self._new(url, traits, depth)
        known.fate = fate
        if fate is Fate.WAITING:
            self._members[known.group][known] = None
        self._alike_to(known, traits)
        return known

    def _new(self, url: str, traits: Traits, depth: int) -> KnownUrl:
        known = KnownUrl(url, traits.key, intern(traits.language_class), self._group(traits), depth)
        if traits.announced:
            known.guess(leaning(traits.announced, self.codes, SURE_TOKEN), Certainty.TOKEN)
        return known

    def tie(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> bool:
        """Tie two URLs, or for a better reason than before; return True if that is new."""
        ties = one.ties
        before = ties.get(other)
        if before is not None and before >= tie:
            return False
        if before is None and max(len(ties), len(other.ties)) >= MOST_TIES:
            return False
        one.tie_to(other, tie)
        other.tie_to(one, tie)
        self.dirty[one] = self.dirty[other] = None
        return True

    def touch(self, section: Section) -> None:
        """Record that the figures of a section have changed."""
        self._touched[section] = None

    def settle(self) -> None:
        """Take the figures of all sections as reported: an earlier run has done so."""
        sections: list[Section] = [*self.language_sections.values()]
        for section in (*sections, *self.yield_sections.values()):
            section.has_moved()

    def judge_all_again(self) -> None:
        """Have every waiting URL judged again, within the budget of each page."""
        for members in self._members.values():
            self.dirty.update(members)

    def end_of_waiting(self, page: KnownUrl, fate: Fate) -> None:
        """Record that a URL was fetched, or never will be."""
        page.fate = fate
        members = self._members.get(page.group)
        if members is not None:
            members.pop(page, None)
        self.dirty.pop(page, None)

    def to_judge_again(self, most: int) -> Iterator[KnownUrl]:
        """Return waiting URLs of which something has changed, `most` at a time."""
        for section in self._touched:
            if section.has_moved():
                for group in section.groups:
                    self.dirty.update(self._members[group])
        self._touched.clear()
        for page in list(self.dirty)[:most]:
            del self.dirty[page]
            if page.fate is Fate.WAITING and page.priority is not None:
                yield page

    def _alike_to(self, known: KnownUrl, traits: Traits) -> list[tuple[KnownUrl, Tie]]:
        """Return earlier URLs that resemble a new one, and record it beside them."""
        found = []
        for tie, name in ((Tie.KEY, traits.key), (Tie.SLUG, traits.slug)):
            if not name or (tie is Tie.SLUG and self._is_foreign(traits)):
                continue
            alike = self._alike.get((tie, name), ())
            if len(alike) < MOST_ALIKE:
                found += [
                    (each, tie) for each in alike if each.language_class != known.language_class
                ]
                self._alike[tie, name] = (*alike, known)
        return found

    def _is_foreign(self, traits: Traits) -> bool:
        return bool(traits.announced) and traits.announced.isdisjoint(self.codes)

    def _group(self, traits: Traits) -> Group:
        """Return the group of a URL; with too many groups, by its upper sections."""
        languages, yields = traits.language_sections, traits.yield_sections
        if len(self._groups) >= MOST_GROUPS:
            languages, yields = (traits.language_class,), yields[:1]
        name = f"{traits.language_class} {languages[-1]}", yields[-1]
        group = self._groups.get(name)
        if group is None:
            group = Group(
                tuple(map(self.language_section, languages)), tuple(map(self.yield_section, yields))
            )
            self._groups[name] = group
            self._members[group] = {}
            for section in group.languages:
                section.groups.append(group)
            for part in group.yields:
                part.groups.append(group)
        return group

    def language_section(self, name: str) -> LanguageSection:
        """Return the section of that name."""
        section = self.language_sections.get(name)
        if section is None:
            section = self.language_sections[name] = LanguageSection(name)
        return section

    def yield_section(self, name: str) -> YieldSection:
        """Return the section of that name."""
        section = self.yield_sections.get(name)
        if section is None:
            section = self.yield_sections[name] = YieldSection(name)
        return section
