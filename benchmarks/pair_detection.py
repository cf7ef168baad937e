"""What each detector finds on its own, and what is lost without it, on recorded real sites.

The sites are every NAME.warc.gz with a NAME.gold.tsv, with the largest language pair and declared
translations stripped. A detector on its own takes what it scores 0.5 or more, best first, each page
once. The weights of the combined model were learned from these very sites; for its figures on sites
that were left out, see `python -m tools.train_pairing`. What is lost without a detector is measured
with the same weights, with its features hidden.

    python -m benchmarks.pair_detection [FOLDER]
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.offline import Task, find_pairs
from bilingual_crawler.corpus.sources.reading import SourceReading
from bilingual_crawler.lab.evaluation.pairs_report import evaluate
from bilingual_crawler.lab.replay.gold import ENDING, largest_pairs, read_gold
from bilingual_crawler.lab.replay.recording import site_name
from bilingual_crawler.lab.replay.site import without_alternates
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.scoring.shared_models import parallel_urls_if_there

ALL = "all together"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    aids = PairingAids(url_model=parallel_urls_if_there(Config()))
    alone: defaultdict[str, Counter[str]] = defaultdict(Counter)
    without: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for warc in sorted(parser.parse_args().folder.glob("*.warc.gz")):
        gold = warc.with_name(site_name(warc) + ENDING)
        if not gold.exists():
            continue
        pair = LanguagePair.parse(largest_pairs(read_gold(gold))[0])
        reading = SourceReading(pair, without_alternates)
        task = Task(inputs=(str(warc),), reading=reading, keep_pages=True, aids=aids)
        figures = evaluate(find_pairs(task), gold, ablation=True)
        for name, found in {ALL: figures, **figures["detectors"]}.items():
            _count(alone[name], found, figures["gold"])
        for name, found in figures["ablation"].items():
            _count(without[name], found, figures["gold"])
    _count(without[ALL], alone[ALL], alone[ALL]["gold"])
    print("| detector | precision alone | recall alone | precision without | recall without |")
    print("|---|---:|---:|---:|---:|")
    for name, counts in sorted(alone.items(), key=lambda each: -each[1]["correct"]):
        print(f"| `{name}` | {_figures(counts)} | {_figures(without[name])} |")


def _count(counts: Counter[str], found: dict[str, int], gold: int) -> None:
    counts.update(correct=found["correct"], wrong=found["wrong"], gold=gold)


def _figures(counts: Counter[str]) -> str:
    judged = counts["correct"] + counts["wrong"]
    precision = f"{counts['correct'] / judged:.3f}" if judged else "-"
    return f"{precision} | {counts['correct'] / max(1, counts['gold']):.3f}"


if __name__ == "__main__":
    main()
