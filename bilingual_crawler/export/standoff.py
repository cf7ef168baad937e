"""Stand-off: where sentence pairs are, without their texts, for those who may not publish these.

A line says on which pages the two texts are, at which position, and what their hashes are. Who has
the pages, in WARC files or in the folder of a crawl, makes the corpus from it again
(`scrapy rebuild`).
"""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.rows import TYPES
from bilingual_crawler.export.source import Account, CorpusSource
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import SentencePair

TEXTS = ("text1", "text2")
HASHES = ("hash1", "hash2")
KEPT = tuple(name for name in TYPES if name not in TEXTS)
"""The fields of a sentence pair that a line has, besides the hashes."""
_encode = json.JSONEncoder(ensure_ascii=False).encode


class Standoff(Exporter):
    """JSON lines with URLs, positions and hashes instead of texts."""

    name = "standoff"
    about = "URLs, positions and hashes without any text, for scrapy rebuild"
    ending = ".jsonl"
    stem = "standoff"
    dropped = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write one line per sentence pair."""
        if source.anonymises:
            raise ConfigurationError("standoff has no texts to mask: leave out --anonymise.")
        with text_file(path) as file:
            for row in source.sentences():
                file.write(f"{_encode(without_text(row))}\n")
                account.written["sentence pairs"] += 1


def without_text(row: SentencePair) -> dict[str, Any]:
    """Return the line of a sentence pair."""
    fields = {name: getattr(row, name) for name in KEPT}
    return fields | {"hash1": text_hash(row.text1), "hash2": text_hash(row.text2)}


def text_hash(text: str) -> str:
    """Return the hash by which a text is found again."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
