"""The scorer that learns from the crawl, site by site, which links lead to translations."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, DocumentKey, Link
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.adaptive.memory import Room
from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.site import SUNK, SiteModel
from bilingual_crawler.scoring.adaptive.state import pack, unpack
from bilingual_crawler.scoring.adaptive.value import RecentYield, factors_of
from bilingual_crawler.scoring.scorer import CrawlSoFar, Factor, LinkScorer, Proposal
from bilingual_crawler.scoring.smart import SmartModels
from bilingual_crawler.urls.hosts import host_of, site_of

MOST_LANGUAGES, MOST_CANDIDATES = 60, 30
"""The most questions per page, for each of the models."""
OPEN = 0.5
"""The least weight left for a first guess of the language, after its sections."""
LEAST_WANTED = 0.08
"""The least probability that a link leads to the other language to compare it with its page."""
TRANSLATION = 0.3
"""The least probability to tie a link to its page; only the best link of a page is tied."""


class UrlModelPriors:
    """Asks the URL models about links of which the crawl has learned nothing yet.

    A model's answer costs about as much as everything else that is done for a link, so the models
    are asked once per URL, all new links of a page together, and only where the answer can matter:
    the language of URLs without a token in sections of which little was seen, and translations for
    pages that name none themselves.
    """

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


class AdaptiveScorer(LinkScorer):
    """Expected pairs per download, from what this crawl has seen of the site."""

    is_yield = True

    def __init__(self, pair: LanguagePair, crawl: CrawlSoFar, config: Config) -> None:
        super().__init__(pair, crawl, config)
        self._hunches = UrlModelPriors(pair, config)
        self._room = Room()
        self._sites: dict[str, SiteModel] = {}
        self._changed: dict[str, SiteModel] = {}
        self._exhausted: list[str] = []

    def weight_of(self, document: Document) -> float:
        """Return 1, since the value of such a page is learned; or 0, if the settings discard it."""
        is_wanted = document.language in self.pair or self.config.off_language == "follow"
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
        self._site(first).found(first, second, kept=kept)

    def failed(self, url: str, reason: str) -> None:  # noqa: ARG002 - any failure is one
        """Learn from a URL that gave no page."""
        self._site(url).failed(url)

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return the value of each link: expected pairs per download."""
        self._site(document.url).settle_up()
        targets = [self._seen(document, link) for link in links]
        self._hunches.consult(self._site(document.url), document, [page for _, page in targets])
        return [site.value(page) for site, page in targets]

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
        site, page = self._seen(document, link)
        self._hunches.consult(here, document, [page])
        score, factors = factors_of(page, site.evidence, self.pair)
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

    def _seen(self, document: Document, link: Link) -> tuple[SiteModel, KnownUrl]:
        site = self._site(link.url)
        return site, site.seen(document, link)

    def _site(self, url: str) -> SiteModel:
        name = _site_name("/".join(url.split("/", 3)[:3]))
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = self._make(name)
        self._changed[name] = site
        return site

    def _make(self, name: str) -> SiteModel:
        harvest = RecentYield(self.config.site_yield, self.config.site_yield_pages)
        return SiteModel(name, self.pair, harvest, self._room)


@lru_cache(maxsize=1 << 12)
def _site_name(origin: str) -> str:
    """Return the site of a URL, for which the scheme and the host are enough."""
    return site_of(host_of(origin))
