"""The summary at the end of a crawl: its pairs and why, what was lost, how to resume."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from io import StringIO
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bilingual_crawler.outcomes import Outcome, is_drop, is_failure, link_sentence, outcome_sentence
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.reporting.counts import Amounts, Counts, FoundSites
from bilingual_crawler.reporting.terminal import DIM, GOOD, STRONG, duration, grid, plain
from bilingual_crawler.store.folder import (
    CLUSTERS,
    DOCUMENTS,
    LOG,
    PAIRS,
    PAIRS_REFUSED,
    PAIRS_TSV,
    PICTURE,
    REPORT,
    SITES,
)
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.urls.credentials import is_secret, without_credentials

MAX_PAIRS = 20
MAX_REASONS = 8
MAX_EVIDENCE = 3
LOG_WIDTH = 160
ABOUT_FILES = {
    PAIRS: "the pairs with their evidence, one per line",
    PAIRS_TSV: "the pairs, two URLs per line",
    CLUSTERS: "the versions of each page by language, one page per line",
    PAIRS_REFUSED: "counterparts without translated content, and why",
    DOCUMENTS: "the documents, one per line",
    SITES: "the bilingual sites with their evidence, one per line",
    REPORT: "this report in full",
    PICTURE: "the yield curve",
    LOG: "the log of the crawl",
    "crawl-*.warc.gz": "everything that was fetched, unchanged",
}


PROGRAMS = {
    "scrapy": "scrapy",
    "bilingual-crawler": "bilingual-crawler",
    "bilingual_crawler": "bilingual-crawler",  # python -m bilingual_crawler
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Everything that the summary shows."""

    counts: Counts
    pairs: list[DocumentPair]
    """The pairs that are shown, best first."""
    folder: Path
    seconds: float
    finished: bool
    stopped_why: str
    nothing_new: bool = False
    """Whether the crawl had been finished before this run."""
    command: str | None = None
    """The command that resumes the crawl."""
    explanation: list[str] = field(default_factory=list)
    next_steps: list[tuple[str, str]] = field(default_factory=list)
    """Commands that make something of the harvest, each with what it does."""
    moved_aside: list[Path] = field(default_factory=list)
    """Files with data that was not in the journal of the crawl."""


def best_pairs(pairs: Iterable[DocumentPair], most: int = MAX_PAIRS) -> list[DocumentPair]:
    """Return the pairs with the highest scores."""
    return nsmallest(most, pairs, key=lambda pair: (-round(pair.score, 6), pair.first))


