"""A stand-in for the matcher in crawls without translations: it never finds a pair."""

from collections.abc import Callable, Iterable, Iterator

from bilingual_crawler.languages import LanguagePair, Languages
from bilingual_crawler.pairing.matcher import Declaration, Matcher
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids


class NoPairs:
    """Accepts everything that a matcher accepts, and does nothing."""

    pairs: tuple[DocumentPair, ...] = ()

    def iter_pairs(self) -> Iterator[DocumentPair]:
        """Return nothing: no page is paired."""
        return iter(())

    def standing(self) -> Iterable[PackedPair]:
        """Return nothing: no page is paired."""
        return ()

    def paired_url(self, node: str) -> str | None:  # noqa: ARG002 - no page is paired
        """Return None: no page is paired."""
        return None

    partner_of = paired_url

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


def new_matcher(
    languages: Languages,
    aids: PairingAids = NO_AIDS,
) -> Matcher | NoPairs:
    """Return the matcher for the languages of a crawl."""
    if not isinstance(languages, LanguagePair):
        return NoPairs()
    return Matcher(languages, aids=aids)
