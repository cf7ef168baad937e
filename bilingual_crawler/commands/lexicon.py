"""`scrapy lexicon`: which words crawls have learned to be translations, for people and crawls."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, number_between, piped_output
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.pairing.lexicon import TranslationLexicon

DETAILS = """\
A PLACE is the folder of a crawl, or a file lexicon.LANGUAGES.tsv.gz from one. Several are added up;
then they must have the same languages.

  tsv      one line per two words: word, word, share, times; a header first. Share is how much of
           the occurrences of both words is explained by the other (0 to 1), times how often they
           were linked. Those linked most often come first.
  lexicon  everything, in the format of the crawl folder, for -s BILINGUAL_LEXICON=FILE; needs --out

What was learned from few pages has wrong entries: --min-share and --min-times are for tsv only.

  scrapy lexicon crawls/example > words.tsv
  scrapy lexicon crawls/example --langs eus-spa --min-share 0.5 --min-times 5
  scrapy lexicon crawls/one crawls/two --to lexicon --out words.eus-spa.tsv.gz
"""


class LexiconCommand(BaseCommand):
    """Adds up lexicons, and prints or writes the sum."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "PLACE [PLACE ...] [--to tsv|lexicon] [--out FILE] [options]"
    summary = "Show the words that crawls have learned to be translations"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        share = number_between(0, 1, "a number from 0 to 1")
        times = number_between(0, 1e9, "a number, 0 or more")
        group = parser.add_argument_group("Lexicon")
        group.add_argument("--to", choices=("tsv", "lexicon"), default="tsv", help="see below")
        group.add_argument("--langs", metavar="PAIR", help="the two languages, and their order")
        group.add_argument("--out", type=Path, metavar="FILE", help="file to write, not the screen")
        group.add_argument("--min-share", type=share, default=0.3, metavar="X", help="(0.3)")
        group.add_argument("--min-times", type=times, default=2.0, metavar="N", help="(2)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print or write the sum."""
        from bilingual_crawler.store.durable import replacing_file

        if not args:
            raise UsageError("name the folder of a crawl, or a file lexicon.*.tsv.gz")
        if opts.to == "lexicon" and opts.out is None:
            raise UsageError("--to lexicon needs a file: --out FILE")
        lexicon = _total(args, opts.langs)
        if opts.to == "lexicon":
            with replacing_file(opts.out) as part:
                lexicon.write(part)
        elif opts.out is not None:
            with replacing_file(opts.out) as part, part.open("w", encoding="utf-8") as file:
                file.writelines(_table(lexicon, opts.min_share, opts.min_times))
        else:
            with piped_output():
                sys.stdout.writelines(_table(lexicon, opts.min_share, opts.min_times))
        test = lexicon.test
        sys.stderr.write(
            f"{len(lexicon):,} entries from {lexicon.pages:,} pairs of pages;"
            f" on {test.won:,} of {test.tested:,} pairs that were held out, the words agreed more"
            f" than on a wrong pair: {'used' if lexicon.is_trusted else 'not used'} in pairing\n"
        )


def _total(places: list[str], langs: str | None) -> "TranslationLexicon":
    from bilingual_crawler.commands.base import read_pair
    from bilingual_crawler.pairing.lexicon import of_languages, read_lexicons

    found = [each for place in places for each in read_lexicons(place)]
    languages = found[0].languages if langs is None else read_pair(langs).codes
    others = sorted({"-".join(each.languages) for each in found if not each.is_of(languages)})
    if langs is None and others:
        raise ConfigurationError(
            f"There are lexicons of {'-'.join(languages)} and {', '.join(others)}: choose one with"
            " --langs."
        )
    total = of_languages(languages, found)
    if total is None:
        raise ConfigurationError(
            f"There is no lexicon of {langs}, but of {', '.join(others)}: choose one with --langs."
        )
    return total


def _table(lexicon: "TranslationLexicon", share: float, times: float) -> "list[str]":
    lines = ["\t".join((*lexicon.languages, "share", "times")) + "\n"]
    lines += (
        f"{each.first}\t{each.second}\t{each.share:.3f}\t{each.times:.1f}\n"
        for each in lexicon.entries(share, times)
    )
    return lines
