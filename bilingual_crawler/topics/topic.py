"""What a crawl is about, and how much each page is: the text classifier of ILSP-FC.

A page is judged by the terms of its own language. Its score p is the sum over all terms and
places of occurrences times weight of the term times weight of the place; it is on topic if p is
above one threshold and the number of different terms in its content above another. The paper
takes p as it is, whatever the length of the page, and so does this.

Weights are on a scale of the user's own, so the threshold of the score is a multiple of the
median weight: a topic with all weights a hundred times larger finds the same pages.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from statistics import median

from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.relevance import LOCATIONS, Relevance, TermHits
from bilingual_crawler.languages.stemming import stems_of
from bilingual_crawler.topics.matching import TermIndex

LEAST_SCORE = 4.0
LEAST_TERMS = 1


class Topic:
    """Weighted terms; false if there are none. Any thread may ask."""

    def __init__(
        self,
        terms: Sequence[Term] = (),
        least_score: float = LEAST_SCORE,
        least_terms: int = LEAST_TERMS,
    ) -> None:
        self._terms = tuple(terms)
        self.unit = median(term.weight for term in terms) if terms else 1.0
        """The median weight: what one occurrence of a usual term is worth."""
        self.least_score = least_score * self.unit
        self.least_terms = least_terms
        self._indexes: dict[str | None, TermIndex] = {}

    def __bool__(self) -> bool:
        return bool(self._terms)

    @property
    def name(self) -> str:
        """A short name of these very terms, by which a crawl that goes on knows its topic."""
        rows = sorted(map(repr, set(self._terms)))
        return blake2b("\n".join(rows).encode(), digest_size=8).hexdigest() if rows else ""

    def terms_in(self, language: str | None) -> int:
        """How many terms a page in a language may have."""
        return len(self._index(language))

    def annotate(self, document: Document) -> None:
        """Judge a page, and note on each paragraph of its content which terms it has."""
        if not self._terms:
            return
        index = self._index(document.language)
        counts: dict[Term, Counter[str]] = {}
        for place, text in (
            ("title", document.title),
            ("metadata", document.description),
            ("keywords", document.keywords),
        ):
            _count(counts, place, index.find(text))
        for paragraph in document.main_paragraphs:
            found = list(index.find(paragraph.text))
            paragraph.topic = list(dict.fromkeys(term.text for term in found))
            _count(counts, "text", found)
        document.topic = self._judge(counts)

    def weight(self, text: str, language: str | None) -> float:
        """The sum over all terms of their occurrences in a text times their weight."""
        return sum(term.weight for term in self._index(language).find(text))

    def _judge(self, counts: dict[Term, Counter[str]]) -> Relevance:
        hits = [
            TermHits(term.text, term.weight, term.subdomain, *(places[name] for name in LOCATIONS))
            for term, places in counts.items()
        ]
        ranked = tuple(sorted(hits, key=lambda hit: (-hit.score, hit.term)))
        found = Relevance(False, ranked)
        enough = found.score > self.least_score and found.unique_terms > self.least_terms
        return Relevance(enough, ranked)

    def _index(self, language: str | None) -> TermIndex:
        index = self._indexes.get(language)
        if index is None:
            own = (term for term in self._terms if term.language in {None, language})
            index = self._indexes[language] = TermIndex(own, stems_of(language))
        return index


def _count(counts: dict[Term, Counter[str]], place: str, found: Iterable[Term]) -> None:
    for term in found:
        counts.setdefault(term, Counter())[place] += 1


NO_TOPIC = Topic()
"""A crawl for whatever there is."""
