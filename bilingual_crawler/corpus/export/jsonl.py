"""A JSON object a sentence pair and line, always with the same keys and types."""

import json
from pathlib import Path

from bilingual_crawler.corpus.account import Account
from bilingual_crawler.corpus.export.source import Source
from bilingual_crawler.corpus.target import text_file


def write(source: Source, path: Path, account: Account) -> None:
    """Write the sentence pairs of a source; a score is a number with a point, always."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with text_file(path) as file:
        for row in source.sentences():
            file.write(encode(row.to_dict() | {"score": float(row.score)}) + "\n")
            account.written["sentence pairs"] += 1
