"""A table with a heading: first the columns of Bitextor by their names, then our own.

Nothing is quoted: a line is a row and a tab ends a field, whatever the text is.
"""

from operator import attrgetter
from pathlib import Path

from bilingual_crawler.export.account import Account
from bilingual_crawler.export.one_line import has_breaks, one_line
from bilingual_crawler.export.source import CorpusSource
from bilingual_crawler.store.target import text_file

COLUMNS = {
    "src_url": "url1",
    "trg_url": "url2",
    "src_text": "text1",
    "trg_text": "text2",
    "score": "score",
    "src_lang": "lang1",
    "trg_lang": "lang2",
    "pair": "pair",
    "at": "at",
    "beads": "beads",
    "kind": "kind",
    "dropped": "dropped",
}
"""The columns, and the field of a sentence pair that each one shows."""


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write the sentence pairs of a source."""
    values_of = attrgetter(*COLUMNS.values())
    with text_file(path) as file:
        file.write("\t".join(COLUMNS) + "\n")
        for row in source.sentences():
            values = list(map(str, values_of(row)))
            if has_breaks("".join(values)):
                values = [one_line(value, account.changed) for value in values]
            file.write("\t".join(values) + "\n")
            account.written["sentence pairs"] += 1
