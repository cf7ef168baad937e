"""The output of `scrapy pairs`: files, lines, a table of figures, one line of JSON."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from bilingual_crawler.corpus.offline import OfflineResult
from bilingual_crawler.corpus.sources.reading import Skips
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.document_pairs import Judge, Miss, alone, misses
from bilingual_crawler.lab.replay.gold import of_languages, read_gold
from bilingual_crawler.languages import ParallelLanguages, find_language
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.reporting.terminal import plain

MOST_MISSES = 100
"""Misses shown in the table; JSON has all of them."""
WIDTH = 160
"""The width of a table that goes to a file."""
COMBINED = "combined"


def evaluate(outcome: OfflineResult, gold: Path, *, ablation: bool) -> dict[str, Any]:
    """Return the figures of a run against a gold list: combined, per detector, and without each."""
    search, languages = outcome.search, outcome.search.languages
    rows = of_languages(read_gold(gold), languages)
    if not rows:
        named = " and ".join(map(str, languages)) or str(languages)
        raise ConfigurationError(
            f"{gold} has no pair of {named}: write --langs as in the list,"
            " or take a list with two columns, which is of any languages."
        )
    judge = Judge((search.name_of(first), search.name_of(second)) for first, second in rows)
    found = [(each.first, each.second) for each in outcome.pairs]
    missed = misses(judge, outcome.pairs, outcome.candidates(), outcome)
    figures: dict[str, Any] = {"gold": len(judge.gold)}
    figures |= judge.figures(found).to_dict()
    figures["detectors"] = {
        name: judge.figures(pairs).to_dict()
        for name, pairs in alone(outcome.candidates(), search.detectors).items()
    }
    if ablation:
        figures["ablation"] = {
            name: judge.figures(
                (each.first, each.second) for each in search.without(name)
            ).to_dict()
            for name in search.detectors
        }
    figures["misses"] = [each._asdict() for each in missed]
    return figures


def write_lines(outcome: OfflineResult, stream: IO[str]) -> None:
    """Write one pair per line: two URLs, score, detectors, and the verdict for listed files."""
    show = plain if stream.isatty() else str
    for pair in outcome.unlisted_pairs:
        stream.write("\t".join(map(show, _fields(pair))) + "\n")
    for each in outcome.verdicts:
        _, _, *figures = _fields(each.pair) if each.pair else ("", "", "0.0000", "")
        word = "accepted" if each.accepted else f"rejected: {each.reason}"
        stream.write("\t".join(map(show, (each.first, each.second, *figures, word))) + "\n")


def _fields(pair: DocumentPair) -> tuple[str, ...]:
    names = ",".join(each.detector for each in pair.evidence)
    return pair.first, pair.second, f"{pair.score:.4f}", names


def tell(
    summary: dict[str, Any], skips: Skips, languages: ParallelLanguages, console: Console
) -> None:
    """Print what was read, what was skipped and why, and how many pairs there are."""
    pages = summary["pages"]
    codes = dict.fromkeys((*languages.codes, *pages))
    counts = [f"{pages.get(code, 0):,} in {find_language(code).name}" for code in codes]
    parts = [f"Pages: {', '.join(counts)}."] if pages or "urls" not in summary else []
    if "urls" in summary:
        parts.append(f"URLs: {summary['urls']:,}.")
    if summary["sitemaps"]:
        parts.append(f"Sitemaps: {summary['sitemaps']:,}.")
    parts.append(f"{summary['candidates']:,} candidates, {summary['pairs']:,} pairs.")
    if refused := summary["pairs_refused"]:
        parts.append(
            f"{refused:,} more are counterparts without translated content"
            " (BILINGUAL_THIN_PAIRS=1 reports them as pairs)."
        )
    console.print(" ".join(parts), soft_wrap=True)
    for reason, count in skips.counts.most_common():
        shown = ", ".join(map(plain, skips.examples[reason]))
        more = ", …" if count > len(skips.examples[reason]) else ""
        console.print(f"{count:,} skipped, {plain(reason)}: {shown}{more}", soft_wrap=True)


def print_figures(figures: dict[str, Any], console: Console) -> None:
    """Print precision, recall and F1, then the misses, most frequent reasons first."""
    if not console.is_terminal:
        console.width = WIDTH
    console.print(f"{figures['gold']:,} gold pairs")
    console.print(_figures_table(figures))
    missed = [Miss(**each) for each in figures["misses"]]
    if missed:
        console.print(f"\n{len(missed):,} gold pairs were not found")
        console.print(_misses_table(missed))
    if len(missed) > MOST_MISSES:
        console.print(f"and {len(missed) - MOST_MISSES:,} more: --json has all of them")


def _figures_table(figures: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("detector")
    names = ("precision", "recall", "f1", "found", "correct", "wrong", "unjudged")
    for name in names:
        table.add_column(name, justify="right")
    rows = {COMBINED: figures, **figures["detectors"]}
    rows |= {f"without {name}": each for name, each in figures.get("ablation", {}).items()}
    for name, each in rows.items():
        table.add_row(name, *(_text(each[column]) for column in names))
    return table


def _misses_table(missed: Sequence[Miss]) -> Table:
    counts = Counter(each.reason for each in missed)
    ranked = sorted(missed, key=lambda each: (-counts[each.reason], each))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("pair", "reason", "detail"):
        table.add_column(name, overflow="fold")
    for each in ranked[:MOST_MISSES]:
        urls = f"{plain(each.first)}\n{plain(each.second)}"
        table.add_row(urls, each.reason, plain(each.detail))
    return table


def _text(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
