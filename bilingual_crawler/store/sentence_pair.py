"""What alignment makes and every export reads: the lines of sentences.jsonl.gz."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.store.input_files import open_unpacked

SENTENCES = "sentences.jsonl.gz"


@dataclass(slots=True, frozen=True)
class SentencePair:
    """Text in two languages that says the same, with where it stands.

    Pairs come in the order of their documents, so that documents can be put together again:
    `pair` is the id of the document pair, `at` the position in it from 0. `beads` says how many
    sentences are on each side ("1-1", "2-1"), `kind` is that of the paragraph of the first side.
    `dropped` is the cleaning rule that the pair broke, "" for one that is good.
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

    def to_dict(self) -> dict[str, Any]:
        """The pair as a line of JSON holds it."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The pair that `to_dict` made this of."""
        return cls(**fields)


FIELDS = tuple(each.name for each in fields(SentencePair))


def pair_id(url1: str, url2: str) -> str:
    """A short name of a document pair that stays the same from one run to the next."""
    return blake2b(f"{url1}\t{url2}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def read_sentences(file: Path) -> Iterator[SentencePair]:
    """Every sentence pair of a file, dropped ones too, one at a time."""
    with open_unpacked(file) as lines:
        for line in lines:
            yield SentencePair.from_dict(json.loads(line))
