"""What the commands that ask a URL model have in common.

Scrapy loads every command of every package whenever it starts, so the modules of this
package import nothing heavy: what a command works with is imported when it runs.
"""

import argparse
from typing import Literal, cast, get_args

from scrapy.exceptions import UsageError

Task = Literal["url2lang", "parallel"]
TASKS: tuple[str, ...] = get_args(Task)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Declare which model is asked, and on what it runs."""
    group = parser.add_argument_group("Model")
    group.add_argument(
        "--model", metavar="DIR", default="", help="model folder (default: the project's own model)"
    )
    group.add_argument(
        "--provider", choices=("cpu", "cuda"), default="cpu", help="what it runs on (cpu)"
    )
    group.add_argument(
        "--threads", type=one_or_more, default=1, metavar="N", help="its threads (1)"
    )


def one_or_more(text: str) -> int:
    """A whole number above zero, as argparse wants its types."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def take_task(args: list[str]) -> tuple[Task, list[str]]:
    """The task, and the arguments after it."""
    if not args or args[0] not in TASKS:
        raise UsageError(f"say which model first: {' or '.join(TASKS)}")
    return cast("Task", args[0]), args[1:]
