"""`scrapy corpus build`: from pages that other tools fetched to an exported corpus, in one go.

`scrapy corpus index` makes a folder of WARC files an archive that a crawl can take pages from.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import (
    BaseCommand,
    one_or_more,
    print_lines,
    program,
    read_pair,
    read_wanted,
)
from bilingual_crawler.suggestions import nearest

if TYPE_CHECKING:
    from bilingual_crawler.corpus.build import Built
    from bilingual_crawler.export.exporters import Exporter

ACTIONS = ("build", "index")

DETAILS = """\
build makes a folder like that of a crawl out of what was fetched before, aligns its sentences, and
exports them. An INPUT may be

  a WARC file            .warc or .warc.gz: ours, wget's, Heritrix's or Common Crawl's
  a directory            a mirror of a site, or any files in it and below it
  a crawl's folder       or its documents.jsonl.gz
  a list of files        two paths per line, separated by a tab: a claim that they are a pair

and several may be given together. Pages go the way of a crawl: opt-outs are honoured, copies and
pages in other languages are dropped, and what is skipped is counted by its reason.

A build that was stopped goes on where it was when the same command is given again. With other
inputs it adds to the folder; inputs that it has read and that have not changed are not read again.
scrapy align, export, serve and merge work on the folder as on that of a crawl.

  scrapy corpus build site.warc.gz --langs eng-fra --out corpora/site
  scrapy corpus build *.warc.gz mirror/ --langs eng-fra --out corpora/all --to tmx,parquet

--engine spark does the same for thousands of WARC files, one task per site (extra spark, Java 17).
Several language pairs go at once, inputs may have * in their names and be in an object store, and
DIR gets tables in Parquet: documents and sentences, with a folder per language pair, and
account.json, which says what became of every page and sentence. A stage that an earlier run has
finished is not done again.

  scrapy corpus build 's3a://bucket/*.warc.gz' --langs eng-fra,eng-isl --out s3a://bucket/corpus \
      --engine spark --master spark://host:7077

--to takes the formats of scrapy export; the files are in DIR/export. Settings that help:
-s BILINGUAL_HONOUR, BILINGUAL_DUPLICATE_SHARE, BILINGUAL_LANGUAGE_SHARE,
BILINGUAL_MACHINE_TRANSLATED, BILINGUAL_PAIR_MODEL, BILINGUAL_WORD_LIST.

index writes the CDXJ index of the WARC files in a folder, so that a crawl can take its pages
from there:

  scrapy corpus index archive/
  scrapy crawl bilingual -a langs=spa-eus -a seeds=https://example.org -s BILINGUAL_ARCHIVE=archive/

