"""`scrapy replay`: crawls recorded sites once per scorer, and compares how soon pairs are found."""

import argparse
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.errors import ConfigurationError

MAX_SEED = 1 << 32
RECORDINGS = (".warc", ".warc.gz")

DETAILS = """\
The real engine crawls the recorded site once per scorer, one page at a time, without the network.
With --simulate there is no engine either: frontier, scorer and pairing are asked directly, and what
was parsed is kept for the next time. The order is the same; pairs_detected, which a crawl only
settles at its end, is that of its last page.

Every URL that was not recorded is a 404. The curve of a crawl is the share of gold pairs with
both pages fetched against the share of pages downloaded. It is compared with the curve of
breadth_first, which always runs, and that of an oracle, which knows the gold pairs but can only
fetch what it has seen a link to.

--gold names one table per recording, in the same order: two URLs per line, separated by a tab,
optionally followed by their languages. Without it, NAME.warc.gz is judged by NAME.gold.tsv next to
it. The word alternates stands for the site's own hreflang links: pages that name each other, in
the languages that they are really in.

--langs selects the lines of two or more languages; without it, each site is replayed for the two
languages of most lines of its table.

  scrapy replay site.warc.gz --gold pairs.tsv --langs eus-spa
  scrapy replay site.warc.gz --gold alternates --langs eus-spa --strip-alternates
  scrapy replay sites/*.warc.gz --scorers adaptive,smart --plot curves.png --json

JSON is one line per site, and one more ("site": "all") if there are several:

  pages, pairs     pages that links lead to from the seeds; gold pairs with both among them
  auc              mean share of the pairs over downloads 1 to `pages`; a crawl that ends
                   early keeps its last value; a download is a 200 response
  versions_auc     the same for versions of pages beyond the first of each page: of two languages,
                   for pairs; pages that gold pairs tie together are versions of one
  gain             (auc - auc of breadth_first) / (auc of the oracle - auc of breadth_first)
  downloads_to_50  downloads until half of the pairs are fetched (also 80, 95); null: never
  pairs_fetched    pairs of these with both pages fetched; pairs_beyond_links are gold pairs
                   that were fetched although no links lead to them
  pairs_detected   pairs that the crawl itself wrote, with detected_precision (of the pairs
                   that have a page in the gold list) and detected_recall (of the gold pairs)
  deciles          pairs fetched after each tenth of the pages; summed over sites for "all"
  download_deciles the same after each tenth of the crawl's own downloads
"""


