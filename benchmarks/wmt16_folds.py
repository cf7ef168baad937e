"""One-to-one recall on WMT16's gold pairs, each site answered for by a model that has not seen it.

`scrapy train parallel --folds` leaves one model per fold of the sites. Here each of them aligns the
gold sites of its own fold, as `scrapy evaluate parallel --one-to-one --candidates` does. What a
fold reached is kept beside its model, so that a run that was killed goes on.

    python -m benchmarks.wmt16_folds FOLDS_FOLDER GOLD CANDIDATES
"""

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bilingual_crawler.lab.labels import registered_domain
from bilingual_crawler.lab.training.cross_validation import fold_of
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.input_files import open_text

KEPT = "wmt16.json"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line per fold, and the recall over all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folds", type=Path, help="the folder that --folds wrote")
    parser.add_argument("gold", type=Path, help="gold pairs: url, url")
    parser.add_argument("candidates", type=Path, help="all URLs of the gold sites")
    parser.add_argument("--langs", default="eng-fra", help="the language pair (eng-fra)")
    options = parser.parse_args(arguments)
    folders = sorted(options.folds.glob("fold-*"))
    found = []
    for number, folder in enumerate(folders):
        kept = folder / KEPT
        if not kept.exists():
            answer = _of(folder, number, len(folders), options)
            with replacing(kept) as fresh:
                fresh.write_text(json.dumps(answer), encoding="utf-8")
        found.append(json.loads(kept.read_text("utf-8")))
        _print(folder.name, [found[-1]])
    _print("all folds", found)


def _of(folder: Path, number: int, folds: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a fold's model on the gold sites of the fold."""
    with TemporaryDirectory() as work:
        gold, urls = (
            _of_fold(path, Path(work) / path.name, number, folds)
            for path in (options.gold, options.candidates)
        )
        return _evaluated(folder, gold, urls, options.langs)


def _of_fold(path: Path, out: Path, fold: int, folds: int) -> Path:
    """Write the lines of a file whose first URL is of a site of the fold."""
    opened = gzip.open if out.suffix == ".gz" else open
    with open_text(path) as lines, opened(out, "wt", encoding="utf-8") as kept:
        for line in lines:
            if fold_of(registered_domain(line.split("\t")[0].strip()), folds) == fold:
                kept.write(line)
    return out


def _evaluated(model: Path, gold: Path, candidates: Path, langs: str) -> dict[str, Any]:
    command = [
        sys.executable, "-m", "scrapy", "evaluate", "parallel", "--model", str(model),
        "--gold", str(gold), "--one-to-one", "--langs", langs, "--candidates", str(candidates),
        "--json",
    ]  # fmt: skip
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _print(name: str, found: Sequence[dict[str, Any]]) -> None:
    whole = sum(each["gold_pairs"] for each in found)
    names = ("recall", "soft_recall", "sure_recall", "baseline_recall", "baseline_soft_recall")
    shares = (sum(each[key] * each["gold_pairs"] for each in found) / whole for key in names)
    cells = ", ".join(f"{key} {share:.3f}" for key, share in zip(names, shares, strict=True))
    print(f"{name}: {whole} gold pairs of {sum(each['sites'] for each in found)} sites, {cells}")


if __name__ == "__main__":
    main()
