"""A JSON object a sentence pair and line, always with the same keys and types."""

import json
from dataclasses import fields
from pathlib import Path

from bilingual_crawler.export.account import Account
from bilingual_crawler.export.source import CorpusSource
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.store.target import text_file

FIELDS = tuple(each.name for each in fields(SentencePair))
_encode = json.JSONEncoder(ensure_ascii=False).encode


def to_line(row: SentencePair) -> str:
    """A sentence pair as a line; a score is a number with a point, always."""
    values = {name: getattr(row, name) for name in FIELDS}
    values["score"] = float(row.score)
    return f"{_encode(values)}\n"


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write the sentence pairs of a source."""
    with text_file(path) as file:
        for row in source.sentences():
            file.write(to_line(row))
            account.written["sentence pairs"] += 1
