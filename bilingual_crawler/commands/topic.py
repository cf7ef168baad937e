"""`scrapy topic`: explains why pages are on topic or not, without crawling."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, piped_output
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.corpus.sources.reading import SourceReading
    from bilingual_crawler.documents.document import Document
    from bilingual_crawler.topics import Topic

DETAILS = """\
TOPIC is a file as for scrapy crawl -a topic=TOPIC: lines of weight, term, subdomain and language,
separated by tabs, or only terms. An INPUT may be

  a page                 an .html or .txt file
  a directory            HTML, text and WARC files in it and below it
  a WARC file            .warc or .warc.gz
  a crawl's folder       or its documents.jsonl.gz: the pages that were kept

Each page gets one line with its score, and one line per term: what it adds, its weight, and where
it was found. BILINGUAL_TOPIC_SCORE and BILINGUAL_TOPIC_TERMS set what is required.

  scrapy topic topic.tsv page.html --langs spa
  scrapy topic topic.tsv crawls/example/crawl-00000.warc.gz --langs spa-eus --json
  scrapy topic topic.tsv crawls/example --langs spa-eus -s BILINGUAL_TOPIC_SCORE=8
"""


class TopicCommand(BaseCommand):
    """Judges pages, and prints why."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "TOPIC INPUT... --langs spa-eus [--json]"
    summary = "Explain why pages are on topic or not"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Topic")
        group.add_argument("--langs", metavar="LANGS", help="two languages (spa-eus), or one (spa)")
        group.add_argument("--json", action="store_true", help="one line of JSON per page")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge every page, and print."""
        from bilingual_crawler.config.topic_definition import read_terms
        from bilingual_crawler.corpus.sources.reading import SourceReading
        from bilingual_crawler.languages import parse_languages
        from bilingual_crawler.topics import Topic

        file, inputs = _checked(args, opts)
        config = self.config()
        try:
            reading = SourceReading(parse_languages(opts.langs))
        except ValueError as error:
            raise ConfigurationError(f"--langs {opts.langs}: {error}") from error
        topic = Topic(read_terms(file), config.topic_score, config.topic_terms)
        pages = on_topic = 0
        with piped_output():
            for document in _documents(inputs, reading):
                topic.annotate(document)
                pages += 1
                on_topic += document.topic is not None and document.topic.on_topic
                sys.stdout.writelines(_explained(document, topic, as_json=opts.json))
        sys.stderr.write(f"{on_topic:,} of {pages:,} pages are on topic\n")
        for reason, number in reading.skips.counts.most_common():
            sys.stderr.write(f"{number:,} skipped: {reason}\n")


def _checked(args: list[str], opts: argparse.Namespace) -> tuple[Path, list[str]]:
    if len(args) < 2:  # noqa: PLR2004 - the topic, and something to judge
        raise UsageError("name the topic file, then the pages: a file, a WARC file, ...")
    if not opts.langs:
        raise UsageError("name the languages: --langs spa-eus, or --langs spa")
    return Path(args[0]), args[1:]


def _documents(inputs: list[str], reading: "SourceReading") -> "Iterator[Document]":
    """Yield the pages of all inputs in a wanted language; count the others."""
    from bilingual_crawler.documents.document import Document

    for source in inputs:
        for found in _found(source, reading):
            if not isinstance(found, Document):
                continue
            if found.language in reading.languages:
                yield found
            else:
                reading.skips.add("in another language", found.url)


def _found(source: str, reading: "SourceReading") -> Iterator[object]:
    from bilingual_crawler.corpus.sources.inputs import HTML, TEXT, documents_from, read_file

    if "://" in source:
        raise ConfigurationError(
            f"{source} is not fetched here: save the page first, for example with"
            f" scrapy fetch --nolog {source} > page.html, then name page.html."
        )
    path = Path(source)
    if path.is_file() and path.suffix.lower() in HTML | TEXT:
        return iter([read_file(path, reading)])
    return documents_from(source, reading)


def _explained(document: "Document", topic: "Topic", *, as_json: bool) -> Iterator[str]:
    from bilingual_crawler.reporting.terminal import plain
    from bilingual_crawler.topics import explain_dict, explain_lines

    if as_json:
        yield json.dumps(explain_dict(document), ensure_ascii=False) + "\n"
    else:
        yield from (f"{plain(line)}\n" for line in explain_lines(document, topic))
