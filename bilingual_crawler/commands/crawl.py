"""`crawl` of this project: Scrapy's own command, with `bilingual` as the default spider.

It is wired by COMMANDS_MODULE in the project's settings, so that other Scrapy projects which
use the add-on keep their `scrapy crawl` as it is.
"""

import argparse
from inspect import getdoc

from scrapy.commands import crawl

from bilingual_crawler.commands.base import in_own_words

DEFAULT_SPIDER = "bilingual"
DETAILS = """\
Spiders: bilingual harvests parallel documents (the default), discovery searches for bilingual
sites. The arguments of bilingual, each with -a:

{arguments}

Settings go with -s, for example -s BILINGUAL_CONTACT=https://example.net/our-crawl. Stop a crawl
with Ctrl-C; the same command with the same output goes on where it was.

  scrapy crawl bilingual -a langs=spa-eus
  scrapy crawl bilingual -a langs=eng-fra -a seeds_file=seeds.txt -a output=crawls/example
"""


class CrawlCommand(crawl.Command):
    """Runs one spider; without a name, the one that harvests."""

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[spider] -a langs=spa-eus [-a NAME=VALUE ...] [-s NAME=VALUE ...]"

    def short_desc(self) -> str:
        """One line for the list of commands."""
        return "Harvest parallel documents (spider bilingual), or search for sites (discovery)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare Scrapy's own options; explain the arguments of the spider below them."""
        from bilingual_crawler.spiders.bilingual import BilingualSpider

        super().add_options(parser)
        _, _, arguments = (getdoc(BilingualSpider) or "").partition("\n\n")
        indented = "\n".join(f"  {line}" for line in arguments.splitlines())
        in_own_words(parser, DETAILS.format(arguments=indented))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the spider that is named, or the default one."""
        super().run(args or [DEFAULT_SPIDER], opts)
