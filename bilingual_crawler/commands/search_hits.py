"""What `scrapy seeds` does with the results of a search engine; no command of its own."""

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bilingual_crawler.commands.base import fetch_pages, quiet
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import Settings

    from bilingual_crawler.config.settings import Config
    from bilingual_crawler.discovery.search_results import AnchorHits
    from bilingual_crawler.documents.document import Document
    from bilingual_crawler.languages import ParallelLanguages
    from bilingual_crawler.store.warc import Exchange

PAIRS, PAGES, RESULTS = "pairs.tsv", "pages.warc.gz", "results.txt"


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options about search results."""
    from bilingual_crawler.commands.base import one_or_more

    group = parser.add_argument_group("Search results")
    group.add_argument(
        "--results", nargs="+", default=[], type=Path, metavar="FILE", help="saved results"
    )
    group.add_argument("--search-api", metavar="ADDRESS", help="an API with {query} and {page}")
    group.add_argument("--query", metavar="TEXT", help="what to ask for (names of both languages)")
    group.add_argument(
        "--operator", default="", metavar="WORD", help="what stands before a name, as inanchor:"
    )
    group.add_argument(
        "--result-pages", type=one_or_more, default=3, metavar="N", help="pages per query (3)"
    )
    group.add_argument("--hits", type=Path, metavar="DIR", help="write pairs and their pages there")


def find_hits(
    opts: argparse.Namespace, languages: "ParallelLanguages", config: "Config", settings: "Settings"
) -> "tuple[AnchorHits, dict[str, str]]":
    """Fetch the results and what their links pair; return these, and why pages are missing."""
    from bilingual_crawler.discovery.search_results import AnchorHits

    urls = results_of(opts, languages, config)
    hits, missed = AnchorHits(languages), dict[str, str]()
    results = set(urls)

    with ExitStack() as files:
        keep = None if opts.hits is None else _open_pages(opts.hits, files)

        def arrived(asked: str, response: "Response", document: "Document") -> list[str]:
            if keep is not None:
                keep(response)
            if asked not in results:
                return []
            found = hits.read(asked, document)
            return [] if keep is None else found

        fetch_pages(quiet(settings), urls, languages, arrived, missed.__setitem__)
        if opts.hits is not None:
            write_hits(opts.hits, hits, urls)
    return hits, missed


def _open_pages(folder: Path, files: ExitStack) -> "Callable[[Response], None]":
    """Begin the file of pages; return what writes a page to it as soon as it has come."""
    from bilingual_crawler import __version__
    from bilingual_crawler.store.durable import replacing_file
    from bilingual_crawler.store.warc import Records

    folder.mkdir(parents=True, exist_ok=True)
    part = files.enter_context(replacing_file(folder / PAGES))
    file = files.enter_context(part.open("wb"))
    records = Records({"software": f"bilingual-crawler {__version__}"})
    file.write(records.about(PAGES))

    def keep(response: "Response") -> None:
        file.write(records.of(_exchange(response)))

    return keep


def results_of(
    opts: argparse.Namespace, languages: "ParallelLanguages", config: "Config"
) -> list[str]:
    """Return the addresses of all results, each once."""
    from bilingual_crawler.config.settings import user_agent
    from bilingual_crawler.discovery.search_results import (
        SearchApi,
        check_api,
        queries,
        read_results,
    )

    found: dict[str, None] = {}
    for file in opts.results:
        try:
            found |= dict.fromkeys(read_results(file.read_bytes()))
        except OSError as error:
            raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise ConfigurationError(f"{file} has no results: {error}.") from None
    if opts.search_api:
        try:
            template = check_api(opts.search_api)
        except ValueError as error:
            raise ConfigurationError(f"--search-api {error}, not {opts.search_api}.") from None
        api = SearchApi(template, user_agent(config.contact), config.backlinks_delay)
        for query in [opts.query] if opts.query else queries(languages, opts.operator):
            found |= dict.fromkeys(api.results(query, opts.result_pages))
    if not found:
        raise ConfigurationError("There is no address in the results.")
    return list(found)


def _exchange(response: "Response") -> "Exchange":
    from bilingual_crawler.store.warc import Exchange

    headers = [(name, value) for name, values in response.headers.items() for value in values]
    return Exchange(
        url=response.url,
        arrived=time.time(),
        status=response.status,
        headers=headers,
        body=response.body,
    )


def write_hits(
    folder: Path,
    hits: "AnchorHits",
    urls: list[str],
) -> None:
    """Write the results, and which pages links pair: `scrapy pairs` reads that with the pages."""
    from bilingual_crawler.store.durable import replacing_file, text_file

    with replacing_file(folder / RESULTS) as part, text_file(part) as text:
        text.writelines(f"{url}\n" for url in urls)
    with replacing_file(folder / PAIRS) as part, text_file(part) as text:
        codes = {urls: "\t".join(both) for urls, both in hits.languages.items()}
        text.writelines(f"{one}\t{other}\t{codes[one, other]}\n" for one, other in hits.pairs)
