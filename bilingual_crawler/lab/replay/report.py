"""The output of a replay: one table per site, lines of JSON, or a plot of the curves."""

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay import comparison, curve
from bilingual_crawler.lab.replay.batch import replay_all
from bilingual_crawler.lab.replay.measure import (
    BREADTH_FIRST,
    DIGITS,
    ORACLE,
    SHARES,
    Job,
    Measured,
)
from bilingual_crawler.reporting.terminal import plain

ALL = "all"
WIDTH = 120
"""The width of a table that goes to a file."""
NONE = "-"

MOST_COLUMNS = 4
DPI = 90
COLOURS = 64
"""Enough for a dozen lines and their smooth edges, at a quarter of the file size."""
STYLES: Mapping[str, Mapping[str, Any]] = {
    ORACLE: {"color": "0.2", "linestyle": ":"},
    BREADTH_FIRST: {"color": "0.5", "linestyle": "--"},
}


def aggregate(results: Sequence[Measured]) -> dict[str, Any]:
    """Return summed pairs after each tenth of every site's pages, and mean figures."""
    names = _scorers(results)
    return {
        "site": ALL,
        "sites": [each.site for each in results],
        "langs": ",".join(dict.fromkeys(each.langs for each in results)),
        "strip_alternates": any(each.strip for each in results),
        "pages": sum(each.pages for each in results),
        "pairs": sum(each.pairs for each in results),
        "scorers": {name: _together(name, results) for name in names},
    }


def _scorers(results: Sequence[Measured]) -> list[str]:
    return list(dict.fromkeys(name for each in results for name in each.scorers))


