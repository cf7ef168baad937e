"""`scrapy audit`: a person reads a sample of the sentence pairs, and their precision is known."""

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bilingual_crawler.commands.base import (
    BaseCommand,
    add_langs_option,
    number_between,
    one_argument,
    print_lines,
    read_wanted,
    zero_or_more,
)

if TYPE_CHECKING:
    from rich.console import Console

    from bilingual_crawler.corpus.audit import Audit, Question

MARGINS = (0.005, 0.5)

DETAILS = """\
Shows sentence pairs of a crawl (scrapy align makes them) one by one, both texts side by side, and
takes a key for each:

  p  parallel      the texts say the same
  b  borderline    something is missing, added or loose, but most is translated
  w  wrong         the texts do not say the same
  s  skip          you cannot tell; the pair does not count
  u  undo          take back the last answer
  q  quit          stop for now; the same command goes on

The pairs are a random sample, stratified by score and spread over the sites. The audit is over
when the 95% interval of the precision is within --margin; then a last line says so, and you may go
on. Answers are kept in audit.jsonl in the folder, the result in audit.json. Every later export has
it in its datasheet: precision .96 +- .03 at score >= .5.

  scrapy audit crawls/spa-eus
  scrapy audit crawls/spa-eus --margin 0.03
  scrapy audit crawls/spa-eus --report

Without a terminal, one key per line is read from standard input.
"""


class AuditCommand(BaseCommand):
    """Asks, keeps the answers, and prints what they say."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    usage = "CRAWL_DIR [--margin X] [options]"
    summary = "Judge a random sample of sentence pairs, and estimate their precision"
    details = DETAILS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare our options after Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group("Audit")
        group.add_argument(
            "--margin",
            type=number_between(*MARGINS, f"a margin: write a number from {MARGINS[0]} to 0.5"),
            default=0.05,
            metavar="X",
            help="half of the interval at which the audit is over (0.05)",
        )
        group.add_argument(
            "--seed", type=zero_or_more, default=0, metavar="N", help="another sample (0)"
        )
        add_langs_option(group, "sentence pairs")
        group.add_argument(
            "--report", action="store_true", help="print what the answers say, and ask nothing"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Ask until the audit is over, and print the result."""
        from bilingual_crawler.corpus.audit import Audit, Sample, read_answers, write_result
        from bilingual_crawler.errors import ConfigurationError
        from bilingual_crawler.export.datasheet import audit_lines
        from bilingual_crawler.export.source import Account, CorpusSource, Selection
        from bilingual_crawler.store.folder import require_pairs

        folder = Path(one_argument(args, "the folder of a crawl"))
        require_pairs(folder, "scrapy audit")
        selection = Selection(langs=read_wanted(opts.langs))
        sample = Sample(lambda: CorpusSource(folder, Account(), selection).links(), opts.seed)
        if not sample.questions:
            raise ConfigurationError(f"{folder} has no good sentence pairs to judge.")
        audit = Audit(sample, read_answers(folder), opts.margin)
        if not opts.report:
            _ask(folder, audit)
        write_result(folder, audit)
        print_lines(line for part in audit_lines(audit.to_dict()) for line in part.split("\n"))


def _ask(folder: Path, audit: "Audit") -> None:
    from rich.console import Console

    from bilingual_crawler.corpus.audit import Verdict, write_answer

    console, key = Console(stderr=True, highlight=False), _keys()
    verdicts = {"p": Verdict.PARALLEL, "b": Verdict.BORDERLINE, "w": Verdict.WRONG}
    verdicts["s"] = Verdict.SKIPPED
    given: list[Question] = []
    was_enough = audit.is_enough
    while (question := audit.next_question()) is not None:
        _show(console, audit, question)
        pressed = key()
        if pressed in verdicts:
            audit.answers[question.digest] = verdicts[pressed]
            write_answer(folder, question, verdicts[pressed])
            given.append(question)
        elif pressed == "u" and given:
            last = given.pop()
            del audit.answers[last.digest]
            write_answer(folder, last, None)
        elif pressed in {"q", ""}:
            return
        if audit.is_enough and not was_enough:
            console.print(
                f"The interval is narrow enough ({audit.precision()}): q ends, other keys go on."
            )
            was_enough = True
            if not sys.stdin.isatty():
                return


def _show(console: "Console", audit: "Audit", question: "Question") -> None:
    from bilingual_crawler.corpus.audit import sample_size
    from bilingual_crawler.languages.table import language_of_tag
    from bilingual_crawler.reporting import audit_text

    row, interval = question.row, audit.precision()
    names = [language_of_tag(code) for code in (row.lang1, row.lang2)]
    languages = (
        names[0].name if names[0] else row.lang1,
        names[1].name if names[1] else row.lang2,
    )
    planned = sample_size(sum(audit.sample.pairs), audit.margin)
    about = f"{row.kind}, sentences {row.beads}"  # without the score, which would sway the reader
    console.print(
        audit_text.question_view((row.text1, row.text2), languages, (row.url1, row.url2), about)
    )
    console.print(
        audit_text.progress_line(interval.answers, planned, str(interval), enough=audit.is_enough)
    )
    console.print(audit_text.keys_line())


def _keys() -> Callable[[], str]:
    """Return what reads a key: at once on a terminal, or else the first letter of each line."""
    if not sys.stdin.isatty():
        return _line_key
    import termios
    import tty

    def key() -> str:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        try:
            tty.setcbreak(descriptor, termios.TCSADRAIN)  # keeps keys that were typed ahead
            with suppress(KeyboardInterrupt):
                return sys.stdin.read(1).lower()
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        return "q"

    return key


def _line_key() -> str:
    """Return the first letter of the next line; "" at the end of the input."""
    line = sys.stdin.readline()
    return line.strip()[:1].lower() or ("?" if line else "")
