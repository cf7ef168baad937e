"""What a crawl would lose that stays below the folder it starts in, or on one host.

    python -m benchmarks.start_folders SITES

SITES has the gold lists of recorded sites, and a README.md whose table names where each starts.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.lab.labels import SkippedLines, gold_rows

ROW = re.compile(r"\| (?P<name>\S+) \| (?P<start>https?://[^\s|]+)")


class Losses(NamedTuple):
    """The known pairs of a site, and those that a narrower crawl reaches."""

    name: str
    pairs: int
    below_start: int
    on_one_host: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the sites that would lose pairs, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sites", type=Path, help="folder of the recorded sites")
    found = list(losses(parser.parse_args(arguments).sites))
    for each in found:
        if each.below_start < each.pairs:
            print(f"{each.name}: {each.below_start} of {each.pairs} pairs are below the start")
    pairs = sum(each.pairs for each in found)
    print(
        f"{len(found)} sites, {pairs:,} pairs: {sum(each.below_start for each in found):,} below"
        f" the start, {sum(each.on_one_host for each in found):,} on one host"
    )


def losses(sites: Path) -> Iterator[Losses]:
    """Yield what is reached of each site of the table."""
    for row in ROW.finditer((sites / "README.md").read_text("utf-8")):
        path = sites / f"{row['name']}.gold.tsv"
        gold = [tuple(map(urlsplit, each[:2])) for each in gold_rows(str(path), SkippedLines())]
        folder = urlsplit(row["start"]).path.rpartition("/")[0] + "/"
        yield Losses(
            row["name"],
            len(gold),
            sum(all(url.path.startswith(folder) for url in pair) for pair in gold),
            sum(_host(one.hostname) == _host(two.hostname) for one, two in gold),
        )


def _host(name: str | None) -> str:
    return (name or "").removeprefix("www.")


if __name__ == "__main__":
    main()
