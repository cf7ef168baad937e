"""The result of a comparison: a table, lines of JSON, and SBFC's Figure 7."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.comparison.judge import ArmFigures, together
from bilingual_crawler.lab.replay.curve import DECILES
from bilingual_crawler.lab.replay.report import STYLES, WIDTH, check_matplotlib

Figures = Mapping[str, Mapping[str, ArmFigures]]
"""Site -> arm -> figures."""
ALL = "all"
DPI = 90


def complete_sites(figures: Figures, arms: tuple[str, ...]) -> Figures:
    """Return the sites on which every arm has ended: only these may be summed."""
    return {site: found for site, found in figures.items() if set(found) == set(arms)}


def sums(figures: Figures, arms: tuple[str, ...]) -> dict[str, ArmFigures]:
    """Return the figures of each arm, summed over the sites on which all have ended."""
    complete = complete_sites(figures, arms)
    return {arm: together(found[arm] for found in complete.values()) for arm in arms}


def json_lines(figures: Figures, arms: tuple[str, ...]) -> Iterator[str]:
    """Yield one line per site, and one for all of them."""
    for site, found in figures.items():
        yield json.dumps({"site": site, "arms": {arm: f.to_dict() for arm, f in found.items()}})
    summed = {arm: each.to_dict() for arm, each in sums(figures, arms).items()}
    sites = list(complete_sites(figures, arms))
    yield json.dumps({"site": ALL, "sites": sites, "arms": summed})


def print_tables(figures: Figures, arms: tuple[str, ...]) -> None:
    """Print document pairs and sentence pairs per decile of the downloads, over all sites."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDTH
    complete = complete_sites(figures, arms)
    for site in figures.keys() - complete.keys():
        console.print(f"{site} is not in the sums: not all arms have ended there.")
    summed = sums(figures, arms)
    for what in ("documents", "sentences"):
        console.print(f"{what.removesuffix('s')} pairs of {len(complete)} sites after each tenth")
        console.print(_table(summed, what))


def _table(summed: Mapping[str, ArmFigures], what: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("arm")
    table.add_column("downloads", justify="right")
    for tenth in range(1, DECILES + 1):
        table.add_column(f"{100 * tenth // DECILES}%", justify="right")
    for arm, each in summed.items():
        values: tuple[int, ...] = getattr(each, what)
        table.add_row(arm, f"{each.downloads:,}", *(f"{value:,}" for value in values))
    return table


def plot(figures: Figures, arms: tuple[str, ...], path: Path) -> None:
    """Draw document pairs and sentence pairs against the share of the downloads."""
    check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    panels: Any = figure.subplots(1, 2)
    tenths = [100 * tenth / DECILES for tenth in range(DECILES + 1)]
    summed = sums(figures, arms)
    for panel, what in zip(panels, ("documents", "sentences"), strict=True):
        for arm, each in summed.items():
            panel.plot(tenths, [0, *getattr(each, what)], label=arm, **STYLES.get(arm, {}))
        panel.set_xlabel("% of the downloads of each site")
        panel.set_ylabel(f"{what.removesuffix('s')} pairs")
        panel.set_xlim(0, 100)
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.25)
    panels[0].legend(frameon=False)
    try:
        figure.savefig(path, dpi=DPI)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The figure cannot be written to {path}: {error}.") from error
