"""`scrapy compare`: the experiment of SBFC, several ways of crawling the same sites."""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import arglist_to_dict

from bilingual_crawler.commands.base import (
    BaseCommand,
    number_between,
    piped_output,
    zero_or_more,
)
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.lab.comparison.plan import ComparisonPlan

MOST_HOURS = 24 * 365
DETAILS = """\
Every arm crawls every site with the same limit, one site per arm at a time and never two arms on
one site. When an arm has ended on a site, it is not run again: after a stop (Ctrl-C) or a kill, the
same command goes on. Then one judge pairs and aligns everything that was fetched of a site, and an
arm has a pair once it has downloaded both pages. The table and the figure show document pairs and
sentence pairs after each tenth of the downloads that an arm made on each site, summed over sites.

An arm is a scorer (docs: choose-scorer). Those of SBFC are breadth_first, language (pages in other
languages are discarded) and smart; adaptive is ours.

  scrapy compare -a langs=spa-eus -a seeds_file=seeds.txt --hours 48 --out comparison
  scrapy compare -a langs=eng-isl -a seeds=https://www.example.is/ --pages 500 --out comparison \\
      --arms breadth_first,adaptive -s BILINGUAL_CONTACT=https://example.net/our-crawl
  scrapy compare -a langs=eng-fra --recordings site1.warc.gz site2.warc.gz --out comparison

DIR/SITE/ARM/crawl is a crawl like any other, DIR/SITE/judged the common corpus, DIR/figures.png the
figure. Recordings are replayed without the network, one download at a time.

JSON is one line per site, and one for all on which every arm has ended: downloads, documents and
sentences (document pairs and sentence pairs after each tenth) per arm.
"""


class CompareCommand(BaseCommand):
    """Crawls with several scorers, judges, and prints the figures."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "-a langs=PAIR [-a seeds_file=FILE | --recordings WARC ...] --out DIR [options]"
    summary = "Compare ways of crawling: parallel text per downloads"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Comparison")
        group.add_argument(
            "-a",
            dest="arguments",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="langs, seeds and seeds_file, as of scrapy crawl bilingual",
        )
        group.add_argument(
            "--recordings", nargs="+", type=Path, default=[], metavar="WARC", help="recorded sites"
        )
        group.add_argument("--arms", metavar="A,B", help="the arms (those of SBFC, and adaptive)")
        group.add_argument(
            "--hours",
            type=number_between(0, MOST_HOURS, "a number of hours"),
            default=0.0,
            metavar="H",
            help="time limit per arm and site",
        )
        group.add_argument(
            "--pages", type=zero_or_more, default=0, metavar="N", help="limit per arm and site"
        )
        group.add_argument("--out", type=Path, metavar="DIR", help="the folder of the comparison")
        group.add_argument("--json", action="store_true", help="lines of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl what was not crawled yet, judge, and print."""
        from bilingual_crawler.lab.comparison import report
        from bilingual_crawler.lab.comparison.arms import crawl_arms, replay_arms
        from bilingual_crawler.lab.comparison.judge import judge_site
        from bilingual_crawler.lab.replay.report import check_matplotlib
        from bilingual_crawler.reporting.terminal import plain

        plan = self._plan(args, opts)
        check_matplotlib()
        plan.claim_folder()

        def tell(site: str, arm: str, outcome: str) -> None:
            sys.stderr.write(f"{plain(site)}, {arm}: {plain(outcome)}\n")

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _stop)
        run = replay_arms if opts.recordings else crawl_arms
        problems = run(plan, tell)
        config = self.config()
        figures = {site.name: judge_site(plan, site, config) for site in plan.sites}
        with piped_output():
            if opts.json:
                sys.stdout.writelines(f"{line}\n" for line in report.json_lines(figures, plan.arms))
            else:
                report.print_tables(figures, plan.arms)
        if report.complete_sites(figures, plan.arms):
            report.plot(figures, plan.arms, plan.out / "figures.png")
        for problem in problems:
            sys.stderr.write(f"{plain(problem)}\n")
        self.exitcode = 1 if problems else 0

    def _plan(self, args: list[str], opts: argparse.Namespace) -> "ComparisonPlan":
        from bilingual_crawler.config.plan import CrawlPlan
        from bilingual_crawler.lab.comparison.plan import (
            ComparisonPlan,
            sites_of_recordings,
            sites_of_seeds,
        )
        from bilingual_crawler.languages import LanguagePair

        if args:
            raise UsageError(f"write languages and seeds as -a NAME=VALUE, not {args[0]!r}")
        if opts.out is None:
            raise UsageError("name the folder of the comparison: --out DIR")
        if not (opts.hours or opts.pages or opts.recordings):
            raise UsageError("say how long each arm may crawl each site: --hours H or --pages N")
        given = _arguments(opts)
        if opts.recordings:
            given["seeds"] = "https://example.org/"  # recordings say themselves where they begin
        crawl = CrawlPlan.from_arguments(**given)
        if not isinstance(crawl.langs, LanguagePair):
            raise ConfigurationError("A comparison needs two languages: -a langs=spa-eus.")
        sites = sites_of_recordings(tuple(opts.recordings))
        return ComparisonPlan(
            crawl.langs,
            self._arms(opts.arms),
            sites or sites_of_seeds(crawl.seeds),
            opts.out,
            opts.hours,
            opts.pages,
            tuple(opts.set),
            self._given(),
        )

    def _arms(self, text: str | None) -> tuple[str, ...]:
        from bilingual_crawler.config.settings import SCORERS
        from bilingual_crawler.lab.comparison.plan import ARMS

        arms = ARMS if text is None else tuple(dict.fromkeys(map(str.strip, text.split(","))))
        unknown = [arm for arm in arms if arm not in SCORERS]
        if unknown:
            raise ConfigurationError(
                f"There is no arm {unknown[0]!r}: write some of {', '.join(SCORERS)}."
            )
        return arms

    def _given(self) -> dict[str, Any]:
        """Return the settings that were typed."""
        assert self.settings is not None
        typed = SETTINGS_PRIORITIES["cmdline"]
        return {
            name: self.settings[name]
            for name in self.settings
            if (self.settings.getpriority(name) or 0) >= typed
        }


def _stop(number: int, _frame: FrameType | None) -> None:
    """End by an exception, so that the crawls are stopped too and can go on later."""
    raise SystemExit(128 + number)


def _arguments(opts: argparse.Namespace) -> dict[str, Any]:
    try:
        given = arglist_to_dict(opts.arguments)
    except ValueError:
        raise UsageError("write the arguments as -a NAME=VALUE") from None
    for name in ("output", "topic", "discover"):
        if name in given:
            raise UsageError(f"-a {name} is not an argument of a comparison")
    return {name: str(value) for name, value in given.items()}
