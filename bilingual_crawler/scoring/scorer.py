"""How promising is a link: what every scorer promises, and how one is chosen.

A crawl has one scorer for each pair of languages, or for its one language. Everything of a
scorer is called by one thread at a time, in the order of events: a page arrives, what was
found and what failed since the last page is told, the links of the page are scored, and what
the scorer wants changed is asked for. So a scorer needs no locks.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

from bilingual_crawler.config.settings import SCORERS, Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import LanguagePair, Languages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.plugins import PluginKind
from bilingual_crawler.scoring.shared_models import missing_runtime
from bilingual_crawler.topics.topic import NO_TOPIC, Topic

logger = logging.getLogger(__name__)

SEED_PRIORITY = float("inf")
"""Seeds come first, always."""

REFUSED = float("-inf")
"""The score of a link that is not to be followed at all."""

ONE_LANGUAGE = "rules"
"""The scorer of a crawl without translations, unless the user names one."""
WITHOUT_MODELS = "rules"
"""The scorer where the URL models cannot run, unless the user names one."""


class Factor(NamedTuple):
    """One reason for a score, for people to read: what it is, how much, and why."""

    name: str
    value: float
    why: str


class Proposal(NamedTuple):
    """A URL worth a try though no link to it was seen.

    `linked` tells that a link was seen after all, on a page where it was refused: such a URL
    is no guess and costs nothing of the site's budget of probes.
    """

    url: str
    score: float
    depth: int
    why: str
    linked: bool = False


class CrawlSoFar(Protocol):
    """What a scorer may ask of the crawl, cheaply and at any time."""

    def state_of(self, url: str) -> State | None:
        """Where a URL stands; None if it was never pushed."""

    def language_of(self, url: str) -> str | None:
        """The language of a fetched page; None if it was not fetched, or has none."""

    def partner_of(self, url: str) -> str | None:
        """The page that this one is paired with now."""


class NothingYet:
    """A crawl that has not begun."""

    def state_of(self, url: str) -> State | None:  # noqa: ARG002 - the same for every URL
        """Nothing was pushed."""
        return None

    def language_of(self, url: str) -> str | None:  # noqa: ARG002 - the same for every URL
        """Nothing was fetched."""
        return None

    def partner_of(self, url: str) -> str | None:  # noqa: ARG002 - the same for every URL
        """Nothing is paired."""
        return None


class LinkScorer(ABC):
    """Judges the links of a page before any of them is fetched, and may learn from what comes."""

    sees_context: ClassVar[bool] = True
    """Whether a score depends on more than the URL, so that a link found again may rise."""

    off_language: ClassVar[float | None] = None
    """What the links of a page in neither language count; None leaves it to the settings."""

    is_yield: ClassVar[bool] = False
    """Whether a score says how much a download promises, none being 0, so that in a crawl with a
    topic it is multiplied by the odds of a page on topic."""

    for_one_language: ClassVar[bool] = False
    """Whether it can rank links where no translations are looked for."""

    topic: Topic = NO_TOPIC
    """What the crawl is about."""

    def __init__(self, languages: Languages, crawl: CrawlSoFar, config: Config) -> None:
        self.languages = languages
        self.crawl = crawl
        self.config = config

    @property
    def pair(self) -> LanguagePair:
        """The two languages, for scorers that are for two alone."""
        assert isinstance(self.languages, LanguagePair)
        return self.languages

    @abstractmethod
    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """One number a link: the higher, the sooner it is fetched; `REFUSED` is never."""

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """The score of a link and the reasons for it."""
        (score,) = self.score(document, [link])
        return score, [Factor("score", score, f"what {type(self).__name__} gives this link")]

    def wanted(self, document: Document) -> frozenset[str]:
        """The language that a page lacks; both, for a page in neither."""
        return self.languages.sought_from(document.language)

    def topic_around(self, document: Document, link: Link) -> float:
        """How much the text around a link is about the topic: occurrences times weights.

        It is read in the language of the page; where that is none of the crawl's, in whichever
        of them it says most.
        """
        text = f"{link.context or link.anchor} {link.image_alt}"
        if link.anchor not in text:
            text = f"{link.anchor} {text}"
        own = document.language if document.language in self.languages else None
        codes = self.languages.codes if own is None else (own,)
        return max(self.topic.weight(text, code) for code in codes)

    def weight_of(self, document: Document) -> float:
        """What the scores of a page's links are multiplied by; 0 is not to follow them."""
        if document.language in self.languages:
            return 1.0
        if self.off_language is not None:
            return self.off_language
        return 0.0 if self.config.off_language == "discard" else self.config.off_language_weight

    def arrived(self, document: Document) -> None:  # noqa: B027 - learning is a choice
        """Learn of a fetched page, in whatever language, before its links are scored."""

    def found(self, pair: DocumentPair, kept: bool) -> None:  # noqa: B027 - learning is a choice
        """Learn of a pair that was found (`kept`) or given up for a better one."""

    def failed(self, url: str, reason: str) -> None:  # noqa: B027 - learning is a choice
        """Learn of a URL that gave no page; `reason` is a word, such as `http_404`.

        A probe that is not there has the reason `probe_missed`, and one that leads to another
        address `redirected`, since sites like to send strangers home.
        """

    def proposals(self) -> list[Proposal]:
        """URLs to try though no link leads to them; each is given once."""
        return []

    def changes(self) -> list[tuple[str, float]]:
        """Waiting URLs with their new priority, higher or lower; each change is given once."""
        return []

    def exhausted(self) -> list[str]:
        """Hosts of sites from which nothing more is wanted; each is given once."""
        return []

    def state(self) -> bytes | None:
        """What was learned, to be saved with the crawl; None where nothing is."""
        return None

    def restore(self, state: bytes) -> None:  # noqa: B027 - learning is a choice
        """Go on from what was learned; ValueError tells that it cannot be read."""


SCORER_PLUGINS = PluginKind("a link scorer", "bilingual_crawler.scorers", LinkScorer, SCORERS)


def default_scorer(languages: Languages) -> str:
    """The scorer of a crawl whose user names none; without a runtime for models, rules."""
    if not isinstance(languages, LanguagePair):
        return ONE_LANGUAGE
    missing = missing_runtime()
    if not missing:
        return Config().scorer
    logger.warning(
        "Links are ranked by rules, without the URL models: %s is not installed."
        " For the models: pip install 'bilingual-crawler[cpu]', or [gpu] for CUDA.",
        missing,
    )
    return WITHOUT_MODELS


def make_scorer(
    name: str,
    languages: Languages,
    crawl: CrawlSoFar,
    config: Config,
    topic: Topic = NO_TOPIC,
) -> LinkScorer:
    """The scorer of that name, or of that import path, for the languages of a crawl."""
    cls: type[LinkScorer] = SCORER_PLUGINS.load(name, "BILINGUAL_SCORER")
    if not cls.for_one_language and not isinstance(languages, LanguagePair):
        raise ConfigurationError(
            f"BILINGUAL_SCORER={name} ranks links by the translations that they promise, and a"
            f" crawl of {languages.names} alone looks for none: write rules, ilsp, language"
            " or breadth_first, or leave it out."
        )
    scorer = cls(languages, crawl, config)
    if topic and scorer.is_yield:
        from bilingual_crawler.scoring.topical import TopicalScorer  # noqa: PLC0415 - it is one

        scorer = TopicalScorer(scorer)
    scorer.topic = topic
    return scorer
