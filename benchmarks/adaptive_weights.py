"""Learn the weights of the adaptive scorer on recorded sites, and measure them on sites left out.

The sites are dealt into folds. For each fold, the weights are learned on all other sites (a random
search: change a few of them, keep what is better) and measured on its own. What is reported is the
mean of these left-out figures. The weights that are written are learned on all sites in the same
way, starting from the mean of those of the folds.

    python -m benchmarks.adaptive_weights [FOLDER] [--folds 2] [--rounds 60] [--most-pages 450]
        [--out bilingual_crawler/data/adaptive.json] [--log LOG.jsonl]
"""

import argparse
import json
import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from zlib import crc32

from benchmarks.recorded_pairs import SHARED
from benchmarks.simulate_sites import jobs_for
from bilingual_crawler.lab.replay import curve
from bilingual_crawler.lab.replay.measure import Job, NothingToMeasureError
from bilingual_crawler.lab.simulation.measure import Simulation
from bilingual_crawler.scoring.adaptive.weights import ValueWeights, using

CHANGED_AT_ONCE = 4
STEP = 0.5
BEHIND = 0.04
BEHIND_COSTS = 0.5
"""What it costs to be further behind the better of rules and breadth-first, in AUC."""
LEAST_GAP = 0.02
LEAST, MOST = 0.005, 0.99


@dataclass
class Case:
    """A site and language pair, with the figures that do not depend on the weights."""

    site: str
    simulation: Simulation
    breadth_first: float
    rules: float
    oracle: float

    def auc(self, scorer: str = "adaptive") -> float:
        """Return the AUC of a simulated crawl."""
        return area_of(self.simulation, self.simulation.run_scorer(scorer).order)


def area_of(simulation: Simulation, order: Sequence[str]) -> float:
    prepared = simulation.prepared
    pages = (prepared.copies.get(page, page) for page in order)
    values = curve.yield_curve(pages, prepared.reachable)
    return curve.area(values, len(prepared.reachable), prepared.graph.pages)


def cases_of(folder: Path, most_pages: int, *, strip: bool) -> list[Case]:
    found = []
    for warc, gold, langs in jobs_for(folder):
        try:
            simulation = Simulation(
                Job(warc=warc, gold=gold, scorers=(), langs=langs, strip=strip, simulate=True)
            )
        except NothingToMeasureError:
            continue
        if simulation.prepared.graph.pages > most_pages:
            continue
        first, rules = (
            area_of(simulation, simulation.run_scorer(name).order)
            for name in ("breadth_first", "rules")
        )
        ideal = area_of(simulation, simulation.prepared.ideal)
        simulation.web.save()
        if ideal - first > LEAST_GAP:
            found.append(Case(simulation.prepared.site, simulation, first, rules, ideal))
    return found


def objective(cases: Sequence[Case], aucs: Sequence[float]) -> float:
    """Return the mean AUC, less what being behind simpler scorers costs."""
    behind = (
        max(0.0, max(case.rules, case.breadth_first) - auc - BEHIND)
        for case, auc in zip(cases, aucs, strict=True)
    )
    return fmean(aucs) - BEHIND_COSTS * fmean(behind)


def share(cases: Sequence[Case], aucs: Sequence[float]) -> float:
    first = fmean(case.breadth_first for case in cases)
    return (fmean(aucs) - first) / (fmean(case.oracle for case in cases) - first)


def moved(weights: ValueWeights, rng: random.Random) -> ValueWeights:
    """Return the weights with a few of them changed, in their own scale."""
    names = [each.name for each in fields(ValueWeights)]
    changes = {}
    for name in rng.sample(names, CHANGED_AT_ONCE):
        value, by = getattr(weights, name), rng.gauss(0.0, STEP)
        changes[name] = round(_moved(name, value, by), 5)
    return replace(weights, **changes)


