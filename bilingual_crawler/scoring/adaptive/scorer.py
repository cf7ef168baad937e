"""The scorer that learns from the crawl, site by site, which links lead to translations.

What it has learned about a site is stored as bytes: small, and read as untrusted input.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgpack

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, DocumentKey, Link
from bilingual_crawler.languages import OneLanguage, ParallelLanguages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.adaptive.memory import Room
from bilingual_crawler.scoring.adaptive.numbering import NEITHER, LanguageNumbers, go_together
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.site import SUNK, Probe, SiteModel
from bilingual_crawler.scoring.adaptive.texts import UNKNOWN, TextWorth
from bilingual_crawler.scoring.adaptive.transforms import Record, Transforms, UrlTransform
from bilingual_crawler.scoring.adaptive.value import RULES, RecentYield, factors_of
from bilingual_crawler.scoring.rules import RulesScorer
from bilingual_crawler.scoring.scorer import CrawlSoFar, Factor, KnowsWords, LinkScorer, Proposal
from bilingual_crawler.scoring.smart import SmartModels
from bilingual_crawler.urls.hosts import host_of, site_of

MOST_LANGUAGES, MOST_CANDIDATES = 60, 30
"""The most questions per page, for each of the models."""
OPEN = 0.5
"""The least weight left for a first guess of the language, after its sections."""
LEAST_WANTED = 0.08
"""The least probability that a link leads to another language to compare it with its page."""
TRANSLATION = 0.3
"""The least probability to tie a link to its page; only the best link in a language is tied."""

WORDS_WEIGHT = 0.8
"""The probability that two slugs of which all known words translate each other are of one page."""

FORMAT, OLDEST_FORMAT = 6, 3
"""The format written, and the oldest read: 5 has two languages, 4 no kinds of texts either, 3 no
redirects."""
TWO_LANGUAGES = 5
RULE_NUMBERS = {rule: number for number, (rule, _) in enumerate(RULES)}
LANGUAGE, PARTNERS, SWITCHED_FROM, PARENT = 3, 8, 14, 15
"""Indexes in the row of a page."""


class UrlModelPriors:
    """Asks the URL models about links of which the crawl has learned nothing yet.

    A model's answer costs about as much as everything else that is done for a link, so the models
    are asked once per URL, all new links of a page together, and only where the answer can matter:
    the language of URLs without a token in sections of which little was seen, and translations for
    pages that name none themselves.
    """

    def __init__(self, languages: ParallelLanguages, config: Config, crawl: CrawlSoFar) -> None:
        self._words = crawl if isinstance(crawl, KnowsWords) else None
        self._models = SmartModels(languages, config)

    def consult(
        self, here: SiteModel, document: Document, targets: Iterable[tuple[SiteModel, KnownUrl]]
    ) -> None:
        """Ask about those links of a page that were never judged before.

        Each target comes with its site. Pages of two sites are never tied: a site knows only
        its own sections.
        """
        new = {
            target: site
            for site, target in targets
            if target.fate is Fate.WAITING and target.priority is None
        }
        if new:
            self._guess_languages({page: new[page] for page in new if _is_unclear(page)})
            page = here.memory.get(document.url)
            if page is not None and page.is_fetched and not page.claims:
                links = [link for link, site in new.items() if site is here]
                self._tie_likeliest(here, page, links)

    def _guess_languages(self, sites: Mapping[KnownUrl, SiteModel]) -> None:
        by_codes: dict[tuple[str, ...], list[KnownUrl]] = {}
        for page in list(sites)[:MOST_LANGUAGES]:
            by_codes.setdefault(sites[page].numbers.codes, []).append(page)
        for codes, pages in by_codes.items():
            shares = self._models.languages([page.url for page in pages], codes)
            for page, row in zip(pages, zip(*shares, strict=True), strict=False):
                rest = 1.0
                for share in row:
                    rest -= share
                sites[page].think(page, (*row, max(0.0, rest)))

    def _tie_likeliest(self, site: SiteModel, page: KnownUrl, links: Sequence[KnownUrl]) -> None:
        """Tie a page to its likeliest translation in each language among the links, if any is."""
        numbers = site.numbers
        candidates = [
            link
            for link in links
            if link is not page
            and link.ties.get(page, Tie.SLUG) is Tie.SLUG
            and numbers.elsewhere(link.languages, page.language) >= LEAST_WANTED
        ][:MOST_CANDIDATES]
        if not candidates or any(tie >= Tie.KEY for tie in page.ties.values()):
            return
        shares = [
            max(share, self._by_words(site, page, link))
            for share, link in zip(
                self._models.translation(page.url, [link.url for link in candidates]),
                candidates,
                strict=True,
            )
        ]
        best: dict[int, tuple[float, KnownUrl]] = {}
        for share, link in zip(shares, candidates, strict=True):
            language = _language_of_counterpart(numbers, page, link)
            if language not in best or share > best[language][0]:
                best[language] = share, link
        for language, (share, likeliest_link) in best.items():
            if share >= TRANSLATION and site.memory.tie(page, likeliest_link, Tie.MODEL):
                likeliest_link.lean_to(language, share)

    def _by_words(self, site: SiteModel, page: KnownUrl, link: KnownUrl) -> float:
        """Return how likely the words of two slugs make them translations, as the crawl learned."""
        if self._words is None:
            return 0.0
        other = _language_of_counterpart(site.numbers, page, link)
        first, second = (page, link) if page.language < other else (link, page)
        return WORDS_WEIGHT * (self._words.slugs_agree(first.url, second.url) or 0.0)


def _language_of_counterpart(numbers: LanguageNumbers, page: KnownUrl, link: KnownUrl) -> int:
    """Return the likeliest language of a link, if it leads to a translation of a page."""
    if numbers.is_pair:
        return 1 - page.language
    shares = link.languages
    ways = (each for each in range(len(shares) - 1) if go_together(page.language, each))
    return max(ways, key=shares.__getitem__)


def _is_unclear(page: KnownUrl) -> bool:
    """Return True if neither the URL nor its neighbours show the language."""
    if page.certainty >= Certainty.MODEL:
        return False
    page.group.refresh()
    return page.group.open_to_guesses > OPEN


class AdaptiveScorer(LinkScorer):
    """Expected pairs per download, from what this crawl has seen of the site."""

    is_yield = True
    for_many_languages = True

    def __init__(self, languages: ParallelLanguages, crawl: CrawlSoFar, config: Config) -> None:
        super().__init__(languages, crawl, config)
        self._hunches = UrlModelPriors(languages, config, crawl)
        self._rules = RulesScorer(languages, crawl, config)
        self._room = Room()
        self._sites: dict[str, SiteModel] = {}
        self._changed: dict[str, SiteModel] = {}
        self._exhausted: list[str] = []

    def weight_of(self, document: Document) -> float:
        """Return 1, since the value of such a page is learned; or 0, if the settings discard it."""
        is_wanted = document.language in self.languages or self.config.off_language == "follow"
        return 1.0 if is_wanted else 0.0

    def arrived(self, document: Document) -> None:
        """Learn from a fetched page, in whatever language, before its links are scored."""
        site = self._site(document.url)
        was_over = site.harvest.is_over
        site.arrived(document)
        if site.harvest.is_over and not was_over:
            self._exhausted += site.harvest.hosts

    def found(self, pair: DocumentPair, kept: bool) -> None:
        """Learn from a pair that was found (`kept`) or given up for a better one."""
        first, second = (DocumentKey.parse(each).url for each in (pair.first, pair.second))
        self._site(first).found(first, second, pair.languages, kept=kept)

    def failed(self, url: str, reason: str) -> None:  # noqa: ARG002 - any failure is one
        """Learn from a URL that gave no page."""
        self._site(url).failed(url)

    def redirected(self, source: str, target: str) -> None:
        """Learn that a URL leads to another."""
        self._site(source).redirected(source, target)

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return the value of each link: expected pairs per download."""
        here = self._site(document.url)
        here.settle_up()
        rules = self._rules_for(document, links)
        targets = [
            self._seen(document, link, rule) for link, rule in zip(links, rules, strict=True)
        ]
        self._hunches.consult(here, document, targets)
        return [
            site.value(page, link.url) for (site, page), link in zip(targets, links, strict=True)
        ]

    def proposals(self) -> list[Proposal]:
        """Return URLs to try although no link leads to them, each once."""
        return [each for site in self._changed.values() for each in site.proposals()]

    def changes(self) -> list[tuple[str, float]]:
        """Return waiting URLs with their new priority, higher or lower."""
        changed = [each for site in self._changed.values() for each in site.changes()]
        self._changed = {name: site for name, site in self._changed.items() if site.memory.dirty}
        return changed

    def exhausted(self) -> list[str]:
        """Return hosts of sites that yield too few pairs to continue, each once."""
        hosts, self._exhausted = self._exhausted, []
        return hosts

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the score of a link, and all of its factors."""
        here = self._site(document.url)
        known = here.memory.get(document.url)
        if known is None or known.fate is Fate.WAITING:
            self.arrived(document)  # the question is about a page that no crawl has fetched
        (rule,) = self._rules_for(document, [link])
        site, page = self._seen(document, link, rule)
        self._hunches.consult(here, document, [(site, page)])
        score, factors = factors_of(page, site.evidence)
        if not site.harvest.is_over:
            return score, factors
        why = f"the site has ended: {site.harvest.rate:.3f} pairs per page"
        return score * SUNK, [*factors, Factor("site ended", SUNK, why)]

    def state(self) -> bytes | None:
        """Return what was learned about every site."""
        return pack(self._sites) if self._sites else None

    def restore(self, state: bytes) -> None:
        """Continue from what was learned; raise ValueError if it cannot be read."""
        self._room = Room()
        self._sites = unpack(state, self._make)
        self._changed = dict(self._sites)

    def _seen(self, document: Document, link: Link, rule: int) -> tuple[SiteModel, KnownUrl]:
        site = self._site(link.url)
        return site, site.seen(document, link, rule)

    def _rules_for(self, document: Document, links: Sequence[Link]) -> list[int]:
        """Return what `rules` say of each link; nothing, if a page in no wanted language has it."""
        if document.language not in self.languages:
            return [-1] * len(links)
        return [RULE_NUMBERS[rule] for rule in self._rules.rules_for(document, links)]

    def _site(self, url: str) -> SiteModel:
        name = _site_name("/".join(url.split("/", 3)[:3]))
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = self._make(name)
        self._changed[name] = site
        return site

    def _make(self, name: str) -> SiteModel:
        harvest = RecentYield(self.config.site_yield, self.config.site_yield_pages)
        assert not isinstance(self.languages, OneLanguage)
        return SiteModel(name, self.languages, harvest, self._room)


@lru_cache(maxsize=1 << 12)
def _site_name(origin: str) -> str:
    """Return the site of a URL, for which the scheme and the host are enough."""
    return site_of(host_of(origin))


def pack(sites: dict[str, SiteModel]) -> bytes:
    """Return everything learned, site by site."""
    packed: bytes = msgpack.packb(
        [FORMAT, [_site(site) for site in sites.values()]], unicode_errors="surrogatepass"
    )
    return packed


def unpack(data: bytes, make: Callable[[str], SiteModel]) -> dict[str, SiteModel]:
    """Return the sites that `pack` packed; raise ValueError for any other bytes."""
    try:
        version, rows = msgpack.unpackb(data, unicode_errors="surrogatepass", strict_map_key=False)
        if version not in range(OLDEST_FORMAT, FORMAT + 1):
            raise ValueError(f"format {version} instead of {FORMAT}")
        if version <= TWO_LANGUAGES:
            rows = [_of_two_languages(row) for row in rows]
        sites = [_read_site(row, make(row["name"])) for row in rows]
    except (msgpack.UnpackException, LookupError, TypeError, AttributeError, struct.error) as error:
        raise ValueError(f"not the state of an adaptive scorer: {error}") from error
    return {site.name: site for site in sites}


def _site(site: SiteModel) -> dict[str, Any]:
    memory = site.memory
    number = {page: at for at, page in enumerate(memory.urls.values())}
    ties = [
        (number[page], number[mate], tie)
        for page in number
        for mate, tie in page.ties.items()
        if mate in number and number[page] < number[mate]
    ]
    switches = [
        (number[page], number[mate], language)
        for page in number
        for mate, language in page.switches.items()
        if mate in number
    ]
    texts = sorted(site.texts)
    return {
        "name": site.name,
        "codes": site.numbers.codes,
        "urls": [_page(page, number) for page in number],
        "aliases": list(memory.aliases.items()),
        "habits": memory.habits.cases,
        "ties": ties,
        "switches": switches,
        "languages": {name: each.counts for name, each in memory.language_sections.items()},
        "yields": {
            name: (each.paired, each.lone, each.kept, each.fresh, each.sides)
            for name, each in memory.yield_sections.items()
        },
        "evidence": [site.evidence.ties[tie] for tie in Tie],
        "paired": site.evidence.paired,
        "links": site.evidence.rules,
        "pages": site.evidence.pages,
        "kinds": site.evidence.texts.counts,
        "switching": site.evidence.switching,
        "slots": site.switches.slots,
        "rules": [(*sides, _rules(each)) for sides, each in site.transforms.items()],
        "texts": struct.pack(f"<{len(texts)}I", *texts),
        "stays": site.stays,
        "guesses": site.guesses,
        "probing": site.probing,
        "probes": [
            (number[page], probe.source, probe.target, tuple(probe.rule))
            for page, probe in site.probes.items()
            if page in number
        ],
        "harvest": (
            site.harvest.rate,
            site.harvest.pending,
            site.harvest.is_over,
            list(site.harvest.hosts),
        ),
        "dirty": [number[page] for page in memory.dirty if page in number],
    }


def _page(page: KnownUrl, number: dict[KnownUrl, int]) -> tuple[Any, ...]:
    partners = [
        (side, number[partner]) for side, partner in page.sides.items() if partner in number
    ]
    return (
        page.url,
        page.depth,
        page.fate,
        page.language,
        page.prior,
        page.certainty,
        page.hunch,
        page.priority,
        partners,
        page.promise,
        page.claims,
        page.is_copy,
        page.learned,
        page.lone,
        list(page.switching),
        page.parent,
        page.slot,
        tuple(page.text),
        page.asked,
        page.rule,
    )


def _of_two_languages(row: dict[str, Any]) -> dict[str, Any]:
    """Return a site of a format in which 2 was the number of every other language."""
    for page in row["urls"]:
        for at in (LANGUAGE, PARENT):
            page[at] = _number(page[at])
        partner, counts = page[PARTNERS], page[SWITCHED_FROM]
        page[PARTNERS] = [] if partner is None else [(0, partner)]
        page[SWITCHED_FROM] = [(_number(at), count) for at, count in enumerate(counts) if count]
    first, second = row["rules"]
    row["rules"] = [(0, 1, first), (1, 0, second)]
    row["probes"] = [(at, source, 1 - source, rule) for at, source, rule in row["probes"]]
    return row


def _number(language: int) -> int:
    return language if language in (0, 1) else NEITHER


def _read_site(row: dict[str, Any], site: SiteModel) -> SiteModel:
    memory = site.memory
    for code in row.get("codes", ()):
        memory.admit(code)
    for name, counts in row["languages"].items():
        memory.language_section(name).counts = counts
    for name, counters in row["yields"].items():
        section = memory.yield_section(name)
        section.paired, section.lone, section.kept, section.fresh, section.sides = counters
    pages = [_read_page(site, each) for each in row["urls"]]
    for page, each in zip(pages, row["urls"], strict=True):
        for side, partner in each[PARTNERS]:
            page.pair_with(side, pages[partner])
    for one, other, tie in row["ties"]:
        pages[one].tie_to(pages[other], Tie(tie))
        pages[other].tie_to(pages[one], Tie(tie))
    for one, other, language in row["switches"]:
        pages[one].switch_to(pages[other], language)
    site.evidence.ties = dict(zip(Tie, row["evidence"], strict=True))
    site.evidence.paired = row["paired"]
    site.evidence.switching = row["switching"]
    site.evidence.pages = row.get("pages", site.evidence.switching[2])
    site.evidence.rules = row.get("links", site.evidence.rules)
    site.evidence.texts.restore(row.get("kinds", ()))
    site.switches.slots = row["slots"]
    for source, target, rules in row["rules"]:
        site.transforms[source, target] = _read_rules(rules)
    for digest in struct.unpack(f"<{len(row['texts']) // 4}I", row["texts"]):
        site.texts[digest] = 1
    site.stays, site.guesses, site.probing = row["stays"], row["guesses"], row["probing"]
    site.probes = {
        pages[at]: Probe(source, target, _read_rule(rule))
        for at, source, target, rule in row["probes"]
    }
    site.shown = {page.language for page in pages if page.language != NEITHER}
    harvest = site.harvest
    harvest.resume(*row["harvest"])
    memory.dirty = {pages[at]: None for at in row["dirty"]}
    memory.aliases = {int(source): int(target) for source, target in row.get("aliases", ())}
    memory.habits.restore(row.get("habits", {}))
    memory.respell()
    memory.settle()
    return site


def _read_page(site: SiteModel, row: list[Any]) -> KnownUrl:
    url, depth, fate, language, prior, certainty, hunch, priority, _, promise, *rest = row
    page = site.memory.remember(url, depth, Fate(fate))
    page.language = language
    page.prior = tuple(prior)
    page.certainty = Certainty(certainty)
    page.hunch = hunch
    page.priority = priority
    page.promise = promise
    page.claims, page.is_copy, page.learned, page.lone, *rest = rest
    switched_from, page.parent, page.slot, text, *asked = rest
    page.text = TextWorth(*text) if isinstance(text, list) else TextWorth(UNKNOWN, text)
    page.asked, page.rule = asked or ("", -1)
    for switching, number in switched_from:
        page.note_switch_from(switching, number)
    return page


def _rules(transforms: Transforms) -> list[Any]:
    return [
        (tuple(rule), record.support, record.asked, record.right)
        for rule, record in transforms.rules.items()
    ]


def _read_rules(rows: list[Any]) -> Transforms:
    transforms = Transforms()
    transforms.rules = {_read_rule(rule): Record(*counts) for rule, *counts in rows}
    return transforms


def _read_rule(row: list[Any]) -> UrlTransform:
    before, old, new, place = row
    return UrlTransform(before, tuple(old), tuple(new), place)
