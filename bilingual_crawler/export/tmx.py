"""TMX (translation memories): written, read, and imported as a folder like that of a crawl.

We write TMX 1.4b, with the units in the order of the documents. The URL of a text is in
`source-document` of its side, as in Bitextor's TMX; everything else that a sentence pair knows is
in properties of our own (`x-...`), so that reading the file gives the same sentence pairs again.

We read TMX of any version and tool, plain or gzipped, in any encoding. Untrusted files are read
without entities, network or DTD, and within the limits of the parser (no text of more than ten
million characters, no deep nesting). Memory stays flat: each unit is freed once it was read.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from lxml import etree

from bilingual_crawler import __version__
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.rows import to_line
from bilingual_crawler.export.safe_text import DECLARATION, XmlText
from bilingual_crawler.export.source import EMPTY, Account, CorpusSource, peek
from bilingual_crawler.languages import LanguagePair, find_language, language_of_tag, language_tag
from bilingual_crawler.store.durable import replacing_file, text_file
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL, PAIRS, REPORT
from bilingual_crawler.store.input_files import DAMAGED_GZIP, Watch, unpacked
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id

URL = "source-document"
PAIR, AT, SCORE, BEADS, KIND = "x-pair", "x-at", "x-score", "x-beads", "x-kind"
ALL_LANGUAGES = "*all*"
ENTITY = "a text has an entity, which is not expanded"
TOO_LARGE = "the unit has too many elements"
MAX_IN_UNIT = 20_000
"""Elements of a unit; memories of real tools have a few dozen."""
ONE_LANGUAGE = "the unit does not have both languages"
SCORES = (SCORE, "score", "score-bicleaner-ai", "score-bicleaner", "score-aligner")
"""The names that tools give to the score of a unit; the first that a unit has counts."""
URLS = (URL, "x-url", "url")
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut", "sub"})
"""Elements of a segment that hold layout codes, not text; `hi` holds text."""
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_POSITION = re.compile("[0-9]{1,15}")
_REPORT_EVERY = 1000

Sides = dict[str, tuple[str, str]]
"""ISO 639-3 code -> text and URL of the first variant in that language."""
_NOT_IN_IDS = re.compile(r"[^\w.-]", re.ASCII)

FOLDER = Path("crawls")


class Tmx(Exporter):
    """TMX 1.4b, with one translation unit per sentence pair."""

    name = "tmx"
    about = "translation memory, TMX 1.4b"
    ending = ".tmx"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the sentence pairs of a source."""
        first, rows = peek(source.sentences())
        language = ALL_LANGUAGES if first is None else language_tag(first.lang1)
        with text_file(path) as file:
            file.write(f'{DECLARATION}<tmx version="1.4">\n{header(language)}<body>\n')
            file.writelines(_units(rows, account))
            file.write("</body>\n</tmx>\n")


def header(language: str) -> str:
    """Return the head of a file whose source texts are in a language."""
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
            f'<tuv xml:lang="{tags[row.lang1]}">{url_of(safe, row.url1)}<seg>{text1}</seg></tuv>\n'
            f'<tuv xml:lang="{tags[row.lang2]}">{url_of(safe, row.url2)}<seg>{text2}</seg></tuv>'
            "</tu>\n"
        )


def url_of(safe: XmlText, url: str) -> str:
    """Return the property that names the page of a text, if it is known."""
    return f'<prop type="{URL}">{safe.text(url)}</prop>' if url else ""