class ReplayCommand(BaseCommand):
    """Replays, and prints the figures."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "SITE.warc.gz... [--gold PAIRS.tsv...|alternates] [--langs eus-spa] [options]"
    summary = "Crawl recorded sites with several scorers: which one finds pairs first"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Replay")
        group.add_argument(
            "--gold", nargs="+", default=[], metavar="FILE", help="true pairs, or alternates"
        )
        group.add_argument("--langs", metavar="LANGS", help="the languages, such as eus-spa")
        group.add_argument("--scorers", metavar="A,B", help="only these scorers (default: all)")
        group.add_argument(
            "--strip-alternates",
            action="store_true",
            help="hide hreflang links and sitemaps from the crawl",
        )
        group.add_argument(
            "--budget", type=int, default=0, metavar="N", help="maximum number of downloads"
        )
        group.add_argument(
            "--seeds", metavar="URL,URL", help="where to start (default: the home page)"
        )
        group.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")
        group.add_argument(
            "--processes", type=int, default=2, metavar="N", help="parallel crawls (2)"
        )
        group.add_argument(
            "--simulate",
            action="store_true",
            help="simulate the crawls without the engine: the same order, much faster",
        )
        group.add_argument("--json", action="store_true", help="lines of JSON, for programs")
        group.add_argument(
            "--plot", type=Path, metavar="FILE", help="draw the curves, such as curves.png"
        )
        group.add_argument(
            "--order", type=Path, metavar="DIR", help="write the downloads of each crawl, in order"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Replay, and print."""
        import sys

        from bilingual_crawler.lab.replay import report
        from bilingual_crawler.lab.replay.measure import (
            NothingToMeasureError,
        )

        jobs = self._jobs(args, opts)
        if opts.plot is not None:
            report.check_matplotlib()
        results, problems = report.replay_with_bar(jobs, opts.processes, opts.seed)
        for problem in problems:
            sys.stderr.write(f"{problem}\n")
        mistakes = [each for each in problems if not isinstance(each, NothingToMeasureError)]
        self.exitcode = 1 if mistakes or not results else 0
        if not results:
            return
        if opts.json:
            sys.stdout.write(report.json_lines(results))
        else:
            report.print_tables(results)
        if opts.order is not None:
            report.write_orders(results, opts.order)
        if opts.plot is not None:
            report.plot_curves(results, opts.plot)

    def _jobs(self, args: list[str], opts: argparse.Namespace) -> list[Any]:
        from bilingual_crawler.lab.replay.gold import ALTERNATES
        from bilingual_crawler.lab.replay.measure import Job

        given = [each for each in opts.gold if not each.endswith(RECORDINGS)]
        recordings = [Path(each) for each in opts.gold if each.endswith(RECORDINGS)]
        recordings = [Path(each) for each in args] + recordings
        if not recordings:
            raise UsageError("name a recorded site: SITE.warc.gz")
        missing = [path for path in recordings if not path.is_file()]
        if missing:
            raise ConfigurationError(f"There is no file {missing[0]}.")
        if opts.budget < 0 or opts.processes < 1 or not 0 <= opts.seed < MAX_SEED:
            raise UsageError("--budget and --seed must be 0 or more, --processes 1 or more")
        lists: list[Path | None]
        if given == [ALTERNATES]:
            lists = [None] * len(recordings)
        elif given:
            lists = [Path(each) for each in given]
        else:
            lists = [_beside(each) for each in recordings]
        if len(lists) != len(recordings):
            raise UsageError(
                f"there are {len(recordings)} recordings and {len(lists)} gold lists:"
                " name one for each, in the same order"
            )
        return [
            Job(
                warc=warc,
                gold=gold,
                scorers=_scorers(opts.scorers),
                langs=opts.langs,
                strip=opts.strip_alternates,
                budget=opts.budget,
                seeds=_seeds(opts.seeds),
                seed=opts.seed,
                settings=self._settings(),
                simulate=opts.simulate,
            )
            for warc, gold in zip(recordings, lists, strict=True)
        ]

    def _settings(self) -> dict[str, Any]:
        """Return the settings of the user: ours from anywhere, others from the command line."""
        assert self.settings is not None
        typed = SETTINGS_PRIORITIES["cmdline"]
        return {
            name: self.settings[name]
            for name in self.settings
            if name.startswith("BILINGUAL_") or (self.settings.getpriority(name) or 0) >= typed
        }


def _scorers(text: str | None) -> tuple[str, ...]:
    """Return the scorers, always with breadth_first: the gain is measured from it."""
    from bilingual_crawler.config.settings import SCORERS
    from bilingual_crawler.lab.replay.measure import BREADTH_FIRST

    names = list(SCORERS) if text is None else [each.strip() for each in text.split(",")]
    unknown = [name for name in names if name not in SCORERS and "." not in name]
    if unknown:
        raise ConfigurationError(
            f"There is no scorer {unknown[0]!r}: write some of {', '.join(SCORERS)},"
            " or package.module.Class."
        )
    return tuple(dict.fromkeys([BREADTH_FIRST, *names]))


def _seeds(text: str | None) -> tuple[str, ...]:
    from bilingual_crawler.urls.addresses import read_address, split_addresses

    try:
        return tuple(read_address(each) for each in split_addresses(text or ""))
    except ValueError as error:
        raise ConfigurationError(f"--seeds: {error}.") from error


def _beside(warc: Path) -> Path:
    from bilingual_crawler.lab.replay.gold import ENDING
    from bilingual_crawler.lab.replay.recording import site_name

    path = warc.with_name(site_name(warc) + ENDING)
    if not path.exists():
        raise ConfigurationError(
            f"The true pairs of {warc} are not known: write --gold PAIRS.tsv, or --gold alternates"
            f" for the site's own hreflang links (there is no {path})."
        )
    return path
