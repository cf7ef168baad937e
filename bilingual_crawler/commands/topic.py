"""`scrapy topic`: why pages are on topic or not, without crawling."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.corpus.sources.reading import SourceReading
    from bilingual_crawler.documents.document import Document
    from bilingual_crawler.topics.topic import Topic

DETAILS = """\
TOPIC is the file that -a topic=TOPIC of a crawl takes: lines of weight, term, subdomain and
language with tabs between them, or terms alone. An INPUT may be

  a page                 a file .html or .txt
  a directory            HTML and text files, and WARC files, in it and below it
  a WARC file            .warc or .warc.gz
  a crawl's folder       or its documents.jsonl.gz alone: what was kept

Each page gets a line with its score, and a line for each of its terms: what it adds, its weight,
and where it stands. What is needed is set by BILINGUAL_TOPIC_SCORE and BILINGUAL_TOPIC_TERMS.

  scrapy topic topic.tsv page.html --langs spa
  scrapy topic topic.tsv crawls/example/crawl-00000.warc.gz --langs spa-eus --json
  scrapy topic topic.tsv crawls/example --langs spa-eus -s BILINGUAL_TOPIC_SCORE=8
"""


class TopicCommand(BaseCommand):
    """Reads the options, judges, prints."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "TOPIC INPUT... --langs spa-eus [--json]"
    summary = "Tell why pages are on topic or not"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Topic")
        group.add_argument("--langs", metavar="LANGS", help="two languages (spa-eus), or one (spa)")
        group.add_argument("--json", action="store_true", help="a line of JSON a page")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge every page, and hand over; the end of a pipeline may stop listening."""
        from bilingual_crawler.config.settings import Config
        from bilingual_crawler.config.topic_definition import read_terms
        from bilingual_crawler.corpus.sources.reading import SourceReading
        from bilingual_crawler.languages import parse_languages
        from bilingual_crawler.topics.topic import Topic

        file, inputs = _checked(args, opts)
        assert self.settings is not None
        config = Config.from_settings(self.settings)
        try:
            reading = SourceReading(parse_languages(opts.langs))
        except ValueError as error:
            raise ConfigurationError(f"--langs {opts.langs}: {error}") from error
        topic = Topic(read_terms(file), config.topic_score, config.topic_terms)
        pages = on_topic = 0
        try:
            for document in _documents(inputs, reading):
                topic.annotate(document)
                pages += 1
                on_topic += document.topic is not None and document.topic.on_topic
                sys.stdout.writelines(_told(document, topic, as_json=opts.json))
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"{on_topic:,} of {pages:,} pages are on topic\n")
        for reason, number in reading.skips.counts.most_common():
            sys.stderr.write(f"{number:,} skipped: {reason}\n")


def _checked(args: list[str], opts: argparse.Namespace) -> tuple[Path, list[str]]:
    if len(args) < 2:  # noqa: PLR2004 - the topic, and something to judge
        raise UsageError("name the file of the topic, and then the pages: a file, a WARC file, ...")
    if not opts.langs:
        raise UsageError("say for which languages: --langs spa-eus, or --langs spa")
    return Path(args[0]), args[1:]


def _documents(inputs: list[str], reading: "SourceReading") -> "Iterator[Document]":
    """The pages of all inputs in a language that is wanted; others are counted."""
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
    from bilingual_crawler.corpus.sources.inputs import documents_from
    from bilingual_crawler.corpus.sources.tree import HTML, TEXT, read_file

    if "://" in source:
        raise ConfigurationError(
            f"{source} is not fetched here: save the page first, for example with"
            f" scrapy fetch --nolog {source} > page.html, and write page.html."
        )
    path = Path(source)
    if path.is_file() and path.suffix.lower() in HTML | TEXT:
        return iter([read_file(path, reading)])
    return documents_from(source, reading)


def _told(document: "Document", topic: "Topic", *, as_json: bool) -> Iterator[str]:
    from bilingual_crawler.reporting.terminal import plain
    from bilingual_crawler.topics.topic import explain_dict, explain_lines

    if as_json:
        yield json.dumps(explain_dict(document), ensure_ascii=False) + "\n"
    else:
        yield from (f"{plain(line)}\n" for line in explain_lines(document, topic))
