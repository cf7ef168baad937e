"""The smart bilingual focused crawling of SBFC: what two models say about a link's URL.

The priority of a link v on a page u is P_lang(v), the probability that v is in the language that u
lacks, times P_par(u, v), the probability that the two are translations. A waiting URL that is found
again rises to the higher of its priorities. Links of pages in neither language are not followed.
The paper leaves the order of links open that are no likely translation of their page: for them the
product is near zero. Here those come first that are likely to be in either of the two languages,
since a page in neither is discarded, and among them those in the language that u lacks; of equal
links, the one that was found first.
"""

import logging
from collections.abc import Sequence
from functools import cache
from itertools import compress
from typing import ClassVar

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import Language, LanguagePair
from bilingual_crawler.scoring.scorer import CrawlSoFar, Factor, LinkScorer
from bilingual_crawler.scoring.shared_models import parallel_urls, url2lang
from bilingual_crawler.urls.language_tokens import announced_languages

logger = logging.getLogger(__name__)

ANNOUNCED, UNSAID, OTHERWISE = 0.9, 0.5, 0.05
"""The probability of a language that the model does not know, by the tokens in the URL."""

UNLIKELY = 0.1
"""Below this, the product of the two probabilities does not decide.

Most links are no translation of the page they are on. Their product is near zero, and its size says
nothing about their order, so they are ranked by whether they are in one of the two languages,
roughly: of equal links, the one found first comes first, as in a crawl without models.
"""

LACKING = 0.25
"""How much of their rank goes by the language that the page lacks; the rest goes by either."""


class SmartModels:
    """The two probabilities of SBFC, for any language.

    For a language that the url2lang model was not trained on, the language tokens of URLs stand in
    for it: a crawl for such a pair is worse, but possible.
    """

    def __init__(self, pair: LanguagePair, config: Config) -> None:
        self._url2lang = url2lang(config)
        self._parallel = parallel_urls(config)
        self._names = {language.code: language.name for language in pair}
        for language in pair:
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

    def translation(self, source: str, urls: Sequence[str]) -> list[float]:
        """Return the probability that each URL leads to a translation of `source`: P_par."""
        return [float(share) for share in self._parallel.probabilities([(source, u) for u in urls])]

    def explain_language(self, share: float, code: str) -> str:
        """Return a sentence that says where a probability of `language` comes from."""
        who = "url2lang" if self.knows(code) else "language tokens (url2lang does not know it)"
        return f"{who}: {share:.0%} {self._names.get(code, code)}"


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

    def __init__(self, pair: LanguagePair, crawl: CrawlSoFar, config: Config) -> None:
        super().__init__(pair, crawl, config)
        self._models = SmartModels(pair, config)

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return scores from 0 to 1; a seed in neither language wants the more likely one."""
        urls = [link.url for link in links]
        wanted = [code in self.wanted(document) for code in self.pair.codes]
        shares = [self._models.language(urls, code) for code in self.pair.codes]
        translations = self._models.translation(document.url, urls)
        return [
            max(max(compress(each, wanted)) * par, _unlikely(each, max(compress(each, wanted))))
            for each, par in zip(zip(*shares, strict=True), translations, strict=True)
        ]

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the two probabilities, or that they are too low to tell."""
        share, code = max(
            (self._models.language([link.url], code)[0], code) for code in self.wanted(document)
        )
        (par,) = self._models.translation(document.url, [link.url])
        (score,) = self.score(document, [link])
        factors = [
            Factor("language", share, self._models.explain_language(share, code)),
            Factor("translation", par, f"parallel-URL model: {par:.0%} a translation of the page"),
        ]
        if score > share * par > 0:
            why = f"hardly a translation of the page: {score:.3f} for one of the two languages"
            factors.append(Factor("unlikely", score / (share * par), why))
        return score, factors


class SmartFollowScorer(SmartScorer):
    """The same, but the links of pages in neither language are followed too, at a low priority.

    The paper discards such pages, although one of them may be the only way to the next pair.
    """

    off_language = None


def _unlikely(shares: Sequence[float], lacking: float) -> float:
    """Return what a link is worth that is no likely translation of its page.

    A page in one of the two languages can be part of a pair; of two such, the one in the language
    that the page lacks comes first. Probabilities are rounded to halves, so that most are equal.
    """
    either, lacking = round(2 * min(1.0, sum(shares))), round(2 * lacking)
    return UNLIKELY * ((1.0 - LACKING) * either + LACKING * lacking) / 2
