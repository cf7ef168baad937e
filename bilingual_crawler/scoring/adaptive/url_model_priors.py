"""What the URL models say about links of which the crawl has learned nothing yet.

A model's answer costs about as much as everything else that is done for a link, so the models are
asked once per URL, all new links of a page together, and only where the answer can matter: the
language of URLs without a token in sections of which little was seen, and translations for pages
that name none themselves.
"""

from collections.abc import Iterable, Sequence

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.site import SiteModel
from bilingual_crawler.scoring.smart import SmartModels

MOST_LANGUAGES, MOST_CANDIDATES = 60, 30
"""The most questions per page, for each of the models."""
OPEN = 0.5
"""The least weight left for a first guess of the language, after its sections."""
LEAST_WANTED = 0.08
"""The least probability that a link leads to the other language to compare it with its page."""
TRANSLATION = 0.3
"""The least probability to tie a link to its page; only the best link of a page is tied."""


class UrlModelPriors:
    """Asks the models, and uses their answers where evidence is still missing."""

    def __init__(self, pair: LanguagePair, config: Config) -> None:
        self._codes = pair.codes
        self._models = SmartModels(pair, config)

    def consult(self, site: SiteModel, document: Document, targets: Iterable[KnownUrl]) -> None:
        """Ask about those links of a page that were never judged before."""
        new = list(
            {
                target: None
                for target in targets
                if target.fate is Fate.WAITING and target.priority is None
            }
        )
        if new:
            self._guess_languages(site, [page for page in new if _is_unclear(page)])
            page = site.memory.get(document.url)
            if page is not None and page.is_fetched and not page.claims:
                self._tie_likeliest(site, page, new)

    def _guess_languages(self, site: SiteModel, pages: Sequence[KnownUrl]) -> None:
        pages = pages[:MOST_LANGUAGES]
        if not pages:
            return
        urls = [page.url for page in pages]
        shares = [self._models.language(urls, code) for code in self._codes]
        for page, first, second in zip(pages, *shares, strict=True):
            site.think(page, (first, second, max(0.0, 1.0 - first - second)))

    def _tie_likeliest(self, site: SiteModel, page: KnownUrl, links: Sequence[KnownUrl]) -> None:
        """Tie a page to its most likely translation among the links, if one is likely at all."""
        wanted = 1 - page.language
        candidates = [
            link
            for link in links
            if link is not page
            and link.ties.get(page, Tie.SLUG) is Tie.SLUG
            and link.languages[wanted] >= LEAST_WANTED
        ][:MOST_CANDIDATES]
        if not candidates or any(tie >= Tie.KEY for tie in page.ties.values()):
            return
        shares = self._models.translation(page.url, [link.url for link in candidates])
        share, at = max((share, -at) for at, share in enumerate(shares))
        likeliest = candidates[-at]
        if share >= TRANSLATION and site.memory.tie(page, likeliest, Tie.MODEL):
            likeliest.lean_to(wanted, share)


def _is_unclear(page: KnownUrl) -> bool:
    """Return True if neither the URL nor its neighbours show the language."""
    if page.certainty >= Certainty.MODEL:
        return False
    page.group.refresh()
    return page.group.open_to_guesses > OPEN
