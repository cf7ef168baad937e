"""Formats for sentences in more than two languages at once: one TMX, and JSON lines."""

import json
from collections.abc import Iterator
from pathlib import Path

from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.safe_text import DECLARATION, XmlText
from bilingual_crawler.export.source import Account, CorpusSource
from bilingual_crawler.export.tmx import ALL_LANGUAGES, SCORE, header, url_of
from bilingual_crawler.export.units import SentenceUnit, linked_units
from bilingual_crawler.languages import LanguageSet, language_tag
from bilingual_crawler.store.durable import text_file

LEAST_LANGUAGES = 3


class MultilingualTmx(Exporter):
    """TMX 1.4b, with one translation unit per sentence and one variant per language."""

    name = "multilingual-tmx"
    about = "translation memory, TMX 1.4b, with all languages in one unit"
    ending = ".tmx"
    stem = "multilingual"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the units of a source."""
        with text_file(path) as file:
            file.write(f'{DECLARATION}<tmx version="1.4">\n{header(ALL_LANGUAGES)}<body>\n')
            file.writelines(_units(source, account))
            file.write("</body>\n</tmx>\n")


def _units(source: CorpusSource, account: Account) -> Iterator[str]:
    safe = XmlText(account.changed)
    for number, unit in enumerate(linked_units(source, account), 1):
        account.written[f"units in {len(unit.texts)} languages"] += 1
        variants = "".join(
            f'\n<tuv xml:lang="{language_tag(code)}">{url_of(safe, each.url)}'
            f"<seg>{safe.text(each.text)}</seg></tuv>"
            for code, each in sorted(unit.texts.items())
        )
        yield f'<tu tuid="{number}"><prop type="{SCORE}">{unit.score!r}</prop>{variants}</tu>\n'


class Multiparallel(Exporter):
    """JSON lines of sentences in three or more languages, every two of which are a pair.

    With `--langs spa-eus-eng` each line has all of these languages.
    """

    name = "multiparallel"
    about = "sentences linked in three or more languages (triples), one JSON object per line"
    ending = ".jsonl"
    stem = "multiparallel"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the units of a source that have enough languages."""
        wanted = source.langs
        least = LEAST_LANGUAGES
        if isinstance(wanted, LanguageSet) and not wanted.is_open:
            least = len(wanted.codes)
        with text_file(path) as file:
            for unit in linked_units(source, account):
                if len(unit.texts) < least:
                    account.left_out[f"in fewer than {least} languages"] += 1
                elif not unit.is_complete:
                    account.left_out["not every two of its sentences are a pair"] += 1
                else:
                    account.written["units"] += 1
                    file.write(f"{json.dumps(_fields(unit), ensure_ascii=False)}\n")


def _fields(unit: SentenceUnit) -> dict[str, object]:
    """Return a unit as a line of JSON."""
    texts = sorted(unit.texts.items())
    return {
        "score": unit.score,
        "texts": {code: each.text for code, each in texts},
        "urls": {code: each.url for code, each in texts},
    }