def _moved(name: str, value: float, by: float) -> float:
    if _is_count(name) or name == "floor":
        return value * math.exp(by)
    value = min(MOST, max(LEAST, value))
    odds = math.log(value / (1.0 - value)) + by
    return min(MOST, max(LEAST, 1.0 / (1.0 + math.exp(-odds))))


def _is_count(name: str) -> bool:
    return name.endswith(("_prior", "_pages"))


def mean_of(some: Sequence[ValueWeights]) -> ValueWeights:
    """Return the mean of some weights: geometric for counts, arithmetic for shares."""
    values = {}
    for each in fields(ValueWeights):
        column = [getattr(weights, each.name) for weights in some]
        if _is_count(each.name):
            values[each.name] = math.exp(fmean(map(math.log, column)))
        else:
            values[each.name] = fmean(column)
    return ValueWeights(**{name: round(value, 5) for name, value in values.items()})


def learn(
    cases: Sequence[Case], start: ValueWeights, rounds: int, seed: int, log: Path
) -> ValueWeights:
    """Return better weights than `start`, found by changing a few of them at a time.

    A search that was interrupted goes on from what its log has.
    """
    rng = random.Random(seed)
    done, start = resumed(log, seed, start)
    best, most = start, -1.0
    for at in range(done, rounds + 1):
        tried = moved(best, rng) if at > done else start
        with using(tried):
            value = objective(cases, [case.auc() for case in cases])
        if value > most:
            best, most = tried, value
            line = {"seed": seed, "round": at, "objective": value, "weights": asdict(best)}
            with log.open("a") as file:
                file.write(json.dumps(line) + "\n")
    return best


def resumed(log: Path, seed: int, start: ValueWeights) -> tuple[int, ValueWeights]:
    """Return the round and the weights at which a search with this log had arrived."""
    if not log.exists():
        return 0, start
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    own = [line for line in lines if line["seed"] == seed]
    return (own[-1]["round"], ValueWeights(**own[-1]["weights"])) if own else (0, start)


def fold_of(site: str, folds: int) -> int:
    return crc32(site.encode()) % folds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--last-rounds", type=int, default=0, help="on all sites, in the end")
    parser.add_argument("--most-pages", type=int, default=450)
    parser.add_argument("--out", type=Path, help="where to write the weights")
    parser.add_argument("--log", type=Path, default=Path("adaptive-weights.jsonl"))
    options = parser.parse_args()
    cases = cases_of(options.folder, options.most_pages, strip=True)
    with using(ValueWeights()):
        before = [case.auc() for case in cases]
    print(f"{len(cases)} pairs, by hand: {share(cases, before):.3f} of the way", flush=True)
    learned, left_out = [], [0.0] * len(cases)
    for fold in range(options.folds):
        others = [case for case in cases if fold_of(case.site, options.folds) != fold]
        weights = learn(others, ValueWeights(), options.rounds, fold, options.log)
        learned.append(weights)
        with using(weights):
            seen = share(others, [case.auc() for case in others])
            for at, case in enumerate(cases):
                if fold_of(case.site, options.folds) == fold:
                    left_out[at] = case.auc()
        print(f"fold {fold}: {seen:.3f} of the way on the sites it learned on", flush=True)
    figures = {
        "by_hand": round(share(cases, before), 3),
        "left_out": round(share(cases, left_out), 3),
        "pairs": len(cases),
    }
    print(f"left out: {figures['left_out']:.3f} of the way", flush=True)
    weights = learn(cases, mean_of(learned), options.last_rounds, options.folds, options.log)
    with using(weights):
        figures["seen"] = round(share(cases, [case.auc() for case in cases]), 3)
    print(f"written: {figures['seen']:.3f} of the way on all of these sites", flush=True)
    if options.out:
        stored = {"learned": {**figures, "folds": options.folds, "rounds": options.rounds}}
        stored["weights"] = asdict(weights)
        options.out.write_text(json.dumps(stored, indent=2) + "\n")


if __name__ == "__main__":
    main()
