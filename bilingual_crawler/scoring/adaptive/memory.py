"""The URLs of one site, the sections they are in, and the ties between them.

All tables have a maximum size: what comes later is judged by what is known, and forgotten again.

The place of a URL, and what it resembles, is known before anything is known about its page. It
gives two kinds of sections. Language sections keep the language tokens (`/en/blog` and `/es/blog`
are two places); yield sections leave them out, since a part of a site that is translated is so in
all languages.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from sys import intern
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from bilingual_crawler.languages import ParallelLanguages, languages_of_token
from bilingual_crawler.scoring.adaptive.numbering import (
    MOST_BY_LINKS,
    MOST_NUMBERS,
    LanguageNumbers,
)
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.sections import Group, LanguageSection, YieldSection
from bilingual_crawler.scoring.adaptive.value import SiteEvidence
from bilingual_crawler.scoring.adaptive.weights import WEIGHTS
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.habits import UrlHabits
from bilingual_crawler.urls.hosts import site_of, split_host
from bilingual_crawler.urls.language_tokens import INDEX, WORD, url_key

DEEPEST = 3
"""The most directories that make sections; deeper ones have too few pages to learn from."""
MOST_PARAMETERS = 20
CODE = 3
LEAST_SLUG, LONG_SLUG = 6, 9
LONGEST_PART = 60

MOST_URLS = 30_000
MOST_ALTOGETHER = 300_000
"""The most URLs of one site, and of all sites; each takes about a kilobyte."""
MOST_NAMES = 3_000
"""The names of a site that are compared with those of later URLs."""
BEGINNING = 3
LEAST_ALIKE, CLEARLY = 75.0, 4.0
"""Percentages: the least similarity of two names, and its distance from the next best."""
MOST_NEAR = 5
MOST_GROUPS = 5_000
MOST_TIES = 12
MOST_REDIRECTS = 10
MOST_ALIKE = 8

Section = LanguageSection | YieldSection
_NUMBERS = re.compile(r"\d\d+")


class Traits(NamedTuple):
    """A URL taken apart."""

    language_class: str
    """Host and language tokens: URLs that differ in it may be translations."""
    language_sections: tuple[str, ...]
    """From the host to the last directory; the class takes the place of its first token."""
    yield_sections: tuple[str, ...]
    key: str
    slug: str
    """The last part of its path, if that tells one page from others and is in a directory."""
    name: str
    """The same, in a directory or not."""
    announced: frozenset[str]
    """The languages that the most trusted of its tokens may mean."""


class _Place(NamedTuple):
    """A host taken apart."""

    name: str
    site: str
    key: str
    found: tuple[str, ...]
    announced: tuple[frozenset[str], ...]


class _Segment(NamedTuple):
    """A segment of a path taken apart."""

    key: str
    """The segment without language tokens."""
    languages: frozenset[str]
    """What it means if it is a token as a whole."""
    is_code: bool


class _Folder(NamedTuple):
    """The directories of a URL taken apart."""

    place: _Place
    prefixes: tuple[str, ...]
    neutral: tuple[str, ...]
    """Those that are not language tokens."""
    neutral_prefixes: tuple[str, ...]
    found: tuple[str, ...]
    announced: tuple[frozenset[str], ...]
    above: int
    """How many come before the first token."""
    key: str


def traits_of(url: str, tokens: frozenset[str]) -> Traits:
    """Take a URL apart; `tokens` are those of the languages, as for `url_key`."""
    try:
        parts = urlsplit(url)
        path = unquote(parts.path) if "%" in parts.path else parts.path
        segments = [each for each in path.lower().split("/") if each]
        folder = _folder(parts.hostname or "", tuple(segments[:-1]), tokens)
        parameters = _parameters(parts.query)
    except ValueError:
        return Traits("", ("",), ("",), "", "", "", frozenset())
    last = segments[-1] if segments else ""
    taken = _segment(last, tokens)
    is_token = bool(taken.languages) and taken.is_code
    asked, asking = _in_query(parameters, tokens)
    named, naming = ([f"/{last}/"], [taken.languages]) if is_token else _in_name(last, tokens)
    place = folder.place
    found = (*asked, *folder.found, *named)
    language_class = f"{place.name} {' '.join(sorted((*found, *place.found)))}"
    above = folder.above if found else 0
    language_sections = (*folder.prefixes[:above], language_class, *folder.prefixes[above:])
    announced = next(iter((*asking, *folder.announced, *naming, *place.announced)), frozenset())
    neutral, yields = folder.neutral, folder.neutral_prefixes
    if not is_token:
        name, slug = last, last if neutral else ""
    else:
        name = neutral[-1] if neutral else ""
        slug = name if len(neutral) > 1 else ""
        yields = yields[: len(neutral) - 1] if neutral else yields
    yield_sections = (place.site, *yields)
    if parameters:
        names = ",".join(sorted(name[:LONGEST_PART] for name, _ in parameters))
        yield_sections = (*yield_sections, f"{yield_sections[-1]}?{names}")
    key = _key(folder, taken.key, parts.query, tokens)
    name = name if _is_telling(name) else ""
    return Traits(
        language_class, language_sections, yield_sections, key, slug and name, name, announced
    )


@lru_cache(maxsize=1 << 10)
def _place(host: str, tokens: frozenset[str]) -> _Place:
    name = host.removeprefix("www.")
    found, announced = [], []
    for label in split_host(host).subdomain.split("."):
        if label and (languages := _languages(label, tokens)):
            found.append(f"{label}.")
            announced.append(languages)
    key = url_key(f"https://{host}/", tokens).key
    return _Place(name, site_of(name), key, tuple(found), tuple(announced))


@lru_cache(maxsize=1 << 13)
def _folder(host: str, folders: tuple[str, ...], tokens: frozenset[str]) -> _Folder:
    """Take directories apart, once: many URLs share them."""
    place = _place(host, tokens)
    taken = [_segment(each, tokens) for each in folders]
    named = [at for at, each in enumerate(taken) if each.languages]
    neutral = tuple(each for each, parts in zip(folders, taken, strict=True) if not parts.languages)
    return _Folder(
        place=place,
        prefixes=_prefixes(place.name, folders),
        neutral=neutral,
        neutral_prefixes=_prefixes(place.name, neutral),
        found=tuple(f"/{folders[at]}/" for at in named),
        announced=tuple(taken[at].languages for at in named),
        above=named[0] if named else len(folders),
        key="".join(f"{each.key}/" for each in taken if each.key),
    )


@lru_cache(maxsize=1 << 14)
def _segment(segment: str, tokens: frozenset[str]) -> _Segment:
    """Take a segment apart, once: many URLs share them."""
    token = segment.replace("_", "-")
    languages = _languages(token, tokens)
    key = segment
    if languages or not tokens.isdisjoint(WORD.findall(segment)):
        key = url_key(f"https://x/{quote(segment, errors='replace')}", tokens).key
        key = key.partition("/")[2].removesuffix("?")
    return _Segment(key, languages, len(token) <= CODE or "-" in token)


def _key(folder: _Folder, last: str, query: str, tokens: frozenset[str]) -> str:
    """Return the same as `url_key`, from parts that were taken apart before."""
    path = INDEX.sub("", f"{folder.key}{last}")
    if query:
        parameters = unquote(query).lower().split("&")
        query = "&".join(
            sorted(
                each
                for each in parameters
                if each and each.partition("=")[2].replace("_", "-") not in tokens
            )
        )
    return f"{folder.place.key}{path}{query}"


def _parameters(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, max_num_fields=MOST_PARAMETERS) if query else []


def _prefixes(host: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    cut = [folder[:LONGEST_PART] for folder in folders[:DEEPEST]]
    return tuple(f"{host}/{'/'.join(cut[:depth])}/" for depth in range(1, len(cut) + 1))


def _in_query(
    parameters: list[tuple[str, str]], tokens: frozenset[str]
) -> tuple[list[str], list[frozenset[str]]]:
    found, announced = [], []
    for name, value in parameters:
        if languages := _languages(value.lower().replace("_", "-"), tokens):
            found.append(f"{name}={value.lower()}")
            announced.append(languages)
    return found, announced


def _languages(token: str, wanted: frozenset[str]) -> frozenset[str]:
    """Return the languages that a token may mean; nearly every short word is a code of some."""
    languages = languages_of_token(token)
    if languages and len(token) == CODE and token not in wanted:
        return frozenset()
    return languages


def _in_name(name: str, tokens: frozenset[str]) -> tuple[list[str], list[frozenset[str]]]:
    """Return the language tokens of a file name: `page.en.html`."""
    found, announced = [], []
    for part in name.split(".")[1:-1]:
        if languages := _languages(part, tokens):
            found.append(f".{part}.")
            announced.append(languages)
    return found, announced


def _is_telling(name: str) -> bool:
    """Return True if a last segment names one page: a title or a number, not `index` or `page`."""
    if len(name) < LEAST_SLUG:
        return False
    return len(name) >= LONG_SLUG or not name.isalpha()


class UrlNames:
    """The last parts of URLs, by language class: translations often have similar ones.

    Names and cognates make `/it/finanziamento/` the likely counterpart of `/financiamiento/`. Only
    names with the same beginning are compared: most that are alike have it, and there are few.
    """

    def __init__(self) -> None:
        self._names: dict[str, dict[str, KnownUrl]] = {}
        self._room = MOST_NAMES

    def add(self, name: str, known: KnownUrl) -> None:
        """Keep the name of a URL, while there is room."""
        if self._room > 0:
            self._room -= 1
            self._names.setdefault(name[:BEGINNING], {}).setdefault(name, known)

    def likest(self, name: str, language_class: str) -> KnownUrl | None:
        """Return the URL of another class whose name is most similar, if one clearly is."""
        names = self._names.get(name[:BEGINNING])
        if names is None:
            return None
        numbers = _NUMBERS.findall(name)
        near = extract(name, names.keys(), scorer=ratio, score_cutoff=LEAST_ALIKE, limit=MOST_NEAR)
        best = [
            (share, names[other])
            for other, share, _ in near
            if names[other].language_class != language_class and _NUMBERS.findall(other) == numbers
        ]
        if not best or (len(best) > 1 and best[0][0] - best[1][0] < CLEARLY):
            return None
        return best[0][1]


class Room:
    """The room left for the URLs of all sites together."""

    def __init__(self, places: int = MOST_ALTOGETHER) -> None:
        self.places = places


class Memory:
    """What is known about the URLs of a site, and which of them must be judged again."""

    def __init__(self, languages: ParallelLanguages, room: Room) -> None:
        self._room = room
        self.numbers = LanguageNumbers(languages)
        self.tokens = languages.tokens
        self.urls: dict[int, KnownUrl] = {}
        self.aliases: dict[int, int] = {}
        """Fingerprints of URLs that redirect, and of where they lead."""
        self.habits = UrlHabits()
        self._forms: dict[int, KnownUrl] = {}
        """URLs by the spelling that the habits of the site give them."""
        self.evidence = SiteEvidence(self.numbers)
        self.language_sections: dict[str, LanguageSection] = {}
        self.yield_sections: dict[str, YieldSection] = {}
        self._groups: dict[tuple[str, str], Group] = {}
        self._members: dict[Group, dict[KnownUrl, None]] = {}
        self._alike: dict[tuple[Tie, str], tuple[KnownUrl, ...]] = {}
        self.names = UrlNames()
        self.dirty: dict[KnownUrl, None] = {}
        self._touched: dict[Section, None] = {}

    def get(self, url: str) -> KnownUrl | None:
        """Return what is known about a URL, if anything."""
        return self._find(url, url_fingerprint(url))

    def _find(self, url: str, fingerprint: int) -> KnownUrl | None:
        """Return the record of a URL under any spelling and behind any redirect."""
        known = self.urls.get(self._target_of(fingerprint))
        if self._forms and (known is None or known.fate is Fate.GONE):
            form = self._target_of(url_fingerprint(self.habits.form(url)))
            known = self._forms.get(form) or known
        return known

    def _target_of(self, fingerprint: int) -> int:
        for _ in range(MOST_REDIRECTS):
            target = self.aliases.get(fingerprint)
            if target is None:
                break
            fingerprint = target
        return fingerprint

    def lead(self, source: str, target: str) -> bool:
        """Record that a URL leads to another; return True if that was new.

        A circle changes nothing.
        """
        alias, page = url_fingerprint(source), url_fingerprint(target)
        is_new = self.aliases.get(alias) != page
        if len(self.aliases) < MOST_URLS and self._target_of(page) != alias:
            self.aliases[alias] = page
        return is_new

    def respell(self) -> list[tuple[KnownUrl, KnownUrl]]:
        """Find URLs by the present habits; return waiting ones that are spellings of others.

        A fetched page stands for its spellings, or else the one to which the others redirect.
        """
        self._forms = {}
        if not self.habits.any_trusted:
            return []
        same = []
        forms = {known: self.habits.form(known.url) for known in self.urls.values()}

        def rank(known: KnownUrl) -> tuple[bool, bool]:
            return known.fate is not Fate.FETCHED, forms[known] != known.url

        for known in sorted(forms, key=rank):
            if known.fate is Fate.GONE:
                continue
            first = self._forms.setdefault(url_fingerprint(forms[known]), known)
            if first is not known and known.fate is Fate.WAITING:
                same.append((known, first))
        return same

    def known(self, url: str, depth: int) -> KnownUrl:
        """Return the record of a URL; a new one is made with its ties to others."""
        return self._find(url, url_fingerprint(url)) or self.own(url, depth)

    def own(self, url: str, depth: int) -> KnownUrl:
        """Return the record that a URL has of its own, whatever it is a spelling of."""
        fingerprint = url_fingerprint(url)
        known = self.urls.get(fingerprint)
        if known is None:
            traits = traits_of(url, self.tokens)
            known = self._new(url, traits, depth)
            if self.habits.any_trusted:
                self._forms.setdefault(url_fingerprint(self.habits.form(url)), known)
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
        language_class, group = intern(traits.language_class), self._group(traits)
        prior = self.numbers.start
        known = KnownUrl(url, traits.key, language_class, group, depth=depth, prior=prior)
        if traits.announced:
            lean = self.numbers.leaning(traits.announced, WEIGHTS.sure_token)
            known.guess(lean, Certainty.TOKEN)
        return known

    def admit(self, code: str | None, *, by_link: bool = False) -> None:
        """Make room for a language that the site has shown, if whatever it has is wanted."""
        if self.numbers.admit(code, MOST_BY_LINKS if by_link else MOST_NUMBERS):
            for section in self.language_sections.values():
                section.widen(self.numbers.size)
            for part in self.yield_sections.values():
                part.widen(len(self.numbers.codes))

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
            if not name or (tie is Tie.SLUG and self.numbers.is_foreign(traits.announced)):
                continue
            alike = self._alike.get((tie, name), ())
            if len(alike) < MOST_ALIKE:
                found += [
                    (each, tie) for each in alike if each.language_class != known.language_class
                ]
                self._alike[tie, name] = (*alike, known)
        if traits.name and not self.numbers.is_foreign(traits.announced):
            if not found and (likest := self.names.likest(traits.name, known.language_class)):
                found.append((likest, Tie.SLUG))
            self.names.add(traits.name, known)
        return found

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
            section = self.language_sections[name] = LanguageSection(name, self.numbers.size)
        return section

    def yield_section(self, name: str) -> YieldSection:
        """Return the section of that name."""
        section = self.yield_sections.get(name)
        if section is None:
            section = self.yield_sections[name] = YieldSection(name, len(self.numbers.codes))
        return section
