"""Whole crawls, run as a user runs them: the command in a process of its own."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support import processes
from tests.support.processes import HANG

ROOT = Path(__file__).parents[2]
FAST = {
    "BILINGUAL_ALLOW_PRIVATE": 1,
    "BILINGUAL_RETRY_DELAY": 0.1,
    "BILINGUAL_PROGRESS": "off",
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "EXTENSIONS": '{"bilingual_crawler.crawl.extensions.picture.YieldPicture": null}',  # slow
}


def command(url, output, *, spider="bilingual", langs="spa-eus", arguments=None, settings=None):
    """The command line of a crawl, with no delays: the server is ours."""
    given = {"langs": langs, "seeds": url, "output": output} | (arguments or {})
    parts = [sys.executable, "-m", "scrapy", "crawl", spider]
    for name, value in given.items():
        if value is not None:
            parts += ["-a", f"{name}={value}"]
    for name, value in (FAST | (settings or {})).items():
        parts += ["-s", f"{name}={value}"]
    return parts


def start(url, output, *, cwd=ROOT, proxy=None, **options):
    """Start a crawl and leave it running; with `proxy` everything is fetched from there."""
    return processes.start(
        command(url, output, **options),
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ
        | {"NO_COLOR": "1", "COLUMNS": "200"}
        | ({} if proxy is None else {"http_proxy": proxy}),
    )


def finish(process, *, status=0):
    """Wait until a crawl has ended, and return what it printed."""
    try:
        printed, _ = process.communicate(timeout=HANG)
    except subprocess.TimeoutExpired:
        processes.end(process)
        raise AssertionError(f"the crawl did not end in {HANG} s") from None
    assert process.returncode == status, printed
    return printed


def crawl(url, output, *, status=0, **options):
    """Run a crawl to its end, and return what it printed."""
    return finish(start(url, output, **options), status=status)


def kill(process):
    """Kill a crawl, as a power failure would."""
    processes.end(process)


def documents(output):
    with gzip.open(Path(output) / "documents.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def pairs(output):
    with (Path(output) / "pairs.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def report(output):
    return json.loads((Path(output) / "crawl.json").read_text())
