"""Two plain texts, a sentence a line, line by line translations of each other, and their ids."""

from pathlib import Path

from bilingual_crawler.export.account import Account
from bilingual_crawler.export.one_line import one_line
from bilingual_crawler.export.source import EMPTY, CorpusSource, of_one_pair
from bilingual_crawler.store.target import text_file

STEM = "corpus"
IDS = f"{STEM}.ids"


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write corpus.LANG1, corpus.LANG2 and corpus.ids.

    A line of ids has the document pair, the position in it, both URLs and the score.
    """
    (lang1, lang2), rows = of_one_pair(source.sentences(), account)
    changed = account.changed
    with (
        text_file(path / f"{STEM}.{lang1}") as first,
        text_file(path / f"{STEM}.{lang2}") as second,
        text_file(path / IDS) as ids,
    ):
        for row in rows:
            text1, text2 = (one_line(each, changed).strip() for each in (row.text1, row.text2))
            if not (text1 and text2):
                account.left_out[EMPTY] += 1
                continue
            first.write(f"{text1}\n")
            second.write(f"{text2}\n")
            about = (row.pair, str(row.at), row.url1, row.url2, str(row.score))
            ids.write("\t".join(one_line(each, changed) for each in about) + "\n")
            account.written["sentence pairs"] += 1
