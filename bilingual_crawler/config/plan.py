"""The plan of a crawl: the arguments of the spider, checked before anything is fetched."""

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.config.checks import read_utf8, switch
from bilingual_crawler.config.seeds import (
    available_pairs,
    is_found_sites,
    project_seeds,
    read_found_sites,
)
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.config.topic_definition import Term, read_terms
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Languages, OneLanguage, parse_languages
from bilingual_crawler.suggestions import hint, nearest
from bilingual_crawler.urls.addresses import read_address, read_lines, split_addresses

ARGUMENTS = ("langs", "seeds", "seeds_file", "output", "sites", "topic", "discover")
CRAWL_FILES = ("crawl.sqlite", "crawl.json")
BEFORE_A_CRAWL = ("crawl.run.json", "crawl.log", "search.", "concordance")
"""What names begin with of files that `scrapy serve` makes in a folder before its crawl begins."""
WORKER_FILES = (*CRAWL_FILES, "crawl.lock")
CRAWLS = Path("crawls")
_MOST_PROBLEMS_SHOWN = 20
_JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""The name of a job, if it can be part of a file name."""


class ArgumentError(ConfigurationError):
    """Arguments of a crawl that cannot be run; `by_argument` has the problems of each."""

    def __init__(self, by_argument: Mapping[str, Sequence[str]]) -> None:
        self.by_argument = {name: list(each) for name, each in by_argument.items() if each}
        super().__init__(*chain.from_iterable(self.by_argument.values()))


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """The checked arguments of a crawl; `seeds_from` says where the seeds come from."""

    langs: Languages
    seeds: tuple[str, ...]
    seeds_from: str
    output: Path
    sites: Sites
    topic: tuple[Term, ...] = ()
    """The terms of the topic, none if the crawl has no topic."""
    discover: bool = False
    """Whether to search for bilingual sites, beginning at the seeds."""

    @classmethod
    def from_arguments(
        cls,
        langs: str | None = None,
        seeds: str | Iterable[str] | None = None,
        seeds_file: str | Path | None = None,
        output: str | Path | None = None,
        sites: str | Path | None = None,
        *,
        topic: str | Path | None = None,
        discover: str | bool = False,
        now: datetime | None = None,
        **unknown: Any,
    ) -> Self:
        """Check all arguments; a ConfigurationError reports all problems at once.

        Arguments that begin with an underscore come from the program that started the crawl. One
        of them has a meaning: scrapyd's `_job` names the folder if no other is given.
        """
        if not isinstance(now, datetime | None):  # the user wrote -a now=...
            now, unknown = None, {"now": now, **unknown}
        problems: defaultdict[str, list[str]] = defaultdict(list)
        for name in unknown:
            if not name.startswith("_"):
                problems[name].append(_unknown(name))
        languages = _languages(langs, problems["langs"])
        addresses, seeds_from = _seeds(languages, seeds, seeds_file, problems["seeds"])
        moment = now or datetime.now().astimezone()
        folder = _output(languages, output, moment, unknown.get("_job"), problems["output"])
        rules = _sites(sites, problems["sites"])
        terms = _topic(topic, languages, problems["topic"])
        discovers = _discover(discover, problems["discover"])
        if any(problems.values()) or languages is None:
            raise ArgumentError(problems)
        return cls(languages, addresses, seeds_from, folder, rules, terms, discovers)


def _discover(given: str | bool, problems: list[str]) -> bool:
    try:
        return switch(given)
    except ValueError as error:
        problems.append(f"-a discover={given} {error}.")
        return False


def _unknown(name: str) -> str:
    if name.isupper():
        return f"{name} is not an argument: if it is a setting, write -s {name}=... for -a."
    meant = hint(nearest(name, ARGUMENTS)[:1], f"there are {', '.join(ARGUMENTS)}.")
    return f"There is no argument -a {name}: {meant}"


def _languages(text: str | None, problems: list[str]) -> Languages | None:
    if not text or not text.strip():
        problems.append(
            "Which languages? Write two or more as codes or English names, for example:"
            " scrapy crawl bilingual -a langs=spa-eus or langs=spa-eus-eng (eng-* is English and"
            " every other language that the sites have, and a single one, -a langs=spa, is a"
            " crawl without translations)."
        )
        return None
    try:
        return parse_languages(text)
    except ValueError as error:
        problems.append(f"-a langs={text}: {error}")
        return None


def _seeds(
    languages: Languages | None,
    given: str | Iterable[str] | None,
    file: str | Path | None,
    problems: list[str],
) -> tuple[tuple[str, ...], str]:
    """Return the seeds and their origin: those of the user, or else the project's list."""
    found: list[str] = []
    sources: list[str] = []
    if given is not None:
        found += _checked(_given(given, problems), problems)
        sources.append("-a seeds")
    if file is not None:
        found += _checked(_listed(file, problems), problems)
        sources.append(str(file))
    if not sources and languages is not None:
        if not isinstance(languages, OneLanguage):
            found += [seed for pair in languages.pairs() for seed in project_seeds(pair)]
        sources.append(f"the project's list for {languages}")
        if not found:
            problems.append(
                f"The project has no list of seeds for {languages}. Write your own:"
                " -a seeds=https://example.org/,https://example.com/"
                " or -a seeds_file=seeds.txt with one URL per line."
                f" There are lists, for either order, for {', '.join(available_pairs())}."
            )
    return tuple(dict.fromkeys(found)), " and ".join(sources)


