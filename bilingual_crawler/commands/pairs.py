"""`scrapy pairs`: pairing without crawling, on pages that were fetched before."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, piped_output, program, read_languages
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.corpus.paired_folder import PairedFolder
    from bilingual_crawler.corpus.sources.inputs import FolderRules

DETAILS = """\
An INPUT may be

  a WARC file            .warc or .warc.gz: ours, wget's, Heritrix's or Common Crawl's
  a directory            HTML, text, PDF, office and WARC files in it and below it
  a crawl's folder       or its documents.jsonl.gz
  a list of URLs         one URL per line, with its language after a tab if you know it; nothing
                         is fetched: URLs that are equal except for language tokens are pairs
  a list of URL pairs    two URLs per line, separated by a tab, and their languages if you like:
                         a hint that pages of the other inputs translate each other
  a list of files        two paths per line, separated by a tab: each pair gets a verdict

and several may be given together. Lists may be gzipped, and - is a list from standard input.
What cannot be read, or is in none of the languages, is skipped and reported. Sitemaps in WARC files
and directories are not pages: the translations that they name count as declared.

  scrapy pairs site.warc.gz --langs eng-fra > pairs.tsv
  scrapy pairs mirror/ --langs spa-eus --out corpus
  scrapy pairs mirror/ --langs spa-eus-eng --out corpus
  zcat urls.gz | scrapy pairs - --langs eng-fra --json
  scrapy pairs site.warc.gz --langs eng-fra --gold gold.tsv --strip-alternates

Without --out, pairs are printed one per line: URL, URL, score, detectors; for listed files also
the verdict.
--out DIR becomes a folder like a crawl's: documents.jsonl.gz, pairs.jsonl (with all evidence),
pairs.tsv (two URLs), crawl.json, and pairs.json (counts). scrapy align, export, serve and merge
work on it. Pages that opt out (BILINGUAL_HONOUR) are left out and counted, as in a crawl.
scrapy corpus build does it all in one go, drops copies, and can be resumed.

--gold has rows of two URLs and optionally their two languages. A pair is wrong if one of its
pages has another partner in the list; pairs of pages that are not in the list are not judged.
Figures are printed for all detectors together and for each one alone, and every miss with its
reason. --ablation repeats the pairing without each detector in turn.

--system lets the stages of one paper decide alone. pplocator: the most similar URLs of two lists
by language token, then its decision tree; no language identifier is asked, and the language of a
page is that of its list. almeida: equal URLs but for the language, or listed files, then its
validation; -s BILINGUAL_VALIDATIONS=FILE sets minimums, weights and thresholds per file type.

Settings that help: -s BILINGUAL_PAIR_MODEL=FILE (from scrapy train pairs), BILINGUAL_WORD_LIST,
BILINGUAL_EMBEDDINGS, BILINGUAL_DETECTORS (your own), BILINGUAL_MODELS.

--folders says which folders of a directory may hold the two sides of a pair:

  same=2        one folder, at most 2 deep          level=1     a/ and b/ next to it
  parent=2      one at most 2 below the other       across=1/2  a/ and b/c/: 1 level apart, and
                                                    2 levels up to the common parent

