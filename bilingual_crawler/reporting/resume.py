"""The command that goes on with a crawl: what was typed, and the folder it had."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from bilingual_crawler.urls.credentials import is_secret, without_credentials

PROGRAMS = {
    "scrapy": "scrapy",
    "bilingual-crawler": "bilingual-crawler",
    "bilingual_crawler": "bilingual-crawler",  # python -m bilingual_crawler
}


def resume_command(argv: Sequence[str], output: Path) -> str | None:
    """What to type to go on; None where the crawl was not begun on a command line.

    Seeds and settings are part of a crawl, so the whole command is repeated, with the
    folder added where the crawler had chosen it. Secrets are left for the user to fill in.
    """
    begin = next((at for at, word in enumerate(argv) if word == "crawl"), 0)
    program = Path(argv[begin - 1]).stem
    if not begin or program not in PROGRAMS:
        return None
    words = [_without_secret(word) for word in argv[begin:]]
    if not any(word.removeprefix("-a").startswith("output=") for word in words):
        words += ["-a", f"output={output}"]
    return shlex.join([PROGRAMS[program], *words])


def _without_secret(word: str) -> str:
    name, equals, _ = word.partition("=")
    return f"{name}=..." if equals and is_secret(name) else without_credentials(word)
