"""`scrapy score`: explains the score of a link, factor by factor."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from bilingual_crawler.commands.base import BaseCommand, print_lines

if TYPE_CHECKING:
    from bilingual_crawler.scoring.explanation import Explanation

DETAILS = """\
  $ scrapy score https://udala.example/eu/agenda --from https://udala.example/es/agenda \\
        --langs spa-eus

explains a link from one page to another with every scorer, or with one (--scorer NAME). Nothing
is downloaded. With --crawl DIR, scorers know what they learned in that crawl, which may be running.

--from-lang is the language of the page with the link. By default it is what the crawl found, or
what the URL says, or the first of the two languages.

JSON is one line: url, from, from_lang, langs, waiting_at (the priority in the crawl, if it waits)
and scores: for each scorer score (null: not followed) and factors (name, value, why), or error.
"""


class ScoreCommand(BaseCommand):
    """Explains the score of one link."""

    usage = "URL --from URL --langs PAIR [options]"
    summary = "Explain how promising a link is, factor by factor"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Link")
        group.add_argument("--from", dest="source", metavar="URL", help="the page with the link")
        group.add_argument("--langs", metavar="PAIR", help="the languages of the crawl (spa-eus)")
        group.add_argument("--from-lang", metavar="LANG", help="the language of that page")
        group.add_argument("--anchor", metavar="TEXT", default="", help="the text of the link")
        group.add_argument(
            "--depth",
            type=int,
            default=0,
            metavar="N",
            help="links between a seed and that page (0)",
        )
        group.add_argument("--scorer", metavar="NAME", help="only this scorer (default: all)")
        group.add_argument("--crawl", metavar="DIR", help="the folder of a crawl to learn from")
        group.add_argument("--topic", metavar="FILE", type=Path, help="the topic of the crawl")
        group.add_argument("--json", action="store_true", help="one line of JSON, for programs")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Ask the scorers, and print."""
        from bilingual_crawler.config.topic_definition import read_terms
        from bilingual_crawler.scoring.explanation import (
            LinkQuestion,
            explain_link,
        )
        from bilingual_crawler.topics import Topic

        if len(args) != 1 or args[0].startswith("-"):
            raise UsageError("name the URL of one link")
        if not opts.source:
            raise UsageError("name the page with the link: --from URL")
        if not opts.langs and not opts.crawl:
            raise UsageError("name the two languages: --langs spa-eus")
        if not all("://" in url for url in (args[0], opts.source)):
            raise UsageError("write both URLs in full, with https:// in front")
        question = LinkQuestion(
            url=args[0],
            source=opts.source,
            langs=opts.langs,
            source_language=opts.from_lang,
            anchor=opts.anchor,
            depth=opts.depth,
            scorer=opts.scorer,
            crawl=opts.crawl,
            topic=Topic(() if opts.topic is None else read_terms(opts.topic)),
        )
        explanation = explain_link(question, self.config())
        if opts.json:
            print(json.dumps(explanation.to_dict(), ensure_ascii=False))  # noqa: T201 - the answer
        else:
            print_lines(_lines(explanation))


def _lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the explanation for a person; scores of different scorers cannot be compared."""
    asked, pair = explanation.question, explanation.pair
    yield asked.url
    yield f"  on {asked.source} ({explanation.language}), for {' and '.join(map(str, pair))}"
    if explanation.waiting_at is not None:
        yield f"  waits in the crawl at priority {explanation.waiting_at:.4g}"
    for name, answer in explanation.answers.items():
        yield ""
        if answer.error:
            yield f"{name:<15} {answer.error}"
            continue
        yield f"{name:<15} {_number(answer.score)}"
        for factor in answer.factors:
            yield f"  {factor.name:<13} {_number(factor.value):<12}  {factor.why}"


def _number(value: float) -> str:
    return "not followed" if value == float("-inf") else f"{value:.4g}"
