"""`scrapy evaluate`: read the data, run the model, print a table or one line of JSON."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.classification import (
    POSITIVE,
    Advance,
    ModelComparison,
    compare_languages,
    compare_pairs,
)
from bilingual_crawler.lab.evaluation.metrics import (
    LEAST_SITES,
    LEAST_URLS,
    Confusion,
    Scores,
    well_covered,
)
from bilingual_crawler.lab.evaluation.one_to_one import (
    Alignment,
    Duplicates,
    Recalls,
    Sides,
    align,
    candidate_pairs,
    decide_sides,
)
from bilingual_crawler.lab.labels import (
    GoldPair,
    SkippedLines,
    candidate_rows,
    gold_rows,
    language_rows,
    pair_rows,
)
from bilingual_crawler.lab.training.negatives import with_negatives
from bilingual_crawler.languages import (
    LanguagePair,
    LanguagePairError,
    UnknownLanguageError,
    find_language,
)
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.models import Task, find_model
from bilingual_crawler.scoring.pair_features import all_tokens
from bilingual_crawler.store.input_files import name_of

WIDTH = 120
"""The width of a table that goes to a file."""
MOST_CONFUSIONS = 15
ENGLISH, OFTEN = "eng", 0.1
"""SBFC counts the languages of which at least a tenth is taken for English."""


class Choices(Protocol):
    """The options of the command."""

    model: str
    provider: str
    threads: int
    baseline: bool
    json: bool
    well_covered: bool
    confusion: Path | None
    negatives: bool
    candidates: str | None
    duplicates: str | None
    url2lang: str
    langs: str | None


def evaluate_languages(source: str, opts: Choices) -> None:
    """Print how well the languages of URLs are recognised."""
    model = _open_model("url2lang", opts)
    skipped = SkippedLines()
    rows = list(language_rows(source, skipped))
    _check_rows(rows, source, skipped)
    only = well_covered(rows) if opts.well_covered else None
    if only is not None and not only:
        raise ConfigurationError(
            f"No language in {name_of(source)} has {LEAST_URLS} URLs of {LEAST_SITES} sites.",
            "Leave out --well-covered to see all languages.",
        )
    with _progress_bar("URLs", len(rows)) as advance:
        result = compare_languages(rows, model, only=only, advance=advance)
    if opts.confusion is not None:
        write_confusions(opts.confusion, result.confusions)
    if opts.json:
        _print_json(result.figures(), model, skipped)
        return
    notes = [*comparison_notes(result), _speed(result.figures(), "URLs")]
    tables = [comparison_table(result, "language"), *confusion_tables(result)]
    _print_tables(tables, model, skipped, notes)


def evaluate_pairs(source: str, opts: Choices) -> None:
    """Print how well translations are distinguished from other pairs."""
    model = _open_model("parallel", opts)
    tokens = _tokens(opts)
    skipped = SkippedLines()
    rows = list(pair_rows(source, skipped))
    _check_rows(rows, source, skipped)
    languages = None
    if opts.negatives:
        both = list(with_negatives(rows))
        rows, languages = [row for row, _ in both], [codes for _, codes in both]
    with _progress_bar("pairs", len(rows)) as advance:
        result = compare_pairs(rows, model, tokens, languages=languages, advance=advance)
    if opts.json:
        _print_json(result.figures(), model, skipped)
        return
    notes = [_speed(result.figures(), "pairs")]
    tables = [comparison_table(result, "pairs"), *language_pair_tables(result)]
    _print_tables(tables, model, skipped, notes)


def evaluate_alignment(source: str, opts: Choices) -> None:
    """Print how many gold pairs are found if each URL has one partner."""
    model = _open_model("parallel", opts)
    tokens = _tokens(opts)
    skipped = SkippedLines()
    gold = list(gold_rows(source, skipped))
    _check_rows(gold, source, skipped)
    sides = None if opts.candidates is None else _sides(opts.candidates, gold, opts, skipped)
    same = None if opts.duplicates is None else Duplicates(gold_rows(opts.duplicates, skipped))
    with _progress_bar("pairs", candidate_pairs(gold, sides)) as advance:
        result = align(gold, model, tokens, sides=sides, same_text=same, advance=advance)
    if opts.json:
        _print_json(result.figures(), model, skipped)
        return
    notes = [*alignment_notes(result, of_texts=same is not None), _speed(result.figures(), "pairs")]
    _print_tables([alignment_table(result)], model, skipped, notes)


def _sides(source: str, gold: list[GoldPair], opts: Choices, skipped: SkippedLines) -> Sides:
    """Return which URLs are candidates, and in which language."""
    if not opts.langs:
        raise ConfigurationError(
            "--candidates needs the languages of the two columns of the gold list.",
            "Add --langs, for instance --langs eng-fra.",
        )
    urls = dict(candidate_rows(source, skipped))
    _check_rows(list(urls), source, skipped)
    folder = find_model("url2lang", opts.url2lang)
    languages = Url2Lang(folder, provider=opts.provider, threads=opts.threads, remembered=0)
    with _progress_bar("URLs", len(urls)) as advance:
        return decide_sides(urls, gold, _language_pair(opts.langs), languages, advance)


def _open_model(task: Task, opts: Choices) -> Any:
    """Open the model, without its cache to measure its speed; None if the rules are enough."""
    try:
        folder = find_model(task, opts.model)
    except ConfigurationError:
        if opts.baseline and not opts.model:
            return None
        raise
    model = Url2Lang if task == "url2lang" else ParallelUrls
    return model(folder, provider=opts.provider, threads=opts.threads, remembered=0)


def _tokens(opts: Choices) -> frozenset[str]:
    if not opts.langs:
        return all_tokens()
    pair = _language_pair(opts.langs)
    return pair.first.tokens | pair.second.tokens


def _language_pair(text: str) -> LanguagePair:
    try:
        return LanguagePair.parse(text)
    except (LanguagePairError, UnknownLanguageError) as error:
        raise ConfigurationError(f"--langs: {error}") from error


def _check_rows(rows: list[Any], source: str, skipped: SkippedLines) -> None:
    if not rows:
        why = f": {skipped}" if skipped.count else ""
        raise ConfigurationError(
            f"{name_of(source)} has no usable line{why}.",
            "`scrapy evaluate --help` shows the columns.",
        )


def _speed(figures: dict[str, Any], what: str) -> str:
    speed = figures.get("urls_per_second")
    return f"{speed:,.0f} {what} per second." if speed else ""


def _print_json(figures: dict[str, Any], model: Any, skipped: SkippedLines) -> None:
    about = {"model": None if model is None else model.where, "bad_lines": skipped.count}
    sys.stdout.write(json.dumps(figures | about) + "\n")


def _print_tables(tables: list[Table], model: Any, skipped: SkippedLines, notes: list[str]) -> None:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDTH
    if model is not None:
        console.print(f"{model.where} on {model.provider}\n", soft_wrap=True)
    for number, table in enumerate(tables):
        console.print(*([""] if number else []), table, sep="\n")
    for note in [*notes, f"{skipped}." if skipped.count else ""]:
        if note:
            console.print(note, soft_wrap=True)


@contextmanager
def _progress_bar(what: str, total: int) -> Iterator[Advance]:
    """Show a progress bar, if there is a terminal."""
    console = Console(stderr=True)
    with Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)


NONE = "-"


def comparison_table(result: ModelComparison, thing: str) -> Table:
    """Return one line per class, then the averages and the share of rows without an answer."""
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


def confusion_tables(result: ModelComparison) -> Iterator[Table]:
    """Yield the most frequent confusions of the model, or of the rules if there is no model."""
    errors = next(iter(result.confusions.values())).errors()[:MOST_CONFUSIONS]
    if errors:
        table = _table("most frequent confusions")
        table.add_column("taken for")
        table.add_column("rows", justify="right")
        table.add_column("of the language", justify="right")
        for each in errors:
            table.add_row(
                _name(each.label), _name(each.answer), f"{each.rows:,}", _percent(each.share)
            )
        yield table


def write_confusions(path: Path, confusions: Mapping[str, Confusion]) -> None:
    """Write the whole table: what each side answered for each language, right or wrong."""
    lines = ["side\tlanguage\tanswer\trows\tshare"]
    for side, confusion in confusions.items():
        lines += [
            f"{side}\t{each.label}\t{each.answer}\t{each.rows}\t{each.share:.4f}"
            for each in confusion.entries()
        ]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"Cannot write {path}: {error.strerror}.") from None


def language_pair_tables(result: ModelComparison) -> Iterator[Table]:
    """Yield one table with one line per language pair, if the languages are known."""
    if not result.language_pairs:
        return
    table = _table("language pair")
    for name in ("parallel", "not parallel"):
        table.add_column(name, justify="right")
    for name in result.sides:
        for measure in ("positive F1", "macro F1"):
            table.add_column(f"{name}\n{measure}", justify="right")
    for each in result.language_pairs:
        figures = (
            _percent(share)
            for side in each.sides.values()
            for share in (side.of(POSITIVE).f1, side.macro_f1)
        )
        table.add_row(each.languages, f"{each.parallel:,}", f"{each.others:,}", *figures)
    yield table


def alignment_table(result: Alignment) -> Table:
    """Return recall and soft recall of the model and the rules."""
    among = "gold URLs only" if result.sides is None else "all URLs of the sites"
    table = _table(f"one to one, {among}")
    for name in (
        "recall",
        "soft recall",
        "recall of pairs\nabove one half",
        "soft recall of pairs\nabove one half",
    ):
        table.add_column(name, justify="right")
    if result.model is not None:
        table.add_row("model", *_recall_texts(result.model))
    table.add_row("rules", *_recall_texts(result.rules))
    return table


def comparison_notes(result: ModelComparison) -> Iterator[str]:
    """Yield what the table does not show."""
    if result.not_known:
        codes = ", ".join(sorted(result.not_known))
        yield (
            f"{sum(result.not_known.values()):,} rows are in languages the model does not know "
            f"and count as wrong: {codes}."
        )
    for side, confusion in result.confusions.items():
        if taken := confusion.taken_for(ENGLISH, OFTEN):
            codes = ", ".join(f"{each.label} {_percent(each.share)}" for each in taken)
            yield f"Taken for English by the {side} in 10% of their rows or more: {codes}."


def alignment_notes(result: Alignment, *, of_texts: bool = False) -> Iterator[str]:
    """Yield what was compared, and what soft recall means without texts."""
    yield (
        f"{result.gold:,} gold pairs of {result.sites:,} sites; within each site, every URL of one "
        f"side was compared with every URL of the other: {result.candidates:,} pairs."
    )
    if result.sides is None:
        yield (
            "Only URLs of the gold list were candidates, which is far easier than the shared task: "
            "these are not figures to compare with WMT16 or the paper. --candidates gives all URLs."
        )
    else:
        decided = ", ".join(f"{count:,} {name}" for name, count in result.sides.figures().items())
        yield (
            f"Languages of URLs: {decided}. Without the gold list, "
            f"{result.sides.gold_right:,} of {result.sides.gold_checked:,} gold URLs would be on "
            "their side."
        )
    yield (
        "Soft recall: one URL of a gold pair has a partner that "
        + (
            "is a near-duplicate of the right one, by the given table."
            if of_texts
            else "differs "
            "from the right one only in language tokens. (WMT16 compares the texts of pages.)"
        )
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
    shares = (side.recall, side.soft_recall, side.sure_recall, side.sure_soft_recall)
    return tuple(map(_percent, shares))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
