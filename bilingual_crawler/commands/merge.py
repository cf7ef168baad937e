"""`scrapy merge`: merges the crawl folders of several workers into one."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import (
    BaseCommand,
    add_langs_option,
    print_lines,
    program,
    read_wanted,
)
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.corpus.merging.merge import Merged, Rules
    from bilingual_crawler.corpus.merging.parts import CrawlPart

ADOPTED = (
    "BILINGUAL_DUPLICATE_SHARE",
    "BILINGUAL_PAIR_MODEL",
    "BILINGUAL_THIN_PAIRS",
    "BILINGUAL_WORD_LIST",
)
"""Settings that decide what is kept: those of the workers, unless they are given here."""

DETAILS = """\
Each worker of a crawl writes a folder of its own. This command merges them into a new folder, DIR,
which scrapy export, align, pairs, serve and evaluate treat like any other crawl. A FOLDER is that
of one worker, or one that contains the folders of all workers.

  documents  a page that several workers fetched is kept once: the response with the longest text.
             Then near-duplicates are dropped among all pages, by the rule of a crawl.
  pairs      are found again among all pages, one-to-one, also between pages of two workers.
  redirects  and the claims of sitemaps are joined.
  crawl.json has the sums of all workers; `merged_from` names them.
  WARC       files stay where they are; --warc copies them.

  words      that the crawls have learned (lexicon.*.tsv.gz) are added up, and help to pair.

The result depends neither on the order of the folders nor on how the pages were spread over them,
but for the words: they are what each worker has learned from its own pairs.
The folders are not changed. They must not be in use and must have the same languages; DIR must be
new. Sentence pairs (scrapy align makes them), labels and what the scorers learned are not merged.
Folders of scrapy import have nothing but sentence pairs: these are joined.

  scrapy merge crawls/spa-eus --into crawls/spa-eus-all
  scrapy merge crawls/spa-eus-eng --langs eus-eng --into crawls/eus-eng
  scrapy merge crawls/worker-1 crawls/worker-2 --into crawls/all --json

