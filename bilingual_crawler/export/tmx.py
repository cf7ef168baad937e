"""TMX 1.4b: a translation unit a sentence pair, in the order of the documents.

Where a text comes from stands in `source-document` of its side, as in the TMX of Bitextor;
all else that a sentence pair knows stands in properties of ours (`x-...`), so that
importing/tmx.py makes the same sentence pairs of the file again.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from bilingual_crawler import __version__
from bilingual_crawler.export.account import Account
from bilingual_crawler.export.source import EMPTY, CorpusSource, peek
from bilingual_crawler.export.xml_text import DECLARATION, XmlText
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.store.target import text_file

URL = "source-document"
PAIR, AT, SCORE, BEADS, KIND = "x-pair", "x-at", "x-score", "x-beads", "x-kind"
ALL_LANGUAGES = "*all*"
_NOT_IN_IDS = re.compile(r"[^\w.-]", re.ASCII)


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write the sentence pairs of a source."""
    first, rows = peek(source.sentences())
    language = ALL_LANGUAGES if first is None else language_tag(first.lang1)
    with text_file(path) as file:
        file.write(f'{DECLARATION}<tmx version="1.4">\n{_header(language)}<body>\n')
        file.writelines(_units(rows, account))
        file.write("</body>\n</tmx>\n")


def _header(language: str) -> str:
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return (
        f'<header creationtool="bilingual-crawler" creationtoolversion="{__version__}" '
        'segtype="sentence" o-tmf="bilingual-crawler" adminlang="en" '
        f'srclang="{language}" datatype="plaintext" o-encoding="UTF-8" creationdate="{now}"/>\n'
    )


def _units(rows: Iterable[SentencePair], account: Account) -> Iterator[str]:
    safe = XmlText(account.changed)
    tags: dict[str, str] = {}
    for row in rows:
        text1, text2 = safe.text(row.text1), safe.text(row.text2)
        if not (text1.strip() and text2.strip()):
            account.left_out[EMPTY] += 1
            continue
        for code in (row.lang1, row.lang2):
            if code not in tags:
                tags[code] = language_tag(code)
        account.written["sentence pairs"] += 1
        yield (
            f'<tu tuid="{_NOT_IN_IDS.sub("_", row.pair)}-{row.at}">'
            f'<prop type="{PAIR}">{safe.text(row.pair)}</prop>'
            f'<prop type="{AT}">{row.at}</prop>'
            f'<prop type="{SCORE}">{row.score!r}</prop>'
            f'<prop type="{BEADS}">{safe.text(row.beads)}</prop>'
            f'<prop type="{KIND}">{safe.text(row.kind)}</prop>\n'
            f'<tuv xml:lang="{tags[row.lang1]}">{_url(safe, row.url1)}<seg>{text1}</seg></tuv>\n'
            f'<tuv xml:lang="{tags[row.lang2]}">{_url(safe, row.url2)}<seg>{text2}</seg></tuv>'
            "</tu>\n"
        )


def _url(safe: XmlText, url: str) -> str:
    return f'<prop type="{URL}">{safe.text(url)}</prop>' if url else ""
