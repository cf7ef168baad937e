"""The evidence for two pages: from indexes to candidates, from candidates to odds and reasons.

Where both pages have text, the combined model weighs their numbers. What a site declares adds odds
of its own: the model is trained on pages without declarations, so that it does not learn to trust
them blindly. So does what the user's word list, sentence model and detectors say. Where there is no
text (a list of URLs), or no detector that reads it is asked, URLs and claims decide alone.
"""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from math import log
from typing import NamedTuple

from bilingual_crawler.config.file_kinds import is_file
from bilingual_crawler.languages import LanguagePair, LanguageSet, ParallelLanguages
from bilingual_crawler.pairing import almeida, evidence, ilsp, pplocator
from bilingual_crawler.pairing.candidates import CandidateIndex
from bilingual_crawler.pairing.claims import Claims
from bilingual_crawler.pairing.comparison import (
    GROUPS,
    KINDS,
    NUMBERS,
    PreparedPage,
    SiteStatistics,
    compare,
    hidden,
    hide,
    likeness,
    prepare,
    weights_of,
)
from bilingual_crawler.pairing.copies import Copies, copies_among
from bilingual_crawler.pairing.families import Joined, SiteFamilies
from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages, Names
from bilingual_crawler.pairing.lexicon import TranslationLexicon
from bilingual_crawler.pairing.lexicon_evidence import LearnedWords, WordsOfPairs
from bilingual_crawler.pairing.model import PairModel
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import Evidence, PairingPage, combined_score
from bilingual_crawler.pairing.resources import LEARNED, NO_AIDS, PairingAids, Resources
from bilingual_crawler.pairing.small_models import shipped
from bilingual_crawler.pairing.substance import Sections, Substance
from bilingual_crawler.urls.hosts import host_of, site_of

CONTENT = frozenset(GROUPS) - {"url_key", "url_similarity", "url_model", "switches"}
BOTH_CLAIM, ONE_CLAIMS, CLAIM_OTHERS, SAME_PAGE = 4.0, 2.0, -3.0, 8.0
"""What a site's own claims add to the log-odds."""
STILL_AWAITED = -3.0
"""What it adds before the end if one of two pages names a page that has not come, and the URLs do
not agree: the translation is probably still waiting to be fetched."""
SAME_TEXT, LEAST_VOCABULARY = 0.9, 20
"""Two pages that share more of their words, and have enough of them, are copies."""
REMEMBERED = 1_000
FIRST_PARTNERS = 6
"""Partners that a page of more than two languages is compared with before the end: what it states,
then its URL, then its content. At the end it is compared with all."""
OPEN_SET = 8
"""Languages that most sites with many languages have, if the user names none."""

_AT = {name: at for at, name in enumerate(NUMBERS)}


class PairWeight(NamedTuple):
    """The evidence for two pages, before they are compared with their rivals."""

    first: str
    second: str
    base: float
    """The log-odds without rivals."""
    likeness: float
    is_final: bool
    """True if rivals do not count, because there was no text to compare."""
    fit: int = 0
    """2 if both URLs name the languages of their texts, -2 if both name others."""

    @property
    def urls(self) -> Urls:
        """The two pages, first language first."""
        return self.first, self.second


