"""What stands for a matcher where no translations are looked for: it never finds a pair."""

from collections.abc import Callable, Iterable, Iterator

from bilingual_crawler.languages import LanguagePair, Languages
from bilingual_crawler.pairing.matcher import Declaration, Matcher
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids


class NoPairs:
    """Takes everything that a matcher is told, and makes nothing of it."""

    pairs: tuple[DocumentPair, ...] = ()

    def iter_pairs(self) -> Iterator[DocumentPair]:
        """No page is paired."""
        return iter(())

    def standing(self) -> Iterable[PackedPair]:
        """No page is paired."""
        return ()

    def paired_url(self, node: str) -> str | None:  # noqa: ARG002 - no page is paired
        """No page is paired."""
        return None

    partner_of = paired_url

    def add(self, page: PairingPage, node: str | None = None) -> Changes[DocumentPair]:  # noqa: ARG002 - nothing changes
        """Nothing changes."""
        return Changes()

    def hold(self, page: PairingPage, node: str | None = None) -> None:
        """Nothing is taken in."""

    def restore(self, pages: Iterable[tuple[PairingPage, str]]) -> None:
        """Nothing is taken in."""

    def alias(self, source: str, target: str) -> Changes[DocumentPair]:  # noqa: ARG002 - nothing changes
        """Nothing changes."""
        return Changes()

    def declare(self, claims: Iterable[Declaration]) -> Changes[DocumentPair]:  # noqa: ARG002 - nothing changes
        """Nothing changes."""
        return Changes()

    def finish(self, check: Callable[[], None] | None = None) -> Changes[DocumentPair]:  # noqa: ARG002 - at once
        """Nothing changes."""
        return Changes()


def new_matcher(
    languages: Languages,
    aids: PairingAids = NO_AIDS,
) -> Matcher | NoPairs:
    """The matcher for the languages of a crawl."""
    if not isinstance(languages, LanguagePair):
        return NoPairs()
    return Matcher(languages, aids=aids)
