"""The smart bilingual focused crawling of SBFC: what two models say about a link's URL.

The priority of a link v on a page u is P_lang(v), the probability that v is in the language that u
lacks, times P_par(u, v), the probability that the two are translations. A page that is wanted in
more than two languages lacks several, and v is in one of them at most: P_lang is the sum. A waiting
URL that is found again rises to the higher of its priorities. Links of pages in no wanted language
are not followed. The paper leaves the order of links open that are no likely translation of their
page: for them the product is near zero. Here those come first that are likely to be in a wanted
language at all, since a page in none is discarded, and among them those in a language that u lacks;
of equal links, the one that was found first.
"""

import logging
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import Language, LanguageSet, ParallelLanguages, find_language
from bilingual_crawler.scoring.scorer import CrawlSoFar, Factor, LinkScorer
from bilingual_crawler.scoring.shared_models import parallel_urls, url2lang
from bilingual_crawler.urls.language_tokens import announced_languages

logger = logging.getLogger(__name__)

ANNOUNCED, UNSAID, OTHERWISE = 0.9, 0.5, 0.05
"""The probability of a language that the model does not know, by the tokens in the URL."""

UNLIKELY = 0.1
"""Below this, the product of the two probabilities does not decide.

Most links are no translation of the page they are on. Their product is near zero, and its size says
nothing about their order, so they are ranked by whether they are in a wanted language, roughly: of
equal links, the one found first comes first, as in a crawl without models.
"""

LACKING = 0.25
"""How much of their rank goes by the languages that the page lacks; the rest goes by any."""


class SmartModels:
    """The two probabilities of SBFC, for any language.

    For a language that the url2lang model was not trained on, the language tokens of URLs stand in
    for it: a crawl for such a pair is worse, but possible.
    """

    def __init__(self, languages: ParallelLanguages, config: Config) -> None:
        self._url2lang = url2lang(config)
        self._parallel = parallel_urls(config)
        for language in languages:
            if not self.knows(language.code):
                _warn_unknown(self._url2lang.where, language)

    def knows(self, code: str) -> bool:
        """Return True if the model was trained on a language."""
        return code in self._url2lang.labels

    def language(self, urls: Sequence[str], code: str) -> list[float]:
        """Return the probability that each URL leads to a page in one language: P_lang."""
        if self.knows(code):
            return [float(share) for share in self._url2lang.probability_of(urls, code)]
        return [_by_tokens(url, code) for url in urls]

    def languages(self, urls: Sequence[str], codes: Sequence[str]) -> list[list[float]]:
        """Return the same for several languages: a row for each of them."""
        known = [code for code in codes if self.knows(code)]
        table = self._url2lang.probabilities(urls) if known else None
        labels = self._url2lang.labels
        return [
            [_by_tokens(url, code) for url in urls]
            if table is None or code not in known
            else [float(share) for share in table[:, labels.index(code)]]
            for code in codes
        ]

    def translation(self, source: str, urls: Sequence[str]) -> list[float]:
        """Return the probability that each URL leads to a translation of `source`: P_par."""
        return [float(share) for share in self._parallel.probabilities([(source, u) for u in urls])]

    def explain_language(self, share: float, code: str) -> str:
        """Return a sentence that says where a probability of `language` comes from."""
        who = "url2lang" if self.knows(code) else "language tokens (url2lang does not know it)"
        return f"{who}: {share:.0%} {find_language(code).name}"


@cache
def _warn_unknown(where: str, language: Language) -> None:
    """Log once, for all scorers, that the model does not know a language."""
    logger.warning(
        "The url2lang model in %s does not know %s: the language tokens of URLs decide",
        where,
        language,
    )


def _by_tokens(url: str, code: str) -> float:
    announced = announced_languages(url)
    if not announced:
        return UNSAID
    return ANNOUNCED if code in announced else OTHERWISE


class SmartScorer(LinkScorer):
    """P_lang times P_par, as in the paper, wherever that tells links apart; nothing is learned."""

    off_language: ClassVar[float | None] = 0.0
    is_yield = True
    for_many_languages = True

    def __init__(self, languages: ParallelLanguages, crawl: CrawlSoFar, config: Config) -> None:
        super().__init__(languages, crawl, config)
        self._models = SmartModels(languages, config)

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return scores from 0 to 1."""
        urls = [link.url for link in links]
        lacking, wanted = self._wanted_shares(document, urls), self._any_shares(urls)
        translations = self._models.translation(document.url, urls)
        return [
            max(lack * par, _unlikely(want, lack))
            for lack, want, par in zip(lacking, wanted, translations, strict=True)
        ]

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the two probabilities, or that they are too low to tell."""
        (share,) = self._wanted_shares(document, [link.url])
        (par,) = self._models.translation(document.url, [link.url])
        (score,) = self.score(document, [link])
        factors = [
            Factor("language", share, self._explain_share(document, link, share)),
            Factor("translation", par, f"parallel-URL model: {par:.0%} a translation of the page"),
        ]
        if score > share * par > 0:
            why = f"hardly a translation of the page: {score:.3f} for a page in a wanted language"
            factors.append(Factor("unlikely", score / (share * par), why))
        return score, factors

    def _wanted_shares(self, document: Document, urls: Sequence[str]) -> list[float]:
        """Return the probability that each URL is in a language that the page lacks: P_lang.

        A page in one of the languages lacks all others. A seed in none of them wants the likeliest.
        Where every language is wanted, what counts is that it is another one than the page's.
        """
        own = document.language
        if self._wants_all:
            if own is None:
                return [1.0] * len(urls)
            return [1.0 - share for share in self._models.language(urls, own)]
        codes = [code for code in sorted(self.languages.codes) if code != own]
        shares = zip(*self._models.languages(urls, codes), strict=True)
        if own in self.languages:
            return [min(1.0, sum(each)) for each in shares]
        return [max(each) for each in shares]

    @property
    def _wants_all(self) -> bool:
        """True if every language is wanted, whether it was named or not."""
        return isinstance(self.languages, LanguageSet) and self.languages.is_open

    def _explain_share(self, document: Document, link: Link, share: float) -> str:
        """Return where P_lang comes from: for one language, or the likeliest of them."""
        if self._wants_all:
            return f"url2lang: {share:.0%} in a language other than that of the page"
        codes = [code for code in self.languages.codes if code != document.language]
        likeliest, code = max((self._models.language([link.url], code)[0], code) for code in codes)
        told = self._models.explain_language(likeliest, code)
        return told if likeliest == share else f"{told}, {share:.0%} in one that the page lacks"

    def _any_shares(self, urls: Sequence[str]) -> list[float]:
        """Return the probability that each URL is in a wanted language, whichever it is."""
        if self._wants_all:
            return [1.0] * len(urls)
        shares = self._models.languages(urls, self.languages.codes)
        return [min(1.0, sum(each)) for each in zip(*shares, strict=True)]


class SmartFollowScorer(SmartScorer):
    """The same, but the links of pages in no wanted language are followed too, at a low priority.

    The paper discards such pages, although one of them may be the only way to the next pair.
    """

    off_language = None


def _unlikely(wanted: float, lacking: float) -> float:
    """Return what a link is worth that is no likely translation of its page.

    A page in a wanted language can be part of a pair; of two such, the one in a language that the
    page lacks comes first. Probabilities are rounded to halves, so that most are equal.
    """
    return UNLIKELY * ((1.0 - LACKING) * round(2 * wanted) + LACKING * round(2 * lacking)) / 2
