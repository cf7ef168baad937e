"""Pairing without a crawl: from inputs of any kind to pairs."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from bilingual_crawler.corpus.pair_search import Keeper, PairSearch
from bilingual_crawler.corpus.paper_search import PaperSearch
from bilingual_crawler.corpus.sources.inputs import (
    FolderRules,
    InputKind,
    ListedFiles,
    absolute,
    documents_from,
    file_url,
    kind_of,
    listed_files,
    listed_url_pairs,
    listed_urls,
    read_file,
)
from bilingual_crawler.corpus.sources.reading import SourceReading
from bilingual_crawler.documents.document import Unwanted
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair, LanguageSet, ParallelLanguages
from bilingual_crawler.pairing.congruence import Congruence
from bilingual_crawler.pairing.one_to_one import ACCEPT, greedy_choice
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.pairing.paper_matcher import PaperSystem
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The inputs to pair, and how."""

    inputs: tuple[str, ...]
    reading: SourceReading
    detectors: tuple[str, ...] | None = None
    least_share: int = 0
    across_hosts: bool = False
    folders: FolderRules | None = None
    keep_pages: bool = False
    learns: bool = False
    """Whether to learn a lexicon from sure pairs, as evidence for others."""
    aids: PairingAids = NO_AIDS
    keeper: Keeper | None = None
    system: PaperSystem | None = None
    """The paper that decides alone; None for all evidence together."""
    honour: tuple[str, ...] = ()
    """Opt-outs by which a page is left out."""


@dataclass(frozen=True, slots=True)
class ListedVerdict:
    """The verdict on two files that a list names as a pair."""

    first: str
    second: str
    pair: DocumentPair | None
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether they are judged to be translations."""
        return not self.reason

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a line of pairs.jsonl."""
        known = {"url1": self.first, "url2": self.second, "score": 0.0, "evidence": []}
        if self.pair is not None:
            known = self.pair.to_dict()
        word = "accepted" if self.accepted else "rejected"
        return known | {"verdict": word} | ({"reason": self.reason} if self.reason else {})


@dataclass(slots=True)
class OfflineResult:
    """The result of a task."""

    reading: SourceReading
    search: PairSearch
    listed_urls: "ListedUrls"
    unlisted_pairs: list[DocumentPair] = field(default_factory=list)
    """Pairs that were found, unlike those that a list named."""
    verdicts: list[ListedVerdict] = field(default_factory=list)
    urls: int = 0
    congruent: list[DocumentPair] = field(default_factory=list)
    refused: list[DocumentPair] = field(default_factory=list)
    """Counterparts without translated content."""

    @property
    def pairs(self) -> list[DocumentPair]:
        """All pairs."""
        accepted = (each.pair for each in self.verdicts if each.accepted)
        return [*self.unlisted_pairs, *(pair for pair in accepted if pair is not None)]

    def language_of(self, url: str) -> str | None:
        """Return the language of a page or listed URL that took part; None for any other."""
        language = self.search.language_of(url)
        return self.listed_urls.language_of(url) if language is None else language

    def why_unused(self, url: str) -> Unwanted | None:
        """Return why a page that was read took no part; None for any other page."""
        return self.search.why_unused(url)

    def candidates(self) -> Iterator[DocumentPair]:
        """Yield every pair that was weighed, of documents and of listed URLs."""
        return chain(self.search.candidates(), self.congruent)

    def summary(self) -> dict[str, Any]:
        """Return the counts of the run."""
        detectors = Counter(
            each.detector for pair in self.pairs for each in pair.evidence if each.score >= ACCEPT
        )
        counts: dict[str, Any] = {
            "langs": str(self.search.languages),
            "pages": dict(sorted(self.search.pages.items())),
            "split_pages": self.search.split,
            "sitemaps": self.search.sitemaps,
            "skipped": dict(self.reading.skips.counts.most_common()),
            "candidates": self.search.candidate_count + len(self.congruent),
            "pairs": len(self.pairs),
            "pairs_refused": len(self.refused),
            "pairs_per_detector": dict(sorted(detectors.items())),
        }
        if self.urls:
            counts["urls"] = self.urls
        if self.verdicts:
            accepted = sum(each.accepted for each in self.verdicts)
            counts["file_pairs"] = {
                "accepted": accepted,
                "rejected": len(self.verdicts) - accepted,
            }
        return counts


def find_pairs(task: Task, progress: Callable[[int, int], None] = lambda *_: None) -> OfflineResult:
    """Read all inputs and pair their pages; `progress` gets the counts of pages and pairs."""
    reading, languages = task.reading, task.reading.languages
    assert isinstance(languages, LanguagePair | LanguageSet)
    search = _search(task, languages)
    by_url = ListedUrls(languages, across_hosts=task.across_hosts)
    outcome = OfflineResult(reading, search, by_url)
    listed: list[ListedFiles] = []
    for source, kind in [(source, kind_of(source)) for source in task.inputs]:
        if kind is InputKind.URLS:
            for url, language in listed_urls(source, reading):
                by_url.add(url, language)
                outcome.urls += 1
        elif kind is InputKind.FILES:
            listed += _read_files(source, search, reading)
        elif kind is InputKind.URL_PAIRS:
            search.declare(list(listed_url_pairs(source, reading)))
        else:
            for found in documents_from(source, reading):
                search.take(found)
                progress(search.pages.total(), len(search))
    search.finish()
    outcome.congruent = list(by_url.pairs())
    files = {each for pair in listed for each in map(file_url, pair)}
    chosen = _allowed(search, task)
    unlisted = [pair for pair in chosen if files.isdisjoint((pair.first, pair.second))]
    outcome.refused = list(search.refused())
    outcome.unlisted_pairs = unlisted + outcome.congruent
    outcome.verdicts = _verdicts(listed, search)
    return outcome


