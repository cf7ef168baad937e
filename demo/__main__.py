"""Show the crawler at work: `python -m demo` serves the sample site and crawls it.

The crawl is the command that users type, run in its own process on the same terminal. At the end
its pairs are compared with those that the site is known to have; the exit status is 1 if a pair is
missing or wrong.
"""

import argparse
import contextlib
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from types import FrameType

from demo.content import expected_pairs, optional_pairs

ROOT = Path(__file__).parents[1]
CRAWLS = Path("crawls")
STOP_SECONDS = 10

Pairs = set[tuple[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the site, crawl it, and compare the pairs."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--pages", type=int, default=0, help="generated article pairs to add")
    parser.add_argument("--output", type=Path, help="folder of the crawl (default: a new one)")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminated)
    folder = (options.output or _fresh_folder(ROOT / CRAWLS)).resolve()
    with _server(options.pages) as url:
        print(f"The sample site is at {url}; the crawl of it writes to {_short(folder)}.\n")
        command = _command(url, _short(folder))
        print("$ " + " \\\n    ".join(command) + "\n", flush=True)
        status = _crawl(["-m", *shlex.split(" ".join(command))])
    if status:
        print(f"\nThe crawl failed with exit status {status}.")
        return 1
    return _verdict(_found(folder), expected_pairs(url, options.pages), optional_pairs(url))


def _fresh_folder(crawls: Path) -> Path:
    name = f"demo-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    numbered = (crawls / f"{name}-{number}" for number in count(2))
    return next(each for each in chain([crawls / name], numbered) if not each.exists())


def _short(folder: Path) -> Path:
    return folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder


@contextlib.contextmanager
def _server(pages: int) -> Iterator[str]:
    """Serve the sample site for the duration of the block, and yield its URL.

    The server has its own session, so that Ctrl-C stops only the crawl, which can then end cleanly.
    """
    command = [sys.executable, "-m", "demo.server", "--port", "0", "--pages", str(pages)]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url.startswith("http://"):
                raise SystemExit("The sample site could not be served.")
            yield url
        finally:
            server.terminate()


def _command(url: str, folder: Path) -> list[str]:
    """Return the command as it is shown, one option per line."""
    settings = {
        "BILINGUAL_ALLOW_PRIVATE": "1",
        "BILINGUAL_CONTACT": "https://example.org/about-this-crawl",
        "BILINGUAL_RETRY_DELAY": "0.5",
        "AUTOTHROTTLE_ENABLED": "0",
        "DOWNLOAD_DELAY": "0.05",
    }
    arguments = {"langs": "spa-eus", "seeds": url, "output": folder}
    return [
        "scrapy crawl bilingual",
        *(f"-a {name}={shlex.quote(str(value))}" for name, value in arguments.items()),
        *(f"-s {name}={value}" for name, value in settings.items()),
    ]


def _crawl(arguments: list[str]) -> int:
    """Run the crawl, and leave Ctrl-C to it, however long it takes."""
    with subprocess.Popen([sys.executable, *arguments], cwd=ROOT) as crawl:  # noqa: S603 - the command shown
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return crawl.wait()
        except SystemExit:
            crawl.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                crawl.wait(STOP_SECONDS)
            crawl.kill()
            raise
        finally:
            signal.signal(signal.SIGINT, usual)


def _found(folder: Path) -> Pairs:
    lines = (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    return {(first, second) for first, second in (line.split("\t") for line in lines)}


def _verdict(found: Pairs, expected: Pairs, optional: Pairs) -> int:
    missing, wrong = expected - found, found - expected - optional
    for label, pairs in (("Missing", missing), ("Wrong", wrong)):
        for first, second in sorted(pairs):
            print(f"\n{label}: {first}\n{' ' * len(label)}  {second}")
    total = len(expected)
    if missing or wrong:
        print(f"\n{len(expected & found)} of {total} pairs found, {len(wrong)} wrong.")
        return 1
    print(f"\nAll {total} pairs that this site is known to have were found, and none is wrong.")
    if more := len(found - expected):
        are = "pair is" if more == 1 else "pairs are"
        print(f"{more} more {are} right too, though only one of the two pages names the other.")
    return 0


def _terminated(number: int, _frame: FrameType | None) -> None:
    """Raise an exception, so that the server and the crawl are stopped too."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
