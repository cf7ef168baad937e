"""What a corpus is worth to a translation system: with and without each rule, in two orders.

python -m benchmarks.translation_data DIR --langs eng-spa          harvest the recorded sites
python -m benchmarks.translation rules DIR [--seeds 3]             leave out one cleaning rule
python -m benchmarks.translation orders DIR --langs eng-spa        crawl each site in both orders
python -m benchmarks.translation orders-arms DIR [--seeds 3]       train on the first downloads
python -m benchmarks.translation report DIR                        the tables

The same recipe for all arms: a phrase-based system (`lab/evaluation/phrase_translation.py`) learns
from most of the sites and translates sentences of the others, which are the same for all arms of a
seed. A seed draws the sites and the sentences. BLEU, chrF and TER are those of sacrebleu, on words
in lower case. The figures are low, because the corpus is tiny: only differences count, and only
those that are larger than the noise. The arm "a tenth less" leaves out a tenth of the pairs at
random, "a fifth with wrong partners" shows what damage looks like, and the standard deviation is
that of the difference over seeds.

Each result is a line of DIR/results.tsv; what is there is not run again.
"""

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean, stdev

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from benchmarks.recorded_pairs import SHARED
from benchmarks.translation_data import HarvestedPair, read
from bilingual_crawler.export.safe_text import tokens
from bilingual_crawler.lab.evaluation.phrase_translation import PhraseTranslator
from bilingual_crawler.lab.replay.measure import BREADTH_FIRST, Job, NothingToMeasureError
from bilingual_crawler.lab.simulation.measure import simulate

RESULTS, ORDERS = "results.tsv", "orders.json"
ALL, NONE, LESS, WRONG = "all rules", "no rule", "a tenth less", "a fifth with wrong partners"
TEST_SHARE = 0.3
MOST_TESTS = 300
"""Sentences that are translated, the same number from each held-out site while there are enough."""
SHORTEST, LONGEST = 4, 25
"""Words of a sentence that is translated."""
SURE = 0.9
SHARES = (0.1, 0.2, 0.4)
"""Downloads of a crawl, as a share of the pages that can be reached."""
SMART = "smart"

Names = dict[str, list[str]]
Scores = tuple[float, float, float]


def words(text: str) -> list[str]:
    return list(tokens(text.lower()))


class Split:
    """The sites to learn from, and sentences of the others with their translations."""

    def __init__(self, pairs: Sequence[HarvestedPair], seed: int) -> None:
        chance = Random(seed)
        sites = sorted({each.site for each in pairs})
        chance.shuffle(sites)
        held_out = set(sites[: max(1, round(TEST_SHARE * len(sites)))])
        by_site: defaultdict[str, list[HarvestedPair]] = defaultdict(list)
        for each in pairs:
            if each.site in held_out and is_test(each):
                by_site[each.site].append(each)
        for some in by_site.values():
            chance.shuffle(some)
        rounds = zip(*(_padded(by_site[site]) for site in sorted(by_site)), strict=True)
        chosen = [each for some in rounds for each in some if each is not None][:MOST_TESTS]
        self.tests = [(words(each.text1), words(each.text2)) for each in chosen]
        known = {each.text1 for each in chosen} | {each.text2 for each in chosen}
        self.pairs = [
            each
            for each in pairs
            if each.site not in held_out and each.text1 not in known and each.text2 not in known
        ]

    def scores(self, chosen: Iterable[HarvestedPair]) -> tuple[int, Scores]:
        """Return the number of pairs and BLEU, chrF and TER of a system that learns from them."""
        system = PhraseTranslator((words(each.text1), words(each.text2)) for each in chosen)
        made = [" ".join(system.translate(source)) for source, _ in self.tests]
        true = [[" ".join(target) for _, target in self.tests]]
        metrics = BLEU(tokenize="none", force=True), CHRF(), TER()
        bleu, chrf, ter = (each.corpus_score(made, true).score for each in metrics)
        return system.size, (bleu, chrf, ter)


def _padded(some: list[HarvestedPair]) -> list[HarvestedPair | None]:
    return [*some[:MOST_TESTS], *[None] * (MOST_TESTS - len(some))]


def is_test(pair: HarvestedPair) -> bool:
    """Return True for a surely good pair of sentences that are neither short nor long."""
    if pair.broken or pair.score < SURE:
        return False
    return all(SHORTEST <= len(words(text)) <= LONGEST for text in (pair.text1, pair.text2))


def rule_arms(
    pairs: Sequence[HarvestedPair], seed: int
) -> Iterator[tuple[str, list[HarvestedPair]]]:
    """Yield the corpora to learn from: cleaned, without one rule, not cleaned, and a bit less."""
    good = [each for each in pairs if not each.broken]
    yield ALL, good
    yield LESS, Random(seed).sample(good, math.floor(0.9 * len(good)))
    yield WRONG, _mispaired(good, Random(seed))
    yield NONE, list(pairs)
    for rule in sorted({name for each in pairs for name in each.broken}):
        yield f"without {rule}", [each for each in pairs if set(each.broken) <= {rule}]


