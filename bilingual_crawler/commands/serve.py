"""`scrapy serve`: the web page of a crawl, or of all crawls below a folder."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bilingual_crawler.commands.base import BaseCommand, one_argument, one_or_more, program

if TYPE_CHECKING:
    from bilingual_crawler.web.runs.scrapyd import ScrapydServer

PROJECT = "bilingual_crawler"
DETAILS = """\
The page has three parts. Corpus: search the sentence pairs in either language (words, "phrases",
prefix*, regular expressions), read document pairs side by side with the evidence for them, and
accept or reject them; the marks are saved in labels.tsv (two URLs and 1 or 0 per line). Words: a
concordance, frequency lists, collocations and translations (pip install
'bilingual-crawler[concordance]'). Crawl: the yield curve, pages by language, sites, why pages were
dropped, the best waiting URLs.

The folder of one crawl or corpus is shown at once. Of any other folder, the page lists every crawl
and corpus below it, four folders deep, with sizes, languages and states; links are not followed.

It works while the crawl runs. The indexes are kept in the folder (search.sqlite, concordance-*)
and can be deleted at any time.

With --allow-crawls the page starts crawls below the folder, shows them while they run, and stops
and resumes them. They go on when the page is closed and when the server ends. The form takes no
setting that names code, programs, files or servers; what is set here with -s holds for all crawls.
The page then asks for a token, so that other users of the machine start nothing: open the address
that is printed, which has it.

Only this machine can reach the page. With --host the server listens on another address, and the
page asks for a token, too. The connection is not encrypted: over networks that you do not trust,
use a tunnel (ssh -L 8000:127.0.0.1:8000 HOST) or a proxy with TLS.

  scrapy serve crawls/demo
  scrapy serve crawls/
  scrapy serve crawls/ --allow-crawls -s BILINGUAL_CONTACT=https://example.net/our-crawl
  scrapy serve crawls/demo --port 8000 --no-browser
  scrapy serve crawls/demo --host 0.0.0.0 --port 8000
"""


class ServeCommand(BaseCommand):
    """Runs the server."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "FOLDER [options]"
    summary = "Search corpora and watch crawls, in the browser"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Server")
        group.add_argument(
            "--port", type=int, default=0, metavar="N", help="port (default: any that is free)"
        )
        group.add_argument(
            "--host",
            default="127.0.0.1",
            help="address to listen on (127.0.0.1, this machine only)",
        )
        group.add_argument(
            "--token",
            help="the token that the page asks for (with --host or --allow-crawls, one is"
            " generated and printed)",
        )
        group.add_argument(
            "--allow-host",
            action="append",
            default=[],
            metavar="NAME",
            help="another name under which browsers may reach the server",
        )
        group.add_argument("--no-browser", action="store_true", help="do not open a browser")
        group = parser.add_argument_group("Crawls")
        group.add_argument(
            "--allow-crawls", action="store_true", help="start, stop and resume crawls on the page"
        )
        group.add_argument(
            "--max-crawls",
            type=one_or_more,
            default=4,
            metavar="N",
            help="how many may run at a time (4)",
        )
        group.add_argument(
            "--scrapyd",
            metavar="TARGET",
            help="run them as jobs of this scrapyd: its URL, or default or NAME for the section"
            " [deploy] or [deploy:NAME] of scrapy.cfg",
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve until Ctrl-C."""
        from bilingual_crawler.web.server import ServerOptions, serve

        serve(
            ServerOptions(
                folder=Path(one_argument(args, "the folder of one crawl, or one with several")),
                host=opts.host,
                port=opts.port,
                token=opts.token,
                browser=not opts.no_browser,
                allowed_hosts=opts.allow_host,
                allow_crawls=opts.allow_crawls,
                max_crawls=opts.max_crawls,
                scrapyd=read_scrapyd(opts.scrapyd) if opts.scrapyd else None,
                settings=dict(each.split("=", 1) for each in opts.set),
                program=program(),
            )
        )


def read_scrapyd(target: str) -> "ScrapydServer":
    """Return a scrapyd by its URL, or by the name of a target in scrapy.cfg."""
    from scrapy.utils.conf import get_config

    from bilingual_crawler.errors import ConfigurationError
    from bilingual_crawler.web.runs.scrapyd import ScrapydServer

    names = {"username": "$SCRAPYD_USERNAME", "password": "$SCRAPYD_PASSWORD"}
    if "://" in target:
        found = {"url": target, **names}
    else:
        section = "deploy" if target == "default" else f"deploy:{target}"
        config = get_config()
        if not config.has_option(section, "url"):
            raise ConfigurationError(
                f"scrapy.cfg has no [{section}] with a url: write --scrapyd default for [deploy],"
                " the NAME of [deploy:NAME], or the URL of the scrapyd."
            )
        found = dict(config.items(section, raw=True))
    if not found["url"].startswith(("http://", "https://")):
        raise ConfigurationError(f"--scrapyd {target} is not an http or https URL.")
    known = {name: _filled_in(found.get(name, "")) for name in names}
    return ScrapydServer(found["url"], found.get("project", PROJECT), **known)


def _filled_in(value: str) -> str:
    """Return a value with the variables of the environment; "" for one that is not set."""
    filled = os.path.expandvars(value)
    return "" if filled == value and value.startswith("$") else filled
