"""Where terms stand in a text: a walk through a tree of stems from each word.

A term of several words is a row of stems. All occurrences of all terms count, also those inside
one another or overlapping, as in ILSP-FC: "prevenzione degli infortuni sul lavoro" has both
"prevenzione degli infortuni" and "infortunio sul lavoro". A word costs one look-up unless a term
begins with it, so the time goes with the length of the text and not with the number of terms.
"""

from collections.abc import Iterable, Iterator, Sequence

from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.languages.stemming import Stems


class _Branch:
    """What may follow after some stems, and the term that they are."""

    __slots__ = ("next", "term")

    def __init__(self) -> None:
        self.next: dict[str, _Branch] = {}
        self.term: Term | None = None


class TermIndex:
    """The terms of one language. Of terms with the same stems the heaviest counts."""

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
        """Every occurrence of a term, in the order in which they begin."""
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
