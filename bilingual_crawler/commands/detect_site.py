"""`scrapy detect-site`: finds out with few downloads whether a site is bilingual, and why."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import (
    BaseCommand,
    number_between,
    one_or_more,
    print_lines,
    quiet,
    read_languages,
)
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from bilingual_crawler.config.settings import Config
    from bilingual_crawler.crawl.discovery.site_spider import OnPage
    from bilingual_crawler.discovery.site_records import SiteVerdict
    from bilingual_crawler.discovery.site_survey import SiteSurvey
    from bilingual_crawler.languages import ParallelLanguages

EXIT_CODES = {"yes": 0, "no": 3, "unsure": 4}
"""2 is a usage error, as for every command; 1 is any other error."""

DETAILS = """\
  $ scrapy detect-site https://www.example.org/ --langs eng-spa

reads the page, follows the translations it declares and the links that promise another language,
and checks which languages these pages are really in. It goes on while it is unsure, with at most
ten downloads, and obeys robots.txt and opt-outs. A second language that is only a menu, a landing
page, machine output or another site does not count.

  $ scrapy detect-site https://www.example.org/

without --langs, says which languages the site has and how much of each: pages and characters that
were read, and pages that hreflang, language switches and the sitemap declare. The exit code is 0 if
two or more languages were read, 3 if one, 4 if none.

With --langs, the exit code is the verdict: 0 the site is bilingual, 3 it is not, 4 unknown (it
could not be reached, forbids its pages, or the downloads are used up).

JSON is one line. With --langs: url, langs, site, bilingual (yes, no, unsure), likelihood,
languages (share of the text read), entry_pages (one per language), evidence (word, detail) and
downloads. Without: url, site, languages (of each its name, share, pages, characters, declared,
start), missed and downloads.
"""


class DetectSiteCommand(BaseCommand):
    """Runs the detector on one site, and prints the verdict."""

    usage = "URL [--langs LANGS] [options]"
    summary = "Find out which languages a site has, or whether it is bilingual and why"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Site")
        group.add_argument("--langs", metavar="LANGS", help="two or more (eng-spa); default: any")
        group.add_argument(
            "--budget",
            type=one_or_more,
            metavar="N",
            help="maximum number of downloads (BILINGUAL_SITE_BUDGET: 10)",
        )
        group.add_argument(
            "--likelihood",
            type=number_between(0, 1, "a number from 0 to 1"),
            metavar="P",
            help="follow links from this likelihood on (BILINGUAL_SITE_LIKELIHOOD: 0.8)",
        )
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Examine the site, and print the verdict."""
        if len(args) != 1 or args[0].startswith("-"):
            raise UsageError("name the URL of one site")
        if opts.langs:
            self._detect(args[0], opts)
        else:
            self._survey(args[0], opts)

    def _survey(self, text: str, opts: argparse.Namespace) -> None:
        """Print which languages the site has."""
        from scrapy.crawler import CrawlerProcess

        from bilingual_crawler.crawl.discovery.site_spider import SurveySpider
        from bilingual_crawler.discovery.site_survey import UNKNOWN, SiteSurvey

        assert self.settings is not None
        url = _address(text)
        survey = SiteSurvey(url, opts.budget or self.config().site_budget)
        process = CrawlerProcess(quiet(self.settings))
        process.crawl(SurveySpider, url=url, survey=survey, on_page=_shower(opts))
        process.start()
        if opts.json:
            print(json.dumps({"url": url} | survey.to_dict(), ensure_ascii=False))  # noqa: T201
        else:
            print_lines(_surveyed(survey))
        read = sum(each.pages > 0 and each.code != UNKNOWN for each in survey.languages())
        self.exitcode = EXIT_CODES[("unsure", "no")[read]] if read < 2 else 0  # noqa: PLR2004

    def _detect(self, text: str, opts: argparse.Namespace) -> None:
        """Print whether the site is bilingual."""
        assert self.settings is not None
        url, languages = _address(text), read_languages(opts.langs)
        limits = {"likelihood": opts.likelihood, "budget": opts.budget}
        (verdict,) = examine(
            self.settings, self.config(), [url], languages, _shower(opts), **limits
        )
        if verdict is None:
            raise ConfigurationError(f"{url} was not judged: the run was stopped.")
        if opts.json:
            asked = {"url": url, "langs": str(languages)}
            print(json.dumps(asked | verdict.to_dict(), ensure_ascii=False))  # noqa: T201
        else:
            print_lines(_lines(verdict, str(languages)))
        self.exitcode = EXIT_CODES[verdict.answer]


def examine(
    settings: "Settings",
    config: "Config",
    urls: Sequence[str],
    languages: "ParallelLanguages",
    on_page: "OnPage",
    *,
    likelihood: float | None = None,
    budget: int | None = None,
) -> "list[SiteVerdict | None]":
    """Return the verdict on the site of each URL; None if the run was stopped before it.

    A process can do this once.
    """
    from scrapy.crawler import CrawlerProcess

    from bilingual_crawler.crawl.discovery.site_spider import SiteSpider
    from bilingual_crawler.discovery.link_predictor import LinkPredictor
    from bilingual_crawler.discovery.site_detector import SiteDetector

    predictor = LinkPredictor.load(config.link_predictor)
    detectors = [
        SiteDetector(
            url,
            languages,
            predictor,
            likelihood=config.site_likelihood if likelihood is None else likelihood,
            budget=budget or config.site_budget,
        )
        for url in urls
    ]
    process = CrawlerProcess(quiet(settings))
    process.crawl(SiteSpider, urls=urls, languages=languages, detectors=detectors, on_page=on_page)
    process.start()
    return [detector.verdict for detector in detectors]


def _shower(opts: argparse.Namespace) -> "OnPage":
    """Return what shows each page, with the result."""
    from bilingual_crawler.reporting.terminal import plain

    def show(page: str, what: str) -> None:
        if not opts.json:
            sys.stderr.write(f"{plain(page)}: {plain(what)}\n")

    return show


def _surveyed(survey: "SiteSurvey") -> Iterator[str]:
    """Yield the languages of a site for a person."""
    found = survey.languages()
    read = [each for each in found if each.pages]
    downloads = "1 download" if survey.downloads == 1 else f"{survey.downloads} downloads"
    languages = "1 language" if len(read) == 1 else f"{len(read)} languages"
    yield f"{survey.site}: {languages} read in {downloads}"
    total = sum(each.characters for each in found) or 1
    for each in found:
        start = f"  start at {each.start}" if each.start else ""
        yield (
            f"  {each.code} {each.name:<20} {each.characters / total:4.0%} of the text,"
            f" {each.pages:,} pages read, {each.declared:,} declared{start}"
        )
    for url, reason in survey.missed_pages.items():
        yield f"  {url} could not be read ({reason})"


def _lines(verdict: "SiteVerdict", langs: str) -> Iterator[str]:
    """Yield the verdict for a person."""
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
            yield f"  {'start at':<15} {page} ({code})"


def _address(text: str) -> str:
    from bilingual_crawler.urls.addresses import read_address

    try:
        return read_address(text)
    except ValueError as error:
        raise ConfigurationError(f"{error}.") from None
