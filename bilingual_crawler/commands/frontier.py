"""`scrapy frontier`: shows what waits, is in flight and failed, and requeues what failed."""

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, one_or_more, piped_output
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.urls.credentials import without_credentials

if TYPE_CHECKING:
    from bilingual_crawler.frontier.view import FrontierView, UrlSelection

ACTIONS = ("status", "top", "hosts", "requeue", "export")
TOP = 20
"""URLs that `top` shows by default."""
DETAILS = """\
PLACE is the folder of a crawl, running or not, or the Redis database of a crawl on many workers
(redis://HOST:PORT/DB, as in BILINGUAL_FRONTIER). Only requeue changes anything.

  status   how many URLs wait, are in flight, done or failed, and how they ended; for Redis also
           its workers, how long their leases last, and its memory
  top      the best waiting URLs, with score and host
  hosts    waiting, in-flight, done and failed URLs per host; for Redis also when the host may be
           asked next, in seconds, and which worker holds its site
  requeue  puts failed URLs back: those that match --outcome, --host and --match, or --all. With
           --worker NAME, what a dead worker holds goes back at once, not when its lease ends.
           The crawl of a folder must be stopped for that; one in Redis may be running.
  export   every URL with its state, as JSON lines, or as a table with --to tsv

A folder shows the last checkpoint (BILINGUAL_CHECKPOINT_SECONDS), in which URLs in flight count as
waiting. Redis keeps only the fingerprints of URLs that are done: their `url` is null.

  scrapy frontier status crawls/spa-eus
  scrapy frontier top redis://127.0.0.1:6379/0 -n 50
  scrapy frontier hosts crawls/spa-eus --json
  scrapy frontier requeue crawls/spa-eus --outcome timeout,http_503 --host www.example.org
  scrapy frontier requeue redis://127.0.0.1:6379/0 --worker machine-3
  scrapy frontier export crawls/spa-eus --to tsv --out urls.tsv.gz

JSON is one object for status and requeue, and one per line for the others. URLs have fingerprint,
url, host, state (waiting, in_flight, done, failed), score (null for seeds and for URLs that do not
wait), attempts, outcome. Hosts have host, waiting, in_flight, done, failed, next_allowed (seconds
from now), holder. What a frontier does not know is null.
"""


class FrontierCommand(BaseCommand):
    """Shows or changes a frontier."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "status|top|hosts|requeue|export PLACE [options]"
    summary = "Inspect the frontier of a crawl, and requeue what failed"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Frontier")
        group.add_argument(
            "-n", type=one_or_more, default=TOP, metavar="N", help=f"top: number of URLs ({TOP})"
        )
        group.add_argument(
            "--outcome", default="", metavar="A,B", help="requeue: only URLs with these outcomes"
        )
        group.add_argument(
            "--host", default="", metavar="NAME", help="requeue: only URLs of this host"
        )
        group.add_argument("--match", metavar="REGEX", help="requeue: only URLs that match")
        group.add_argument("--all", action="store_true", help="requeue: all failed URLs")
        group.add_argument("--worker", metavar="NAME", help="requeue: what this worker holds")
        group.add_argument(
            "--to", choices=("jsonl", "tsv"), default="jsonl", help="export: format (jsonl)"
        )
        group.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="export: to this file (default: standard output)",
        )
        group.add_argument(
            "--prefix", default="", help="Redis: which crawl (BILINGUAL_FRONTIER_PREFIX)"
        )
        group.add_argument("--json", action="store_true", help="print JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the first argument says, and print the result."""
        from bilingual_crawler.frontier.view import open_view

        action, place = _arguments(args)
        selection = _selection(opts) if action == "requeue" else None
        with closing(open_view(place, opts.prefix)) as view:
            try:
                with piped_output():
                    if selection is not None:
                        _requeue(view, selection, opts)
                    else:
                        _show(action, view, opts)
            except view.errors as error:
                shown = without_credentials(place)
                raise ConfigurationError(f"{shown} cannot be read: {error}.") from error


def _arguments(args: list[str]) -> tuple[str, str]:
    if not args or args[0] not in ACTIONS:
        raise UsageError(f"start with one of {', '.join(ACTIONS)}")
    if len(args) != 2:  # noqa: PLR2004 - an action and a place
        raise UsageError("name one place: the folder of a crawl, or redis://HOST:PORT/DB")
    return args[0], args[1]


def _selection(opts: argparse.Namespace) -> "UrlSelection":
    from bilingual_crawler.config.site_keys import compile_pattern
    from bilingual_crawler.frontier.view import UrlSelection

    rules = opts.outcome or opts.host or opts.match
    if sum(map(bool, (rules, opts.all, opts.worker))) != 1:
        raise UsageError(
            "say what to requeue: --outcome, --host or --match (URLs must meet all of them),"
            " or --all, or --worker NAME"
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
    frontier_text.show_requeued(number, as_json=opts.json)


def _show(action: str, view: "FrontierView", opts: argparse.Namespace) -> None:
    from bilingual_crawler.reporting import frontier_text

    if action == "status":
        frontier_text.show_status(view.status(), as_json=opts.json)
    elif action == "top":
        frontier_text.show_urls(view.top(opts.n), as_json=opts.json)
    elif action == "hosts":
        frontier_text.show_hosts(view.hosts(), as_json=opts.json)
    else:
        frontier_text.export(view.urls(), opts.to, opts.out)
