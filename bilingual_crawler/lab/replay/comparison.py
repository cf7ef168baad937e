"""How far a scorer goes from breadth-first to the oracle, over many sites.

The gain of one site is a poor figure where its gold list is thin or the oracle hardly better than
breadth-first. So means are taken first: the share of the way is the ratio of differences of mean
AUCs, and downloads are compared with those of the oracle on the same site.
"""

from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from bilingual_crawler.lab.replay import curve
from bilingual_crawler.lab.replay.measure import BREADTH_FIRST, DIGITS, ORACLE, SHARES, Measured

RULES = "rules"
BEHIND = 0.05


class Behind(NamedTuple):
    """A site on which a scorer is behind the better of `rules` and breadth-first."""

    site: str
    langs: str
    by: float


def mean_auc(results: Sequence[Measured], scorer: str) -> float:
    """Return the mean AUC of a scorer."""
    return fmean(each.scorers[scorer]["auc"] for each in results)


def share_of_the_way(results: Sequence[Measured], scorer: str) -> float | None:
    """Return how far mean AUCs go from breadth-first (0) to the oracle (1)."""
    names = (scorer, BREADTH_FIRST, ORACLE)
    if not results or not all(name in each.scorers for each in results for name in names):
        return None
    means = (mean_auc(results, name) for name in names)
    value = curve.gain(*means)
    return None if value is None else round(value, DIGITS)


def relative_downloads(
    results: Sequence[Measured], scorer: str, share: int, middle: Callable[..., float] = median
) -> float | None:
    """Return the downloads to a share of the pairs, relative to the oracle's: the median site.

    A crawl that never has them counts as one that has fetched every page.
    """
    name = f"downloads_to_{share}"
    ratios = [
        (each.scorers[scorer][name] or each.pages) / each.scorers[ORACLE][name]
        for each in results
        if each.scorers.get(ORACLE, {}).get(name)
    ]
    return round(middle(ratios), DIGITS) if ratios else None


def behind(results: Sequence[Measured], scorer: str, least: float = BEHIND) -> list[Behind]:
    """Return where a scorer is behind the better of `rules` and breadth-first, worst first.

    Without crawls by `rules` it is compared with breadth-first alone, which is always there.
    """
    found = []
    for each in results:
        plain = [each.scorers[name] for name in (RULES, BREADTH_FIRST) if name in each.scorers]
        best = max(crawl["auc"] for crawl in plain)
        by = best - each.scorers[scorer]["auc"]
        if by > least:
            found.append(Behind(each.site, each.langs, round(by, DIGITS)))
    return sorted(found, key=lambda case: -case.by)


def table(results: Sequence[Measured], scorers: Sequence[str]) -> str:
    """Return one line of Markdown per site and language pair: the AUC of every scorer."""
    names = [*dict.fromkeys([BREADTH_FIRST, *scorers]), ORACLE]
    lines = [
        f"| site | langs | pages | pairs | {' | '.join(names)} |",
        "|---|---|---:|---:|" + "---:|" * len(names),
    ]
    for each in results:
        figures = " | ".join(f"{each.scorers[name]['auc']:.3f}" for name in names)
        lines.append(f"| {each.site} | {each.langs} | {each.pages} | {each.pairs} | {figures} |")
    means = " | ".join(f"{mean_auc(results, name):.3f}" for name in names)
    lines.append(f"| **mean** | {len(results)} pairs | | | {means} |")
    return "\n".join(lines)


def summary(results: Sequence[Measured], scorers: Sequence[str]) -> str:
    """Return one line of Markdown per scorer: means, the share of the way, downloads."""
    names = [*dict.fromkeys([BREADTH_FIRST, *scorers]), ORACLE]
    heads = " | ".join(f"downloads to {share}%" for share in SHARES)
    lines = [
        f"| scorer | mean AUC | share of the way | {heads} | behind by more than {BEHIND} |",
        "|---|---:|---:|" + "---:|" * len(SHARES) + "---:|",
    ]
    for name in names:
        figures = [mean_auc(results, name), share_of_the_way(results, name)]
        figures += [relative_downloads(results, name, share) for share in SHARES]
        cells = " | ".join("-" if each is None else f"{each:.2f}" for each in figures[1:])
        least = len(behind(results, name)) if RULES in results[0].scorers else 0
        lines.append(f"| {name} | {figures[0]:.3f} | {cells} | {least} |")
    return "\n".join(lines)
