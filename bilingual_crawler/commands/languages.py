"""`scrapy languages`: teaches languages that no identifier knows, and lists what is known."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, one_argument, print_lines
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.documents.identifiers.teaching import TaughtLanguage
    from bilingual_crawler.languages import Language

DETAILS = """\
teach makes a small identifier of a language from a page or more of text: HTML, plain text, PDF or
another file that a crawl can read. It tells the language from its neighbours, which are those that
CLD2 takes the text for, those that are spelt most alike, and those of --against. Text of your own
for a neighbour (--against spa=FILE) is better than the built-in counts of words. The folder is for
-s BILINGUAL_TAUGHT=FOLDER. A language without a code of ISO 639-3 can have one of qaa to qtz.

refine adds text from a crawl: pages in a taught language that are parts of pairs, and, for its
neighbours, the pages on the other side.

list shows the languages of a folder, or of the table; show tells what is known of one.

  scrapy languages teach nah --text page1.html page2.html --out taught
  scrapy languages teach nah --text nahuatl.txt --against spa=spanish.txt,eng --out taught
  scrapy crawl bilingual -a langs=nah-spa -a seeds=https://example.org/ -s BILINGUAL_TAUGHT=taught
  scrapy languages refine taught crawls/nah-spa
  scrapy languages list taught
  scrapy languages show nah