JSON is one line: folder, is_unchanged (no input was new), report (crawl.json), alignment (as in
scrapy align --json; null without pairs), exports (format, path, and the account of its rows).
"""


class CorpusCommand(BaseCommand):
    """Builds, aligns and exports."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "build INPUT... --langs eng-fra --out DIR [--to FORMAT,FORMAT] | index FOLDER"
    summary = "Build a corpus from WARC files and folders: pair, align, export"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Corpus")
        group.add_argument(
            "--langs",
            metavar="LANGS",
            default="",
            help="two languages or more: eng-fra, eng-fra-deu, eng-*, all",
        )
        group.add_argument("--out", metavar="DIR", help="the folder of the corpus")
        group.add_argument(
            "--to", metavar="A,B", default="", help="formats to export, such as tmx,parquet"
        )
        group.add_argument(
            "--engine", choices=("process", "spark"), default="process", help="who does the work"
        )
        group.add_argument(
            "--master", metavar="URL", default="local[*]", help="spark: where it runs (local[*])"
        )
        group.add_argument(
            "--site-pages",
            type=one_or_more,
            metavar="N",
            default=20_000,
            help="spark: pages of a site per task; a larger site is split (20000)",
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Build, align, export, and say what came of it."""
        from bilingual_crawler.export.exporters import find_exporter

        inputs = _inputs(args)
        if args[0] == "index":
            for each in inputs:
                _index(Path(each), as_json=opts.json)
            return
        if not opts.langs:
            raise UsageError("name the languages: --langs eng-fra")
        if opts.out is None:
            raise UsageError("name the folder of the corpus: --out DIR")
        if opts.engine == "spark":
            self._build_on_spark(inputs, opts)
            return
        opts.out = Path(opts.out)
        names = dict.fromkeys(name for each in opts.to.split(",") if (name := each.strip()))
        chosen = [find_exporter(name) for name in names]  # refuse before the work begins
        tell = (lambda _lines: None) if opts.json else print_lines
        built = self._build(inputs, opts)
        tell(_built_lines(built, opts.out))
        has_pairs = bool(built.report.get("pairs"))
        aligned = _align(opts.out, built, as_json=opts.json) if has_pairs else None
        exports = [_export(opts.out, each, tell) for each in chosen] if has_pairs else []
        if opts.json:
            facts = {
                "folder": str(opts.out),
                "is_unchanged": built.is_unchanged,
                "report": built.report,
                "alignment": aligned,
                "exports": exports,
            }
            sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
        elif has_pairs:
            tell(_next_steps(opts.out, exported=bool(chosen)))

    def _build_on_spark(self, inputs: list[str], opts: argparse.Namespace) -> None:
        """Build on a cluster, or with all cores of this machine."""
        from bilingual_crawler.corpus.cluster.spark_build import ClusterTask, build_on_spark

        if opts.to:
            raise UsageError("--engine spark writes Parquet: leave out --to")
        task = ClusterTask(
            inputs=tuple(dict.fromkeys(inputs)),
            out=opts.out if "://" in opts.out else str(Path(opts.out).absolute()),
            pairs=tuple(dict.fromkeys(map(read_pair, opts.langs.split(",")))),
            config=self.config(),
            master=opts.master,
            site_pages=opts.site_pages,
        )
        account = build_on_spark(task)
        if opts.json:
            sys.stdout.write(json.dumps(account, ensure_ascii=False) + "\n")
            return
        sentences = account["sentence_pairs"]
        lines = [
            f"{langs}: {number:,} document pairs, {sentences.get(langs, 0):,} sentence pairs"
            for langs, number in account["document_pairs"].items()
        ]
        lines += [f"  {number:,} {reason}" for reason, number in account["counts"].items()]
        print_lines([*(lines or ["No pairs were found."]), f"Tables are in {opts.out}."])

    def _build(self, inputs: list[str], opts: argparse.Namespace) -> "Built":
        from rich.console import Console

        from bilingual_crawler.corpus.build import BuildTask, build_corpus
        from bilingual_crawler.corpus.keep_rule import pairing_aids
        from bilingual_crawler.corpus.sources.inputs import size_of
        from bilingual_crawler.reporting.bars import ReadingBar
        from bilingual_crawler.reporting.report import changed_settings

        assert self.settings is not None
        languages = read_wanted(opts.langs)
        assert languages is not None  # refused before
        config = self.config()
        task = BuildTask(
            inputs=tuple(dict.fromkeys(inputs)),
            folder=opts.out,
            languages=languages,
            config=config,
            settings=changed_settings(config),
            aids=pairing_aids(config),
        )
        console = Console(stderr=True, highlight=False, markup=False)
        with ReadingBar(console, map(size_of, inputs)) as bar:
            return build_corpus(task, bar.read, bar.found)


def _inputs(args: list[str]) -> list[str]:
    if not args or args[0] not in ACTIONS:
        near = nearest(args[0], ACTIONS) if args else []
        raise UsageError(f"write scrapy corpus {(near or ACTIONS)[0]} INPUT...")
    if len(args) == 1 and args[0] == "index":
        raise UsageError("name the folder with the WARC files")
    if len(args) == 1:
        raise UsageError("name the inputs: a WARC file, a directory, a list of files")
    return args[1:]


def _index(folder: Path, *, as_json: bool) -> None:
    """Write the index of an archive in a folder."""
    from bilingual_crawler.errors import ConfigurationError
    from bilingual_crawler.store.archive.archive_folder import index_folder

    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is not a folder: name one with WARC files.")
    indexed = index_folder(folder)
    if as_json:
        facts = {
            "folder": str(folder),
            "files": indexed.files,
            "captures": indexed.captures,
            "damaged": indexed.damaged,
        }
        sys.stdout.write(json.dumps(facts) + "\n")
        return
    lines = [f"{folder}: {indexed.captures:,} captures in {indexed.files:,} WARC files indexed"]
    if indexed.damaged:
        lines.append(f"  {indexed.damaged:,} damaged records left out")
    lines.append(f"Next: {program()} crawl bilingual ... -s BILINGUAL_ARCHIVE={folder}")
    print_lines(lines)


def _built_lines(built: "Built", folder: Path) -> list[str]:
    report = built.report
    kept = ", ".join(f"{count:,} {code}" for code, count in report.get("documents", {}).items())
    found = f"{report.get('pages', 0):,} pages read, documents: {kept or 'none'}"
    lines = [f"{folder}: {found}, {report.get('pairs', 0):,} pairs"]
    if built.is_unchanged:
        lines[0] += " (no input is new)"
    for reason, each in report.get("urls_ended", {}).items():
        if reason != "stored":
            lines.append(f"  {each['count']:,} {reason}: {each['meaning']}")
    for reason, count in report.get("skipped", {}).items():
        examples = built.skips.examples.get(reason, ())
        lines.append(f"  {count:,} skipped, {reason}{': ' * bool(examples)}{', '.join(examples)}")
    return lines + [f"  {sentence}" for sentence in report.get("explanation", ())]


def _align(folder: Path, built: "Built", *, as_json: bool) -> dict[str, Any] | None:
    """Align what is not aligned yet. Return the counts, {} if they are those of an earlier run."""
    from bilingual_crawler.alignment.two_passes import align_folder
    from bilingual_crawler.reporting.alignment import print_counts
    from bilingual_crawler.reporting.bars import stage_bar
    from bilingual_crawler.store.sentence_pair import SENTENCES

    file = folder / SENTENCES
    if built.is_unchanged and _is_newest(file):
        return {}
    began = time.monotonic()
    with stage_bar() as watch:
        counts = align_folder(folder, file, None, watch)
    if not as_json:
        print_counts(counts, file, time.monotonic() - began)
    return counts.to_dict()


def _is_newest(sentences: Path) -> bool:
    """Return whether the sentences were aligned after the last build, which ends with a report."""
    from bilingual_crawler.store.folder import REPORT

    report = sentences.with_name(REPORT)
    return sentences.is_file() and report.stat().st_mtime_ns <= sentences.stat().st_mtime_ns


def _export(folder: Path, exporter: "Exporter", tell: Any) -> dict[str, Any]:
    from bilingual_crawler.export.exporters import export, place_of
    from bilingual_crawler.reporting.bars import share_bar

    target = place_of(folder, exporter, None)
    with share_bar(exporter.name) as watch:
        account = export(folder, exporter, target, watch=watch)
    tell(account.lines(str(target)))
    return {"format": exporter.name, "path": str(target), **account.to_dict()}


def _next_steps(folder: Path, *, exported: bool) -> list[str]:
    name = program()
    more = f"{name} export --list" if exported else f"{name} export {folder} --to tmx"
    what = "lists more formats" if exported else "writes a translation memory"
    return [f"Next: {name} serve {folder} shows the corpus in the browser; {more} {what}."]