def thinned(pairs: Sequence[HarvestedPair], most: int, seed: int) -> list[HarvestedPair]:
    """Return a random share of the pairs, good and bad alike, with about `most` good ones."""
    good = sum(not each.broken for each in pairs)
    chance, share = Random(seed), min(1.0, most / max(1, good))
    return [each for each in pairs if chance.random() < share]


def _mispaired(pairs: Sequence[HarvestedPair], chance: Random) -> list[HarvestedPair]:
    """Return the pairs, a fifth of them with the translation of another one."""
    chosen = chance.sample(range(len(pairs)), len(pairs) // 5)
    partners = dict(zip(chosen, [*chosen[1:], *chosen[:1]], strict=True))
    return [
        replace(each, text2=pairs[partners[at]].text2) if at in partners else each
        for at, each in enumerate(pairs)
    ]


def order_arms(
    pairs: Sequence[HarvestedPair], orders: Mapping[str, Mapping[str, list[str]]]
) -> Iterator[tuple[str, list[HarvestedPair]]]:
    """Yield the good pairs of the pages that each order downloads first."""
    for share in SHARES:
        for scorer in (BREADTH_FIRST, SMART):
            fetched = {
                site: set(some[scorer][: math.ceil(share * int(some["pages"][0]))])
                for site, some in orders.items()
            }
            chosen = [
                each
                for each in pairs
                if not each.broken and {each.url1, each.url2} <= fetched.get(each.site, set())
            ]
            yield f"{scorer} {share:.0%}", chosen


def crawl_orders(root: Path, langs: str, wanted: Sequence[str]) -> None:
    """Simulate a crawl of each harvested site in both orders; write the downloads of each."""
    file = root / ORDERS
    orders: dict[str, Names] = json.loads(file.read_text()) if file.exists() else {}
    for harvested in sorted(root.glob("*.jsonl.gz")):
        site = harvested.name.removesuffix(".jsonl.gz")
        if site in orders or (any(wanted) and site not in wanted):
            continue
        warc = SHARED / "sites" / f"{site}.warc.gz"
        gold = warc.with_name(f"{site}.gold.tsv")
        job = Job(warc=warc, gold=gold, scorers=(BREADTH_FIRST, SMART), langs=langs)
        try:
            found = simulate(job)
        except NothingToMeasureError as error:
            print(error, flush=True)
            continue
        kept = {each: found.orders[each] for each in job.scorers}
        orders[site] = {**kept, "pages": [str(found.pages)]}
        file.write_text(json.dumps(orders))
        print(site, found.pages, "pages", flush=True)


def run(root: Path, kind: str, seeds: int, most: int) -> None:
    """Run the arms that have no line in the results yet."""
    pairs = list(read(root))
    results = root / RESULTS
    done = {tuple(line.split("\t")[:3]) for line in _lines(results)}
    for seed in range(seeds):
        split = Split(pairs, seed)
        if kind == "rules":
            arms = rule_arms(thinned(split.pairs, most, seed), seed)
        else:
            arms = order_arms(split.pairs, json.loads((root / ORDERS).read_text()))
        for name, chosen in arms:
            if (kind, str(seed), name) in done:
                continue
            size, scores = split.scores(chosen)
            figures = "\t".join(f"{each:.3f}" for each in scores)
            with results.open("a") as file:
                file.write(f"{kind}\t{seed}\t{name}\t{size}\t{figures}\n")
            print(kind, seed, name, size, figures, flush=True)


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def report(root: Path) -> None:
    """Print, per arm, the mean scores, and the mean and deviation of the difference in BLEU."""
    found: defaultdict[str, defaultdict[str, dict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for line in _lines(root / RESULTS):
        kind, seed, name, *figures = line.split("\t")
        found[kind][name][seed] = [float(each) for each in figures]
    for kind, arms in found.items():
        print(f"\n| {kind} | seeds | pairs | BLEU | chrF | TER | BLEU, change | chrF, change |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for name, runs in arms.items():
            base = name.replace(SMART, BREADTH_FIRST) if kind == "orders-arms" else ALL
            means = [fmean(column) for column in zip(*runs.values(), strict=True)]
            cells = f"{means[0]:,.0f} | {means[1]:.2f} | {means[2]:.2f} | {means[3]:.1f}"
            both = [(runs[seed], arms[base][seed]) for seed in runs if seed in arms[base]]
            print(f"| {name} | {len(runs)} | {cells} | {_gap(both, 1)} | {_gap(both, 2)} |")


def _gap(both: Sequence[tuple[list[float], list[float]]], at: int) -> str:
    gaps = [one[at] - other[at] for one, other in both]
    if not any(gaps):
        return "-"
    spread = f" ± {stdev(gaps):.2f}" if len(gaps) > 1 else ""
    return f"{fmean(gaps):+.2f}{spread}"


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("step", choices=("rules", "orders", "orders-arms", "report"))
    parser.add_argument("root", type=Path)
    parser.add_argument("--langs", default="eng-spa")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=5_000, help="good pairs to learn from")
    parser.add_argument("--sites", default="", help="orders: some of the sites")
    options = parser.parse_args()
    if options.step == "report":
        report(options.root)
    elif options.step == "orders":
        crawl_orders(options.root, options.langs, options.sites.split(","))
    else:
        run(options.root, options.step, options.seeds, options.pairs)


if __name__ == "__main__":
    main()
