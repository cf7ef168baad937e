"""What the cleaning rule `unlikely` drops on recorded sites, on top of all other rules.

python -m benchmarks.translation_data DIR --langs eng-spa
python -m benchmarks.language_models DIR [--model own|others] [--half tune|test] [--rows 60]

`own` is a model of each site's own sentences, `others` one of the good sentences of all other
sites, in place of a user's text. Prints the pairs that are dropped per site, and rows to read, the
same number from each site while there are enough.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.translation_data import HarvestedPair, read
from benchmarks.web_sentences import is_test
from bilingual_crawler.alignment.language_models import LikelySide

SURE = 0.9


def sides_of(site: str, good: dict[str, list[HarvestedPair]], model: str) -> list[LikelySide]:
    sides = []
    for name in ("text1", "text2"):
        sure = [getattr(each, name) for each in good[site] if each.score >= SURE]
        if model == "own":
            sides.append(LikelySide(sure))
            continue
        rest = [getattr(each, name) for other in good if other != site for each in good[other]]
        random.Random(1).shuffle(rest)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(rest))
            file.flush()
            sides.append(LikelySide(sure, Path(file.name)))
    return sides


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--model", choices=("own", "others"), default="own")
    parser.add_argument("--half", choices=("tune", "test"), default="tune")
    parser.add_argument("--rows", type=int, default=60)
    options = parser.parse_args()
    good: defaultdict[str, list[HarvestedPair]] = defaultdict(list)
    for each in read(options.root):
        if not each.broken:
            good[each.site].append(each)
    dropped: dict[str, list[HarvestedPair]] = {}
    for site in sorted(good):
        if is_test(site) != (options.half == "test"):
            continue
        first, second = sides_of(site, good, options.model)
        dropped[site] = [
            each
            for each in good[site]
            if first.is_unlikely(each.text1) or second.is_unlikely(each.text2)
        ]
        print(f"| {site} | {len(good[site]):,} | {len(dropped[site]):,} |", flush=True)
    total = sum(len(good[site]) for site in dropped)
    print(f"| all | {total:,} | {sum(map(len, dropped.values())):,} |\n")
    for some in dropped.values():
        random.Random(1).shuffle(some)
    shown = 0
    while shown < options.rows and any(dropped.values()):
        for site, some in dropped.items():
            if some and shown < options.rows:
                shown, each = shown + 1, some.pop()
                print(f"{shown}. [{site}] {each.score}\n   {each.text1}\n   {each.text2}")


if __name__ == "__main__":
    main()
