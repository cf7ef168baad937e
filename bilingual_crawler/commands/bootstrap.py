"""`scrapy bootstrap`: terms with translations, seeds and candidate sites for a topic."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.bootstrap import API
from bilingual_crawler.commands.base import (
    BaseCommand,
    number_between,
    one_or_more,
    print_lines,
    read_pair,
    zero_or_more,
)
from bilingual_crawler.commands.detect_site import examine

if TYPE_CHECKING:
    from bilingual_crawler.bootstrap.dump_wiki import Damages
    from bilingual_crawler.bootstrap.external_links import LinkedSite
    from bilingual_crawler.bootstrap.harvest import TopicHarvest
    from bilingual_crawler.languages import LanguagePair

CONTACT = (
    "Wikipedia asks programs that send many requests to identify themselves:"
    " -s BILINGUAL_CONTACT=https://your.site/about-the-crawl"
)
LONG_DELAY = 3600.0
DETAILS = """\
TOPIC is the name of a Wikipedia category in one of the two languages. The articles in it and in
its subcategories give the terms, their interlanguage links the translations, and the external
links of both articles the seeds; the sites behind these links are ranked by the evidence for two
languages. Check and correct the results before you use them.

  scrapy bootstrap --topic Ballet --langs eng-spa --output ballet
  scrapy bootstrap --topic Ballet --langs eng-spa --wikipedia dumps/ --depth 3 --output ballet
  scrapy crawl bilingual -a langs=eng-spa -a seeds_file=ballet/seeds.txt -a topic=ballet/topic.tsv

