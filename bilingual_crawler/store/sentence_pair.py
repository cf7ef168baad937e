"""Sentence pairs, the lines of sentences.jsonl.gz: written by alignment, read by exports."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.store.input_files import open_unpacked

SENTENCES = "sentences.jsonl.gz"
DUPLICATE, BOILERPLATE = "duplicate", "boilerplate"
REPEATED = frozenset((DUPLICATE, BOILERPLATE))
"""The rules that a pair breaks because another copy of it is kept."""


@dataclass(slots=True, frozen=True)
class SentencePair:
    """Text in two languages with the same meaning, and its origin.

    Pairs come in the order of their documents, so that documents can be restored: `pair` is the
    id of the document pair, `at` the position in it from 0. `beads` is the number of sentences
    on each side ("1-1", "2-1"), `kind` that of the first side's paragraph. `dropped` is the
    cleaning rule that the pair broke, "" for a good pair.

    The rest is provenance, for each side: `fetched` is when the page was fetched (ISO 8601),
    `licence` the licence as the page states it, `machine` its mark of machine translation, ""
    for none; `paragraph` is the position of the text's paragraph in the document, and `sentence`
    that of its first sentence in this paragraph, both from 0, -1 if unknown. `pair_score` is the
    score of the document pair, `evidence` the names of what speaks for it, separated by spaces.
    """

    pair: str
    at: int
    url1: str
    url2: str
    lang1: str
    lang2: str
    text1: str
    text2: str
    beads: str = "1-1"
    kind: str = "paragraph"
    score: float = 1.0
    dropped: str = ""
    fetched1: str = ""
    fetched2: str = ""
    licence1: str = ""
    licence2: str = ""
    machine1: str = ""
    machine2: str = ""
    pair_score: float = 1.0
    evidence: str = ""
    paragraph1: int = -1
    paragraph2: int = -1
    sentence1: int = -1
    sentence2: int = -1

    def to_dict(self) -> dict[str, Any]:
        """Return the pair for a line of JSON, always with the same keys."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Return the pair from the result of `to_dict`."""
        return cls(**fields)


FIELDS = tuple(each.name for each in fields(SentencePair))


def pair_id(url1: str, url2: str) -> str:
    """Return a short id of a document pair, which is the same in every run."""
    return blake2b(f"{url1}\t{url2}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def read_sentences(file: Path) -> Iterator[SentencePair]:
    """Yield every sentence pair of a file, including dropped ones."""
    with open_unpacked(file) as lines:
        for line in lines:
            yield SentencePair.from_dict(json.loads(line))