class ListedUrls:
    """URLs of which nothing is fetched, sorted for every two languages."""

    def __init__(self, languages: ParallelLanguages, *, across_hosts: bool = False) -> None:
        self._languages = languages
        self._sorted = [
            (pair, Congruence(pair, across_hosts=across_hosts)) for pair in languages.pairs()
        ]

    def add(self, url: str, language: str = "") -> None:
        """Add a URL; `language` is that of its page, if it is known."""
        if isinstance(self._languages, LanguageSet) and self._languages.is_open:
            raise ConfigurationError(
                "URLs that are not fetched are compared by the languages that they name: write"
                f" which ones, such as --langs spa-eus-eng, instead of {self._languages}."
            )
        for pair, congruence in self._sorted:
            if not language or language in pair:
                congruence.add(url, language)

    def pairs(self) -> Iterator[DocumentPair]:
        """Yield the pairs of every two languages."""
        return chain.from_iterable(congruence.pairs() for _, congruence in self._sorted)

    def language_of(self, url: str) -> str | None:
        """Return the language of a URL that was listed; None for any other."""
        found = (congruence.language_of(url) for _, congruence in self._sorted)
        return next((language for language in found if language is not None), None)


def _search(task: Task, languages: ParallelLanguages) -> PairSearch:
    if task.system is not None:
        if not isinstance(languages, LanguagePair):
            raise ConfigurationError(
                f"The system {task.system} pairs two languages, and these are {languages.names}:"
                " name two, or leave out --system."
            )
        return PaperSearch(
            task.system,
            languages,
            least_share=task.least_share,
            skips=task.reading.skips,
            aids=task.aids,
            keeper=task.keeper,
            honour=task.honour,
        )
    return PairSearch(
        languages,
        task.detectors,
        least_share=task.least_share,
        skips=task.reading.skips,
        keep_pages=task.keep_pages,
        aids=task.aids,
        keeper=task.keeper,
        learns=task.learns,
        honour=task.honour,
    )


def _read_files(source: str, search: PairSearch, reading: SourceReading) -> list[ListedFiles]:
    """Read the files that a list names, each once; return the listed pairs."""
    listed = list(dict.fromkeys(listed_files(source, reading)))
    for path in dict.fromkeys(chain.from_iterable(listed)):
        if search.language_of(file_url(path)) is None:
            found = read_file(path, reading)
            if found is not None:
                search.take(found)
    return listed


def _verdicts(listed: list[ListedFiles], search: PairSearch) -> list[ListedVerdict]:
    """Judge each listed pair by its own evidence alone."""
    verdicts = []
    for pair in dict.fromkeys(listed):
        first, second = map(file_url, pair)
        one, other = search.language_of(first), search.language_of(second)
        both = None not in (one, other) and one != other
        candidate = search.weigh(first, second) if both else None
        reason = _why_rejected(pair, candidate, search)
        verdicts.append(ListedVerdict(str(pair.first), str(pair.second), candidate, reason))
    return verdicts


def _why_rejected(pair: ListedFiles, candidate: DocumentPair | None, search: PairSearch) -> str:
    languages = []
    for path in pair:
        language = search.language_of(file_url(path))
        if language is None:
            unwanted = search.why_unused(file_url(path))
            return f"{path}: {unwanted.message if unwanted else 'it cannot be read'}"
        languages.append(language)
    if languages[0] == languages[1]:
        return f"both are in {languages[0]}"
    if candidate is None:
        return "there is no evidence for the pair"
    if candidate.score < ACCEPT:
        return f"there is too little evidence for the pair: {candidate.score:.2f}"
    if candidate.refused:
        return f"they hold no translated content: {candidate.refused}"
    return ""


def _allowed(search: PairSearch, task: Task) -> list[DocumentPair]:
    """Return the pairs; if there are folder rules, the best candidates that obey them."""
    if task.folders is None:
        return search.pairs
    roots = tuple(str(absolute(Path(each))) for each in task.inputs if Path(each).is_dir())
    weighed = {
        (each.first, each.second): each
        for each in search.candidates()
        if each.score >= ACCEPT
        and not each.refused
        and task.folders.allow(each.first, each.second, roots)
    }
    by_languages: dict[tuple[str, str], list[DocumentPair]] = {}
    for each in weighed.values():
        by_languages.setdefault(each.languages, []).append(each)
    return [
        weighed[urls]
        for some in by_languages.values()
        for urls in greedy_choice((each.score, each.first, each.second) for each in some)
    ]