--wikipedia is the address of an API with {lang} in it, or a folder with dump files (from
https://dumps.wikimedia.org/) of both languages, such as enwiki-20260101-page.sql.gz: page,
categorylinks, linktarget (if categorylinks has cl_target_id), langlinks, externallinks, and
page_props if you have it; pages-articles.xml.bz2 can replace externallinks.

--output DIR gets topic.tsv (weight, term, subdomain, language), terms.tsv (term, translation,
weight), seeds.txt (one URL per line) and sites.jsonl (one site per line, with its evidence).

--visit N looks at the best N candidate sites with the detector of scrapy detect-site, with the
manners of a crawl and at most BILINGUAL_SITE_BUDGET downloads each: sites.jsonl then says yes, no
or unsure, and a crawl with it as seeds leaves out those that are not bilingual.

Requests are sent one at a time, under our own name: set BILINGUAL_CONTACT.
"""


class BootstrapCommand(BaseCommand):
    """Gathers everything about a topic, and writes it."""

    usage = "--topic TOPIC --langs eng-spa --output DIR [--wikipedia API_OR_FOLDER] [options]"
    summary = "Gather terms, seeds and candidate sites for a topic from Wikipedia"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Bootstrap")
        group.add_argument("--topic", metavar="TOPIC", help="a Wikipedia category")
        group.add_argument("--langs", metavar="PAIR", help="the two languages, such as eng-spa")
        group.add_argument(
            "--wikipedia",
            metavar="WHERE",
            default=API,
            help=f"an API or a folder with dump files ({API})",
        )
        group.add_argument(
            "--depth",
            type=zero_or_more,
            default=2,
            metavar="N",
            help="levels of subcategories (2)",
        )
        group.add_argument(
            "--categories",
            type=one_or_more,
            default=500,
            metavar="N",
            help="maximum number of categories (500)",
        )
        group.add_argument(
            "--articles",
            type=one_or_more,
            default=2000,
            metavar="N",
            help="maximum number of articles, nearest first (2000)",
        )
        group.add_argument(
            "--seeds-of-site", type=one_or_more, default=10, metavar="N", help="seeds per site (10)"
        )
        group.add_argument(
            "--names", action="store_true", help="keep abbreviations and names as terms"
        )
        group.add_argument(
            "--delay",
            type=number_between(0, LONG_DELAY, "a number of seconds"),
            default=0.5,
            metavar="SECONDS",
            help="between two requests (0.5)",
        )
        group.add_argument(
            "--requests",
            type=one_or_more,
            default=2000,
            metavar="N",
            help="maximum number of requests to a server (2000)",
        )
        group.add_argument(
            "--visit",
            type=zero_or_more,
            default=0,
            metavar="N",
            help="visit the N best candidate sites, and say whether they are bilingual (0)",
        )
        group.add_argument("--output", type=Path, metavar="DIR", help="folder for the files")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Gather, write, and print the counts."""
        from bilingual_crawler.bootstrap import run
        from bilingual_crawler.bootstrap.api_wiki import RequestPolicy
        from bilingual_crawler.bootstrap.dump_wiki import Damages
        from bilingual_crawler.bootstrap.harvest import Limits, harvest
        from bilingual_crawler.config.settings import user_agent
        from bilingual_crawler.reporting.bars import stage_bar

        self._check(args, opts)
        pair = read_pair(opts.langs)
        contact = self.config().contact
        if not contact and opts.wikipedia == API:
            sys.stderr.write(f"{CONTACT}\n")
        policy = RequestPolicy(
            user_agent=user_agent(contact),
            delay=opts.delay,
            requests=opts.requests,
        )
        limits = Limits(
            depth=opts.depth,
            categories=opts.categories,
            articles=opts.articles,
            seeds_of_site=opts.seeds_of_site,
            names=opts.names,
        )
        damages = Damages()
        with (
            stage_bar() as watch,
            run.open_wikis(opts.wikipedia, pair, policy, damages, watch) as wikis,
        ):
            found = harvest(opts.topic, wikis, pair, limits)
        if opts.visit:
            self._visit(found.sites[: opts.visit], pair)
        run.write(opts.output, found, f"scrapy bootstrap: {found.category} ({pair})")
        print_lines(_lines(found, opts.output, damages))

    def _visit(self, sites: "list[LinkedSite]", pair: "LanguagePair") -> None:
        """Examine candidate sites as `scrapy detect-site` does, side by side."""
        from bilingual_crawler.reporting.terminal import plain

        assert self.settings is not None
        urls = [next(iter(site.entry_pages().values())) for site in sites]
        if not urls:
            return

        def show(page: str, what: str) -> None:
            sys.stderr.write(f"{plain(page)}: {plain(what)}\n")

        verdicts = examine(self.settings, self.config(), urls, pair, show)
        for site, verdict in zip(sites, verdicts, strict=True):
            site.visit = None if verdict is None else verdict.to_dict()

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"unknown argument {args[0]}")
        if not (opts.topic and opts.topic.strip()):
            raise UsageError("name a topic: --topic Ballet")
        if not opts.langs:
            raise UsageError("name the two languages: --langs eng-spa")
        if opts.output is None:
            raise UsageError("name a folder for the files: --output DIR")


def _lines(found: "TopicHarvest", folder: Path, damages: "Damages") -> list[str]:
    """Return what was found, what was left out, and which limits were reached."""
    languages: dict[str, int] = {}
    for term in found.topic:
        languages[term.language] = languages.get(term.language, 0) + 1
    counts = ", ".join(f"{count:,} {code}" for code, count in languages.items())
    lines = [
        f"{found.categories:,} categories and {found.articles:,} articles of {found.category}",
        f"  {len(found.topic):,} terms ({counts or 'none'}), {len(found.pairs):,} pairs of terms",
        f"  {len(found.seeds):,} seeds, {len(found.sites):,} candidate sites",
    ]
    visits = Counter(site.visit["bilingual"] for site in found.sites if site.visit is not None)
    if visits:
        told = ", ".join(f"{answer} {count:,}" for answer, count in visits.most_common())
        lines.append(f"  {visits.total():,} visited; bilingual: {told}")
    if found.skipped:
        skipped = ", ".join(f"{word} {count:,}" for word, count in found.skipped.most_common())
        lines.append(f"  not used as terms: {skipped}")
    lines += [f"  there is more: {limit} was reached" for limit in found.reached]
    if damages.count:
        lines.append(f"  {damages.count:,} damaged places were skipped:")
        lines += [f"    {each}" for each in damages.first]
    lines.append(f"written to {folder}: topic.tsv, terms.tsv, seeds.txt, sites.jsonl")
    return lines
