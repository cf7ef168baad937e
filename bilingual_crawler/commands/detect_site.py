"""`scrapy detect-site`: whether one site has two languages, with few downloads and with reasons."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.commands.options import one_or_more
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from bilingual_crawler.discovery.site_records import SiteVerdict

EXIT_CODES = {"yes": 0, "no": 3, "unsure": 4}
"""1 and 2 are mistakes of who typed the command, as for every other command."""

DETAILS = """\
  $ scrapy detect-site https://www.example.org/ --langs eng-spa

looks at the page, follows what it declares or what its links promise of the other language, and
reads in which languages these pages really are. It goes on as long as it is unsure, ten downloads
at most, and obeys robots.txt and opt-outs. A second language that is only a menu, a landing page,
machine output or another site does not count.

The exit code tells the verdict too: 0 the site is bilingual, 3 it is not, 4 that is not known (it
could not be reached, forbids its pages, or the downloads are spent).

JSON is one line: url, langs, site, bilingual (yes, no, unsure), likelihood, languages (share of the
text read), entry_pages (one a language), evidence (word, detail) and downloads.
"""


class DetectSiteCommand(BaseCommand):
    """Runs the detector on one site, prints the verdict."""

    usage = "URL --langs PAIR [options]"
    summary = "Tell whether a site is bilingual, after few downloads, and why"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Site")
        group.add_argument("--langs", metavar="PAIR", help="the two languages (eng-spa)")
        group.add_argument(
            "--budget",
            type=one_or_more,
            metavar="N",
            help="downloads at most (BILINGUAL_SITE_BUDGET: 10)",
        )
        group.add_argument(
            "--likelihood",
            type=_share,
            metavar="P",
            help="from which a link is followed (BILINGUAL_SITE_LIKELIHOOD: 0.8)",
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Ask the site, and print."""
        from scrapy.crawler import CrawlerProcess

        from bilingual_crawler.commands.pairs import read_pair
        from bilingual_crawler.config.settings import Config
        from bilingual_crawler.crawl.discovery.site_spider import SiteSpider
        from bilingual_crawler.discovery.link_predictor import (
            LinkPredictor,
        )
        from bilingual_crawler.discovery.site_detector import (
            SiteDetector,
        )
        from bilingual_crawler.reporting.terminal import plain

        if len(args) != 1 or args[0].startswith("-"):
            raise UsageError("give the URL of one site")
        if not opts.langs:
            raise UsageError("say for which two languages: --langs eng-spa")
        assert self.settings is not None
        url, pair = _address(args[0]), read_pair(opts.langs)
        config = Config.from_settings(self.settings)
        detector = SiteDetector(
            url,
            pair,
            LinkPredictor.load(config.link_predictor),
            likelihood=config.site_likelihood if opts.likelihood is None else opts.likelihood,
            budget=opts.budget or config.site_budget,
        )

        def tell(page: str, what: str) -> None:
            if not opts.json:
                sys.stderr.write(f"{plain(page)}: {plain(what)}\n")

        process = CrawlerProcess(_quiet(self.settings))
        process.crawl(SiteSpider, url=url, pair=pair, detector=detector, tell=tell)
        process.start()
        verdict = detector.verdict
        if verdict is None:
            raise ConfigurationError(f"{url} was not judged: the run was stopped.")
        if opts.json:
            asked = {"url": url, "langs": str(pair)}
            print(json.dumps(asked | verdict.to_dict(), ensure_ascii=False))  # noqa: T201
        else:
            sys.stdout.writelines(f"{plain(line)}\n" for line in _lines(verdict, str(pair)))
        self.exitcode = EXIT_CODES[verdict.answer]


def _lines(verdict: "SiteVerdict", langs: str) -> Iterator[str]:
    """The verdict for a person."""
    said = {"yes": "is bilingual", "no": "is not bilingual", "unsure": "may be bilingual or not"}
    downloads = "1 download" if verdict.downloads == 1 else f"{verdict.downloads} downloads"
    yield (
        f"{verdict.site} {said[verdict.answer]} ({langs}):"
        f" likelihood {verdict.likelihood:.2f}, {downloads}"
    )
    for finding in verdict.findings:
        yield f"  {finding.word:<15} {finding.detail}"
    if verdict.languages:
        shares = ", ".join(f"{code} {share:.0%}" for code, share in verdict.languages)
        yield f"  {'text read':<15} {shares}"
    if verdict.is_bilingual:
        for code, page in verdict.entries:
            yield f"  {'enter by':<15} {page} ({code})"


def _quiet(settings: "Settings") -> "Settings":
    """The settings of a run that logs warnings alone, unless the user asks for more."""
    if (settings.getpriority("LOG_LEVEL") or 0) < SETTINGS_PRIORITIES["cmdline"]:
        settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
    return settings


def _address(text: str) -> str:
    from bilingual_crawler.urls.addresses import read_address

    try:
        return read_address(text)
    except ValueError as error:
        raise ConfigurationError(f"{error}.") from None


def _share(text: str) -> float:
    """A number from 0 to 1, as argparse wants its types."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number