JSON is one line: folder, workers, empty_folders, pages, repeated_pages (fetched by several
workers), documents (count per language), pairs, missing_documents (their lines are damaged),
damaged_lines, warc_files, warc_copied.
"""


class MergeCommand(BaseCommand):
    """Merges, and prints the counts."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "FOLDER [FOLDER ...] --into DIR [options]"
    summary = "Join the crawl folders of several workers into one"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Merging")
        group.add_argument("--into", type=Path, metavar="DIR", help="the new folder")
        add_langs_option(group, "pages and pairs")
        group.add_argument("--warc", action="store_true", help="copy WARC files too")
        group.add_argument(
            "--sites", type=Path, metavar="FILE", help="per-site settings, as in the crawl"
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Merge, and print the counts."""
        from bilingual_crawler.corpus.merging.merge import merge_parts
        from bilingual_crawler.corpus.merging.parts import find_folders, open_parts
        from bilingual_crawler.reporting.bars import share_bar

        if not args:
            raise UsageError("name the folders of the workers, or the folder that has them all")
        if opts.into is None:
            raise UsageError("name the new folder: --into DIR")
        given = [Path(each) for each in args]
        if any(_is_import(each) for each in given):
            self._merge_imports(given, opts)
            return
        folders = find_folders(given, opts.into)
        with open_parts(folders) as parts, share_bar("merging") as watch:
            merged = merge_parts(parts, opts.into, self._rules(parts, opts), watch)
        _print(opts, parts, merged, empty=len(folders) - len(parts))

    def _merge_imports(self, folders: list[Path], opts: argparse.Namespace) -> None:
        """Join the sentence pairs of corpora that were imported."""
        from bilingual_crawler.export.imports import ImportTask, import_corpus

        crawls = [each for each in folders if not _is_import(each)]
        if crawls:
            raise ConfigurationError(
                f"{crawls[0]} is not an import, and others are, with sentence pairs alone: merge"
                f" the crawls first, align them, and join all with {program()} import MERGED"
                " IMPORT... --out DIR."
            )
        if opts.into.exists():
            raise ConfigurationError(f"{opts.into} already exists: choose a new folder.")
        account, languages = import_corpus(ImportTask(inputs=tuple(folders), folder=opts.into))
        if opts.json:
            facts = {"folder": str(opts.into), "langs": str(languages), **account.to_dict()}
            sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
        else:
            print_lines(account.lines(f"{opts.into} ({languages})"))

    def _rules(self, parts: "list[CrawlPart]", opts: argparse.Namespace) -> "Rules":
        from bilingual_crawler.config.sites import Sites
        from bilingual_crawler.corpus.keep_rule import pairing_aids
        from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper, joined_lexicons
        from bilingual_crawler.corpus.merging.merge import Rules, seeds_of, shared_setting
        from bilingual_crawler.languages import parse_languages
        from bilingual_crawler.pairing.lexicon import read_lexicons
        from bilingual_crawler.urls.hosts import host_of

        assert self.settings is not None
        for name in ADOPTED:
            if self.settings.get(name) is None:
                value = shared_setting(parts, name)
                if value is not None:
                    self.settings.set(name, value, priority="default")
        config = self.config()
        langs, wanted = parse_languages(parts[0].langs), read_wanted(opts.langs)
        if wanted is not None and not all(code in langs for code in wanted.codes):
            raise ConfigurationError(
                f"--langs {opts.langs}: the crawls are for {langs}, and have no pages in some of"
                " these languages."
            )
        learned = joined_lexicons(part.path for part in parts)
        keeper = LexiconKeeper((*read_lexicons(config.lexicon), *learned))
        sites = Sites() if opts.sites is None else Sites.from_file(opts.sites)
        return Rules(
            pair_of=lambda url: wanted or sites.rules_for(host_of(url)).languages or langs,
            langs=wanted,
            duplicate_share=config.duplicate_share,
            aids=replace(keeper.aids(pairing_aids(config)), chosen_sites=seeds_of(parts)),
            learned=learned,
            archives=opts.warc,
        )


def _is_import(folder: Path) -> bool:
    """Return whether a folder has sentence pairs of an import, and no crawl."""
    from bilingual_crawler.store.folder import JOURNAL
    from bilingual_crawler.store.sentence_pair import SENTENCES

    return (folder / SENTENCES).is_file() and not (folder / JOURNAL).exists()


def _print(
    opts: argparse.Namespace, parts: "list[CrawlPart]", merged: "Merged", *, empty: int
) -> None:
    damage = next((part.damage for part in parts if part.damage.lines), None)
    facts: dict[str, Any] = {
        "folder": str(opts.into),
        "workers": len(parts),
        "empty_folders": empty,
        "pages": merged.pages,
        "repeated_pages": merged.repeated,
        "documents": dict(merged.documents.most_common()),
        "pairs": len(merged.pairs),
        "missing_documents": merged.missing,
        "damaged_lines": sum(part.damage.lines for part in parts),
        "warc_files": merged.archives,
        "warc_copied": opts.warc,
    }
    if opts.json:
        sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
        return
    by_language = ", ".join(f"{count:,} {code}" for code, count in facts["documents"].items())
    total = f"{merged.documents.total():,} documents ({by_language or 'none'})"
    lines = [
        f"{len(parts):,} folders merged into {opts.into}: {total}, {len(merged.pairs):,} pairs"
    ]
    if empty:
        lines.append(f"  {empty:,} folders are empty: their crawls never began")
    if merged.repeated:
        lines.append(
            f"  {merged.repeated:,} pages were fetched by several workers and are kept once"
        )
    if merged.archives:
        done = "copied" if opts.warc else "left where they are (--warc copies them)"
        lines.append(f"  {merged.archives:,} WARC files {done}")
    if damage is not None:
        lines.append(f"  {facts['damaged_lines']:,} damaged lines skipped, first {damage.first}")
    if merged.missing:
        lines.append(
            f"  {merged.missing:,} documents are missing for that reason: crawl them again"
        )
    print_lines(lines)
