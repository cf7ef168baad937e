"""Pairing alone: documents from any source go in, pairs come out.

Documents are not kept: the matcher remembers a profile of each page, and this module its
fingerprint. Unlike in a crawl nothing is dropped as a duplicate, and a page without text of its
own is paired by its URL and links: the caller decides what is worth keeping.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from bilingual_crawler.corpus.file_links import FileLinks
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper
from bilingual_crawler.corpus.sources.reading import Alias, Found, Skips
from bilingual_crawler.documents.document import NO_TEXT, Document, Unwanted, why_unwanted
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.optouts import opt_out_of
from bilingual_crawler.documents.sitemap import Sitemap
from bilingual_crawler.languages import LanguagePair, ParallelLanguages
from bilingual_crawler.outcomes import outcome_sentence
from bilingual_crawler.pairing.lexicon import TranslationLexicon
from bilingual_crawler.pairing.matcher import Declaration, Matcher
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import DocumentPair, PairingPage
from bilingual_crawler.pairing.paper_matcher import PaperMatcher
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.urls.fingerprint import url_fingerprint

MAX_REDIRECTS = 10
"""Steps of a chain of redirects that are followed."""


class Keeper(Protocol):
    """Keeps what a search takes in."""

    def page(self, document: Document, page: PairingPage) -> None:
        """Keep a document that is matched, and what pairing knows about it."""

    def alias(self, alias: Alias) -> None:
        """Keep another name of a page."""

    def claims(self, claims: Iterable[Declaration]) -> None:
        """Keep what a sitemap says."""


class PairSearch:
    """Takes documents, redirects and sitemaps in any order; call `finish` before using the pairs.

    With `keep_pages` the same pages can be matched again with other detectors. A `keeper` gets
    everything that takes part. Pages that opt out in a way that is in `honour` do not.
    """

    def __init__(
        self,
        languages: ParallelLanguages,
        detectors: Collection[str] | None = None,
        *,
        least_share: int = 0,
        skips: Skips | None = None,
        keep_pages: bool = False,
        aids: PairingAids = NO_AIDS,
        keeper: Keeper | None = None,
        learns: bool = False,
        honour: Collection[str] = (),
    ) -> None:
        self.languages = languages
        self._honour = honour
        self._keeper = keeper
        self.detectors = tuple(aids.detector_names if detectors is None else detectors)
        self.skips = Skips() if skips is None else skips
        self.pages: Counter[str] = Counter()
        self.split = 0
        self.sitemaps = 0
        self._least_share = least_share
        self._aids = aids
        self._lexicons = LexiconKeeper(aids.lexicons, learns=learns)
        self._file_links = FileLinks()
        self._matcher = self._new_matcher(detectors)
        self._known: dict[int, str] = {}
        self._variants: set[str] = set()
        self._languages: dict[int, str] = {}
        self._unused: dict[int, Unwanted] = {}
        self._aliases: dict[int, int] = {}
        self._kept: dict[str, PairingPage] | None = {} if keep_pages else None
        self._kept_aliases: list[Alias] = []
        self._learned: list[tuple[TranslationLexicon, LanguagePair]] = []
        self._kept_claims: list[Declaration] = []

    def __len__(self) -> int:
        return len(self._matcher)

    def _new_matcher(self, detectors: Collection[str] | None) -> Matcher | PaperMatcher:
        return Matcher(self.languages, detectors, self._aids)

    def take(self, found: Found) -> None:
        """Take in one thing from a source."""
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
        parts = None if found.variant else split_mixed(found, self.languages)
        self.split += parts is not None
        for document in parts or (found,):
            self._take_document(document, fingerprint)

    def _take_alias(self, alias: Alias) -> None:
        source, target = url_fingerprint(alias.source), url_fingerprint(alias.target)
        if source == target or source in self._aliases:
            return
        self._aliases[source] = target
        self._matcher.alias(alias.source, alias.target)
        if self._keeper is not None:
            self._keeper.alias(alias)
        if self._kept is not None:
            self._kept_aliases.append(alias)

    def _take_sitemap(self, sitemap: Sitemap) -> None:
        self.sitemaps += 1
        self.declare(list(sitemap.claims()))

    def declare(self, claims: Collection[Declaration]) -> None:
        """Learn which pages are said to translate each other."""
        self._matcher.declare(claims)
        if self._keeper is not None:
            self._keeper.claims(claims)
        if self._kept is not None:
            self._kept_claims.extend(claims)

    def _take_document(self, document: Document, fingerprint: int) -> None:
        opt_out = opt_out_of(document.robots, document.tdm_reservation, self._honour)
        if opt_out is not None:
            self.skips.add(opt_out, document.url)
            self._unused.setdefault(fingerprint, Unwanted(opt_out, outcome_sentence(opt_out)))
            return
        unwanted = why_unwanted(document, self.languages, self._least_share)
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
        self._lexicons.read(document, self.languages)
        self._matcher.hold(page)
        self._file_links.add(document)
        if self._keeper is not None:
            self._keeper.page(document, page)
        if self._kept is not None:
            self._kept[page.url] = page

    def _is_bare(self, document: Document, unwanted: Unwanted) -> bool:
        """Return whether a page has a language and links, but no text of its own."""
        return unwanted.reason == NO_TEXT and document.language in self.languages

    def finish(self) -> None:
        """Settle all pairs, now that every page is known; once more if they teach a lexicon."""
        self._matcher.finish()
        claims = list(self._file_links.claims(lambda: self._matcher.pairs))
        if claims:
            self._kept_claims.extend(claims)
            self._matcher.declare(claims)
            self._matcher.finish()
        if self._lexicons.learns:
            found = self._lexicons.finish(self.languages, self._matcher.standing_of)
            self._learned = [(lexicon, pair) for lexicon, pair in found if lexicon is not None]
            self._use_learned(self._matcher)
            if self._learned:
                self._matcher.finish()

    @property
    def pages_read(self) -> int:
        """The pages that took part, and those that were read and did not."""
        return self.pages.total() - self.split + len(self._unused)

    @property
    def pairs(self) -> list[DocumentPair]:
        """The pairs; each page is in one at most for each other language."""
        return self._matcher.pairs

    def refused(self) -> Iterator[DocumentPair]:
        """Yield the counterparts without translated content, each with the reason."""
        return self._matcher.refused()

    def candidates(self) -> Iterator[DocumentPair]:
        """Yield every pair that was weighed."""
        return self._matcher.candidates()

    @property
    def candidate_count(self) -> int:
        """The number of pairs that were weighed."""
        return self._matcher.candidate_count

    def weigh(self, first: str, second: str) -> DocumentPair | None:
        """Weigh two pages, whatever other pages there are."""
        return self._matcher.weigh(first, second)

    def features_of(self, pairs: Sequence[Urls]) -> list[list[float]]:
        """Return the features of some pairs of pages, to train a model on."""
        assert isinstance(self._matcher, Matcher), "papers have features of their own"
        ask = self._aids.url_model
        chances = ask(pairs) if ask else [None] * len(pairs)
        return [
            self._matcher.features_of(*urls, model)
            for urls, model in zip(pairs, chances, strict=True)
        ]

    def page(self, url: str) -> PairingPage | None:
        """Return a page by any of its names; only with `keep_pages`."""
        assert self._kept is not None, "keep_pages"
        return self._kept.get(self.name_of(url))

    def without(self, detector: str) -> list[DocumentPair]:
        """Return the pairs of the same pages without one detector."""
        assert self._kept is not None, "keep_pages"
        others = [name for name in self.detectors if name != detector]
        matcher = self._new_matcher(others)
        for source, target in self._kept_aliases:
            matcher.alias(source, target)
        matcher.declare(self._kept_claims)
        self._use_learned(matcher)
        matcher.restore((page, url) for url, page in self._kept.items())
        return matcher.pairs

    def _use_learned(self, matcher: Matcher | PaperMatcher) -> None:
        for lexicon, pair in self._learned:
            matcher.use_lexicon(lexicon, pair)

    def name_of(self, url: str) -> str:
        """Return the name under which the page at `url` is known; `url` itself if it is not."""
        return self._known.get(self._find(url), url)

    def language_of(self, url: str) -> str | None:
        """Return the language (ISO 639-3) of a matched page; None for any other page."""
        return self._languages.get(self._find(url))

    def why_unused(self, url: str) -> Unwanted | None:
        """Return why a page that was read was not matched; None for any other page."""
        return self._unused.get(self._find(url))

    def _find(self, url: str) -> int:
        """Return the fingerprint of the page behind a URL, with or without a final slash."""
        spellings = (url, url.rstrip("/") if url.endswith("/") else f"{url}/")
        found = [self._resolve(url_fingerprint(each)) for each in spellings]
        read = (each for each in found if each in self._known or each in self._unused)
        return next(read, found[0])

    def _resolve(self, fingerprint: int) -> int:
        for _ in range(MAX_REDIRECTS):
            if fingerprint in self._known or fingerprint not in self._aliases:
                break
            fingerprint = self._aliases[fingerprint]
        return fingerprint