JSON is one line: langs, pages (per language), split_pages, sitemaps, skipped (by reason),
candidates, pairs, pairs_per_detector; with --gold also gold, precision, recall, f1, unjudged,
found, correct, wrong, detectors and ablation (the same for each name), misses (first, second,
reason, detail).
"""


class PairsCommand(BaseCommand):
    """Pairs, and prints."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "INPUT... --langs eng-fra [--out DIR] [--gold GOLD.tsv] [options]"
    summary = "Find translations in WARC files, directories and lists, without crawling"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Pairing")
        group.add_argument("--langs", metavar="LANGS", help="the languages, such as eng-fra")
        group.add_argument("--out", type=Path, metavar="DIR", help="write files into this folder")
        group.add_argument("--detectors", metavar="A,B", help="only this evidence (default: all)")
        group.add_argument(
            "--system",
            choices=("pplocator", "almeida"),
            help="let the stages of one paper decide alone",
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")
        group.add_argument(
            "--folders", metavar="RULES", help="directories: which folders may go together"
        )
        group.add_argument(
            "--across-hosts",
            action="store_true",
            help="lists of URLs: pair URLs of different hosts too",
        )
        group.add_argument(
            "--strip-alternates",
            action="store_true",
            help="ignore hreflang, rel=alternate and sitemaps",
        )
        group.add_argument(
            "--gold", type=Path, metavar="FILE", help="compare with these true pairs"
        )
        group.add_argument(
            "--ablation", action="store_true", help="with --gold: repeat without each detector"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Pair, and print."""
        from rich.console import Console

        from bilingual_crawler.lab.evaluation import pairs_report
        from bilingual_crawler.reporting.report import changed_settings

        self._check(args, opts)
        console = Console(stderr=True, highlight=False, markup=False)
        folder = self._folder(opts)
        try:
            outcome = self._find(args, opts, console, folder)
            summary = outcome.summary()
            if opts.gold is not None:
                summary |= pairs_report.evaluate(outcome, opts.gold, ablation=opts.ablation)
        except BaseException:
            if folder is not None:
                folder.give_up()
            raise
        if folder is not None:
            folder.finish(outcome, summary, changed_settings(self.config()))
        skips, languages = outcome.reading.skips, outcome.search.languages
        pairs_report.tell(summary, skips, languages, console)
        if opts.out is not None:
            _tell_next(opts.out, summary, console)
        with piped_output():
            if opts.json:
                sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
            elif opts.gold is not None:
                pairs_report.print_figures(summary, Console(highlight=False, markup=False))
            elif opts.out is None:
                pairs_report.write_lines(outcome, sys.stdout)

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("name the inputs: a WARC file, a directory, a list")
        if not opts.langs:
            raise UsageError("name the languages: --langs eng-fra")
        if opts.ablation and opts.gold is None:
            raise UsageError("--ablation needs true pairs: --gold FILE")
        if opts.system and (opts.ablation or opts.detectors):
            raise UsageError("--system has its own detectors: leave out --detectors and --ablation")
        if args.count("-") > 1:
            raise UsageError("standard input can be read only once: write - once")

    def _folder(self, opts: argparse.Namespace) -> "PairedFolder | None":
        from bilingual_crawler.corpus.paired_folder import PairedFolder

        return None if opts.out is None else PairedFolder(opts.out, read_languages(opts.langs))

    def _find(
        self,
        args: list[str],
        opts: argparse.Namespace,
        console: Any,
        folder: "PairedFolder | None",
    ) -> Any:
        from bilingual_crawler.corpus.keep_rule import pairing_aids
        from bilingual_crawler.corpus.offline import Task, find_pairs
        from bilingual_crawler.corpus.paper_search import NoIdentifier
        from bilingual_crawler.corpus.sources.inputs import size_of
        from bilingual_crawler.corpus.sources.reading import (
            SourceReading,
            unchanged,
        )
        from bilingual_crawler.documents.identifiers.choice import Identifiers
        from bilingual_crawler.lab.replay.site import without_alternates
        from bilingual_crawler.reporting.bars import ReadingBar

        config = self.config()
        bar = ReadingBar(console, map(size_of, args))
        change = without_alternates if opts.strip_alternates else unchanged
        aids = pairing_aids(config)
        languages = read_languages(opts.langs)
        reading = SourceReading(languages, change, bar.read, text_lines=config.text_lines)
        if opts.system == "pplocator":
            reading.identifier = NoIdentifier()
        else:
            reading.identifier = Identifiers(config, languages).default
        task = Task(
            inputs=tuple(args),
            reading=reading,
            detectors=_detectors(opts.detectors, aids.detector_names),
            least_share=config.language_share,
            learns=config.learn_lexicon,
            aids=aids,
            across_hosts=opts.across_hosts,
            folders=_folders(opts.folders),
            keep_pages=opts.ablation,
            keeper=folder,
            system=opts.system,
            honour=() if folder is None else config.honour,
        )
        with bar:
            return find_pairs(task, bar.found)


def _tell_next(folder: Path, summary: dict[str, Any], console: Any) -> None:
    if summary["pairs"] and summary["pages"]:
        console.print(
            f"Next: {program()} align {folder}, then {program()} export {folder} --to tmx.",
            soft_wrap=True,
        )


def _detectors(text: str | None, known: tuple[str, ...]) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigurationError(
            f"There is no detector {unknown[0]!r}: write some of {', '.join(known)}."
        )
    return names


def _folders(text: str | None) -> "FolderRules | None":
    from bilingual_crawler.corpus.sources.inputs import FolderRules

    return None if text is None else FolderRules.parse(text)
