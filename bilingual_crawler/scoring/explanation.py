"""What the scorers say about one link, and why: the work of `scrapy score`."""

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from bilingual_crawler.config.settings import SCORERS, Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import Languages, find_language, parse_languages
from bilingual_crawler.scoring.scorekeeper import restored
from bilingual_crawler.scoring.scorer import (
    REFUSED,
    CrawlSoFar,
    Factor,
    LinkScorer,
    NothingYet,
    make_scorer,
)
from bilingual_crawler.store.folder import JOURNAL, PAIRS
from bilingual_crawler.topics import NO_TOPIC, Topic
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.language_tokens import announced_languages


class RecordedCrawl:
    """The last checkpoint of a crawl, read-only, so that the crawl may go on meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        journal = (folder / JOURNAL).absolute()
        try:
            self._connection = sqlite3.connect(f"{journal.as_uri()}?mode=ro", uri=True)
            self.langs = str(self._value("SELECT value FROM facts WHERE name = 'langs'"))
        except sqlite3.Error as error:
            raise ConfigurationError(
                f"There is no readable crawl in {folder} ({error}).",
                f"Name the folder of a crawl, one with {JOURNAL} in it.",
            ) from error

    def close(self) -> None:
        """Close the folder."""
        self._connection.close()

    def state_of(self, url: str) -> State | None:
        """Return the state of a URL; None if it was never pushed."""
        state = self._of(url, "SELECT state FROM urls WHERE fingerprint = ?")
        return None if state is None else State(state)

    def priority_of(self, url: str) -> float | None:
        """Return the last priority of a URL."""
        priority = self._of(url, "SELECT priority FROM urls WHERE fingerprint = ?")
        return None if priority is None else float(priority)

    def language_of(self, url: str) -> str | None:
        """Return the language of a fetched page."""
        language = self._of(url, "SELECT language FROM languages WHERE fingerprint = ?")
        return None if language is None else str(language)

    def partner_of(self, url: str) -> str | None:
        """Return the page that this one was paired with."""
        return self._partners.get(url)

    def learned(self, scorer: str, pair: str) -> bytes | None:
        """Return what a scorer had learned."""
        sql = "SELECT state FROM learned WHERE scorer = ? AND pair = ?"
        state = self._value(sql, scorer, pair)
        return None if state is None else bytes(state)

    @cached_property
    def _partners(self) -> dict[str, str]:
        """In both directions; of a running crawl's pairs the later ones count."""
        partners: dict[str, str] = {}
        with suppress(FileNotFoundError), (self._folder / PAIRS).open(encoding="utf-8") as lines:
            for line in lines:
                pair = json.loads(line)
                partners[pair["url1"]] = pair["url2"]
                partners[pair["url2"]] = pair["url1"]
        return partners

    def _of(self, url: str, sql: str) -> Any:
        return self._value(sql, url_fingerprint(url))

    def _value(self, sql: str, *row: object) -> Any:
        found = self._connection.execute(sql, row).fetchone()
        return None if found is None else found[0]


@dataclass(slots=True, kw_only=True)
class LinkQuestion:
    """A link, the page it is on, and the crawl that would follow it."""

    url: str
    source: str
    langs: str | None = None
    source_language: str | None = None
    anchor: str = ""
    depth: int = 0
    scorer: str | None = None
    crawl: str | None = None
    topic: Topic = NO_TOPIC


@dataclass(slots=True)
class ScorerAnswer:
    """What one scorer says; a scorer that cannot be asked has an error instead."""

    score: float
    factors: list[Factor] = field(default_factory=list)
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for JSON; a link that is not followed has no number."""
        if self.error:
            return {"error": self.error}
        factors = [factor._asdict() for factor in self.factors]
        return {"score": None if self.score == REFUSED else self.score, "factors": factors}


@dataclass(slots=True)
class Explanation:
    """What all scorers say about a link."""

    question: LinkQuestion
    pair: Languages
    language: str | None
    """The language of the page with the link, as far as it is known."""
    waiting_at: float | None
    answers: dict[str, ScorerAnswer]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation for one line of JSON."""
        return {
            "url": self.question.url,
            "from": self.question.source,
            "from_lang": self.language,
            "langs": str(self.pair),
            "waiting_at": self.waiting_at,
            "scores": {name: answer.to_dict() for name, answer in self.answers.items()},
        }


def explain_link(question: LinkQuestion, config: Config) -> Explanation:
    """Ask one scorer, or all."""
    crawl = RecordedCrawl(Path(question.crawl).expanduser()) if question.crawl else None
    try:
        return _explain(question, config, crawl)
    finally:
        if crawl is not None:
            crawl.close()


def _explain(question: LinkQuestion, config: Config, crawl: RecordedCrawl | None) -> Explanation:
    pair = _pair(question, crawl)
    language = _language(question, pair, crawl)
    link = Link(question.url, anchor=question.anchor)
    page = Document(question.source, language=language, links=[link], depth=question.depth)
    waiting_at = None
    if crawl is not None and crawl.state_of(question.url) is State.QUEUED:
        waiting_at = crawl.priority_of(question.url)
    answers = {}
    for name in [question.scorer] if question.scorer else SCORERS:
        try:
            answers[name] = _answer(_scorer(name, pair, crawl, config, question.topic), page, link)
        except ConfigurationError as error:
            if question.scorer:
                raise
            answers[name] = ScorerAnswer(REFUSED, error=" ".join(error.problems))
    return Explanation(question, pair, language, waiting_at, answers)


def _answer(scorer: LinkScorer, page: Document, link: Link) -> ScorerAnswer:
    score, factors = scorer.explain(page, link)
    weight = scorer.weight_of(page)
    if page.language in scorer.languages:
        return ScorerAnswer(score, factors)
    why = f"the page is not in a language that is wanted but in {page.language or 'an unknown one'}"
    factors = [*factors, Factor("page language", weight, why)]
    return ScorerAnswer(score * weight if weight else REFUSED, factors)


def _scorer(
    name: str, pair: Languages, crawl: RecordedCrawl | None, config: Config, topic: Topic
) -> LinkScorer:
    so_far: CrawlSoFar = NothingYet() if crawl is None else crawl
    make = partial(make_scorer, name, crawl=so_far, config=config, topic=topic)
    state = None if crawl is None else crawl.learned(name, str(pair))
    return restored(make, pair, state)


def _pair(question: LinkQuestion, crawl: RecordedCrawl | None) -> Languages:
    text = question.langs or (crawl.langs if crawl is not None else "")
    try:
        return parse_languages(text)
    except ValueError as error:
        raise ConfigurationError(f"--langs {text}: {error}") from error


def _language(question: LinkQuestion, pair: Languages, crawl: RecordedCrawl | None) -> str | None:
    """Return the language of the page: as given, as crawled, as its URL says, or the first one."""
    if question.source_language:
        try:
            return find_language(question.source_language).code
        except ValueError as error:
            raise ConfigurationError(f"--from-lang: {error}") from error
    known = crawl.language_of(question.source) if crawl is not None else None
    if known is not None:
        return known
    named = [code for code in pair.codes if code in announced_languages(question.source)]
    return named[0] if len(named) == 1 else next(iter(pair.codes), None)
