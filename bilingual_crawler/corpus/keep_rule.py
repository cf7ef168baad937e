"""Which pages and pairs a corpus keeps: one rule for a running crawl and for a merge.

Of pages with the same text one is kept, and of near-duplicates the longer one, with one
exception: a near-duplicate that has a translation of its own is a document of its own.
(On recorded real sites the plain rule, applied before pairing, lost four in ten of the
pairs: pages that differ in a title and a table are near-duplicates in each language.) So
pairing sees every page, and pairing and duplicates decide together what is in the corpus.

In a crawl with a topic a page is kept if it is on topic, or if the page it is paired with
is: terms are rarely as complete in one language as in the other, and half a pair is of no
use. A pair of which neither page is on topic does not belong to the corpus.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bilingual_crawler.documents.dedup import DuplicateIndex
from bilingual_crawler.languages import Languages, LanguageSet, OneLanguage
from bilingual_crawler.pairing.matcher import Declaration, Matcher, Place
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairingPage
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.scoring.shared_models import parallel_urls_if_there

if TYPE_CHECKING:
    from bilingual_crawler.config.settings import Config


def pairing_aids(config: "Config") -> PairingAids:
    """Read the models, resources and detectors that the settings name."""
    return PairingAids.read(config, parallel_urls_if_there(config))


class NoPairs:
    """Stands in for the matcher in crawls without translations: it never finds a pair."""

    pairs: tuple[DocumentPair, ...] = ()

    def iter_pairs(self, place: Place | None = None) -> Iterator[DocumentPair]:  # noqa: ARG002 - no page is paired
        """Return nothing: no page is paired."""
        return iter(())

    def standing(self) -> Iterable[PackedPair]:
        """Return nothing: no page is paired."""
        return ()

    refused_count = 0

    def refused(self) -> Iterator[DocumentPair]:
        """Return nothing: no page is paired."""
        return iter(())

    def paired_url(self, node: str) -> str | None:  # noqa: ARG002 - no page is paired
        """Return None: no page is paired."""
        return None

    partner_of = paired_url

    def partners_of(self, url: str) -> list[str]:  # noqa: ARG002 - no page is paired
        """Return nothing: no page is paired."""
        return []

    def add(self, page: PairingPage, node: str | None = None) -> Changes[DocumentPair]:  # noqa: ARG002 - nothing changes
        """Change nothing."""
        return Changes()

    def hold(self, page: PairingPage, node: str | None = None) -> None:
        """Ignore the page."""

    def restore(self, pages: Iterable[tuple[PairingPage, str]]) -> None:
        """Ignore the pages."""

    def alias(self, source: str, target: str) -> Changes[DocumentPair]:  # noqa: ARG002 - nothing changes
        """Change nothing."""
        return Changes()

    def declare(self, claims: Iterable[Declaration]) -> Changes[DocumentPair]:  # noqa: ARG002 - nothing changes
        """Change nothing."""
        return Changes()

    def finish(self, check: Callable[[], None] | None = None) -> Changes[DocumentPair]:  # noqa: ARG002 - at once
        """Change nothing."""
        return Changes()


class KeepRule:
    """Compares pages for duplicates and pairs, and decides which of them are kept.

    `aliases` may still grow: a matcher learns them when its first page comes.
    """

    def __init__(
        self,
        pair_of: Callable[[str], Languages],
        duplicate_share: float,
        aids: PairingAids,
        off_topic: Container[str],
        aliases: Callable[[], Iterable[tuple[str, str]]],
    ) -> None:
        self._pair_of = pair_of
        self._aids = aids
        self._off_topic = off_topic
        self._aliases = aliases
        self._first: dict[bytes, str] = {}
        self._matchers: dict[str, Matcher | NoPairs] = {}
        self.duplicates = DuplicateIndex(duplicate_share)

    @property
    def matchers(self) -> Iterable[Matcher | NoPairs]:
        """One matcher for the languages of the crawl, and one for each site with others."""
        return self._matchers.values()

    def node_of(self, url: str, signature: bytes) -> str:
        """Return the first page with the text of `signature`; `url` if it is the first."""
        return self._first.setdefault(signature, url)

    def matcher(self, url: str) -> Matcher | NoPairs:
        """Return the matcher for the languages that are wanted from the site of `url`."""
        languages = self._pair_of(url)
        matcher = self._matchers.get(str(languages))
        if matcher is None:
            if isinstance(languages, OneLanguage):
                matcher = NoPairs()
            else:
                matcher = Matcher(languages, aids=self._aids)
            self._matchers[str(languages)] = matcher
            for source, target in self._aliases():
                matcher.alias(source, target)
        return matcher

    def partner_of(self, url: str) -> str | None:
        """Return the page that `url` is paired with now; safe to call from another thread."""
        matcher = self._matchers.get(str(self._pair_of(url)))
        return None if matcher is None else matcher.partner_of(url)

    def partners_of(self, url: str) -> list[str]:
        """Return the pages that `url` is paired with now, one in each language at most."""
        matcher = self._matchers.get(str(self._pair_of(url)))
        return [] if matcher is None else matcher.partners_of(url)

    def slugs_agree(self, first: str, second: str) -> float | None:
        """Return the share of words in two addresses that translate each other, if known.

        The address in the first language comes first. Safe to call from another thread.
        """
        matcher = self._matchers.get(str(self._pair_of(first)))
        lexicon = matcher.lexicon if isinstance(matcher, Matcher) else None
        return (
            None if lexicon is None else lexicon.slugs_agree(_last_part(first), _last_part(second))
        )

    def kept_url(self, node: str, *, is_duplicate: bool) -> str | None:
        """Return which of the pages with the text of `node` is kept; None for none of them.

        It is the one that is paired, or else the first. Without a pair, near-duplicates and
        pages that are off topic are not kept at all.
        """
        matcher, off_topic = self.matcher(node), self._off_topic
        paired = matcher.paired_url(node)
        if paired is not None and not (
            paired in off_topic and all(map(off_topic.__contains__, matcher.partners_of(paired)))
        ):
            return paired
        return None if is_duplicate or node in off_topic else node

    def is_wanted(self, pair: DocumentPair | PackedPair) -> bool:
        """Return whether at least one page of a pair is about the topic."""
        return pair.first not in self._off_topic or pair.second not in self._off_topic

    def pairs(self, place: Place | None = None) -> Iterator[DocumentPair]:
        """Yield every pair that belongs to the corpus; with their evidence they are large.

        They come in the order of their places, and those without one at the end.
        """
        for matcher in self._matchers.values():
            yield from filter(self.is_wanted, matcher.iter_pairs(place))

    def refused(self) -> Iterator[DocumentPair]:
        """Yield the counterparts without translated content, each with the reason."""
        for matcher in self._matchers.values():
            yield from filter(self.is_wanted, matcher.refused())

    @property
    def language_set(self) -> LanguageSet | None:
        """The languages of the crawl, or of a site, if they are more than two."""
        found = (each.languages for each in self.matchers if isinstance(each, Matcher))
        return next((each for each in found if isinstance(each, LanguageSet)), None)

    @property
    def refused_count(self) -> int:
        """The number of counterparts without translated content."""
        return sum(matcher.refused_count for matcher in self._matchers.values())

    def standing(self) -> Iterator[PackedPair]:
        """Yield every pair in its packed form, without the reasons."""
        for matcher in self._matchers.values():
            yield from filter(self.is_wanted, matcher.standing())


def _last_part(url: str) -> str:
    return unquote(url.partition("?")[0].rstrip("/").rpartition("/")[2])
