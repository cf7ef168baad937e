"""Sentences that are linked in several languages, as units: from the pairs of every two languages.

Sentence pairs come two languages at a time. Pairs that share a sentence (the same text at the
same place of the same page) belong to one unit, which has at most one sentence per language: the
likeliest pairs are linked first. Pages are grouped before sentences are, so that only the rows of
one group of pages are in memory at once.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from bilingual_crawler.export.source import Account, CorpusSource
from bilingual_crawler.store.sentence_pair import SentencePair

CONFLICT = "a likelier pair has another sentence in that language"


class PlacedText(NamedTuple):
    """A text in one language, and where it was found."""

    language: str
    url: str
    paragraph: int
    sentence: int
    text: str


@dataclass(slots=True)
class SentenceUnit:
    """A text in several languages, and the scores of the pairs that link them."""

    texts: dict[str, PlacedText]
    scores: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The score of the weakest link."""
        return min(self.scores)

    @property
    def is_complete(self) -> bool:
        """True if every two of the texts are a pair."""
        size = len(self.texts)
        return len(self.scores) == size * (size - 1) // 2


def units_of(rows: Iterable[SentencePair], account: Account) -> Iterator[SentenceUnit]:
    """Yield the units that sentence pairs make, in the order of their first rows."""
    links = [(row.score, *_sides(row)) for row in rows]
    unit: dict[PlacedText, SentenceUnit] = {}
    for _, first, second in sorted(links, key=lambda each: -each[0]):
        one, other = (
            unit.setdefault(each, SentenceUnit({each.language: each})) for each in (first, second)
        )
        if one is not other and one.texts.keys().isdisjoint(other.texts):
            one.texts |= other.texts
            for each in other.texts.values():
                unit[each] = one
    for score, first, second in links:
        if unit[first] is unit[second]:
            unit[first].scores.append(score)
        else:
            account.left_out[CONFLICT] += 1
    in_order = {id(unit[first]): unit[first] for _, first, _ in links}
    return (each for each in in_order.values() if each.scores)


def linked_units(source: CorpusSource, account: Account) -> Iterator[SentenceUnit]:
    """Yield the units of a whole corpus, one group of pages after the other."""
    group: dict[str, str] = {}
    for row in source.looking_ahead().sentences():
        one, other = _root(group, row.url1), _root(group, row.url2)
        group[max(one, other)] = min(one, other)
    numbers: dict[str, int] = {}
    connection = sqlite3.connect("", isolation_level=None)
    try:
        connection.execute(
            "CREATE TABLE rows (pages INTEGER, number INTEGER PRIMARY KEY, row TEXT)"
        )
        connection.execute("BEGIN")
        for row in source.sentences():
            pages = numbers.setdefault(_root(group, row.url1), len(numbers))
            connection.execute(
                "INSERT INTO rows (pages, row) VALUES (?, ?)", (pages, json.dumps(row.to_dict()))
            )
        connection.execute("CREATE INDEX by_pages ON rows (pages, number)")
        connection.execute("COMMIT")
        found = connection.execute("SELECT pages, row FROM rows ORDER BY pages, number")
        for _, rows in groupby(found, key=itemgetter(0)):
            yield from units_of(
                (SentencePair.from_dict(json.loads(each)) for _, each in rows), account
            )
    finally:
        connection.close()


def _sides(row: SentencePair) -> tuple[PlacedText, PlacedText]:
    return (
        PlacedText(row.lang1, row.url1, row.paragraph1, row.sentence1, row.text1),
        PlacedText(row.lang2, row.url2, row.paragraph2, row.sentence2, row.text2),
    )


def _root(group: dict[str, str], url: str) -> str:
    """Return the page that stands for all pages linked with this one; shorten the way to it."""
    root = url
    while (above := group.get(root, root)) != root:
        root = above
    while (above := group.get(url, root)) != root:
        group[url], url = root, above
    return root