def _together(name: str, results: Sequence[Measured]) -> dict[str, Any]:
    figures = [each.scorers[name] for each in results if name in each.scorers]
    gains = [each["gain"] for each in figures if each["gain"] is not None]
    measured = [each for each in results if name in each.scorers]
    return {
        "deciles": curve.summed([each["deciles"] for each in figures]),
        "download_deciles": curve.summed([each["download_deciles"] for each in figures]),
        "pairs_fetched": sum(each["pairs_fetched"] for each in figures),
        "auc": _rounded(curve.mean(each["auc"] for each in figures)),
        "share_of_the_way": comparison.share_of_the_way(measured, name),
        **{
            f"relative_downloads_to_{share}": comparison.relative_downloads(measured, name, share)
            for share in SHARES
        },
        "gain": _rounded(curve.mean(gains)),
        "least_gain": min(gains, default=None),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def json_lines(results: Sequence[Measured]) -> str:
    """Return one line per site, and one for all of them if there are several."""
    lines = [each.to_dict() for each in results]
    if len(results) > 1:
        lines.append(aggregate(results))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def print_tables(results: Sequence[Measured]) -> None:
    """Print the figures of each site, then those of all."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDTH
    for each in results:
        alternates = "without alternates" if each.strip else "with alternates"
        console.print(
            f"{plain(each.site)}, {each.langs}, {alternates}: {each.pages:,} pages and"
            f" {each.pairs:,} of {each.listed:,} gold pairs can be reached from"
            f" {plain(', '.join(each.seeds))}",
            soft_wrap=True,
        )
        console.print(site_table(each))
        console.print()
    if len(results) > 1:
        console.print(f"All {len(results)} sites")
        together = aggregate(results)
        console.print(aggregate_table(together))
        console.print()
        console.print("Pairs after each tenth of the downloads of each crawl")
        console.print(decile_table(together))
        console.print()
    downloads, seconds = (
        sum(each.downloads for each in results),
        sum(each.seconds for each in results),
    )
    console.print(f"{downloads:,} downloads, {downloads / seconds:.0f} per second and process.")


def site_table(result: Measured) -> Table:
    """Return one line per scorer, best first."""
    table = _table()
    for name in ("auc", "gain", *(f"{share}% at" for share in SHARES)):
        table.add_column(name, justify="right")
    for name in ("fetched", "detected", "precision", "recall", "downloads", "missing"):
        table.add_column(name, justify="right")
    for name, each in sorted(result.scorers.items(), key=lambda item: -item[1]["auc"]):
        table.add_row(
            name,
            _decimal(each["auc"]),
            _decimal(each["gain"]),
            *(_whole(each[f"downloads_to_{share}"]) for share in SHARES),
            _whole(each["pairs_fetched"]),
            _whole(each["pairs_detected"]),
            _decimal(each["detected_precision"]),
            _decimal(each["detected_recall"]),
            _whole(each["downloads"]),
            _whole(each["missing"]),
        )
    return table


def aggregate_table(together: dict[str, Any]) -> Table:
    """Return mean figures, and the pairs after each tenth of the pages of every site."""
    table = _table()
    for name in ("auc", "of the way", *(f"to {share}%" for share in SHARES), "least gain"):
        table.add_column(name, justify="right")
    for tenth in range(1, curve.DECILES + 1):
        table.add_column(f"{100 * tenth // curve.DECILES}%", justify="right")
    for name, each in sorted(together["scorers"].items(), key=lambda item: -item[1]["auc"]):
        relative = (each[f"relative_downloads_to_{share}"] for share in SHARES)
        figures = (each["auc"], each["share_of_the_way"], *relative, each["least_gain"])
        table.add_row(name, *map(_decimal, figures), *map(_whole, each["deciles"]))
    return table


def decile_table(together: dict[str, Any]) -> Table:
    """Return the pairs after each tenth of the downloads of every crawl: SBFC's Figure 7."""
    table = _table()
    for tenth in range(1, curve.DECILES + 1):
        table.add_column(f"{100 * tenth // curve.DECILES}%", justify="right")
    for name, each in sorted(together["scorers"].items(), key=lambda item: -item[1]["auc"]):
        table.add_row(name, *map(_whole, each["download_deciles"]))
    return table


def write_orders(results: Sequence[Measured], folder: Path) -> None:
    """Write the downloads of each crawl, one URL per line, one file per site and scorer."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in results:
        for name, order in each.orders.items():
            lines = "".join(f"{url}\n" for url in order)
            (folder / f"{each.site}.{each.langs}.{name}.txt").write_text(lines)


def _table() -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("scorer")
    return table


def _decimal(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _whole(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def replay_with_bar(
    jobs: Sequence[Job], processes: int, seed: int
) -> tuple[list[Measured], list[ConfigurationError]]:
    """Replay all sites with a progress bar; return the results and the problems."""
    console = Console(stderr=True)
    results: list[Measured] = []
    problems: list[ConfigurationError] = []
    with Progress(
        TextColumn("crawls"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("crawls", total=sum(len(job.scorers) for job in jobs))
        for result in replay_all(
            jobs,
            processes=processes,
            seed=seed,
            progress=lambda done: bar.update(task, completed=done),
        ):
            if isinstance(result, Measured):
                results.append(result)
            else:
                problems.append(result)
    return results, problems


def check_matplotlib() -> None:
    """Report a missing matplotlib before the work, not after it."""
    if find_spec("matplotlib") is None:
        raise ConfigurationError(
            "Plots need matplotlib: pip install 'bilingual-crawler[plot]', or leave --plot out."
        )


def plot_curves(results: Sequence[Measured], path: Path) -> None:
    """Plot the share of complete pairs over the share of pages: a panel per site, one for all."""
    check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    drawn = len(results) + (len(results) > 1)
    columns = min(MOST_COLUMNS, drawn)
    rows = -(-drawn // columns)
    figure = Figure(figsize=(1.5 + 4 * columns, 1 + 3.4 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    for result, panel in zip(results, panels, strict=False):
        _draw_site(panel, result)
    if len(results) > 1:
        _draw_all(panels[drawn - 1], results)
    for panel in panels[drawn:]:
        panel.set_visible(False)
    handles = {str(line.get_label()): line for panel in figure.axes for line in panel.get_lines()}
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    figure.supxlabel("share of the pages downloaded")
    figure.supylabel("share of the gold pairs with both pages")
    try:
        figure.savefig(path, dpi=DPI)
        if path.suffix.lower() == ".png":
            _shrink(path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The plot cannot be written to {path}: {error}.") from error


def _shrink(path: Path) -> None:
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def _draw_site(panel: Any, result: Measured) -> None:
    for name, values in result.curves.items():
        shares = [0.0, *(value / result.pairs for value in values)]
        pages = [at / result.pages for at in range(len(shares))]
        _line(panel, name, [*pages, max(1.0, pages[-1])], [*shares, shares[-1]])
    stripped = ", alternates stripped" if result.strip else ""
    _dress(panel, f"{result.site} ({result.langs}{stripped})")


def _draw_all(panel: Any, results: Sequence[Measured]) -> None:
    """Draw the pairs of all sites together, by deciles, as in Figure 7 of SBFC."""
    pairs = sum(each.pairs for each in results)
    tenths = [at / curve.DECILES for at in range(curve.DECILES + 1)]
    for name in dict.fromkeys(name for each in results for name in each.curves):
        rows = [curve.deciles(each.curves.get(name, []), each.pages) for each in results]
        _line(panel, name, tenths, [0.0, *(value / pairs for value in curve.summed(rows))])
    _dress(panel, f"all {len(results)}, by deciles")


def _line(panel: Any, name: str, pages: list[float], shares: list[float]) -> None:
    panel.plot(pages, shares, label=name, linewidth=1.4, **STYLES.get(name, {}))


def _dress(panel: Any, title: str) -> None:
    panel.set_title(title, fontsize=9)
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1.02)
    panel.grid(alpha=0.25)