"""
ACTIONS = ("teach", "refine", "list", "show")
SURE_PAIR = 0.8
LARGEST_FILE = 50_000_000
FEW = 0.8


class LanguagesCommand(BaseCommand):
    """Teaches and shows languages."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = (
        "teach CODE --text FILE [FILE ...] [options] | refine FOLDER CRAWL | list [FOLDER]"
        " | show LANGUAGE"
    )
    summary = "Teach a language that no identifier knows, and show what is known of languages"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Languages")
        group.add_argument("--text", nargs="+", metavar="FILE", default=[], help="files to learn")
        group.add_argument(
            "--against",
            metavar="LANGS",
            default="",
            help="neighbours, with or without a file of their text: spa,eng or spa=FILE,eng",
        )
        group.add_argument(
            "--out", type=Path, metavar="FOLDER", default=Path("taught"), help="(taught)"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the first argument names."""
        if not args or args[0] not in ACTIONS:
            raise UsageError(f"say what to do: {', '.join(ACTIONS)}")
        action, rest = args[0], args[1:]
        if action == "teach":
            self._teach(one_argument(rest, "the language to teach, by its code: nah"), opts)
        elif action == "refine":
            self._refine(rest)
        elif action == "list":
            print_lines(_listed(rest))
        else:
            print_lines(_described(_language(one_argument(rest, "one language: nah, or Nahuatl"))))

    def _teach(self, text: str, opts: argparse.Namespace) -> None:
        from bilingual_crawler.documents.identifiers.taught_folder import write_taught
        from bilingual_crawler.documents.identifiers.teaching import teach
        from bilingual_crawler.documents.language import CLD2

        language = _language(text)
        if not opts.text:
            raise UsageError("name a file with a page or more of the language: --text FILE")
        if CLD2.knows(language.code):
            sys.stderr.write(f"CLD2 knows {language} already; the text is used beside it.\n")
        lines = [line for file in opts.text for line in _lines_of(Path(file))]
        taught = teach(language.code, lines, _against(opts.against))
        path = write_taught(opts.out, taught)
        print_lines([f"{language}: wrote {path}", *_judged(taught)])

    def _refine(self, args: list[str]) -> None:
        from bilingual_crawler.documents.identifiers.taught_folder import read_taught, write_taught
        from bilingual_crawler.documents.identifiers.teaching import teach

        if len(args) != 2:  # noqa: PLR2004 - two folders
            raise UsageError("name the folder of taught languages, and the folder of a crawl")
        folder, crawl = Path(args[0]), args[1]
        for taught in read_taught(folder):
            found = _texts_beside(taught.code, crawl)
            own = found.pop(taught.code, [])
            if not own:
                print_lines([f"{_language(taught.code)}: no pair of {crawl} has a page in it"])
                continue
            against = {each.code: list(each.lines) for each in taught.neighbours}
            for code in found.keys() & against.keys():
                against[code] += found[code]
            better = teach(taught.code, [*taught.lines, *own], against)
            path = write_taught(folder, better)
            print_lines([f"{_language(taught.code)}: wrote {path}", *_judged(better)])


def _language(text: str) -> "Language":
    from bilingual_crawler.languages import find_language

    try:
        return find_language(text)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def _lines_of(path: Path) -> list[str]:
    """Return the lines of the main text of a file."""
    from bilingual_crawler.documents.builder import build_document

    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigurationError(
                f"{path} is larger than {LARGEST_FILE // 1_000_000} MB: a few pages are enough."
            )
        body = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    kind = "" if path.suffix.lower() in (".html", ".htm", ".xhtml") else "text/plain"
    document = build_document(f"https://text.invalid/{path.name}", body, content_type=kind)
    lines = [each.text for each in document.paragraphs if not each.boilerplate]
    binary = document.unreadable or (sum(map(len, lines)) and _is_binary(body, lines))
    if binary or not lines:
        raise ConfigurationError(
            f"{path} has no text that can be read; give a web page, a text in UTF-8, or a document."
        )
    return lines


def _is_binary(body: bytes, lines: list[str]) -> bool:
    text = "".join(lines)
    strange = text.count("\ufffd") + sum(not char.isprintable() for char in text)
    return strange * 20 > len(text) or (b"\0" in body[:1000] and not body.startswith(b"%PDF"))


def _against(text: str) -> dict[str, list[str]]:
    """Return the neighbours of --against with the lines of their files."""
    from bilingual_crawler.documents.identifiers.teaching import built_in_neighbours

    found: dict[str, list[str]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, file = part.partition("=")
        language = _language(name)
        if language.code in found:
            raise ConfigurationError(f"--against names {language} twice.")
        if not file and language.code not in built_in_neighbours():
            raise ConfigurationError(
                f"There are no built-in counts of words for {language}: write --against"
                f" {language.code}=FILE with some text of it."
            )
        found[language.code] = _lines_of(Path(file)) if file else []
    return found


def _texts_beside(code: str, crawl: str) -> dict[str, list[str]]:
    """Return the lines of the pages of sure pairs with one language, by their languages."""
    from bilingual_crawler.api import read_crawl

    contents = read_crawl(crawl)
    wanted: set[tuple[str, str]] = set()
    for pair in contents.pairs():
        if pair.score >= SURE_PAIR and code in pair.languages:
            wanted |= set(zip((pair.first, pair.second), pair.languages, strict=True))
    found: dict[str, list[str]] = {}
    for document in contents.documents():
        if document.language and (document.key, document.language) in wanted:
            found.setdefault(document.language, []).extend(
                each.text for each in document.paragraphs if not each.boilerplate
            )
    return found


def _listed(args: list[str]) -> Iterator[str]:
    from bilingual_crawler.documents.identifiers.taught_folder import read_taught
    from bilingual_crawler.languages import all_languages

    if args:
        for taught in read_taught(one_argument(args, "one folder of taught languages")):
            yield str(_language(taught.code))
            yield from _judged(taught)
        return
    for language in all_languages():
        known = "CLD2" if language.cld2 else "no identifier"
        yield f"{language.code}  {language.name:<32} {known}"
    sys.stderr.write("All other languages with an ISO 639-3 code can be named too.\n")


def _described(language: "Language") -> Iterator[str]:
    from bilingual_crawler.documents.identifiers.teaching import built_in_neighbours

    yield str(language)
    yield f"  its own name    {', '.join(language.endonyms) or 'not known'}"
    if language.macrolanguage:
        yield f"  belongs to      {_language(language.macrolanguage)}"
    yield f"  countries       {', '.join(language.countries) or 'not known'}"
    yield f"  known to CLD2   {'yes' if language.cld2 else 'no'}"
    words = "yes" if language.code in built_in_neighbours() else "no"
    yield f"  built-in words  {words} (as a neighbour of taught languages)"


def _judged(taught: "TaughtLanguage") -> Iterator[str]:
    """Yield what a language was taught with, and how well it is told from its neighbours."""
    yield f"  taught with {taught.characters:,} characters in {len(taught.lines):,} lines"
    neighbours = (
        f"{each.code} (own text)" if each.lines else each.code for each in taught.neighbours
    )
    yield f"  neighbours: {', '.join(neighbours)}"
    guesses = (f"{code} {share:.0%}" for code, share in taught.guesses.items())
    yield f"  CLD2 takes the text for: {', '.join(guesses) or 'nothing'} (und: it does not know)"
    yield f"  of text that was held out, {taught.recognised:.0%} is recognised"
    for code, share in taught.mistaken.items():
        yield f"  of held-out text in {code}, {share:.0%} is taken for it"
    if taught.recognised < FEW:
        yield "  That is little: give more text, and text of the neighbours (--against CODE=FILE)."