class TmxFile:
    """The units of a TMX file, read as sentence pairs.

    Without `languages`, those of the first unit with two languages count, the file's source
    language first; `languages` holds them afterwards.
    """

    def __init__(self, file: Path, account: Account, languages: LanguagePair | None = None) -> None:
        self.languages = languages
        self._file = file
        self._account = account
        self._source: str | None = None
        self._whole = pair_id(file.name, "")
        """The document pair of units that do not name their documents."""
        self._number = 0

    def read(self, watch: Watch = lambda _share: None) -> Iterator[SentencePair]:
        """Yield the sentence pairs in the order of the file; count what is left out."""
        try:
            with self._file.open("rb") as raw:
                size = max(1, self._file.stat().st_size)
                for number, unit in enumerate(self._units(raw), 1):
                    if number % _REPORT_EVERY == 0:
                        watch(min(1.0, raw.tell() / size))
                    row = self._row(unit)
                    if row is not None:
                        yield row
        except etree.XMLSyntaxError as error:
            problem = (error.msg or "it is empty").rstrip(".")
            raise ConfigurationError(
                f"{self._file} is not a valid TMX file: {problem}. Nothing was imported."
            ) from error
        except DAMAGED_GZIP as error:
            raise ConfigurationError(
                f"{self._file} ends too early: the gzip file is truncated. Nothing was imported."
            ) from error
        except OSError as error:
            reason = error.strerror or error
            raise ConfigurationError(f"{self._file} cannot be read: {reason}.") from error

    def _units(self, raw: BufferedReader) -> Iterator[etree._Element]:
        """Yield every unit once it is complete; free everything else as soon as it ends."""
        events = etree.iterparse(
            cast("Any", unpacked(raw)),
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        unit: etree._Element | None = None
        is_tmx, inside = False, 0
        for event, element in events:
            if event == "end" and unit is not None and element is unit:
                if inside <= MAX_IN_UNIT:
                    yield unit
                else:
                    self._account.left_out[TOO_LARGE] += 1
                _forget(unit)
                unit = None
            elif event == "end" and (unit is None or inside > MAX_IN_UNIT):
                _forget(element)
            elif event == "start" and unit is not None:
                inside += 1
            elif event == "start":
                name = etree.QName(element).localname
                is_tmx = is_tmx or (name == "tmx" and element.getparent() is None)
                if name == "header":
                    self._source = _code(element.get("srclang"))
                elif name == "tu" and is_tmx:
                    unit, inside = element, 0
        if not is_tmx:
            raise ConfigurationError(
                f"{self._file} is XML but not TMX: its first element is not <tmx>."
            )

    def _row(self, unit: etree._Element) -> SentencePair | None:
        left_out = self._account.left_out
        if next(unit.iter(etree.Entity), None) is not None:
            left_out[ENTITY] += 1
            return None
        sides = self._sides(unit)
        languages = self.languages or self._first_two(sides)
        if languages is None or not all(code in sides for code in languages.codes):
            left_out[ONE_LANGUAGE] += 1
            return None
        self.languages = languages
        (text1, url1), (text2, url2) = (sides[code] for code in languages.codes)
        if not (text1.strip() and text2.strip()):
            left_out[EMPTY] += 1
            return None
        props = _props(unit)
        at = _position(props.get(AT))
        row = SentencePair(
            pair=props.get(PAIR) or (pair_id(url1, url2) if url1 and url2 else self._whole),
            at=self._number if at is None else at,
            url1=url1,
            url2=url2,
            lang1=languages.first.code,
            lang2=languages.second.code,
            text1=text1,
            text2=text2,
            beads=props.get(BEADS, "1-1"),
            kind=props.get(KIND, "paragraph"),
            score=_score(props),
        )
        self._number += 1
        self._account.written["sentence pairs"] += 1
        return row

    def _sides(self, unit: etree._Element) -> Sides:
        sides: Sides = {}
        for variant in unit.iterchildren("{*}tuv"):
            code = _code(variant.get(_XML_LANG) or variant.get("lang"))
            segment = next(variant.iterchildren("{*}seg"), None)
            if code is None or segment is None or code in sides:
                continue
            props = _props(variant)
            url = next((props[name] for name in URLS if name in props), "")
            sides[code] = _text(segment), url
        return sides

    def _first_two(self, sides: Sides) -> LanguagePair | None:
        codes = sorted(sides, key=lambda code: code != self._source)[:2]
        if len(codes) == 1 or not codes:
            return None
        return LanguagePair(find_language(codes[0]), find_language(codes[1]))


def _forget(element: etree._Element) -> None:
    """Free an element and everything before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _text(segment: etree._Element) -> str:
    """Return the text of a segment as a reader sees it, without codes."""
    parts = [segment.text or ""]
    for child in segment:
        if etree.QName(child).localname not in _CODES:
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _props(element: etree._Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for prop in element.iterchildren("{*}prop"):
        found.setdefault(prop.get("type") or "", prop.text or "")
    return found


def _code(tag: str | None) -> str | None:
    language = language_of_tag(tag) if tag else None
    return None if language is None else language.code


def _position(text: str | None) -> int | None:
    return int(text) if text is not None and _POSITION.fullmatch(text) else None


def _score(props: dict[str, str]) -> float:
    for name in SCORES:
        try:
            score = float(props[name])
        except (KeyError, ValueError):
            continue
        if math.isfinite(score):
            return score
    return 1.0


def place_of(file: Path, out: str | None) -> Path:
    """Return where the import goes: what the user says, or a folder named after the file."""
    if out is not None:
        return Path(out)
    name = file.name.removesuffix(".gz")
    return FOLDER / (name.removesuffix(Path(name).suffix) or name)


def import_tmx(
    file: Path,
    folder: Path,
    languages: LanguagePair | None = None,
    watch: Watch = lambda _share: None,
) -> tuple[Account, LanguagePair]:
    """Import a translation memory; an earlier import is replaced when this one is complete."""
    if not file.is_file():
        raise ConfigurationError(f"There is no file {file}.")
    if any((folder / name).exists() for name in (DOCUMENTS, JOURNAL, PAIRS)):
        raise ConfigurationError(
            f"{folder} holds a crawl: choose another folder with --out, so that nothing is lost."
        )
    account = Account()
    tmx = TmxFile(file, account, languages)
    with replacing_file(folder / SENTENCES) as path:
        with text_file(path) as rows:
            rows.writelines(map(to_line, tmx.read(watch)))
        if not account.written or tmx.languages is None:
            raise ConfigurationError(_nothing(file, account, languages))
    write_import_report(folder, file.name, tmx.languages, account)
    return account, tmx.languages


def _nothing(file: Path, account: Account, languages: LanguagePair | None) -> str:
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in account.left_out.items())
    wanted = f" of {languages}" if languages else ""
    return f"{file} has no sentence pair{wanted}: {reasons or 'it has no units'}."


def write_import_report(folder: Path, name: str, languages: LanguagePair, account: Account) -> None:
    """Write crawl.json of a folder with an import from `name`."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    report = {
        "format": 1,
        "langs": str(languages),
        "languages": [{"code": each.code, "name": each.name} for each in languages],
        "seeds": [],
        "seeds_from": "",
        "imported_from": name,
        "files": {"sentences": SENTENCES},
        "versions": {"bilingual-crawler": __version__},
        "state": "finished",
        "started": now,
        "updated": now,
        "pages": 0,
        "documents": {},
        "pairs": 0,
        "import": account.to_dict(),
    }
    with replacing_file(folder / REPORT) as path, text_file(path) as text:
        json.dump(report, text, ensure_ascii=False, indent=2)
        text.write("\n")
