"""What the scorers say of one link, and why: the work of `scrapy score`."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bilingual_crawler.config.settings import SCORERS, Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import Languages, find_language, parse_languages
from bilingual_crawler.scoring.learned import restored
from bilingual_crawler.scoring.recorded import RecordedCrawl
from bilingual_crawler.scoring.scorer import (
    REFUSED,
    CrawlSoFar,
    Factor,
    LinkScorer,
    NothingYet,
    make_scorer,
)
from bilingual_crawler.topics.topic import NO_TOPIC, Topic
from bilingual_crawler.urls.announced import announced_languages


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
        """The answer in JSON; a link that is not followed has no number."""
        if self.error:
            return {"error": self.error}
        factors = [factor._asdict() for factor in self.factors]
        return {"score": None if self.score == REFUSED else self.score, "factors": factors}


@dataclass(slots=True)
class Explanation:
    """What all scorers say of a link."""

    question: LinkQuestion
    pair: Languages
    language: str | None
    """The language of the page with the link, as far as it is known."""
    waiting_at: float | None
    answers: dict[str, ScorerAnswer]

    def to_dict(self) -> dict[str, Any]:
        """One line of JSON."""
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
    """The language of the page: as told, as crawled, as its URL says, or the first one."""
    if question.source_language:
        try:
            return find_language(question.source_language).code
        except ValueError as error:
            raise ConfigurationError(f"--from-lang: {error}") from error
    known = crawl.language_of(question.source) if crawl is not None else None
    if known is not None:
        return known
    named = [code for code in pair.codes if code in announced_languages(question.source)]
    return named[0] if len(named) == 1 else pair.codes[0]
