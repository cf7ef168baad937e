"""`scrapy crawl` in this project: Scrapy's own command, with `bilingual` as the default spider.

COMMANDS_MODULE in the settings of this project names it, so that other Scrapy projects that use
the add-on keep their own `scrapy crawl`.
"""

import argparse
import gc
from inspect import getdoc

from scrapy.commands import crawl

from bilingual_crawler.commands.base import look_for_cycles_less, set_details

DEFAULT_SPIDER = "bilingual"
DETAILS = """\
Spiders: bilingual (the default) harvests parallel documents, discovery searches for bilingual
sites. Arguments of bilingual, each with -a:

{arguments}

Settings are given with -s, for example -s BILINGUAL_CONTACT=https://example.net/our-crawl. Stop a
crawl with Ctrl-C; the same command with the same output resumes it.

  scrapy crawl bilingual -a langs=spa-eus
  scrapy crawl bilingual -a langs=eng-fra -a seeds_file=seeds.txt -a output=crawls/example
"""


class CrawlCommand(crawl.Command):
    """Runs one spider, by default the one that harvests."""

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[spider] -a langs=spa-eus [-a NAME=VALUE ...] [-s NAME=VALUE ...]"

    def short_desc(self) -> str:
        """Return the line for the list of commands."""
        return "Harvest parallel documents (spider bilingual), or search for sites (discovery)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare Scrapy's own options, and explain the arguments of the spider below them."""
        gc.disable()  # until `run`: what is imported from here on stays
        from bilingual_crawler.spiders.bilingual import BilingualSpider

        super().add_options(parser)
        _, _, arguments = (getdoc(BilingualSpider) or "").partition("\n\n")
        indented = "\n".join(f"  {line}" for line in arguments.splitlines())
        set_details(parser, DETAILS.format(arguments=indented))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the named spider, or the default one."""
        gc.freeze()  # modules and settings stay until the end
        look_for_cycles_less()
        gc.enable()
        super().run(args or [DEFAULT_SPIDER], opts)
