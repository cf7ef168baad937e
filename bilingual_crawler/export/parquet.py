"""Parquet with a typed schema, a row group at a time."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.account import Account
from bilingual_crawler.export.source import CorpusSource
from bilingual_crawler.store.sentence_pair import SentencePair

ROWS = 20_000
"""Of a row group: what is in memory at a time, and what a reader may skip at a time."""
TYPES = {
    "pair": "string",
    "at": "int64",
    "url1": "string",
    "url2": "string",
    "lang1": "string",
    "lang2": "string",
    "text1": "string",
    "text2": "string",
    "beads": "string",
    "kind": "string",
    "score": "float64",
    "dropped": "string",
}


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write the sentence pairs of a source."""
    pa = _pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra, wanted by this format alone

    schema = pa.schema(
        [pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in TYPES.items()]
    )
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        for rows in _groups(source.sentences()):
            columns = [
                pa.array([getattr(row, field.name) for row in rows], field.type) for field in schema
            ]
            file.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=ROWS)
            account.written["sentence pairs"] += len(rows)


def _groups(rows: Iterator[SentencePair]) -> Iterator[list[SentencePair]]:
    while group := list(islice(rows, ROWS)):
        yield group


def _pyarrow() -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra, wanted by this format alone
    except ImportError as error:
        raise ConfigurationError(
            "Parquet needs pyarrow: pip install 'bilingual-crawler[parquet]', "
            "or export --to jsonl, which holds the same."
        ) from error
    return pa
