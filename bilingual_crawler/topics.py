"""The topic of a crawl and the relevance of each page to it: the text classifier of ILSP-FC.

A page is judged by the terms of its own language. Its score p is the sum over all terms and
places of occurrences times weight of the term times weight of the place; it is on topic if p is
above one threshold and the number of different terms in its content above another. As in the
paper, p does not depend on the length of the page.

Users choose the scale of the weights, so the threshold of the score is a multiple of the median
weight: a topic with all weights a hundred times larger finds the same pages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from statistics import median
from typing import Any

from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.documents.document import LOCATIONS, Document, Relevance, TermHits
from bilingual_crawler.languages.stemming import Stems, stems_of

LEAST_SCORE = 4.0
LEAST_TERMS = 1
MOST_TERMS_SHOWN = 12


class _Branch:
    """A node of the tree: the term that ends here, and the stems that may follow."""

    __slots__ = ("next", "term")

    def __init__(self) -> None:
        self.next: dict[str, _Branch] = {}
        self.term: Term | None = None


class TermIndex:
    """Finds the terms of one language in a text, with a tree of stems.

    All occurrences of all terms count, even if they overlap, as in ILSP-FC: "prevenzione degli
    infortuni sul lavoro" contains both "prevenzione degli infortuni" and "infortunio sul lavoro".
    A word costs one look-up unless a term begins with it, so the time depends on the length of
    the text and not on the number of terms. Of terms with the same stems the heaviest counts.
    """

    def __init__(self, terms: Iterable[Term], stems: Stems) -> None:
        self._stems = stems
        self._root = _Branch()
        self._size = 0
        for term in terms:
            self._add(term)

    def __len__(self) -> int:
        return self._size

    def _add(self, term: Term) -> None:
        branch = self._root
        for stem in self._stems.of(term.text):
            branch = branch.next.setdefault(stem, _Branch())
        if branch is self._root:
            return
        self._size += branch.term is None
        if branch.term is None or term.weight > branch.term.weight:
            branch.term = term

    def find(self, text: str) -> Iterator[Term]:
        """Yield every occurrence of a term, in the order in which they begin."""
        return self._walk(self._stems.of(text)) if text and self._size else iter(())

    def _walk(self, words: Sequence[str]) -> Iterator[Term]:
        first = self._root.next
        for at, word in enumerate(words):
            branch = first.get(word)
            following = at
            while branch is not None:
                if branch.term is not None:
                    yield branch.term
                following += 1
                branch = branch.next.get(words[following]) if following < len(words) else None


class Topic:
    """Weighted terms; false if there are none. Safe to use from any thread."""

    def __init__(
        self,
        terms: Sequence[Term] = (),
        least_score: float = LEAST_SCORE,
        least_terms: int = LEAST_TERMS,
    ) -> None:
        self._terms = tuple(terms)
        self.unit = median(term.weight for term in terms) if terms else 1.0
        """The median weight: the value of one occurrence of a typical term."""
        self.least_score = least_score * self.unit
        self.least_terms = least_terms
        self._indexes: dict[str | None, TermIndex] = {}

    def __bool__(self) -> bool:
        return bool(self._terms)

    @property
    def name(self) -> str:
        """Return a hash of the terms, by which a resumed crawl recognises its topic."""
        rows = sorted(map(repr, set(self._terms)))
        return blake2b("\n".join(rows).encode(), digest_size=8).hexdigest() if rows else ""

    def terms_in(self, language: str | None) -> int:
        """Return how many terms apply to pages in a language."""
        return len(self._index(language))

    def annotate(self, document: Document) -> None:
        """Set the relevance of a page, and the terms of each paragraph of its content."""
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
        """Return the sum of the weights of all occurrences of terms in a text."""
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
"""The topic of a crawl without one."""


def explain_lines(document: Document, topic: Topic) -> Iterator[str]:
    """Yield the verdict on an annotated page and the terms behind it, for people to read."""
    found = _relevance(document)
    verdict = "on topic" if found.on_topic else "off topic"
    yield (
        f"{document.key} ({document.language or 'language unknown'}): {verdict},"
        f" score {found.score:g} (more than {topic.least_score:g} wanted),"
        f" different terms in the text {found.unique_terms}"
        f" (more than {topic.least_terms} wanted)"
    )
    for hit in found.hits[:MOST_TERMS_SHOWN]:
        yield f"  {hit.score:8g}  {hit.term}: weight {hit.weight:g}, {_places(hit)}"
    if rest := found.hits[MOST_TERMS_SHOWN:]:
        yield f"  {sum(hit.score for hit in rest):8g}  {len(rest)} more terms"
    if parts := found.subdomains:
        yield "  " + ", ".join(f"{name} {share:.0%}" for name, share in parts.items())


def explain_dict(document: Document) -> dict[str, Any]:
    """Return the verdict on an annotated page for programs."""
    return {
        "url": document.url,
        "variant": document.variant,
        "language": document.language,
        **_relevance(document).to_dict(),
    }


def _places(hit: TermHits) -> str:
    there = ((name, int(getattr(hit, name)), weight) for name, weight in LOCATIONS.items())
    return ", ".join(
        f"{number} in {name}" + (f" (times {weight:g})" if weight != 1 else "")
        for name, number, weight in there
        if number
    )


def _relevance(document: Document) -> Relevance:
    return document.topic or Relevance(on_topic=False)
