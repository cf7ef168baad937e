"""`scrapy seeds`: home pages of the sites that gave, or promise, most parallel text."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, one_or_more, piped_output, read_languages
from bilingual_crawler.commands.search_hits import add_search_options, find_hits
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.discovery.productive_sites import SiteRanking
    from bilingual_crawler.export.source import Account
    from bilingual_crawler.languages import ParallelLanguages

DETAILS = """\
A CORPUS has the URLs that its texts come from:

  the folder of a crawl   pairs.jsonl, and sentences.jsonl.gz if it is aligned
  a TMX file              with `source-document` or a similar property, as ParaCrawl has it
  a table (TSV)           two URLs per row, as of MaCoCu, ParaCrawl and Bitextor

A list has URLs with languages:

  a table with a header   columns url and content_languages (or languages, language, lang): an
                          export of the index of Common Crawl, for example
  lines of JSON or CDXJ   with the same names
  any other text          every URL in it; eus=FILE says in which language its pages are, as for
                          the lists of web-languages

An index of Common Crawl (--common-crawl INDEX) has every page that a crawl of it has fetched,
with its languages: Parquet files of the columnar index, a folder with them, or an address such as
s3://commoncrawl/cc-index/table/cc-main/warc/crawl=CC-MAIN-2026-40/subset=warc/. Sites with both
languages are ranked by the pairs to be expected: those whose paths pair, and a tenth of the rest.

Search results (--results, --search-api) are pages that a search engine found for the names of both
languages: a saved page of results (HTML or JSON), a list of URLs, or an API with {query} and, if it
has pages, {page} in its address; the path to the addresses in its answer follows after # (that of
SearXNG is #results.url). The pages are fetched as in a crawl. Links on them that name the two
languages make pairs, as Resnik (1998) and Almeida et al. (2002) have it, and the sites of these
pairs are ranked. --hits DIR fetches both pages of each pair too: pairs.tsv, pages.warc.gz and
results.txt are for scrapy pairs.

All may be gzipped. Sites are ranked by their number of different pages in pairs, then of sentence
pairs; a site of which only lists tell, by the pages in the rarer of the two languages. What comes
out is a list of seeds: one home page per line, with the counts as a comment.

  scrapy seeds --langs spa-eus --from paracrawl.tmx.gz crawls/earlier --out seeds.txt
  scrapy seeds --langs spa-eus --from macocu.tsv.gz --leave-out training-sites.txt --limit 50
  scrapy seeds --langs spa-eus --urls index.csv eus=basque-sites.md spa=spanish-sites.md
  scrapy seeds --langs spa-eus --common-crawl cc-index/ --out seeds.txt
  scrapy seeds --langs spa-eus --results results.html --hits hits --out seeds.txt
  scrapy seeds --langs spa-eus --out seeds.txt \\
      --search-api "http://127.0.0.1:8888/search?q={query}&format=json&pageno={page}"
  scrapy pairs hits/pages.warc.gz hits/pairs.tsv --langs spa-eus
  scrapy crawl bilingual -a langs=spa-eus -a seeds_file=seeds.txt

