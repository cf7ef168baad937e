"""An evaluation as people read it: model and rules side by side."""

from collections.abc import Iterator

from rich.table import Table

from bilingual_crawler.lab.evaluation.classification import ModelComparison
from bilingual_crawler.lab.evaluation.metrics import Scores
from bilingual_crawler.lab.evaluation.one_to_one import Alignment, Recalls
from bilingual_crawler.languages import UnknownLanguageError, find_language

NONE = "-"


def comparison_table(result: ModelComparison, thing: str) -> Table:
    """A line a class, then the averages and the share of rows without an answer."""
    sides = result.sides
    table = _table(thing)
    table.add_column("rows", justify="right")
    for name in sides:
        for measure in ("precision", "recall", "F1"):
            table.add_column(f"{name}\n{measure}", justify="right")
    for each in result.rules.classes:
        table.add_row(
            _name(each.label),
            f"{each.support:,}",
            *(text for side in sides.values() for text in _class_texts(side, each.label)),
        )
    table.add_section()
    table.add_row(
        f"macro, {len(result.rules.classes)} classes",
        f"{result.rows:,}",
        *(text for side in sides.values() for text in _macro_texts(side)),
    )
    if not result.of_pairs:
        shares = (("", "", _percent(side.unknown_share)) for side in sides.values())
        table.add_row("unknown", "", *(text for texts in shares for text in texts))
    return table


def alignment_table(result: Alignment) -> Table:
    """Recall and soft recall of model and rules."""
    table = _table("one to one")
    for name in ("recall", "soft recall", "recall of pairs\nabove one half"):
        table.add_column(name, justify="right")
    if result.model is not None:
        table.add_row("model", *_recall_texts(result.model))
    table.add_row("rules", *_recall_texts(result.rules))
    return table


def comparison_notes(result: ModelComparison) -> Iterator[str]:
    """What must be known beside the table."""
    if result.not_known:
        codes = ", ".join(sorted(result.not_known))
        yield (
            f"{sum(result.not_known.values()):,} rows are in languages the model does not know "
            f"and count as wrong: {codes}."
        )


def alignment_notes(result: Alignment) -> Iterator[str]:
    """What was compared, and what soft recall means where there are no texts."""
    yield (
        f"{result.gold:,} gold pairs of {result.sites:,} sites; every URL of one side was compared "
        f"with every one of the other side of its site: {result.candidates:,} pairs."
    )
    yield (
        "Soft recall: one URL of a gold pair has a partner that equals the right one but for "
        "language tokens."
    )


def _table(first: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first)
    return table


def _name(label: str) -> str:
    try:
        return str(find_language(label))
    except UnknownLanguageError:
        return label


def _class_texts(side: Scores, label: str) -> tuple[str, ...]:
    each = side.of(label)
    if not each.predicted:
        return NONE, _percent(0), _percent(0)
    return tuple(map(_percent, (each.precision, each.recall, each.f1)))


def _macro_texts(side: Scores) -> tuple[str, ...]:
    return tuple(map(_percent, (side.macro_precision, side.macro_recall, side.macro_f1)))


def _recall_texts(side: Recalls) -> tuple[str, ...]:
    return tuple(map(_percent, (side.recall, side.soft_recall, side.sure_recall)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