class Weigher:
    """All indexes of the pages of two or more languages; weighs two pages."""

    def __init__(
        self,
        languages: ParallelLanguages,
        asked: Collection[str],
        model: PairModel,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        self._languages = languages
        self._asked = frozenset(asked)
        self._hidden = hidden(self._asked)
        self._resources = Resources(aids, self._asked)
        self._validations = aids.validations
        self._model = model
        self._classifiers = model.classifiers or shipped()
        self._families = SiteFamilies(languages, aids.cross_domain, aids.chosen_sites)
        self.pages = KnownPages(languages, self._families.family_of)
        lexicons = aids.lexicons if LEARNED in self._asked else ()
        self._learned: LearnedWords | WordsOfPairs
        if isinstance(languages, LanguageSet):
            self._learned = WordsOfPairs(languages, self.pages, lexicons)
        else:
            self._learned = LearnedWords(languages, self.pages, lexicons)
        self._names = Names(self.pages)
        self._families.use_words(self._learned.lexicon)
        self._alternates = Claims("alternates", languages, self._names, self.pages)
        self._switches = Claims("switches", languages, self._names, self.pages)
        self._index = CandidateIndex(self.pages, self._count)
        self._statistics: defaultdict[str, SiteStatistics] = defaultdict(SiteStatistics)
        self._sections = Sections()
        self._is_settled = False
        """True from the last count until another page comes."""
        self._weights = array("d")
        self._weighed_at = array("I")
        self._prepared: dict[str, PreparedPage] = {}
        self._images: dict[str, tuple[int, ilsp.SiteImages]] = {}

    @property
    def _count(self) -> int:
        """The number of languages that the versions of a page are expected in at most."""
        if isinstance(self._languages, LanguagePair):
            return len(self._languages.codes)
        return max(OPEN_SET if self._languages.is_open else 0, len(self._languages.codes))

    def add(self, page: PairingPage) -> tuple[str, int]:
        """Index a page; return its site and how many pages the site has now."""
        self._is_settled = False
        entry = self.pages.add(page)
        self._index.add(entry)
        self._names.add(entry)
        for claims in (self._alternates, self._switches):
            claims.add(entry)
        statistics = self._statistics[entry.site]
        statistics.add(page.profile)
        self._sections.add(entry)
        self._resources.add(entry)
        self._learned.add(entry, is_tied=bool(self._learned) and self._is_tied(entry))
        return entry.site, statistics.pages

    def alias(self, source: str, target: str) -> list[Urls]:
        """Learn another name of a page; return it with each page that used the name."""
        name = self._names.alias(source, target)
        page = None if name is None else self._names.page_at(source)
        if name is None or page is None:
            return []
        self._names.add_name(name, page)
        return [
            (page, url)
            for claims in (self._alternates, self._switches)
            for url in claims.renamed(name, page)
        ]

    def declare(self, url: str, alternates: Iterable[tuple[str, str]]) -> list[Urls]:
        """Learn what a sitemap says about a page; return it with each known page that is meant."""
        named = self._alternates.declare(url, alternates)
        page = self._names.page_at(url)
        return [] if page is None else [(page, other) for other in named]

    def partners(self, url: str) -> list[str]:
        """Return the pages in other languages that are worth comparing with this one.

        Before the end, the lexicon is not asked for pages that claims or their URL tie to another.
        """
        if not self._is_settled and isinstance(self._languages, LanguageSet):
            return self._first_partners(url)
        found = dict.fromkeys(self._index.candidates(url))
        if self._learned and (self._is_settled or not self._is_tied(self.pages[url])):
            found.update(dict.fromkeys(self._learned.partners(url)))
        for claims in (self._alternates, self._switches):
            found.update(dict.fromkeys(claims.partners(url)))
        return list(found)

    def is_disputed(self, url: str, partners: Collection[str]) -> bool:
        """Return True if a page names a known page as its translation that is none of these."""
        return any(
            named not in partners
            for claims in (self._alternates, self._switches)
            for named in claims.named_by(url)
        )

    def _first_partners(self, url: str) -> list[str]:
        """Return the likeliest partners in many languages, which are enough before the end."""
        found: dict[str, None] = {}
        for claims in (self._alternates, self._switches):
            found.update(dict.fromkeys(claims.partners(url)))
        if len(found) < FIRST_PARTNERS:
            found.update(dict.fromkeys(self._index.candidates(url)))
        return list(found)[:FIRST_PARTNERS]

    def _is_tied(self, page: KnownPage) -> bool:
        """Return True if a page and another name each other, or may when the other comes.

        So may two pages whose URLs differ only in the language.
        """
        url = page.page.url
        if "url_key" in self._asked and self._index.meets_by_url(page):
            return True
        return any(
            claims.awaits(url) or any(url in claims.named_by(each) for each in claims.named_by(url))
            for claims in self._asked_claims
        )

    @property
    def _asked_claims(self) -> Iterator[Claims]:
        asked = (("switches", self._switches), ("alternates", self._alternates))
        return (claims for name, claims in asked if name in self._asked)

    def use_lexicon(
        self, lexicon: TranslationLexicon | None, pair: LanguagePair | None = None
    ) -> None:
        """Use another lexicon from now on, or none; pages are weighed with it again later."""
        if LEARNED in self._asked:
            self._learned.use(lexicon, pair)
            self._families.use_words(self._learned.lexicon)

    @property
    def lexicon(self) -> TranslationLexicon | None:
        """The lexicon in use, which has beaten chance."""
        return self._learned.lexicon

    def families(self, page: PairingPage | None = None) -> Iterator[tuple[Joined, list[str]]]:
        """Yield the sites that join a family because of a page, or in the end, and their pages."""
        if page is None:
            joined = self._families.settle()
        else:
            joined = self._families.add(page, site_of(host_of(page.url)))
        for each in joined:
            yield each, self._move(*each)

    def _move(self, site: str, family: str) -> list[str]:
        """Make the pages of a site pages of its family."""
        numbers = self._learned.leave(site)
        for number in numbers:
            entry = self.pages.move(number, family)
            self._index.move(entry)
            self._statistics[family].add(entry.page.profile)
            self._sections.add(entry)
            self._resources.add(entry)
            self._learned.add(entry)
            if number < len(self._weighed_at):
                self._weighed_at[number] = 0
        self._statistics.pop(site, None)
        self._prepared.clear()
        self._images.clear()
        return [self.pages.url_of(number) for number in numbers]

    def settle(self) -> None:
        """Recount what is rare, and assign claims to the pages they mean."""
        self._learned.settle()
        self._is_settled = True
        self._alternates.settle()
        self._sections.recount(map(self.pages.__getitem__, sorted(self.pages)))
        self._weights, self._weighed_at = array("d"), array("I")
        self._prepared.clear()
        self._images.clear()
        self._resources.forget()

    def weigh(self, one: str, other: str, model: float | None = None) -> PairWeight | None:
        """Return the weight of two pages; None if they cannot be a pair.

        What the lexicon says is not in it: it is asked when the rivals are known (`learned`).
        """
        first, second = self._in_order(one, other)
        if not self._reads(first, second):
            return self._weigh_without_text(first, second)
        numbers = self._numbers(first, second, model)
        if _is_copy(first, second, numbers):
            return None
        base = self._model.base(numbers) + self._declared(first, second)
        base += sum(odds for odds, _ in self._resources.said(first, second, text=True))
        if not self._is_settled and self._is_awaited(first, second):
            base += STILL_AWAITED
        return PairWeight(
            first.page.url, second.page.url, base, likeness(numbers), False, first.fit + second.fit
        )

    def learned(self, urls: Urls, odds: float = 0.0) -> float | None:
        """Return what the lexicon adds to the log-odds of two pages; None if it was not asked.

        It is not asked where its answer could not matter, because that is slow.
        """
        if not self._learned.matters(odds, in_the_end=self._is_settled):
            return None
        first, second = self._in_order(*urls)
        words = self._learned.between(first.page.language, second.page.language)
        if words is None or not words.matters(odds, in_the_end=self._is_settled):
            return None
        return sum(added for added, _ in words.said(first, second))

    def _is_awaited(self, first: KnownPage, second: KnownPage) -> bool:
        """Return True if one of two pages names another page that has not come yet."""
        if first.key.key == second.key.key:
            return False
        return any(
            claims.awaits(each.page.url, other.page.language)
            for claims in self._asked_claims
            for each, other in ((first, second), (second, first))
        )

    def _weigh_without_text(self, first: KnownPage, second: KnownPage) -> PairWeight | None:
        stated = list(self._stated(first, second))
        said = list(self._resources.said(first, second, text=False))
        if not stated and not said:
            return None
        base = _log_odds(combined_score(stated)) if stated else 0.0
        base += sum(odds for odds, _ in said)
        return PairWeight(first.page.url, second.page.url, base, 0.0, True)

    def group(self, urls: Iterable[str]) -> Copies:
        """Return the copies among some pages; from now on only their originals count."""
        languages: defaultdict[str, set[str]] = defaultdict(set)
        for url in self.pages:
            languages[self.pages[url].key.key].add(self.pages[url].page.language)
        in_both = {key for key, some in languages.items() if len(some) > 1}
        found = copies_among(sorted(urls), self.pages, self._sections, in_both)
        if found.same:
            self._index = CandidateIndex(self.pages, self._count)
            self._statistics.clear()
            for url in self.pages:
                page = self.pages[url]
                self._index.add(page, by_content=url not in found.same)
                if url not in found.same:
                    self._statistics[page.site].add(page.page.profile)
        return found

    def substance(self, urls: Urls) -> Substance | None:
        """Return what two pages hold beside frames and copies; None if that is not known."""
        first, second = self._in_order(*urls)
        if evidence.same_page(first, second) is not None:
            return None
        return self._sections.compare(first, second)

    def numbers(self, one: str, other: str, model: float | None = None) -> list[float]:
        """Return the numbers of two pages, for training."""
        return self._numbers(*self._in_order(one, other), model)

    def explain(
        self, urls: Urls, model: float | None = None, *, learned: bool = True
    ) -> tuple[Evidence, ...]:
        """Return what each detector that is asked says about two pages.

        The lexicon is left out if it had no say in their probability.
        """
        first, second = self._in_order(*urls)
        found = [*self._stated(first, second), *self._judged(first, second)]
        text = self._reads(first, second)
        if text:
            found.extend(evidence.by_numbers(self._numbers(first, second, model)))
            found.extend(evidence.lengths(first.page.profile, second.page.profile))
            words = self._learned.between(first.page.language, second.page.language)
            if learned and words is not None:
                found.extend(each for _, each in words.said(first, second))
        found.extend(each for _, each in self._resources.said(first, second, text=text))
        return tuple(each for each in found if each.detector in self._asked)

    def _reads(self, first: KnownPage, second: KnownPage) -> bool:
        """Return True if both pages have text and a detector that reads it is asked."""
        asks = bool(self._asked & CONTENT or self._resources or self._learned)
        return asks and bool(first.page.profile.words and second.page.profile.words)

    def _in_order(self, one: str, other: str) -> tuple[KnownPage, KnownPage]:
        first, second = self.pages[one], self.pages[other]
        pair = self._languages.pair_of(first.page.language, second.page.language)
        if first.page.language == pair.first.code:
            return first, second
        return second, first

    def _stated(self, first: KnownPage, second: KnownPage) -> Iterator[Evidence]:
        """Yield the evidence of URLs and claims."""
        one, other = first.page.url, second.page.url
        for said in (
            evidence.same_page(first, second),
            evidence.declared(
                self._alternates.between(one, other),
                files=is_file(first.page.url) and is_file(second.page.url),
            ),
            evidence.switched(self._switches.between(one, other)),
            evidence.same_key(first, second),
        ):
            if said is not None and said.detector in self._asked:
                yield said

    def _judged(self, first: KnownPage, second: KnownPage) -> Iterator[Evidence]:
        """Yield the evidence of the seed systems."""
        pages = first.page, second.page
        pair = self._languages.pair_of(first.page.language, second.page.language)
        for said in (
            pplocator.judge_urls(*pages, pair),
            ilsp.judge_images(*pages, self._images_of(first.site)),
            ilsp.judge_structure(*pages, self._classifiers.structure),
            pplocator.judge_pages(*pages, self._classifiers.pplocator),
            almeida.judge(*pages, pair.tokens, self._validations),
        ):
            if said is not None:
                yield said._replace(score=round(said.score, 3))

    def _images_of(self, site: str) -> ilsp.SiteImages:
        """Return the rare images of a site, found again each time it has doubled."""
        statistics = self._statistics[site]
        known = self._images.get(site)
        if known is None or statistics.pages >= 2 * known[0]:
            images = ilsp.site_images(statistics.counts("images"), statistics.pages)
            known = self._images[site] = statistics.pages, images
        return known[1]

    def _declared(self, first: KnownPage, second: KnownPage) -> float:
        if "same_page" in self._asked and evidence.same_page(first, second) is not None:
            return SAME_PAGE
        if "alternates" not in self._asked:
            return 0.0
        said = self._alternates.between(first.page.url, second.page.url)
        if said.sides:
            return BOTH_CLAIM if said.sides > 1 else ONE_CLAIMS
        return CLAIM_OTHERS if said.others else 0.0

    def _numbers(self, first: KnownPage, second: KnownPage, model: float | None) -> list[float]:
        switches = self._switches.between(first.page.url, second.page.url)
        pages = self._prepared_page(first), self._prepared_page(second)
        numbers = compare(*pages, switches, self._statistics[first.site], model)
        if self._hidden:
            hide(numbers, self._hidden)
        return numbers

    def _prepared_page(self, page: KnownPage) -> PreparedPage:
        found = self._prepared.get(page.page.url)
        if found is None:
            if len(self._prepared) >= REMEMBERED:
                self._prepared.clear()
            found = self._prepared[page.page.url] = prepare(page, self._weights_of(page))
            found.things["links"] -= self._families.inner_links(page.page)
        return found

    def _weights_of(self, page: KnownPage) -> dict[str, float]:
        """Return the weights of a page's things, computed again when its site has doubled."""
        statistics = self._statistics[page.site]
        new = len(self.pages) - len(self._weighed_at)
        self._weighed_at.extend((0,) * new)
        self._weights.extend((0.0,) * (new * len(KINDS)))
        weighed_at, first = self._weighed_at[page.number], page.number * len(KINDS)
        if weighed_at and statistics.pages < 2 * weighed_at:
            return dict(zip(KINDS, self._weights[first : first + len(KINDS)], strict=True))
        weights = weights_of(page.page.profile, statistics)
        self._weighed_at[page.number] = statistics.pages
        self._weights[first : first + len(KINDS)] = array("d", weights.values())
        return weights


def _is_copy(first: KnownPage, second: KnownPage, numbers: list[float]) -> bool:
    """Return True if two pages have the same words: untranslated, or only in the menu."""
    least = min(len(first.page.profile.vocabulary), len(second.page.profile.vocabulary)) // 4
    return least >= LEAST_VOCABULARY and numbers[_AT["shared_words"]] > SAME_TEXT


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return log(chance / (1 - chance))
