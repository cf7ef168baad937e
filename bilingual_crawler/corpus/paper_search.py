"""Pairing by the rules of one paper alone (`pairing/paper_matcher.py`), without a crawl.

PPLocator needs no language identifier: the language of a page is that of the list that its URL is
on. URLs without a token are a list of their own, which stands for a language without any token; so
such pages wait in a temporary file until all URLs of their site are known.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.language import Identification, LanguageIdentifier
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.paper_matcher import PAPER_DETECTORS, PaperMatcher, PaperSystem
from bilingual_crawler.pairing.pplocator import Side, side_of
from bilingual_crawler.urls.hosts import host_of, site_of

OTHER_TOKEN = "the URL has the token of another language"  # noqa: S105 - not a password
NO_TOKENS = "no URL of the site has a token of either language"
BOTH_LISTS = "the URL has no token, and other URLs of the site have those of both languages"


class NoIdentifier(LanguageIdentifier):
    """Knows no language."""

    def identify(self, text: str, hints: Sequence[str] = (), domain: str = "") -> Identification:  # noqa: ARG002 - nothing is looked at
        """Return that nothing is known."""
        return Identification(reliable=False, shares=[])


class PaperSearch(PairSearch):
    """A search that one of the papers decides."""

    def __init__(self, system: PaperSystem, pair: LanguagePair, **options: Any) -> None:
        self._system = system
        self.pair = pair
        super().__init__(pair, PAPER_DETECTORS[system], **options)
        self._lists: defaultdict[str, set[Side]] = defaultdict(set)
        self._waiting = tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass")  # noqa: SIM115 - closed in the end

    def _new_matcher(self, detectors: Collection[str] | None) -> PaperMatcher:  # noqa: ARG002 - the paper has its own
        return PaperMatcher(self._system, self.pair, self._aids)

    def _take_page(self, found: Document) -> None:
        if self._system != "pplocator":
            super()._take_page(found)
            return
        side = side_of(found.url, self.pair)
        if side is None:
            self.skips.add(OTHER_TOKEN, found.url)
            return
        self._lists[site_of(host_of(found.url))].add(side)
        if side == "unknown":
            line = json.dumps(document_to_dict(found), ensure_ascii=False)
            self._waiting.write(f"{line}\n")
        else:
            super()._take_page(self._on_list(found, side))

    def finish(self) -> None:
        """Read the pages without tokens again, now that the lists are known, and pair all."""
        for document in self._without_tokens():
            lists = self._lists[site_of(host_of(document.url))] - {"unknown"}
            if len(lists) == 1:
                (filled,) = lists
                other: Side = "second" if filled == "first" else "first"
                super()._take_page(self._on_list(document, other))
            else:
                self.skips.add(BOTH_LISTS if lists else NO_TOKENS, document.url)
        super().finish()

    def _without_tokens(self) -> Iterator[Document]:
        with self._waiting as lines:
            lines.seek(0)
            for line in lines:
                yield document_from_dict(json.loads(line))

    def _on_list(self, document: Document, side: Side) -> Document:
        """Return a page in the language of its list, whatever anybody said about its text."""
        language = self.pair.first if side == "first" else self.pair.second
        paragraphs = [replace(each, language=None) for each in document.paragraphs]
        return replace(
            document,
            language=language.code,
            language_source="url list",
            language_shares=[],
            paragraphs=paragraphs,
        )
