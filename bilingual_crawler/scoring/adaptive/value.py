"""The value of a waiting URL and its reasons, what its ties are worth, and the yield of its site.

The value is the expected number of new versions of pages per download: of pairs, if there are two
languages. A page that completes a pair, or joins versions in other languages, is worth the chance
that it does so. A page that opens a pair is worth about half of that, since a pair takes two
downloads, and less if its counterpart has not been seen yet. Text that other pages have already is
worth less than new text.

How likely two tied URLs are translations is what the site's own habits say. Every kind of tie
starts with the reliability that it has on most sites, and earns its own on this one: each time both
pages are there, the tie was right (two languages) or wrong.
"""

from collections.abc import Iterable
from math import exp, floor, log, prod
from typing import NamedTuple

from bilingual_crawler.languages import find_language
from bilingual_crawler.scoring.adaptive.numbering import LanguageNumbers, Vector, go_together
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.texts import TextRecord, describe
from bilingual_crawler.scoring.adaptive.weights import WEIGHTS
from bilingual_crawler.scoring.rules import (
    DECLARED,
    FOREIGN,
    OTHER_LANGUAGE,
    SAME_LANGUAGE,
    TRANSLATION,
    UNDECIDED,
)
from bilingual_crawler.scoring.scorer import Factor

TIE_WEIGHTS = {
    Tie.SLUG: "tie_slug",
    Tie.MODEL: "tie_model",
    Tie.KEY: "tie_key",
    Tie.RULE: "tie_rule",
    Tie.SWITCH: "tie_switch",
    Tie.DECLARED: "tie_declared",
}


TWO = 2
LEAST_SHARE = 0.05
"""The least probability of a language to ask how often pages in it are translated, of many."""
EACH_MORE = 0.3
"""How much more a page is worth for each further version that is there; 1 would count pairs.
Chosen from 0 and 0.3 on ten recorded sites (docs/experiments/languages.md)."""
MOST_TOLD = 3
"""The most languages that a reason names."""
ROUNDING = 1e-9

RULES = (
    (FOREIGN, "rule_foreign"),
    (SAME_LANGUAGE, "rule_same"),
    (UNDECIDED, "rule_undecided"),
    (OTHER_LANGUAGE, "rule_other"),
    (TRANSLATION, "rule_translation"),
    (DECLARED, "rule_declared"),
)
"""What the rules may say of a link, the best last, and the weight that is its value."""


