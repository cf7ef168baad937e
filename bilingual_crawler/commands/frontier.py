"""`scrapy frontier`: a look at what waits, what is under way and what failed, and a second try."""

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.commands.options import one_or_more
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.urls.credentials import without_credentials

if TYPE_CHECKING:
    from bilingual_crawler.frontier.view import FrontierView, UrlSelection

WORDS = ("status", "top", "hosts", "requeue", "export")
TOP = 20
DETAILS = """\
PLACE is the folder of a crawl, running or not, or the Redis of a crawl on many workers
(redis://HOST:PORT/DB, as BILINGUAL_FRONTIER names it). All but requeue only look.

  status   how many URLs wait, are in flight, are done or have failed, and how they ended; of Redis
           also the workers, how long their leases last, and its memory
  top      the best waiting URLs, with score and host
  hosts    for each host what waits, is in flight, done and failed; of Redis also in how many
           seconds it may be asked next, and which worker holds its site
  requeue  lets failed URLs wait again: those of --outcome, --host and --match, or --all. With
           --worker NAME what a dead worker holds goes back at once, not when its lease ends.
           The crawl of a folder must be stopped for that, one in Redis may run.
  export   every URL with its state, as JSON lines or with --to tsv as a table

The folder tells of the last checkpoint (BILINGUAL_CHECKPOINT_SECONDS), in which URLs in flight
are waiting ones. Redis keeps of URLs that are done their fingerprints alone: `url` is then null.

  scrapy frontier status crawls/spa-eus
  scrapy frontier top redis://127.0.0.1:6379/0 -n 50
  scrapy frontier hosts crawls/spa-eus --json
  scrapy frontier requeue crawls/spa-eus --outcome timeout,http_503 --host www.example.org
  scrapy frontier requeue redis://127.0.0.1:6379/0 --worker machine-3
  scrapy frontier export crawls/spa-eus --to tsv --out urls.tsv.gz

JSON is one object for status and requeue, and one a line for the others. Of URLs: fingerprint,
url, host, state (waiting, in_flight, done, failed), score (null for a seed and for what does not
wait), attempts, outcome. Of hosts: host, waiting, in_flight, done, failed, next_allowed (seconds
from now), holder. What a frontier cannot tell is null.
"""


class FrontierCommand(BaseCommand):
    """Reads the options, asks the frontier, prints."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "status|top|hosts|requeue|export PLACE [options]"
    summary = "Look into the frontier of a crawl, and requeue what failed"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Frontier")
        group.add_argument("-n", type=one_or_more, default=TOP, metavar="N", help=f"top: {TOP}")
        group.add_argument("--outcome", default="", metavar="A,B", help="requeue: how they ended")
        group.add_argument("--host", default="", metavar="NAME", help="requeue: of this host")
        group.add_argument("--match", metavar="REGEX", help="requeue: whose URL has this in it")
        group.add_argument("--all", action="store_true", help="requeue: everything that failed")
        group.add_argument("--worker", metavar="NAME", help="requeue: what this worker holds")
        group.add_argument("--to", choices=("jsonl", "tsv"), default="jsonl", help="export: jsonl")
        group.add_argument("--out", type=Path, metavar="FILE", help="export: not to the terminal")
        group.add_argument(
            "--prefix", default="", help="Redis: which crawl (BILINGUAL_FRONTIER_PREFIX)"
        )
        group.add_argument("--json", action="store_true", help="JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Ask, and print; the end of a pipeline may stop listening."""
        from bilingual_crawler.frontier.view import open_view

        word, place = _arguments(args)
        selection = _selection(opts) if word == "requeue" else None
        with closing(open_view(place, opts.prefix)) as view:
            try:
                if selection is not None:
                    _requeue(view, selection, opts)
                else:
                    _show(word, view, opts)
                sys.stdout.flush()
            except view.errors as error:
                shown = without_credentials(place)
                raise ConfigurationError(f"{shown} cannot be read: {error}.") from error
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _arguments(args: list[str]) -> tuple[str, str]:
    if not args or args[0] not in WORDS:
        raise UsageError(f"say first what is wanted: {', '.join(WORDS)}")
    if len(args) != 2:  # noqa: PLR2004 - a word and a place
        raise UsageError("name one place: the folder of a crawl, or redis://HOST:PORT/DB")
    return args[0], args[1]


def _selection(opts: argparse.Namespace) -> "UrlSelection":
    from bilingual_crawler.config.sites.patterns import compile_pattern
    from bilingual_crawler.frontier.view import UrlSelection

    rules = opts.outcome or opts.host or opts.match
    if sum(map(bool, (rules, opts.all, opts.worker))) != 1:
        raise UsageError(
            "say what is to wait again: --outcome, --host or --match (all that are given must"
            " hold), or --all, or --worker NAME"
        )
    try:
        pattern = compile_pattern(opts.match) if opts.match else None
    except ValueError as error:
        raise UsageError(f"--match {opts.match} {error}") from error
    outcomes = frozenset(each.strip() for each in opts.outcome.split(",") if each.strip())
    return UrlSelection(outcomes, opts.host, pattern)


def _requeue(view: "FrontierView", selection: "UrlSelection", opts: argparse.Namespace) -> None:
    from bilingual_crawler.reporting import frontier_text

    number = view.free_worker(opts.worker) if opts.worker else view.requeue_failed(selection)
    frontier_text.tell_requeued(number, as_json=opts.json)


def _show(word: str, view: "FrontierView", opts: argparse.Namespace) -> None:
    from bilingual_crawler.reporting import frontier_text

    if word == "status":
        frontier_text.show_status(view.status(), as_json=opts.json)
    elif word == "top":
        frontier_text.show_urls(view.top(opts.n), as_json=opts.json)
    elif word == "hosts":
        frontier_text.show_hosts(view.hosts(), as_json=opts.json)
    else:
        frontier_text.export(view.urls(), opts.to, opts.out)
