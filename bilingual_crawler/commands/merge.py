"""`scrapy merge`: the crawl folders of several workers become one."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.commands.corpus_options import progress_bar
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.corpus.merging.merge import Merged, Rules
    from bilingual_crawler.corpus.merging.part import CrawlPart

ADOPTED = ("BILINGUAL_DUPLICATE_SHARE", "BILINGUAL_PAIR_MODEL", "BILINGUAL_WORD_LIST")
"""Settings that decide what is kept: as the workers had them, unless they are given here."""

DETAILS = """\
Each worker of a crawl writes a folder of its own. This joins them into a new one, DIR, in which
scrapy export, align, pairs, serve and evaluate find a crawl like any other. A FOLDER is that of a
worker, or one that has the folders of all workers in it.

  documents  a page that several workers fetched is kept once: the answer with the longest text.
             Then the rule of a crawl for near-duplicates is applied over all of them.
  pairs      are found anew over all pages, one-to-one, also between pages of two workers.
  redirects  and what sitemaps say are joined.
  crawl.json has the sums of all workers; `merged_from` names them.
  WARC       files stay where they are, or are copied with --warc.

The result is the same in whatever order the folders are named, and however the pages were spread
over them. The folders are not changed. They must not be in use, and be of the same two languages;
DIR must be new. What is not taken along: sentence pairs (scrapy align makes them), labels and
what the scorers had learned.

  scrapy merge crawls/spa-eus --into crawls/spa-eus-all
  scrapy merge crawls/worker-1 crawls/worker-2 --into crawls/all --json

JSON is one line: folder, workers, empty_folders (nothing was in them), pages, repeated_pages
(fetched by several workers), documents (a number a language), pairs, missing_documents (their
lines are damaged), damaged_lines, warc_files, warc_copied.
"""


class MergeCommand(BaseCommand):
    """Reads the options, merges, tells."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "FOLDER [FOLDER ...] --into DIR [options]"
    summary = "Join the crawl folders of several workers into one"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Merging")
        group.add_argument("--into", type=Path, metavar="DIR", help="the new folder")
        group.add_argument("--warc", action="store_true", help="copy WARC files too")
        group.add_argument(
            "--sites", type=Path, metavar="FILE", help="settings of single sites, as in the crawl"
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Merge, and tell."""
        from bilingual_crawler.corpus.merging.merge import Merge
        from bilingual_crawler.corpus.merging.parts import (
            find_folders,
            open_parts,
        )
        from bilingual_crawler.corpus.merging.report import merged_report
        from bilingual_crawler.languages import parse_languages
        from bilingual_crawler.reporting.report import write_report
        from bilingual_crawler.store.folder import REPORT, CrawlFolder
        from bilingual_crawler.store.target import replacing_folder

        if not args:
            raise UsageError("name the folders of the workers, or the one that has them all")
        if opts.into is None:
            raise UsageError("say where the new folder is to be: --into DIR")
        folders = find_folders([Path(each) for each in args], opts.into)
        with open_parts(folders) as parts:
            rules, langs = self._rules(parts, opts), parse_languages(parts[0].langs)
            with (
                replacing_folder(opts.into, option="--into") as path,
                progress_bar("merging") as watch,
            ):
                folder = CrawlFolder(path, str(langs), parts[0].topic)
                try:
                    merged = Merge(parts, folder, rules, watch).run()
                finally:
                    folder.close()
                write_report(path / REPORT, merged_report(parts, merged, langs), durable=True)
        _tell(opts, parts, merged, empty=len(folders) - len(parts))

    def _rules(self, parts: "list[CrawlPart]", opts: argparse.Namespace) -> "Rules":
        from bilingual_crawler.commands.pairs import aids_of
        from bilingual_crawler.config.settings import Config
        from bilingual_crawler.config.sites import Sites
        from bilingual_crawler.corpus.merging.merge import Rules
        from bilingual_crawler.languages import parse_languages
        from bilingual_crawler.urls.hosts import host_of

        assert self.settings is not None
        self._adopt_settings(parts)
        config = Config.from_settings(self.settings)
        langs = parse_languages(parts[0].langs)
        sites = Sites() if opts.sites is None else Sites.from_file(opts.sites)
        return Rules(
            pair_of=lambda url: sites.rules_for(host_of(url)).languages or langs,
            duplicate_share=config.duplicate_share,
            aids=aids_of(config),
            archives=opts.warc,
        )

    def _adopt_settings(self, parts: "list[CrawlPart]") -> None:
        """Decide by the settings that the workers had, where the user says nothing else."""
        from bilingual_crawler.corpus.merging.report import settings_of

        assert self.settings is not None
        for name in ADOPTED:
            found = list(dict.fromkeys(settings_of(part).get(name) for part in parts))
            if self.settings.get(name) is not None or found == [None]:
                continue
            if len(found) > 1:
                values = " and ".join("none" if each is None else repr(each) for each in found)
                raise ConfigurationError(
                    f"The crawls were run with different {name} ({values}): say which one is to "
                    f"hold with -s {name}=..."
                )
            self.settings.set(name, found[0], priority="default")


def _tell(
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
        lines.append(f"  {empty:,} folders have nothing in them: their crawls never began")
    if merged.repeated:
        lines.append(f"  {merged.repeated:,} pages that several workers fetched are there once")
    if merged.archives:
        done = "copied" if opts.warc else "left where they are (--warc copies them)"
        lines.append(f"  {merged.archives:,} WARC files {done}")
    if damage is not None:
        lines.append(f"  {facts['damaged_lines']:,} damaged lines skipped, first {damage.first}")
    if merged.missing:
        lines.append(f"  {merged.missing:,} documents are missing for that: crawl them again")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
