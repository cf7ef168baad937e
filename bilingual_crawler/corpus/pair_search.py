"""Pairing alone: documents that others fetched go in, pairs come out.

Documents are not kept: of each page the matcher remembers a profile, and here a fingerprint.
Unlike in a crawl nothing is dropped as a duplicate, and a page without text of its own is paired
by what its URL and its links say: what is worth keeping is for others to decide.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from bilingual_crawler.corpus.sources.reading import Alias, Found, Skips
from bilingual_crawler.documents.document import NO_TEXT, Document, Unwanted, why_unwanted
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.sitemap import Sitemap, SitemapPage
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import DocumentPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.urls.fingerprint import url_fingerprint

MOST_STEPS = 10
"""Of a chain of redirects."""


class PairSearch:
    """Takes documents, redirects and sitemaps in any order; `finish` before asking for pairs.

    With `keep_pages` the same pages can be matched again, with other detectors.
    """

    def __init__(
        self,
        pair: LanguagePair,
        detectors: Collection[str] | None = None,
        *,
        least_share: int = 0,
        skips: Skips | None = None,
        keep_pages: bool = False,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        self.pair = pair
        self.detectors = tuple(aids.detector_names if detectors is None else detectors)
        self.skips = Skips() if skips is None else skips
        self.pages: Counter[str] = Counter()
        self.split = 0
        self.sitemaps = 0
        self._least_share = least_share
        self._aids = aids
        self._matcher = self._new_matcher(detectors)
        self._known: dict[int, str] = {}
        self._variants: set[str] = set()
        self._languages: dict[int, str] = {}
        self._unused: dict[int, Unwanted] = {}
        self._aliases: dict[int, int] = {}
        self._kept: dict[str, PairingPage] | None = {} if keep_pages else None
        self._kept_aliases: list[Alias] = []
        self._kept_claims: list[SitemapPage] = []

    def __len__(self) -> int:
        return len(self._matcher)

    def _new_matcher(self, detectors: Collection[str] | None) -> Matcher:
        return Matcher(self.pair, detectors, self._aids)

    def take(self, found: Found) -> None:
        """Take in what a source gave."""
        if isinstance(found, Alias):
            self._take_alias(found)
        elif isinstance(found, Sitemap):
            self._take_sitemap(found)
        else:
            self._take_page(found)

    def _take_page(self, found: Document) -> None:
        fingerprint = url_fingerprint(found.url)
        if found.key in self._variants or (fingerprint in self._known and not found.variant):
            self.skips.add("the same URL again", found.url)
            return
        if found.variant:
            self._variants.add(found.key)
        parts = None if found.variant else split_mixed(found, self.pair)
        self.split += parts is not None
        for document in parts or (found,):
            self._take_document(document, fingerprint)

    def _take_alias(self, alias: Alias) -> None:
        source, target = url_fingerprint(alias.source), url_fingerprint(alias.target)
        if source == target or source in self._aliases:
            return
        self._aliases[source] = target
        self._matcher.alias(alias.source, alias.target)
        if self._kept is not None:
            self._kept_aliases.append(alias)

    def _take_sitemap(self, sitemap: Sitemap) -> None:
        self.sitemaps += 1
        self._matcher.declare(sitemap.claims())
        if self._kept is not None:
            self._kept_claims.extend(sitemap.claims())

    def _take_document(self, document: Document, fingerprint: int) -> None:
        unwanted = why_unwanted(document, self.pair, self._least_share)
        if unwanted is not None and not self._is_bare(document, unwanted):
            reason = unwanted.reason
            if reason == "off_language":
                reason = f"in another language: {document.language or 'unknown'}"
            self.skips.add(reason, document.url)
            self._unused.setdefault(fingerprint, unwanted)
            return
        self._known.setdefault(fingerprint, document.key)
        self._languages.setdefault(fingerprint, document.language or "")
        self.pages[document.language or ""] += 1
        page = self._aids.page_of(document)
        self._matcher.hold(page)
        if self._kept is not None:
            self._kept[page.url] = page

    def _is_bare(self, document: Document, unwanted: Unwanted) -> bool:
        """Whether a page has no text of its own, but a language and links."""
        return unwanted.reason == NO_TEXT and document.language in self.pair

    def finish(self) -> None:
        """Settle everything, with all pages known."""
        self._matcher.finish()

    @property
    def pairs(self) -> list[DocumentPair]:
        """The pairs, each page in one at most."""
        return self._matcher.pairs

    def candidates(self) -> Iterator[DocumentPair]:
        """Everything that was weighed."""
        return self._matcher.candidates()

    @property
    def candidate_count(self) -> int:
        """How much was weighed."""
        return self._matcher.candidate_count

    def weigh(self, first: str, second: str) -> DocumentPair | None:
        """What is thought of two pages, whatever others there are."""
        return self._matcher.weigh(first, second)

    def features_of(self, pairs: Sequence[Urls]) -> list[list[float]]:
        """The numbers of some pairs of pages, for those who train a model."""
        ask = self._aids.url_model
        chances = ask(pairs) if ask else [None] * len(pairs)
        return [
            self._matcher.features_of(*urls, model)
            for urls, model in zip(pairs, chances, strict=True)
        ]

    def page(self, url: str) -> PairingPage | None:
        """A page that was kept, by any of its names."""
        assert self._kept is not None, "keep_pages"
        return self._kept.get(self.name_of(url))

    def without(self, detector: str) -> list[DocumentPair]:
        """The pairs that the same pages make if one detector is silent."""
        assert self._kept is not None, "keep_pages"
        others = [name for name in self.detectors if name != detector]
        matcher = self._new_matcher(others)
        for source, target in self._kept_aliases:
            matcher.alias(source, target)
        matcher.declare(self._kept_claims)
        matcher.restore((page, url) for url, page in self._kept.items())
        return matcher.pairs

    def name_of(self, url: str) -> str:
        """What a page is called here that somebody calls `url`; `url` if it is not here."""
        return self._known.get(self._find(url), url)

    def language_of(self, url: str) -> str | None:
        """The language (ISO 639-3) of a page that is matched; None if there is none."""
        return self._languages.get(self._find(url))

    def why_unused(self, url: str) -> Unwanted | None:
        """Why a page was read and not matched; None if it was, or was never read."""
        return self._unused.get(self._find(url))

    def _find(self, url: str) -> int:
        """The fingerprint of the page that a URL leads to, with or without a slash at its end."""
        spellings = (url, url.rstrip("/") if url.endswith("/") else f"{url}/")
        found = [self._resolve(url_fingerprint(each)) for each in spellings]
        read = (each for each in found if each in self._known or each in self._unused)
        return next(read, found[0])

    def _resolve(self, fingerprint: int) -> int:
        for _ in range(MOST_STEPS):
            if fingerprint in self._known or fingerprint not in self._aliases:
                break
            fingerprint = self._aliases[fingerprint]
        return fingerprint