class SiteEvidence:
    """What one site has shown about its ties and its language switches."""

    def __init__(self, numbers: LanguageNumbers) -> None:
        self.numbers = numbers
        self.rules = [[0.0, 0.0] for _ in RULES]
        """For each rule the pages to which it led, and how far they have translations."""
        self.pages = 0
        self.texts = TextRecord()
        self.ties = {tie: [0.0, 0.0] for tie in Tie}
        self.paired = [0, 0]
        """Ties of two fetched pages that pairing can see: those that are pairs, and all."""
        self.switching = [0, 0, 0]
        """Pages whose switch leads to a page of their own, pages with a switch, all pages."""

    def reliability(self, tie: Tie) -> float:
        """Return the expected share of right ties of a kind on this site."""
        right, seen = self.ties[tie]
        first: float = getattr(WEIGHTS, TIE_WEIGHTS[tie])
        return (right + WEIGHTS.tie_prior * first) / (seen + WEIGHTS.tie_prior)

    def settled(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> float:
        """Record what pairing says about a tie whose pages are there; return how right it was."""
        is_pair = other in one.partners
        right = 1.0 if is_pair else self.is_alive(one, other) * self.in_silence(one, other, tie)
        if _is_seen(one, other, tie):
            self.paired[0] += is_pair
            self.paired[1] += 1
        return right

    def in_silence(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> float:
        """Return how likely two tied pages are translations though pairing has not paired them.

        The more such ties turn out to be pairs, the more it means if one does not.
        """
        if not _is_seen(one, other, tie):
            return WEIGHTS.silence
        paired, seen = self.paired
        return min(WEIGHTS.silence, 1.0 - paired / (seen + WEIGHTS.silence_prior))

    def judge(self, tie: Tie, *, right: float) -> None:
        """Record that a tie of this kind was right or wrong."""
        counts = self.ties[tie]
        counts[0] += right
        counts[1] += 1

    def rule_value(self, rule: int) -> float:
        """Return the value of a page by the best rule for a link to it, as the site has shown."""
        first: float = getattr(WEIGHTS, RULES[rule][1])
        paired, seen = self.rules[rule]
        return first * (paired + WEIGHTS.rule_prior) / (seen + WEIGHTS.rule_prior)

    @property
    def rule_share(self) -> float:
        """Return the share of the rules in a value; less with every page of the site."""
        fades = WEIGHTS.rule_pages / (WEIGHTS.rule_pages + self.pages)
        return WEIGHTS.rule_in_the_end + (WEIGHTS.rule_at_first - WEIGHTS.rule_in_the_end) * fades

    def worth_of_text(self, page: KnownUrl) -> float:
        """Return what the text of a page says about its translation."""
        return self.texts.worth(*page.text)

    def saw(self, page: KnownUrl) -> None:
        """Record what a fetched page says about its translation."""
        self.switching[0] += page.claims
        self.switching[1] += page.claims or bool(page.switches)
        self.switching[2] += 1

    def strength(self, one: KnownUrl, other: KnownUrl, tie: Tie) -> float:
        """Return how likely two tied URLs are translations, apart from their languages."""
        share = self.reliability(tie)
        if tie is Tie.SWITCH:
            if one in other.switches and other in one.switches:
                return max(share, WEIGHTS.mutual_switch)
            return share / max(_shared(one, other), _shared(other, one))
        if tie is not Tie.DECLARED:
            doubt = max(self._doubt(one, other), self._doubt(other, one))
            return share * (1.0 - WEIGHTS.contradiction * doubt)
        return share

    def _doubt(self, page: KnownUrl, mate: KnownUrl) -> float:
        """Return the doubt if a page does not name `mate` as its translation.

        A page with a switch that leads elsewhere, or a page without one on a site where the others
        have them, says that it has no translation; unless switches always lead home.
        """
        if not page.is_fetched or (mate.fate is Fate.FETCHED and mate.language == page.language):
            return 0.0
        own, switching, pages = self.switching
        if page.claims or any(wanted != page.language for wanted in page.switches.values()):
            return min(1.0, (own + 2.0) / (switching + 2.5))
        return min(1.0, (own + 0.5) / (pages + 2.0))

    def is_alive(self, page: KnownUrl, mate: KnownUrl) -> bool:
        """Return True if two tied URLs, of which `page` is fetched, can still be a pair."""
        if self._is_taken(page, mate) or self._is_taken(mate, page):
            return False
        if page.is_copy or mate.is_copy:
            return False
        if mate.fate is Fate.FETCHED:
            return go_together(page.language, mate.language)
        return mate.fate is Fate.WAITING

    def _is_taken(self, page: KnownUrl, mate: KnownUrl) -> bool:
        """Return True if a page has another partner than `mate`, for as good a reason.

        While a crawl runs a pair is a guess: two pages of one template may be paired because the
        true counterpart has not come. What a page states itself outlives a partner that it does not
        name. A page has a partner in each language; the one of `mate` is that which it seems to be
        in.
        """
        if not page.partners:
            return False
        partner = page.partner_at(0 if self.numbers.is_pair else self.numbers.side(mate.seems))
        if partner is None or partner is mate:
            return False
        is_stated = page.ties.get(mate, Tie.SLUG) >= Tie.RULE and mate.fate is Fate.WAITING
        return not is_stated or page.ties.get(partner, Tie.SLUG) >= Tie.RULE


def is_pair_elsewhere(one: KnownUrl, other: KnownUrl) -> bool:
    """Return True if one of two pages, in two wanted languages, is a pair under another address.

    Many sites serve a text at two addresses. Once a translation is paired with one of them, its tie
    to the other is not wrong: it has only come too late.
    """
    return go_together(one.language, other.language) and (_is_spare(one) or _is_spare(other))


def _is_spare(page: KnownUrl) -> bool:
    """Return True if a page without a partner is another address of one that has one."""
    if page.partners:
        return False
    return any(
        partner is not page and partner.key == page.key and partner.language == page.language
        for mate in page.ties
        for partner in mate.partners
    )


def _is_seen(one: KnownUrl, other: KnownUrl, tie: Tie) -> bool:
    """Return True if pairing sees what ties two pages: a declaration, or the same key."""
    return tie is Tie.DECLARED or one.key == other.key


def _shared(page: KnownUrl, mate: KnownUrl) -> int:
    """Return how many pages of `mate`'s language share its switch target `page`."""
    return max(1, page.switched_from(mate.language)) if mate.fate is Fate.FETCHED else 1


class Case(NamedTuple):
    """The best that can be said for a URL."""

    value: float
    mate: KnownUrl | None
    unexplained: float
    """The chance that a translation, if there is one, is none of the known URLs; 1 with a mate."""


def best_case(page: KnownUrl, languages: Vector, evidence: SiteEvidence) -> Case:
    """Return why a URL is worth most: a fetched counterpart, a waiting one, or none."""
    if not evidence.numbers.is_pair:
        return best_of_cluster(page, languages, evidence)
    best, best_mate, unexplained = 0.0, None, 1.0
    for mate, tie in page.ties.items():
        if mate.fate is Fate.GONE:
            continue
        unexplained *= 1.0 - evidence.reliability(tie)
        value = with_mate(page, languages, mate, evidence, least=best)
        if value > best:
            best, best_mate = value, mate
    alone = without_mate(page, languages) * unexplained
    return Case(alone, None, unexplained) if alone > best else Case(best, best_mate, 1.0)


def without_mate(page: KnownUrl, languages: Vector) -> float:
    """Return the value of a page whose counterpart is unknown."""
    wanted = sum(languages[:-1])
    return wanted * translated(page, languages) * WEIGHTS.half * WEIGHTS.findable


def translated(page: KnownUrl, languages: Vector) -> float:
    """Return the share of such pages that have a translation, if in one of the languages."""
    wanted = languages[:-1]
    least, alone = LEAST_SHARE if len(wanted) > TWO else 0.0, page.group.alone
    ways = [(share, number) for number, share in enumerate(wanted) if share >= least]
    total = sum([share for share, _ in ways])
    if not total:
        return 0.0
    first = WEIGHTS.first_yield
    return sum([share * alone(first, number) for share, number in ways]) / total


def with_mate(
    page: KnownUrl, languages: Vector, mate: KnownUrl, evidence: SiteEvidence, *, least: float
) -> float:
    """Return the value of a page with a tied one; 0 if that is less than `least`."""
    group, tie = page.group, page.ties[mate]
    if mate.fate is Fate.FETCHED:
        if not mate.is_fetched or not evidence.is_alive(mate, page):
            return 0.0
        wanted = evidence.numbers.elsewhere(languages, mate.language) * group.kept
        wanted = min(1.0, wanted * evidence.worth_of_text(mate))
        return evidence.strength(mate, page, tie) * wanted if wanted > least else 0.0
    both, downloads = evidence.numbers.opening(languages, mate.languages)
    if both <= least * downloads:
        return 0.0
    return group.together(evidence.strength(mate, page, tie) * group.kept) * both / downloads


def best_of_cluster(page: KnownUrl, languages: Vector, evidence: SiteEvidence) -> Case:
    """Return the same for a page that may have versions in several languages.

    A page that joins versions which are there is worth the chance that it is a new one: in none of
    their languages; and somewhat more if there are several, with all of which it makes pairs. A
    page that opens a cluster is worth the versions that it will have beyond the first, shared among
    the downloads that they take: half a version if there is one other, and nearly one if there are
    many.
    """
    numbers, group = evidence.numbers, page.group
    unexplained = 1.0
    there: list[tuple[float, KnownUrl]] = []
    to_come: dict[int, tuple[float, KnownUrl]] = {}
    new = list(languages)
    for mate, tie in page.ties.items():
        if mate.fate is Fate.GONE:
            continue
        unexplained *= 1.0 - evidence.reliability(tie)
        if mate.fate is Fate.FETCHED:
            if mate.is_fetched and evidence.is_alive(mate, page):
                strength = evidence.strength(mate, page, tie)
                there.append((strength, mate))
                new[mate.language] *= 1.0 - strength
            continue
        both, _ = numbers.opening(languages, mate.languages)
        share = group.together(evidence.strength(mate, page, tie) * group.kept)
        known = to_come.get(mate.seems)
        if known is None or share * both > known[0]:
            to_come[mate.seems] = share * both, mate
    best = Case(without_mate(page, languages) * unexplained, None, unexplained)
    more = 1.0 + EACH_MORE * (len({mate.language for _, mate in there}) - 1)
    for strength, mate in there:
        wanted = numbers.elsewhere(tuple(new), mate.language) * group.kept
        value = more * strength * min(1.0, wanted * evidence.worth_of_text(mate))
        if value > best.value:
            best = Case(value, mate, 1.0)
    first, value = _opened(to_come.values(), sum(languages[:-1]))
    return Case(value, first, 1.0) if value > best.value else best


def _opened(
    versions: Iterable[tuple[float, KnownUrl]], more: float
) -> tuple[KnownUrl | None, float]:
    """Return the likeliest other version, and the versions per download with the best of them.

    Each takes another download with the probability `more`: if the first page is wanted at all.
    """
    found, downloads, first = 0.0, 1.0, None
    for gain, mate in sorted(versions, key=lambda each: -each[0]):
        if (found + gain) * downloads <= found * (downloads + more):
            break
        first = first or mate
        found, downloads = found + gain, downloads + more
    return first, found / downloads


def worth_of_text(page: KnownUrl) -> float:
    """Return how much of a pair counts, given the share of new text in its section."""
    return WEIGHTS.stale_worth + (1.0 - WEIGHTS.stale_worth) * page.group.fresh


def floor_of(page: KnownUrl, languages: Vector) -> float:
    """Return the value of pages without hope: near ones in a wanted language first."""
    return WEIGHTS.floor * (2.0 - languages[-1]) / (1.0 + page.depth)


def value_of(page: KnownUrl, evidence: SiteEvidence) -> float:
    """Return the priority of a waiting URL."""
    languages = page.languages
    case = best_case(page, languages, evidence)
    value = with_rule(case.value * worth_of_text(page), page, evidence)
    if page.is_feed:
        value *= WEIGHTS.feed_worth
    return rounded(max(value, floor_of(page, languages)), case)


def rounded(value: float, case: Case) -> float:
    """Return the value of a page that completes no pair in steps of its own size.

    Which page opens a pair best is known so roughly that small differences are noise. Of equal
    links the one found first comes first, and what a site links to first is more often worth it.
    """
    grain = WEIGHTS.grain
    if grain <= 0 or value <= 0 or (case.mate is not None and case.mate.fate is Fate.FETCHED):
        return value
    return exp(floor(log(value) / grain) * grain)


def with_rule(value: float, page: KnownUrl, evidence: SiteEvidence) -> float:
    """Return the mean of a value and what the rules say of a link to the page."""
    if page.rule < 0:
        return value
    share = evidence.rule_share
    return (1.0 - share) * value + share * evidence.rule_value(page.rule)


FIRST_RATE = 1.0
"""Every site starts with the benefit of the doubt, and uses it up page by page."""
MOST_HOSTS = 100


class RecentYield:
    """Pairs per page of one site, smoothed over its last pages; tells when to stop."""

    def __init__(self, least: float, window: int) -> None:
        self._least = least
        self._window = window
        self.rate = FIRST_RATE
        self.pending = 0
        self.is_over = False
        self.hosts: dict[str, None] = {}

    def paired(self, *, kept: bool) -> None:
        """Count a pair that was found, or given up."""
        self.pending += 1 if kept else -1

    def resume(self, rate: float, pending: int, is_over: bool, hosts: list[str]) -> None:
        """Continue from an earlier run; a site that ended is open again if none may end."""
        self.rate, self.pending = rate, pending
        self.is_over = is_over and self._least > 0
        self.hosts = dict.fromkeys(hosts)

    def fetched(self, host: str) -> bool:
        """Count a page; return True if this one has ended the harvest."""
        if len(self.hosts) < MOST_HOSTS:
            self.hosts[host] = None
        self.rate += (self.pending - self.rate) / self._window
        self.pending = 0
        if self.is_over or self.rate >= self._least:
            return False
        self.is_over = True
        return True


_TIES = {
    Tie.SLUG: "the last part of the URL is the same",
    Tie.MODEL: "the parallel-URL model takes them for translations",
    Tie.KEY: "the URLs differ in language tokens alone",
    Tie.RULE: "a rule learned on this site turns one URL into the other",
    Tie.SWITCH: "the language switch leads from one to the other",
    Tie.DECLARED: "one declares the other as its translation",
}
_SOURCES = {
    Certainty.NONE: "nothing",
    Certainty.PARENT: "the page that links to it",
    Certainty.MODEL: "the page that links to it, url2lang",
    Certainty.TOKEN: "the tokens of its URL",
    Certainty.ANCHOR: "the words of a link to it",
    Certainty.DECLARED: "hreflang",
}


def factors_of(page: KnownUrl, evidence: SiteEvidence) -> tuple[float, list[Factor]]:
    """Return the score of a URL, and all of its factors."""
    languages, numbers = page.languages, evidence.numbers
    case = best_case(page, languages, evidence)
    if case.mate is None:
        factors = _alone(page, languages, numbers)
    elif case.mate.fate is Fate.FETCHED:
        factors = _completes(page, languages, case.mate, evidence)
    else:
        factors = _opens(page, languages, case.mate, evidence)
    if not numbers.is_pair and case.mate is not None:
        factors = _of_cluster(factors, case)
    factors += _anyway(page, case.unexplained)
    score, least = prod(factor.value for factor in factors), floor_of(page, languages)
    blended = with_rule(score, page, evidence)
    if score and blended != score:
        rule = RULES[page.rule][0]
        why = f"the best link to it {rule.why}, which counts {evidence.rule_share:.0%}"
        factors.append(Factor("rule", blended / score, why))
        score = blended
    if page.is_feed:
        factors.append(
            Factor("feed", WEIGHTS.feed_worth, "its address serves programs, not readers")
        )
        score *= WEIGHTS.feed_worth
    if score >= least:
        if (equal := rounded(score, case)) != score:
            why = f"pages that open a pair are equal within {WEIGHTS.grain:.0%}: found first, first"
            factors.append(Factor("rounded", equal / score, why))
        return equal, factors
    least = rounded(least, case)
    why = f"nothing better is known: {page.depth} steps from a seed, {_shares(languages, numbers)}"
    return least, [Factor("no hope", least, why)]


def _of_cluster(factors: list[Factor], case: Case) -> list[Factor]:
    """Return the factors of a tie, and what other versions of the page change."""
    tied = prod(factor.value for factor in factors)
    if not tied or abs(tied - case.value) <= ROUNDING * tied:
        return factors
    why = "other versions of it are there, or will be found as well"
    return [*factors, Factor("versions", case.value / tied, why)]


def _anyway(page: KnownUrl, unexplained: float) -> list[Factor]:
    """Return the factors of every URL."""
    group = page.group
    text = f"{group.fresh:.0%} of the text of pages in {_place(page)} is new"
    factors = [Factor("new text", worth_of_text(page), text)]
    if unexplained < 1:
        why = "its tie is a likelier counterpart than an unseen page"
        factors.append(Factor("tied elsewhere", unexplained, why))
    return factors


def _alone(page: KnownUrl, languages: Vector, numbers: LanguageNumbers) -> list[Factor]:
    share = translated(page, languages)
    return [
        Factor("language", sum(languages[:-1]), _language(page, languages, numbers)),
        Factor("section", share, f"{share:.0%} of such pages in {_place(page)} are translated"),
        Factor("opens a pair", WEIGHTS.half, "a pair takes two downloads"),
        Factor("counterpart unseen", WEIGHTS.findable, "no link to its counterpart was seen yet"),
    ]


def _completes(
    page: KnownUrl, languages: Vector, mate: KnownUrl, evidence: SiteEvidence
) -> list[Factor]:
    numbers = evidence.numbers
    strength = evidence.strength(mate, page, page.ties[mate])
    wanted, kept = numbers.elsewhere(languages, mate.language), page.group.kept
    if numbers.is_pair:
        name = _name(numbers.codes[1 - mate.language])
    else:
        name = f"a language other than {_name(numbers.codes[mate.language])}"
    factors = [
        Factor("counterpart fetched", strength, f"{mate.url}: {_TIES[page.ties[mate]]}"),
        Factor("language", wanted, f"{name} wanted: {_language(page, languages, numbers)}"),
        Factor("promises kept", kept, f"{kept:.0%} of such ties in {_place(page)} were right"),
    ]
    worth = evidence.worth_of_text(mate)
    if worth != 1:
        factors.append(Factor("text of the counterpart", worth, describe(mate.text.kind)))
    return factors


def _opens(
    page: KnownUrl, languages: Vector, mate: KnownUrl, evidence: SiteEvidence
) -> list[Factor]:
    numbers = evidence.numbers
    share = page.group.together(evidence.strength(mate, page, page.ties[mate]) * page.group.kept)
    both, downloads = numbers.opening(languages, mate.languages)
    return [
        Factor("counterpart waiting", share, f"{mate.url}: {_TIES[page.ties[mate]]}"),
        Factor(
            "languages",
            both,
            f"{_language(page, languages, numbers)}; it: {_shares(mate.languages, numbers)}",
        ),
        Factor(
            "opens a pair",
            1 / downloads,
            f"a pair takes two downloads; {downloads:.1f}, if only the first shows that it is none",
        ),
    ]


def _place(page: KnownUrl) -> str:
    return page.group.yields[-1].name


def _language(page: KnownUrl, languages: Vector, numbers: LanguageNumbers) -> str:
    seen = sum(page.group.languages[-1].counts)
    shares = _shares(languages, numbers)
    return f"{shares}, by {_SOURCES[page.certainty]} and {seen} pages near it"


def _shares(languages: Vector, numbers: LanguageNumbers) -> str:
    """Return how likely each language is; of many, the likeliest."""
    shares = list(zip(languages, numbers.codes, strict=False))
    if len(shares) > MOST_TOLD:
        shares = sorted(shares, key=lambda each: -each[0])[:MOST_TOLD]
    told = [f"{share:.0%} {_name(code)}" for share, code in shares]
    return ", ".join([*told, f"{languages[-1]:.0%} another"])


def _name(code: str) -> str:
    return find_language(code).name
