"""`scrapy classify`: run a URL model on the command line or in a pipeline."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from itertools import islice

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import (
    BaseCommand,
    add_model_options,
    one_or_more,
    piped_output,
    take_task,
)

BATCH = 256

DETAILS = """\
url2lang prints each URL, then languages (ISO 639-3) and their probabilities, most likely first:

  $ scrapy classify url2lang https://www.example.org/es/contacto
  https://www.example.org/es/contacto	spa	0.9871	cat	0.0052	glg	0.0021

parallel prints each pair and the probability that the pages are translations of each other:

  $ scrapy classify parallel https://example.org/es/a https://example.org/eu/a
  https://example.org/es/a	https://example.org/eu/a	0.9934

Without URLs, or with -, lines are read from standard input: one URL, or two separated by a tab.
Output is tab-separated and in the order of the input:

  zcat urls.gz | scrapy classify url2lang --top 1 | awk -F'\\t' '$2 == "eus" && $3 > 0.5'
"""


class ClassifyCommand(BaseCommand):
    """Reads URLs or pairs, and prints what the model says about them."""

    usage = "url2lang [URL...] | parallel [URL URL]"
    summary = "Predict the language of URLs, or whether two are translations"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        add_model_options(parser)
        group = parser.add_argument_group("Classification")
        group.add_argument(
            "--top",
            type=one_or_more,
            default=3,
            metavar="N",
            help="url2lang: number of languages per URL (3)",
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Answer line by line."""
        task, urls = take_task(args)
        with piped_output():
            if task == "url2lang":
                self._languages(urls, opts)
            else:
                self._pairs(urls, opts)

    def _languages(self, urls: list[str], opts: argparse.Namespace) -> None:
        from bilingual_crawler.scoring.classifier import Url2Lang
        from bilingual_crawler.scoring.models import find_model

        folder = find_model("url2lang", opts.model)
        model = Url2Lang(folder, provider=opts.provider, threads=opts.threads)
        for part in _parts(_given(urls)):
            for url, answers in zip(part, model.languages(part, opts.top), strict=True):
                _write(url, *(text for code, share in answers for text in (code, f"{share:.4f}")))

    def _pairs(self, urls: list[str], opts: argparse.Namespace) -> None:
        from bilingual_crawler.scoring.classifier import ParallelUrls
        from bilingual_crawler.scoring.models import find_model

        if urls != ["-"] and len(urls) not in {0, 2}:
            raise UsageError("parallel takes two URLs, or lines of two URLs on standard input")
        folder = find_model("parallel", opts.model)
        model = ParallelUrls(folder, provider=opts.provider, threads=opts.threads)
        bad = 0
        for part in _parts(["\t".join(urls)] if len(urls) > 1 else _given(urls)):
            split = [tuple(line.split("\t")) for line in part]
            pairs = [(pair[0], pair[1]) for pair in split if len(pair) > 1 and all(pair[:2])]
            bad += len(part) - len(pairs)
            for pair, share in zip(pairs, model.probabilities(pairs).tolist(), strict=True):
                _write(*pair, f"{share:.4f}")
        if bad:
            lines = "line" if bad == 1 else "lines"
            sys.stderr.write(f"{bad:,} {lines} skipped: not two URLs separated by a tab.\n")


def _given(urls: list[str]) -> Iterable[str]:
    """Return the arguments, or the lines of standard input; bytes that are not UTF-8 survive."""
    if urls and urls != ["-"]:
        return urls
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    lines = (line.strip("\r\n") for line in sys.stdin)
    return (line for line in lines if line.strip())


def _parts(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lines in batches, for speed; one by one if a person is typing."""
    iterator = iter(lines)
    size = 1 if sys.stdin.isatty() else BATCH
    while part := list(islice(iterator, size)):
        yield part
        sys.stdout.flush()


def _write(*fields: str) -> None:
    """Write one line; without control characters if it goes to a terminal."""
    if sys.stdout.isatty():
        from bilingual_crawler.reporting.terminal import plain

        fields = tuple(map(plain, fields))
    sys.stdout.write("\t".join(fields) + "\n")
