"""The formats by name. A writer is imported when it is asked for, and not before."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.account import Account
from bilingual_crawler.export.source import CorpusSource


class Writer(Protocol):
    """What the module of a format has: a function that reads a source and fills a path.

    It holds no more than a bounded number of rows at a time, and counts what it writes,
    leaves out and changes.
    """

    def __call__(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write everything that the source gives."""


@dataclass(slots=True, frozen=True)
class Format:
    """A format: what it is for, and how its output is named; no ending means a folder."""

    name: str
    about: str
    ending: str = ""
    dropped: bool = False
    """Whether it can tell a dropped sentence pair from a good one."""
    documents: bool = False
    """Whether it is made of whole documents, not of sentence pairs."""
    module: str = ""
    """Where its `write` is, if not in the module of its name."""

    @property
    def writer(self) -> Writer:
        """The `write` of its module."""
        module = import_module(f"bilingual_crawler.export.{self.module or self.name}")
        return cast("Writer", module.write)


FORMATS = {
    each.name: each
    for each in (
        Format("tmx", "translation memory, TMX 1.4b", ".tmx"),
        Format("tsv", "a table with the columns of Bitextor first", ".tsv", dropped=True),
        Format("jsonl", "a JSON object a line", ".jsonl", dropped=True),
        Format("parquet", "Parquet with a typed schema", ".parquet", dropped=True),
        Format("moses", "two plain texts with the same number of lines"),
        Format("cwb", "vertical text, registry and alignment for the Corpus Workbench"),
        Format("xml", "annotated XML of ILSP-FC, a file a document", documents=True, module="ilsp"),
        Format("pml", "paragraphs of paired documents, a file a language", documents=True),
    )
}


def find_format(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise ConfigurationError(
            f"There is no format {name!r}: write --to and one of {', '.join(FORMATS)}."
        )
    return FORMATS[name]