JSON is one line per site: site, home, pages (different pages in pairs), sentences, languages; from
an index: site, home, expected_pairs, path_pairs, patterns (how paths differ), languages.
"""


class SeedsCommand(BaseCommand):
    """Ranks sites, and writes their home pages."""

    usage = "--langs LANGS [--from CORPUS ...] [--urls LIST ...] [--results FILE ...] [options]"
    summary = "Rank sites by the parallel text of a corpus, as seeds of a crawl"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Seeds")
        group.add_argument("--langs", metavar="LANGS", help="the languages, such as spa-eus")
        group.add_argument(
            "--from", dest="corpora", nargs="+", default=[], metavar="CORPUS", help="corpora"
        )
        group.add_argument(
            "--urls", nargs="+", default=[], metavar="LIST", help="lists of URLs with languages"
        )
        group.add_argument(
            "--common-crawl", metavar="INDEX", help="a columnar index of Common Crawl (Parquet)"
        )
        group.add_argument(
            "--leave-out",
            nargs="+",
            default=[],
            metavar="FILE",
            help="whole sites to leave out: one URL or host per line, or as first field of a table",
        )
        group.add_argument(
            "--limit", type=one_or_more, default=200, metavar="N", help="number of sites (200)"
        )
        group.add_argument("--out", type=Path, metavar="FILE", help="write there, not to stdout")
        group.add_argument("--json", action="store_true", help="lines of JSON, for programs")
        add_search_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read everything, rank, and write."""
        from bilingual_crawler.discovery.productive_sites import SiteRanking, seed_lines
        from bilingual_crawler.export.source import Account

        if args:
            raise UsageError(f"name corpora after --from and lists after --urls, not {args[0]!r}")
        if not opts.langs:
            raise UsageError("name the languages: --langs spa-eus")
        searched = opts.results or opts.search_api
        if not (opts.corpora or opts.urls or opts.common_crawl or searched):
            raise UsageError(
                "name a corpus (--from CORPUS), a list of URLs (--urls LIST), an index"
                " (--common-crawl INDEX) or search results (--results FILE, --search-api ADDRESS)"
            )
        if opts.common_crawl and (opts.corpora or opts.urls or searched):
            raise UsageError("--common-crawl stands alone: leave out all other sources")
        languages, left_out = read_languages(opts.langs), set(_left_out(opts.leave_out))
        if opts.common_crawl:
            _write(opts, languages, *_from_index(opts, languages, left_out))
            return
        ranking, account = SiteRanking(languages, left_out), Account()
        self._read(opts, languages, ranking, account)
        sites = ranking.ranked(opts.limit)
        if not sites:
            reasons = ", ".join(f"{why} ({n:,})" for why, n in _reasons(ranking, account))
            raise ConfigurationError(
                f"No site has text in {languages.names} there: {reasons or 'no URL was found'}."
            )
        records = [site.to_dict() for site in sites]
        _write(opts, languages, records, list(seed_lines(sites)))
        for why, number in _reasons(ranking, account):
            sys.stderr.write(f"{number:,} left out: {why}\n")

    def _read(
        self,
        opts: argparse.Namespace,
        languages: "ParallelLanguages",
        ranking: "SiteRanking",
        account: "Account",
    ) -> None:
        from bilingual_crawler.export.source_urls import read_corpus, read_urls
        from bilingual_crawler.reporting.bars import share_bar

        for corpus in opts.corpora:
            with share_bar(Path(corpus).name) as watch:
                for found in read_corpus(Path(corpus), languages, account, watch):
                    ranking.add_pair(*found)
        for each in opts.urls:
            file, language = _list_of(each)
            for url, code in read_urls(file, language, account.damage):
                ranking.add_page(url, code)
        if opts.results or opts.search_api:
            self._read_search(opts, languages, ranking)

    def _read_search(
        self, opts: argparse.Namespace, languages: "ParallelLanguages", ranking: "SiteRanking"
    ) -> None:
        """Rank the sites of the pairs on pages that a search engine found."""
        from collections import Counter

        from bilingual_crawler.outcomes import outcome_sentence

        assert self.settings is not None
        hits, missed = find_hits(opts, languages, self.config(), self.settings)
        for urls in hits.pairs:
            ranking.add_pair(*urls)
        sys.stderr.write(f"{len(hits.pairs):,} pairs of links on {len(hits.pages):,} pages\n")
        for reason, number in Counter(missed.values()).most_common():
            sys.stderr.write(f"{number:,} not fetched: {outcome_sentence(reason)}\n")


def _from_index(
    opts: argparse.Namespace, languages: "ParallelLanguages", left_out: set[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the best sites of an index, as records and as seeds."""
    from bilingual_crawler.discovery.crawl_index import CrawlIndex
    from bilingual_crawler.languages import LanguagePair

    if not isinstance(languages, LanguagePair):
        raise ConfigurationError(
            f"--common-crawl counts the sites of two languages, and {languages} are more: ask for"
            " each two, and give a crawl both lists as seeds."
        )
    sites = CrawlIndex(opts.common_crawl).sites(languages, opts.limit, left_out)
    if not sites:
        raise ConfigurationError(f"No site of the index has pages in {languages.names}.")
    return [site.to_dict(languages) for site in sites], [
        site.seed_line(languages) for site in sites
    ]


def _write(
    opts: argparse.Namespace,
    languages: "ParallelLanguages",
    records: list[dict[str, Any]],
    seeds: list[str],
) -> None:
    """Write the sites, as lines of JSON or as seeds."""
    from bilingual_crawler.store.durable import replacing_file, text_file

    lines = (json.dumps(each, ensure_ascii=False) for each in records) if opts.json else seeds
    with ExitStack() as files:
        files.enter_context(piped_output())
        out = sys.stdout
        if opts.out:
            out = files.enter_context(text_file(files.enter_context(replacing_file(opts.out))))
        out.writelines(f"{line}\n" for line in lines)
    if opts.out:
        sys.stderr.write(
            f"{len(records):,} sites in {opts.out}. Crawl them with: scrapy crawl bilingual"
            f" -a langs={languages} -a seeds_file={opts.out}\n"
        )


def _list_of(text: str) -> tuple[Path, str | None]:
    """Return the file of a list, and the language of `eus=FILE`."""
    from bilingual_crawler.languages import language_code

    before, sign, after = text.partition("=")
    code = language_code(before) if sign and not Path(text).exists() else None
    return (Path(text), None) if code is None else (Path(after), code)


def _left_out(files: list[str]) -> Iterator[str]:
    """Yield the sites that lists name, by a URL or a host."""
    from bilingual_crawler.store.input_files import rows
    from bilingual_crawler.urls.hosts import host_of, normal_host, site_of

    for file in files:
        for _, fields in rows(file):
            host = host_of(fields[0]) if "://" in fields[0] else normal_host(fields[0])
            if host:
                yield site_of(host)


def _reasons(ranking: "SiteRanking", account: "Account") -> list[tuple[str, int]]:
    counts = account.left_out + ranking.skipped
    if account.damage.lines:
        counts[f"a damaged line, the first {account.damage.first}"] += account.damage.lines
    return counts.most_common()