def summary_text(ending: Ending) -> str:
    """Return the summary without colours, for a log."""
    text = StringIO()
    console = Console(file=text, width=LOG_WIDTH, color_system=None, force_terminal=False)
    console.print(summary(ending), crop=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def summary(ending: Ending) -> RenderableType:
    """Return the summary, to be printed on any console.

    The command that resumes the crawl is longer than most terminals are wide and must stay one
    line to be copied, so the console must not crop it.
    """
    parts: list[RenderableType | None] = [_pairs(ending), _more(ending), _headline(ending)]
    if ending.explanation:
        searched = ending.counts.sites is not None and not ending.counts.sites.bilingual
        what = "bilingual sites" if searched else ending.counts.harvest
        parts.append(_explanation(ending.explanation, f"Why there are no {what}"))
    parts += [
        _accounts(ending.counts),
        _files(ending.folder),
        _moved_aside(ending.moved_aside),
        _next_steps(ending.next_steps),
        _going_on(ending),
    ]
    return Group(*(part for part in parts if part is not None))


def _headline(ending: Ending) -> RenderableType:
    counts = ending.counts
    sites = None if counts.harvests else counts.sites
    line = _harvest_line(ending) if sites is None else _sites_line(ending, sites)
    line.append("\n")
    if not ending.nothing_new:
        return line
    finished = Text("This crawl is finished: nothing is left to fetch.", style=STRONG)
    return Group(finished, line)


def _harvest_line(ending: Ending) -> Text:
    counts = ending.counts
    number, names = counts.harvested, counts.langs.names
    noun = counts.harvest if number != 1 else counts.harvest[:-1]
    about = {"pairs": f"of {names} documents in", "documents": f"in {names} from"}
    return Text.assemble(
        (f"{number:,} {noun}", f"{STRONG} {GOOD}" if number else STRONG),
        f" {about[counts.harvest]} {counts.pages:,} pages",
        (f"  {counts.per_100_pages:.1f} per 100 pages, {duration(ending.seconds)}", DIM),
    )


def _sites_line(ending: Ending, sites: FoundSites) -> Text:
    found = f"{sites.bilingual:,} bilingual site{'' if sites.bilingual == 1 else 's'}"
    return Text.assemble(
        (found, f"{STRONG} {GOOD}" if sites.bilingual else STRONG),
        f" of {ending.counts.langs.names} among {sites.examined:,} examined,"
        f" in {ending.counts.pages:,} pages",
        (f"  {sites.downloads_a_site:.1f} downloads per site, {duration(ending.seconds)}", DIM),
    )


def _pairs(ending: Ending) -> RenderableType:
    if not ending.pairs:
        return Text()
    table = Table(box=box.SIMPLE_HEAD, header_style=DIM, pad_edge=False)
    table.add_column("score")
    table.add_column("pair, and why", overflow="fold")
    for pair in ending.pairs:
        why = (
            f"{each.detector} {each.score:.2f}: {each.why}" for each in pair.reasons[:MAX_EVIDENCE]
        )
        cell = Text("\n").join(
            [Text(plain(pair.first)), Text(plain(pair.second))]
            + [Text(plain(line), style=DIM) for line in why]
        )
        table.add_row(f"{pair.score:.3f}", cell)
    return table


def _more(ending: Ending) -> RenderableType | None:
    more = ending.counts.pairs - len(ending.pairs)
    return Text(f"       and {more:,} more in {PAIRS}\n") if more > 0 else None


def _explanation(sentences: list[str], title: str) -> RenderableType:
    lines = [Text(title, style=STRONG), *(Text(plain(s)) for s in sentences)]
    return Group(lines[0], *(Padding(line, (0, 0, 0, 2)) for line in lines[1:]), Text())


def _accounts(counts: Counts) -> RenderableType:
    languages = ", ".join(f"{code} {number:,}" for code, number in counts.documents.items())
    rows: list[tuple[Text, ...]] = []
    if counts.sites is not None:
        rows += _site_rows(counts.sites, counts.outcomes.get(Outcome.EXAMINED, 0))
    if counts.harvests:
        about = f"documents ({languages})" if languages else "documents"
        if 0 < counts.kept_pages < counts.kept:
            about += f" of {counts.kept_pages:,} pages"
        rows.append(_row("kept", counts.kept, about))
    if counts.pairs_refused:
        about = f"counterparts without translated content, in {PAIRS_REFUSED}"
        rows.append(_row("no pairs", counts.pairs_refused, about))
    if counts.split_pages:
        rows.append(_row("split", counts.split_pages, "pages with both languages"))
    outcomes = counts.outcomes
    machine = sum(counts.machine_translated.values()) - outcomes.get("machine_translated", 0)
    if machine > 0:
        about = "documents that say so themselves (BILINGUAL_MACHINE_TRANSLATED=drop)"
        rows.append(_row("by machine", machine, about))
    dropped = {why: number for why, number in outcomes.items() if is_drop(why)}
    failed = {why: number for why, number in outcomes.items() if is_failure(why)}
    rows += _reasons("not kept", dropped, _with_languages(counts))
    if counts.pages_again:
        about = "pages that were read again because their URLs were queued again"
        rows.append(_row("read again", counts.pages_again, about))
    rows += _reasons("not fetched", failed, outcome_sentence)
    rows += _reasons("not followed", counts.links_refused, link_sentence)
    if counts.waiting:
        rows.append(_row("waiting", counts.waiting, "URLs that have not been fetched yet"))
    if counts.over_budget:
        rows.append(
            _row(
                "over budget",
                counts.over_budget,
                "URLs of sites whose BILINGUAL_SITE_PAGES (or BILINGUAL_HOST_PAGES) are used up",
            )
        )
    return grid(rows, right=frozenset({1}))


def _site_rows(sites: FoundSites, pages: int) -> Iterator[tuple[Text, ...]]:
    yield _row("bilingual", sites.bilingual, f"sites, listed in {SITES}")
    yield _row("examined", sites.examined, f"sites, in {sites.downloads:,} of {pages:,} pages read")
    if sites.unreachable:
        yield _row("unreachable", sites.unreachable, "sites that gave no page")


def _with_languages(counts: Counts) -> Callable[[str], str]:
    named = ", ".join(f"{code} {number:,}" for code, number in counts.off_language.items())

    def meaning(reason: str) -> str:
        sentence = outcome_sentence(reason)
        return f"{sentence} ({named})" if reason == Outcome.OFF_LANGUAGE and named else sentence

    return meaning


def _reasons(
    label: str, amounts: Amounts, meaning: Callable[[str], str]
) -> Iterator[tuple[Text, ...]]:
    items = list(amounts.items())
    for number, (reason, amount) in enumerate(items[:MAX_REASONS]):
        yield _row("" if number else label, amount, meaning(reason))
    if rest := sum(amount for _, amount in items[MAX_REASONS:]):
        yield _row("", rest, f"for other reasons, listed in {REPORT}")


def _row(label: str, number: int, text: str) -> tuple[Text, ...]:
    return Text(label, style=DIM), Text(f"{number:,}"), Text(plain(text))


def _files(folder: Path) -> RenderableType:
    there = {
        name: about
        for name, about in ABOUT_FILES.items()
        if any(file.stat().st_size for file in folder.glob(name))
    }
    rows = grid((Text(name), Text(about, style=DIM)) for name, about in there.items())
    return Group(
        Text.assemble("\nFiles in ", (plain(str(folder)), STRONG)), Padding(rows, (0, 0, 0, 2))
    )


def _moved_aside(files: list[Path]) -> RenderableType | None:
    if not files:
        return None
    names = ", ".join(plain(file.name) for file in files)
    return Text(
        "\nThe folder had data that was not in its journal. It was moved to other files, and is not"
        f" part of the crawl: {names}"
    )


def _next_steps(steps: list[tuple[str, str]]) -> RenderableType | None:
    """Return the commands, one per line and never cut, so that they can be copied."""
    if not steps:
        return None
    width = max(len(command) for command, _ in steps)
    rows = ((f"  {plain(command):<{width}}  ", (about, DIM)) for command, about in steps)
    lines = (Text.assemble(*row, no_wrap=True, overflow="ignore") for row in rows)
    return Group(Text("\nNext"), *lines)


def next_steps(folder: Path, counts: Counts, program: str) -> list[tuple[str, str]]:
    """Return what to do with a harvest: each command with what it does."""
    name = shlex.quote(str(folder))
    if counts.is_shared:
        into = shlex.quote(f"{folder.parent}-all")
        parent = shlex.quote(str(folder.parent))
        about = "joins the folders of all workers, when they have ended"
        return [(f"{program} merge {parent} --into {into}", about)] if counts.pages else []
    if not counts.harvested:
        return []
    if not counts.harvests:
        found = shlex.quote(str(folder / SITES))
        command = f"{program} crawl bilingual -a langs={counts.langs} -a seeds_file={found}"
        return [(command, "harvests these sites")]
    serve = (f"{program} serve {name}", "shows everything in the browser")
    if counts.harvest != "pairs":
        return [(f"{program} export {name} --to xml", "writes the documents as XML"), serve]
    align = (f"{program} align {name}", "finds the sentence pairs")
    export = (f"{program} export {name} --to tmx", "writes them for other tools (--list: formats)")
    return [*([] if (folder / SENTENCES).exists() else [align]), export, serve]


def program_of(argv: Sequence[str]) -> str:
    """Return the program that was typed, for commands that a user may copy."""
    begin = next((at for at, word in enumerate(argv) if word == "crawl"), 0)
    return PROGRAMS.get(Path(argv[begin - 1]).stem, "scrapy") if begin else "scrapy"


def _going_on(ending: Ending) -> RenderableType | None:
    if ending.finished:
        return None
    line = Text(f"\nThe crawl is not finished. {ending.stopped_why} To resume:")
    if ending.command is None:
        return Text(f"{line.plain[:-1]}, start it again with output={plain(str(ending.folder))}")
    return Group(line, Text(f"  {plain(ending.command)}", no_wrap=True, overflow="ignore"))


def resume_command(argv: Sequence[str], output: Path) -> str | None:
    """Return the command that resumes a crawl; None if none was typed.

    Seeds and settings are part of a crawl, so the whole command is repeated, with the folder
    added if the crawler chose it. The user must fill in secrets again.
    """
    begin = next((at for at, word in enumerate(argv) if word == "crawl"), 0)
    program = Path(argv[begin - 1]).stem
    if not begin or program not in PROGRAMS:
        return None
    words = [_without_secret(word) for word in _typed(argv[begin:])]
    if not any(word.removeprefix("-a").startswith("output=") for word in words):
        words += ["-a", f"output={output}"]
    return shlex.join([PROGRAMS[program], *words])


def _typed(words: Sequence[str]) -> Iterator[str]:
    """Yield the words without arguments such as `-a _run=...`, which a program has added."""
    before = ""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        is_added = after.startswith("_") if word == "-a" else before == "-a" and word[:1] == "_"
        if not is_added:
            yield word
        before = word


def _without_secret(word: str) -> str:
    name, equals, _ = word.partition("=")
    return f"{name}=..." if equals and is_secret(name) else without_credentials(word)
