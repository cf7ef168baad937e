"""The datasheet of an export: what is in it, where it comes from, and how good it is.

It follows the questions of Gebru et al. (2021, Datasheets for Datasets) as far as a program knows
the answers. Everything is read from the pass that wrote the export, from crawl.json and from the
audit in the folder, so the same folder gives the same datasheet.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bilingual_crawler import __version__
from bilingual_crawler.corpus.audit import read_result
from bilingual_crawler.documents.personal_data import KINDS
from bilingual_crawler.export.source import Account, Selection
from bilingual_crawler.export.survey import Survey
from bilingual_crawler.languages.table import language_of_tag
from bilingual_crawler.outcomes import outcome_sentence
from bilingual_crawler.store.folder import REPORT

DATASHEET = "DATASHEET.md"
MOST_SITES = 100
MOST_LICENCES = 30
UNTOLD = "not stated"


def datasheet(folder: Path, name: str, account: Account, selection: Selection, kind: str) -> str:
    """Return the datasheet of the export `name` in the format `kind`."""
    report, survey = _report(folder), account.survey
    parts = [
        f"# Datasheet of {_cell(name)}",
        _introduction(account, kind),
        *_languages(survey),
        *_sites(survey),
        *_origin(survey, report),
        *_licences(survey),
        *_opt_outs(report),
        *_machine(survey),
        *_personal(survey, selection),
        *_filters(account, selection),
        *_evaluation(folder, selection),
        *_citation(f"{folder.resolve().name}, {name}", survey),
    ]
    return "\n\n".join(parts) + "\n"


def beside(target: Path) -> Path:
    """Return where the datasheet of a file goes."""
    return target.with_name(f"{target.name}.{DATASHEET}")


def _report(folder: Path) -> Mapping[str, Any]:
    """Return crawl.json; a folder without one has a shorter datasheet."""
    try:
        found = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _introduction(account: Account, kind: str) -> str:
    written = ", ".join(f"{count:,} {what}" for what, count in account.written.items())
    return (
        f"{written or 'Nothing'}, in the format {kind}, collected from the web and exported by"
        f" bilingual-crawler {__version__}."
    )


def _languages(survey: Survey) -> Iterator[str]:
    yield "## Languages and sizes"
    rows = (
        (_language(code), f"{size.texts:,}", f"{size.words:,}", f"{size.characters:,}")
        for code, size in sorted(survey.languages.items())
    )
    yield _table(("language", "texts", "words", "characters"), rows)
    yield "Words are what is between spaces, which says little about scripts without them."


def _language(code: str) -> str:
    known = language_of_tag(code)
    return f"{known.name} ({code})" if known else code


def _sites(survey: Survey) -> Iterator[str]:
    total = len(survey.sites)
    yield f"## Sites\n\n{total:,} site{'' if total == 1 else 's'}."
    shown = survey.sites.most_common(MOST_SITES)
    yield _table(("site", "texts or pairs"), ((_cell(site), f"{n:,}") for site, n in shown))
    if total > len(shown):
        rest = survey.sites.total() - sum(count for _, count in shown)
        yield f"{total - len(shown):,} more sites have {rest:,}."


def _origin(survey: Survey, report: Mapping[str, Any]) -> Iterator[str]:
    yield "## Collection"
    lines = []
    if survey.first_fetched:
        lines.append(f"Pages fetched from {survey.first_fetched} to {survey.last_fetched}.")
    if report.get("started"):
        lines.append(
            f"Crawl from {_cell(report['started'])} to {_cell(report.get('updated'))}:"
            f" {_number(report.get('pages'))} pages read, {_number(report.get('pairs'))} document"
            " pairs."
        )
    seeds = report.get("seeds")
    if isinstance(seeds, list) and seeds:
        more = f" and {len(seeds) - 10:,} more" if len(seeds) > 10 else ""  # noqa: PLR2004 - enough to see
        lines.append(f"Seeds: {', '.join(map(_cell, seeds[:10]))}{more}.")
    versions = report.get("versions")
    if isinstance(versions, dict):
        made = (f"{_cell(name)} {_cell(version)}" for name, version in versions.items())
        lines.append(f"Made with {', '.join(made)}.")
    yield "\n\n".join(lines) or "The folder has no report of a crawl."


def _licences(survey: Survey) -> Iterator[str]:
    yield (
        "## Licences\n\nWhat the pages state for themselves (rel=license, schema.org, links to"
        " Creative Commons). Text on the web is protected unless its owner says otherwise: publish"
        " what you may, or where pages and sentences are (`--to standoff`)."
    )
    found = survey.licences.most_common(MOST_LICENCES)
    yield _table(
        ("licence", "texts"), ((_cell(licence) or UNTOLD, f"{n:,}") for licence, n in found)
    )


def _opt_outs(report: Mapping[str, Any]) -> Iterator[str]:
    yield "## Opt-outs"
    settings = report.get("settings")
    honour = settings.get("BILINGUAL_HONOUR") if isinstance(settings, dict) else None
    names = map(_cell, honour) if isinstance(honour, list) else ()
    told = "those that are by default" if honour is None else ", ".join(names) or "none"
    yield f"robots.txt was obeyed. Other opt-outs that were honoured: {told} (BILINGUAL_HONOUR)."
    opt_outs = report.get("opt_outs")
    if isinstance(opt_outs, dict) and opt_outs:
        rows = ((_cell(outcome_sentence(str(why))), _number(n)) for why, n in opt_outs.items())
        yield _table(("left alone because", "pages"), rows)
    else:
        yield "No page of the crawl was left alone for one."


def _machine(survey: Survey) -> Iterator[str]:
    yield "## Machine translation"
    if not survey.machine:
        yield "No page says that its text was translated by a machine."
        return
    rows = ((_cell(mark), f"{count:,}") for mark, count in survey.machine.most_common())
    yield _table(("mark on the page", "texts"), rows)


def _personal(survey: Survey, selection: Selection) -> Iterator[str]:
    yield "## Personal data"
    if survey.personal:
        masked = {True: "masked, as [KIND]", False: "not masked (--anonymise masks it)"}
        yield f"Found by a program, and {masked[selection.anonymise]}:"
        rows = ((KINDS[kind], f"{survey.personal[kind]:,}") for kind in KINDS)
        yield _table(("kind", "finds"), rows)
    else:
        yield "A program found no e-mail address, telephone number or bank account."
    yield "Names of persons were not looked for."


def _filters(account: Account, selection: Selection) -> Iterator[str]:
    yield "## Filters"
    chosen = []
    if selection.min_score is not None:
        chosen.append(f"only scores of at least {selection.min_score:g}")
    if selection.langs is not None:
        chosen.append(f"only pairs of {selection.langs.names}")
    if selection.dropped:
        chosen.append("with what cleaning dropped, marked in `dropped`")
    yield f"Selection: {', '.join(chosen) or 'everything that cleaning kept'}."
    if account.left_out:
        rows = ((_cell(why), f"{count:,}") for why, count in account.left_out.most_common())
        yield _table(("left out", "count"), rows)
    if account.changed:
        rows = ((_cell(what), f"{count:,}") for what, count in account.changed.most_common())
        yield _table(("changed", "count"), rows)
    if account.damage.lines:
        yield f"{account.damage.lines:,} damaged lines of the folder were skipped."


def _evaluation(folder: Path, selection: Selection) -> Iterator[str]:
    yield "## Evaluation"
    result = read_result(folder)
    if result is None:
        yield f"Nobody has read a sample yet: `scrapy audit {_cell(folder)}` asks for one."
        return
    yield from audit_lines(result, selection.min_score)


def audit_lines(result: Mapping[str, Any], min_score: float | None = None) -> Iterator[str]:
    """Yield what an audit says, first about pairs with a score of at least `min_score`."""
    thresholds = [each for each in result.get("thresholds", ()) if isinstance(each, dict)]
    fitting = [each for each in thresholds if each["score"] <= (min_score or 0.0)]
    if fitting:
        yield f"**{precision_line(fitting[-1])}**, by a person who read a random sample."
    verdicts = result.get("verdicts", {})
    counts = ", ".join(f"{_number(count)} {_cell(name)}" for name, count in verdicts.items())
    yield f"Verdicts: {counts}. Intervals are for 95% confidence."
    if not result.get("is_enough"):
        yield "The audit is not finished."
    rows = (
        (
            f"{each['score']:g}",
            _number(each["pairs"]),
            _number(each["precision"]["answers"]),
            _range(each["precision"]),
            _range(each["precision_with_borderline"]),
        )
        for each in thresholds
    )
    yield _table(("score from", "pairs", "read", "parallel", "with borderline"), rows)


def precision_line(threshold: Mapping[str, Any]) -> str:
    """Return a result as it is cited: precision .96 ± .03 at score >= .5."""
    told = threshold["precision"]
    half = (told["high"] - told["low"]) / 2
    score = f"{threshold['score']:g}".removeprefix("0") or "0"
    return f"precision {_point(told['share'])} ± {_point(half)} at score >= {score}"


def _range(told: Mapping[str, Any]) -> str:
    return f"{_point(told['share'])} ({_point(told['low'])} to {_point(told['high'])})"


def _point(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def _citation(name: str, survey: Survey) -> Iterator[str]:
    sites = f"{len(survey.sites):,} site{'' if len(survey.sites) == 1 else 's'}"
    years = {each[:4] for each in (survey.first_fetched, survey.last_fetched) if each}
    when = f", {' to '.join(sorted(years))}" if years else ""
    yield "## How to cite"
    yield (
        f"> {_cell(name)}: web texts of {sites}{when}. Collected with bilingual-crawler"
        f" {__version__}.\n\nThe authors of the texts are those of the pages, whose addresses are"
        " part of the export. CITATION.cff of bilingual-crawler names the papers on its methods."
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = tuple(heads)
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else _cell(value)


def _cell(value: Any) -> str:
    """Return untrusted text for Markdown: on one line, without markup or table signs."""
    text = "".join(each if each.isprintable() else " " for each in str(value))
    for sign in "\\|<>[]`*":
        text = text.replace(sign, f"&#{ord(sign)};")
    return text
