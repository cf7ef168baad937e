"""Pairs of pages by the rules of one paper alone, instead of the combined model.

`pplocator` (Vieira and Moreira 2012): the URLs of a site are on lists by their language tokens,
each URL is compared with the most similar one of the other list, and the decision tree accepts the
two or not. No dictionary and no language identifier is asked; the language of a page is that of its
list (`corpus/paper_search.py`).

`almeida` (Almeida et al. 2002): URLs that are equal without their language tokens are candidates,
and the validation accepts them or not. A list of files names its candidates itself.

The stages need every page of a site, so pairs are known in the end only. Where a page is accepted
with several others, the highest score wins.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing import almeida, pplocator
from bilingual_crawler.pairing.lexicon import TranslationLexicon
from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.pairing.one_to_one import Urls, greedy_choice
from bilingual_crawler.pairing.pair import (
    SPEAKS_FOR,
    DocumentPair,
    Evidence,
    PackedPair,
    PairingPage,
)
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.pairing.small_models import shipped
from bilingual_crawler.urls.language_tokens import url_key

PaperSystem = Literal["pplocator", "almeida"]
PAPER_DETECTORS: Mapping[PaperSystem, tuple[str, ...]] = MappingProxyType(
    {"pplocator": ("url_similarity", "pplocator"), "almeida": ("almeida",)}
)
"""The detectors whose evidence each system has."""
MOST_PER_BLOCK = 50
"""Pages of one language with the same URL but for language tokens; more are a trap."""


class PaperMatcher:
    """Takes pages; `finish` finds the pairs among them."""

    def __init__(self, system: PaperSystem, pair: LanguagePair, aids: PairingAids) -> None:
        self._system = system
        self._pair = pair
        self._tokens = pair.first.tokens | pair.second.tokens
        self._validations = aids.validations
        classifiers = (aids.model.classifiers if aids.model else None) or shipped()
        self._tree = classifiers.pplocator
        self._pages: dict[str, PairingPage] = {}
        self._candidates: dict[Urls, DocumentPair] = {}
        self._found: list[DocumentPair] = []

    def __len__(self) -> int:
        return len(self._found)

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every pair; none before the end."""
        return list(self._found)

    @property
    def candidate_count(self) -> int:
        """The number of candidates that were judged."""
        return len(self._candidates)

    def candidates(self) -> Iterator[DocumentPair]:
        """Yield every candidate, with what the stages say."""
        return iter(self._candidates.values())

    def refused(self) -> Iterator[DocumentPair]:
        """Yield nothing: the papers do not look for pages without translated content."""
        return iter(())

    def standing_of(self, pair: LanguagePair) -> Iterable[PackedPair]:  # noqa: ARG002 - of none
        """Return nothing: no lexicon is learned from these pairs."""
        return ()

    def hold(self, page: PairingPage) -> None:
        """Add a page."""
        self._pages[page.url] = page

    def restore(self, pages: Iterable[tuple[PairingPage, str]]) -> None:
        """Add pages, and pair them."""
        for page, _ in pages:
            self.hold(page)
        self.finish()

    def alias(self, source: str, target: str) -> None:
        """Ignore another name of a page: only its own URL is compared."""

    def declare(self, claims: Iterable[Declaration]) -> None:
        """Ignore what a sitemap says: the papers know nothing of such declarations."""

    def use_lexicon(
        self,
        lexicon: TranslationLexicon | None,
        pair: LanguagePair | None = None,
    ) -> None:
        """Ignore a lexicon."""

    def weigh(self, one: str, other: str) -> DocumentPair | None:
        """Judge two pages that a list names."""
        first, second = self._pages.get(one), self._pages.get(other)
        if first is None or second is None:
            return None
        if first.language != self._pair.first.code:
            first, second = second, first
        return self._judged(first, second)

    def finish(self) -> None:
        """Find the candidates among all pages, and accept the best of them."""
        self._candidates.clear()
        for urls in self._proposed():
            judged = self._judged(*(self._pages[url] for url in urls))
            if judged is not None:
                self._candidates[urls] = judged
        chosen = greedy_choice(
            (pair.score, *urls)
            for urls, pair in self._candidates.items()
            if pair.score >= SPEAKS_FOR
        )
        self._found = [self._candidates[urls] for urls in chosen]

    def _proposed(self) -> Iterator[Urls]:
        if self._system == "pplocator":
            for each in pplocator.candidates(self._pages, self._pair):
                yield each.first, each.second
            return
        blocks: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for url, page in self._pages.items():
            side = int(page.language != self._pair.first.code)
            blocks[url_key(url, self._tokens).key][side].append(url)
        for first, second in blocks.values():
            for one in first[:MOST_PER_BLOCK]:
                for other in second[:MOST_PER_BLOCK]:
                    yield one, other

    def _judged(self, first: PairingPage, second: PairingPage) -> DocumentPair | None:
        said: list[Evidence | None]
        if self._system == "pplocator":
            said = [
                pplocator.judge_urls(first, second, self._pair),
                pplocator.judge_pages(first, second, self._tree),
            ]
        else:
            said = [almeida.judge(first, second, self._tokens, self._validations)]
        evidence = tuple(each for each in said if each is not None)
        if len(evidence) < len(said):
            return None
        score = min(each.score for each in evidence)
        return DocumentPair(first.url, second.url, self._pair.codes, evidence, score)
