"""`scrapy bootstrap`: terms, their translations, seeds and candidate sites of a topic."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.bootstrap.wiki import API
from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.commands.options import one_or_more
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.bootstrap.dump_files import Damages
    from bilingual_crawler.bootstrap.harvest import TopicHarvest

CONTACT = (
    "Wikipedia asks those who ask it much to say who they are:"
    " -s BILINGUAL_CONTACT=https://your.site/about-the-crawl"
)
REFRESH = 0.1
"""Seconds between two changes of what is shown."""
DETAILS = """\
TOPIC is the name of a category of Wikipedia in one of the two languages. The articles in it and
in its subcategories give terms, their interlanguage links the translations, the external links
of both articles seeds, and the sites that these lead to are ranked by what speaks for two
languages. What is found is meant to be looked through and corrected before it is used.

  scrapy bootstrap --topic Ballet --langs eng-spa --output ballet
  scrapy bootstrap --topic Ballet --langs eng-spa --wikipedia dumps/ --depth 3 --output ballet
  scrapy crawl bilingual -a langs=eng-spa -a seeds_file=ballet/seeds.txt -a topic=ballet/topic.tsv

--wikipedia is the address of an API with {lang} in it, or a folder with dump files (of
https://dumps.wikimedia.org/) of both languages, such as enwiki-20260101-page.sql.gz: page,
categorylinks, linktarget (if categorylinks has cl_target_id), langlinks, externallinks, and if
you have it page_props; instead of externallinks, pages-articles.xml.bz2 will do.

--output DIR gets topic.tsv (weight, term, subdomain, language), terms.tsv (term, translation,
weight), seeds.txt (a URL a line) and sites.jsonl (a site a line, with the evidence for it).

A server is asked one question at a time, under our own name: set BILINGUAL_CONTACT.
"""


class BootstrapCommand(BaseCommand):
    """Reads the options, gathers, writes, tells."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "--topic TOPIC --langs eng-spa --output DIR [--wikipedia API_OR_FOLDER] [options]"
    summary = "Gather terms, seeds and candidate sites of a topic from Wikipedia"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Bootstrap")
        group.add_argument("--topic", metavar="TOPIC", help="a category of Wikipedia")
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
            help="how far down subcategories go (2)",
        )
        group.add_argument(
            "--categories",
            type=one_or_more,
            default=500,
            metavar="N",
            help="categories at most (500)",
        )
        group.add_argument(
            "--articles",
            type=one_or_more,
            default=2000,
            metavar="N",
            help="articles at most, nearest first (2000)",
        )
        group.add_argument(
            "--seeds-of-site", type=one_or_more, default=10, metavar="N", help="seeds a site (10)"
        )
        group.add_argument(
            "--names", action="store_true", help="keep abbreviations and names as terms"
        )
        group.add_argument(
            "--delay",
            type=seconds,
            default=0.5,
            metavar="SECONDS",
            help="between two questions (0.5)",
        )
        group.add_argument(
            "--requests",
            type=one_or_more,
            default=2000,
            metavar="N",
            help="questions to a server at most (2000)",
        )
        group.add_argument(
            "--output", type=Path, metavar="DIR", help="write files into this folder"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Gather, write, and tell what came of it."""
        from bilingual_crawler.bootstrap import run
        from bilingual_crawler.bootstrap.api_wiki import RequestPolicy
        from bilingual_crawler.bootstrap.dump_files import Damages
        from bilingual_crawler.bootstrap.harvest import Limits, harvest
        from bilingual_crawler.config.settings import Config, user_agent
        from bilingual_crawler.languages import LanguagePair

        self._check(args, opts)
        try:
            pair = LanguagePair.parse(opts.langs)
        except ValueError as error:
            raise ConfigurationError(f"--langs {opts.langs}: {error}") from error
        assert self.settings is not None
        contact = Config.from_settings(self.settings).contact
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
            _bar() as watch,
            run.open_wikis(opts.wikipedia, pair, policy, damages, watch) as wikis,
        ):
            found = harvest(opts.topic, wikis, pair, limits)
        run.write(opts.output, found, f"scrapy bootstrap: {found.category} ({pair})")
        _tell(found, opts.output, damages)

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"unknown argument {args[0]}")
        if not (opts.topic and opts.topic.strip()):
            raise UsageError("say what it is about: --topic Ballet")
        if not opts.langs:
            raise UsageError("say for which two languages: --langs eng-spa")
        if opts.output is None:
            raise UsageError("say where the files go: --output DIR")


def zero_or_more(text: str) -> int:
    """A whole number, as argparse wants its types."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds, as argparse wants its types."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal: which file is read, or how many questions were asked."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=None, count="")
        shown = 0.0

        def watch(what: str, done: int, total: int) -> None:
            nonlocal shown
            if time.monotonic() < shown + REFRESH:
                return
            shown = time.monotonic()
            count = f"{done / total:.0%}" if total else f"{done:,}"
            bar.update(task, description=what, completed=done, total=total or None, count=count)

        yield watch


def _tell(found: "TopicHarvest", folder: Path, damages: "Damages") -> None:
    """What was found, what was left out, and which limits were reached."""
    from bilingual_crawler.reporting.terminal import plain

    languages: dict[str, int] = {}
    for term in found.topic:
        languages[term.language] = languages.get(term.language, 0) + 1
    counts = ", ".join(f"{count:,} {code}" for code, count in languages.items())
    lines = [
        f"{found.categories:,} categories and {found.articles:,} articles of {found.category}",
        f"  {len(found.topic):,} terms ({counts or 'none'}), {len(found.pairs):,} pairs of terms",
        f"  {len(found.seeds):,} seeds, {len(found.sites):,} candidate sites",
    ]
    if found.skipped:
        skipped = ", ".join(f"{word} {count:,}" for word, count in found.skipped.most_common())
        lines.append(f"  no terms: {skipped}")
    lines += [f"  there was more: {limit} was reached" for limit in found.reached]
    if damages.count:
        lines.append(f"  {damages.count:,} damages, the files are read around them:")
        lines += [f"    {each}" for each in damages.first]
    lines.append(f"written to {folder}: topic.tsv, terms.tsv, seeds.txt, sites.jsonl")
    sys.stdout.write("".join(f"{plain(line)}\n" for line in lines))
