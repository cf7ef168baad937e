"""Prints a frontier for people and programs."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.text import Text

from bilingual_crawler.frontier.view import STATES, Host, Status, Url, Worker
from bilingual_crawler.outcomes import outcome_sentence
from bilingual_crawler.reporting.tally import largest_first
from bilingual_crawler.reporting.terminal import DIM, STRONG, WARN, duration, grid, plain, shown
from bilingual_crawler.store.durable import replacing_file, text_file

COLUMNS = ("state", "score", "outcome", "attempts", "host", "url", "fingerprint")
MEGABYTE = 1_000_000


def show_status(status: Status, *, as_json: bool) -> None:
    """Print the counts, the workers, and how URLs ended."""
    if as_json:
        _line(asdict(status) | {"outcomes": largest_first(status.outcomes)})
        return
    console = _console()
    running = "a crawl is running" if status.is_running else "no crawl is running"
    console.print(shown(f"{status.place}: {running}", STRONG))
    amounts = [
        (each.replace("_", " "), getattr(status, each))
        for each in ("hosts", *STATES, "over_budget", "sites_held")
    ]
    rows = [(shown(f"{n:,}"), shown(name)) for name, n in amounts if n is not None]
    console.print(grid(rows, right=frozenset({0})))
    if status.memory_bytes is not None:
        console.print(shown(f"Redis uses {status.memory_bytes / MEGABYTE:,.1f} MB of memory."))
    if status.workers is not None:
        console.print()
        console.print(_workers(status.workers))
    if status.outcomes:
        console.print()
        ended = largest_first(status.outcomes).items()
        reasoned = (
            (shown(f"{number:,}"), shown(reason), shown(outcome_sentence(reason), DIM))
            for reason, number in ended
        )
        console.print(grid(reasoned, right=frozenset({0})))


def show_urls(urls: Iterable[Url], *, as_json: bool) -> None:
    """Print the best waiting URLs."""
    if as_json:
        for each in urls:
            _line(each.to_dict())
        return
    rows = [(shown(_score(each)), shown(each.host), shown(each.url or "")) for each in urls]
    _console().print(grid([_head("score", "host", "URL"), *rows], right=frozenset({0})))


def show_hosts(hosts: Iterable[Host], *, as_json: bool) -> None:
    """Print every host, those with the most waiting URLs first."""
    ordered = sorted(hosts, key=lambda each: (-each.waiting, each.host))
    if as_json:
        for each in ordered:
            _line(asdict(each))
        return
    numbers = ("waiting", "in_flight", "done", "failed")
    head = _head(*(name.replace("_", " ") for name in numbers), "next in", "worker", "host")
    rows = [
        (
            *(shown(_number(getattr(each, name))) for name in numbers),
            shown("-" if each.next_allowed is None else f"{each.next_allowed:.1f} s"),
            shown(each.holder or "-"),
            shown(each.host),
        )
        for each in ordered
    ]
    _console().print(grid([head, *rows], right=frozenset(range(5))))


def show_requeued(number: int, *, as_json: bool) -> None:
    """Print how many URLs were requeued."""
    if as_json:
        _line({"requeued": number})
    else:
        sys.stdout.write(f"{number:,} URLs requeued\n")


def export(urls: Iterable[Url], form: str, out: Path | None) -> None:
    """Write every URL to a file (gzipped if its name ends in .gz) or to standard output."""
    if out is None:
        _write(urls, form, sys.stdout)
        return
    with replacing_file(out) as path, text_file(path) as text:
        number = _write(urls, form, text)
    sys.stderr.write(f"{number:,} URLs written to {out}\n")


def _write(urls: Iterable[Url], form: str, out: TextIO) -> int:
    if form == "tsv":
        out.write("\t".join(COLUMNS) + "\n")
    number = 0
    for each in urls:
        number += 1
        fields = each.to_dict()
        if form == "tsv":
            cells = ("" if fields[name] is None else str(fields[name]) for name in COLUMNS)
            out.write("\t".join(map(plain, cells)) + "\n")
        else:
            out.write(json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n")
    return number


def _workers(workers: list[Worker]) -> object:
    if not workers:
        return shown("There is no worker.", WARN)
    rows = [
        (
            shown(each.name),
            shown(f"{each.sites:,}"),
            shown(f"{each.in_flight:,}"),
            _lease(each),
            shown("-" if each.oldest is None else duration(each.oldest)),
        )
        for each in workers
    ]
    head = _head("worker", "sites", "in flight", "lease ends in", "oldest in flight")
    return grid([head, *rows], right=frozenset({1, 2, 3, 4}))


def _lease(worker: Worker) -> Text:
    if worker.seconds_left < 0:
        return shown("expired", WARN)
    return shown(f"{worker.seconds_left:.0f} s")


def _score(url: Url) -> str:
    return "seed" if url.score is None else f"{url.score:.2f}"


def _number(amount: int | None) -> str:
    return "-" if amount is None else f"{amount:,}"


def _head(*names: str) -> tuple[Text, ...]:
    return tuple(shown(name, DIM) for name in names)


def _line(fields: object) -> None:
    sys.stdout.write(json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n")


def _console() -> Console:
    """Return a console that cuts long URLs only on a terminal."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 10_000
    return console
