"""The value of a URL in sentences: factors whose product is the score."""

from math import prod

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.adaptive.evidence import SiteEvidence
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.sections import Vector
from bilingual_crawler.scoring.adaptive.value import (
    FINDABLE,
    HALF,
    best_case,
    floor_of,
    opening,
    translated,
    worth_of_text,
)
from bilingual_crawler.scoring.scorer import Factor

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


def factors_of(
    page: KnownUrl, evidence: SiteEvidence, pair: LanguagePair
) -> tuple[float, list[Factor]]:
    """Return the score of a URL, and all of its factors."""
    languages = page.languages
    case = best_case(page, languages, evidence)
    if case.mate is None:
        factors = _alone(page, languages, pair)
    elif case.mate.fate is Fate.FETCHED:
        factors = _completes(page, languages, case.mate, evidence, pair)
    else:
        factors = _opens(page, languages, case.mate, evidence, pair)
    factors += _anyway(page, case.unexplained)
    score, least = prod(factor.value for factor in factors), floor_of(page, languages)
    if score >= least:
        return score, factors
    why = f"nothing better is known: {page.depth} steps from a seed, {_shares(languages, pair)}"
    return least, [Factor("no hope", least, why)]


def _anyway(page: KnownUrl, unexplained: float) -> list[Factor]:
    """Return the factors of every URL."""
    group = page.group
    text = f"{group.fresh:.0%} of the text of pages in {_place(page)} is new"
    factors = [Factor("new text", worth_of_text(page), text)]
    if unexplained < 1:
        why = "its tie is a likelier counterpart than an unseen page"
        factors.append(Factor("tied elsewhere", unexplained, why))
    return factors


def _alone(page: KnownUrl, languages: Vector, pair: LanguagePair) -> list[Factor]:
    share = translated(page, languages)
    return [
        Factor("language", languages[0] + languages[1], _language(page, languages, pair)),
        Factor("section", share, f"{share:.0%} of such pages in {_place(page)} are translated"),
        Factor("opens a pair", HALF, "a pair takes two downloads"),
        Factor("counterpart unseen", FINDABLE, "no link to its counterpart was seen yet"),
    ]


def _completes(
    page: KnownUrl, languages: Vector, mate: KnownUrl, evidence: SiteEvidence, pair: LanguagePair
) -> list[Factor]:
    strength = evidence.strength(mate, page, page.ties[mate])
    wanted = 1 - mate.language
    kept = page.group.kept
    name = tuple(pair)[wanted].name
    factors = [
        Factor("counterpart fetched", strength, f"{mate.url}: {_TIES[page.ties[mate]]}"),
        Factor("language", languages[wanted], f"{name} wanted: {_language(page, languages, pair)}"),
        Factor("promises kept", kept, f"{kept:.0%} of such ties in {_place(page)} were right"),
    ]
    if mate.purity < 1:
        why = "much of the counterpart is in another language than the rest of it"
        factors.append(Factor("mixed languages", mate.purity, why))
    return factors


def _opens(
    page: KnownUrl, languages: Vector, mate: KnownUrl, evidence: SiteEvidence, pair: LanguagePair
) -> list[Factor]:
    share = page.group.together(evidence.strength(mate, page, page.ties[mate]) * page.group.kept)
    both, downloads = opening(languages, mate.languages)
    return [
        Factor("counterpart waiting", share, f"{mate.url}: {_TIES[page.ties[mate]]}"),
        Factor(
            "languages",
            both,
            f"{_language(page, languages, pair)}; it: {_shares(mate.languages, pair)}",
        ),
        Factor(
            "opens a pair",
            1 / downloads,
            f"a pair takes two downloads; {downloads:.1f}, if only the first shows that it is none",
        ),
    ]


def _place(page: KnownUrl) -> str:
    return page.group.yields[-1].name


def _language(page: KnownUrl, languages: Vector, pair: LanguagePair) -> str:
    seen = sum(page.group.languages[-1].counts)
    return f"{_shares(languages, pair)}, by {_SOURCES[page.certainty]} and {seen} pages near it"


def _shares(languages: Vector, pair: LanguagePair) -> str:
    first, second, other = languages
    return f"{first:.0%} {pair.first.name}, {second:.0%} {pair.second.name}, {other:.0%} another"