def _given(given: str | Iterable[str], problems: list[str]) -> Iterator[tuple[str, str]]:
    addresses = split_addresses(given) if isinstance(given, str) else list(given)
    if not addresses:
        problems.append(
            "-a seeds is empty: write -a seeds=https://example.org/,"
            " or leave it out for the project's own list."
        )
    for address in addresses:
        if "://" not in address and _is_file(address):
            problems.append(f"-a seeds: {address!r} is a file: write -a seeds_file={address}.")
        else:
            yield "-a seeds", address


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:
        return False


def _listed(file: str | Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    try:
        text = read_utf8(_path(file), f"The file of -a seeds_file={file}")
        lines = list(read_found_sites(text) if is_found_sites(text) else read_lines(text))
    except ConfigurationError as error:
        problems += error.problems
        return
    except ValueError as error:
        problems.append(f"{file}, {error}.")
        return
    if not lines:
        problems.append(f"{file} has no URL in it: write one per line.")
    for number, address in lines:
        yield f"{file}, line {number}", address


def _checked(addresses: Iterator[tuple[str, str]], problems: list[str]) -> list[str]:
    good, bad = [], []
    for where, address in addresses:
        try:
            good.append(read_address(address))
        except ValueError as error:
            bad.append(f"{where}: {error}.")
    if len(bad) > _MOST_PROBLEMS_SHOWN:
        more = len(bad) - _MOST_PROBLEMS_SHOWN
        bad[_MOST_PROBLEMS_SHOWN:] = [f"And {more:,} more addresses like these."]
    problems += bad
    return good


def _path(text: str | Path) -> Path:
    """Return a path with ~ expanded, which the shell does not do after `-a name=`."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _sites(file: str | Path | None, problems: list[str]) -> Sites:
    if file is None:
        return Sites()
    try:
        return Sites.from_file(_path(file))
    except ConfigurationError as error:
        problems += error.problems
        return Sites()


def _topic(
    file: str | Path | None, languages: Languages | None, problems: list[str]
) -> tuple[Term, ...]:
    """Return the terms of a topic, at least one of which must be for a language of the crawl."""
    if file is None:
        return ()
    try:
        terms = read_terms(_path(file))
    except ConfigurationError as error:
        problems += error.problems
        return ()
    there = {term.language for term in terms}
    wanted = None in there or languages is None or any(code in languages for code in there)
    if languages is not None and not wanted:
        named = ", ".join(sorted(filter(None, there)))
        problems.append(f"{file} has terms in {named}, and none in {languages.names}.")
    return terms


def _output(
    languages: Languages | None,
    given: str | Path | None,
    now: datetime,
    job: Any,
    problems: list[str],
) -> Path:
    name = languages.file_name if languages is not None else str(languages)
    folder = CRAWLS / f"{name}-{now:%Y%m%d-%H%M%S}" if given is None else _path(given)
    if given is not None and not str(given).strip():
        problems.append("-a output is empty: write the name of a folder, or leave it out.")
        return folder
    try:
        if given is None and isinstance(job, str) and _JOB.fullmatch(job):
            folder = CRAWLS / f"{name}-{job}"
        elif given is None:
            folder = _not_there_yet(folder)
        objection = _objection(folder)
    except (OSError, ValueError) as error:
        objection = f"cannot be used ({getattr(error, 'strerror', None) or error})"
    if objection:
        problems.append(f"The output folder {folder} {objection}.")
    return folder


def _not_there_yet(folder: Path) -> Path:
    """Return that folder, or a numbered one if two crawls start in the same second."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(each for each in chain([folder], numbered) if not each.exists())


def holds_workers(folder: Path) -> bool:
    """Return True if a folder contains nothing but the folders of workers of a crawl.

    What the web page makes before a crawl may be there too.

    An empty one is that of a worker which has just begun beside this one.
    """
    there = folder.iterdir() if folder.is_dir() else ()
    folders = [each for each in there if not each.name.startswith(BEFORE_A_CRAWL)]
    return bool(folders) and all(each.is_dir() and _is_of_worker(each) for each in folders)


def _is_of_worker(folder: Path) -> bool:
    names = {file.name for file in folder.iterdir()}
    return not names or not names.isdisjoint(WORKER_FILES)


def _objection(folder: Path) -> str | None:
    """Return why a crawl cannot be written to a folder or continued in it; None if it can."""
    if folder.is_dir():
        entries = {entry.name for entry in folder.iterdir()}
        names = {name for name in entries if not name.startswith(BEFORE_A_CRAWL)}
        if names and names.isdisjoint(CRAWL_FILES) and not holds_workers(folder):
            return "contains something other than a crawl; choose a new or an empty folder"
    elif folder.exists():
        return "is a file; choose a folder with -a output=FOLDER"
    place = folder
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        return f"cannot be created, because {place} is a file"
    try:
        with tempfile.TemporaryFile(dir=place):
            return None
    except OSError as error:
        return (
            f"cannot be written ({error.strerror}: {place}); choose another with -a output=FOLDER"
        )
