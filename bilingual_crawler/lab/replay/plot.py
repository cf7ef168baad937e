"""Plot the curves of a replay; only this module needs matplotlib."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay import curve
from bilingual_crawler.lab.replay.measure import BREADTH_FIRST, ORACLE, Measured

MOST_COLUMNS = 4
DPI = 90
COLOURS = 64
"""Enough for a dozen lines and their smooth edges, at a quarter of the file size."""
STYLES: Mapping[str, Mapping[str, Any]] = {
    ORACLE: {"color": "0.2", "linestyle": ":"},
    BREADTH_FIRST: {"color": "0.5", "linestyle": "--"},
}


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
