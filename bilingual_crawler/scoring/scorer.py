"""How promising a link is: the interface of every scorer, and how one is chosen.

A crawl has one scorer per language pair, or one for its only language. A scorer is called by one
thread at a time, in the order of events: a page arrives, pairs and failures since the last page are
reported, the links of the page are scored, and the scorer is asked for changes. So a scorer needs
no locks.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from bilingual_crawler.config.settings import SCORERS, Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import LanguagePair, Languages, LanguageSet, OneLanguage
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.plugins import PluginKind
from bilingual_crawler.scoring.shared_models import missing_runtime
from bilingual_crawler.topics import NO_TOPIC, Topic

logger = logging.getLogger(__name__)

SEED_PRIORITY = float("inf")
"""Seeds come first, always."""

REFUSED = float("-inf")
"""The score of a link that is never followed."""

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
    """A URL worth trying although no link to it was seen.

    `linked` says that a link was seen after all, on a page where it was refused: such a URL is no
    guess and does not count against the site's budget of probes.
    """

    url: str
    score: float
    depth: int
    why: str
    linked: bool = False


class CrawlSoFar(Protocol):
    """What a scorer may ask about the crawl, cheaply and at any time."""

    def state_of(self, url: str) -> State | None:
        """Return the state of a URL; None if it was never pushed."""

    def language_of(self, url: str) -> str | None:
        """Return the language of a fetched page; None if it was not fetched, or has none."""

    def partner_of(self, url: str) -> str | None:
        """Return the current partner of a page."""


@runtime_checkable
class KnowsWords(Protocol):
    """A crawl that has learned words: what a scorer may ask it, if it is one."""

    def slugs_agree(self, first: str, second: str) -> float | None:
        """Return the share of words in the last parts of two URLs that translate each other.

        The URL in the first language comes first; None if no word of one of them is known.
        """


class NothingYet:
    """A crawl that has not begun."""

    def state_of(self, url: str) -> State | None:  # noqa: ARG002 - the same for every URL
        """Return None: nothing was pushed."""
        return None

    def language_of(self, url: str) -> str | None:  # noqa: ARG002 - the same for every URL
        """Return None: nothing was fetched."""
        return None

    def partner_of(self, url: str) -> str | None:  # noqa: ARG002 - the same for every URL
        """Return None: nothing is paired."""
        return None


class LinkScorer(ABC):
    """Scores the links of a page before any of them is fetched, and may learn from results."""

    sees_context: ClassVar[bool] = True
    """True if a score depends on more than the URL, so that a link found again may rise."""

    off_language: ClassVar[float | None] = None
    """The weight of links on pages in neither language; None leaves it to the settings."""

    is_yield: ClassVar[bool] = False
    """True if a score is the expected yield of a download, with 0 for none, so that a crawl with a
    topic can multiply it by the odds of a page on topic.
    """

    for_one_language: ClassVar[bool] = False
    """True if it can rank links in a crawl without translations."""

    for_many_languages: ClassVar[bool] = False
    """True if it can rank links in a crawl for more than two languages."""

    topic: Topic = NO_TOPIC
    """The topic of the crawl."""

    def __init__(self, languages: Languages, crawl: CrawlSoFar, config: Config) -> None:
        self.languages = languages
        self.crawl = crawl
        self.config = config

    @property
    def pair(self) -> LanguagePair:
        """The two languages, for scorers that need two."""
        assert isinstance(self.languages, LanguagePair)
        return self.languages

    @abstractmethod
    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return one number per link: higher is fetched sooner, `REFUSED` never."""

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the score of a link and the reasons for it."""
        (score,) = self.score(document, [link])
        return score, [Factor("score", score, f"what {type(self).__name__} gives this link")]

    def wanted(self, document: Document) -> frozenset[str]:
        """Return the languages other than that of a page; both of two, for a page in neither."""
        return self.languages.sought_from(document.language)

    def topic_around(self, document: Document, link: Link) -> float:
        """Return how much the text around a link is about the topic: occurrences times weights.

        It is read in the language of the page; if that is not one of the crawl's, in the one of
        them that gives the most.
        """
        text = f"{link.context or link.anchor} {link.image_alt}"
        if link.anchor not in text:
            text = f"{link.anchor} {text}"
        own = document.language if document.language in self.languages else None
        codes = self.languages.codes if own is None else (own,)
        return max((self.topic.weight(text, code) for code in codes), default=0.0)

    def weight_of(self, document: Document) -> float:
        """Return the factor of the scores of a page's links; 0 means not to follow them."""
        if document.language in self.languages:
            return 1.0
        if self.off_language is not None:
            return self.off_language
        return 0.0 if self.config.off_language == "discard" else self.config.off_language_weight

    def arrived(self, document: Document) -> None:  # noqa: B027 - learning is a choice
        """Learn from a fetched page, in whatever language, before its links are scored."""

    def found(self, pair: DocumentPair, kept: bool) -> None:  # noqa: B027 - learning is a choice
        """Learn from a pair that was found (`kept`) or given up for a better one."""

    def failed(self, url: str, reason: str) -> None:  # noqa: B027 - learning is a choice
        """Learn from a URL that gave no page; `reason` is a word, such as `http_404`.

        A probe that does not exist has the reason `probe_missed`, and one that leads to another
        address `redirected`, because many sites redirect unknown addresses to their home page.
        """

    def redirected(self, source: str, target: str) -> None:  # noqa: B027 - learning is a choice
        """Learn that a URL leads to another, which may have been fetched before."""

    def proposals(self) -> list[Proposal]:
        """Return URLs to try although no link leads to them, each once."""
        return []

    def changes(self) -> list[tuple[str, float]]:
        """Return waiting URLs with their new priority, higher or lower; each change once."""
        return []

    def exhausted(self) -> list[str]:
        """Return hosts of sites from which nothing more is wanted, each once."""
        return []

    def state(self) -> bytes | None:
        """Return what was learned, to be saved with the crawl; None if there is nothing."""
        return None

    def restore(self, state: bytes) -> None:  # noqa: B027 - learning is a choice
        """Continue from what was learned; raise ValueError if it cannot be read."""


SCORER_PLUGINS = PluginKind("a link scorer", "bilingual_crawler.scorers", LinkScorer, SCORERS)


def default_scorer(languages: Languages) -> str:
    """Return the scorer if the user names none; `rules` without a runtime for models."""
    if isinstance(languages, OneLanguage):
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
    """Return the scorer with that name or import path, for the languages of a crawl."""
    cls: type[LinkScorer] = SCORER_PLUGINS.load(name, "BILINGUAL_SCORER")
    if not cls.for_many_languages and isinstance(languages, LanguageSet):
        raise ConfigurationError(
            f"BILINGUAL_SCORER={name} ranks links for two languages, and this crawl is for"
            f" {languages.names}: write adaptive, smart or rules, or leave it out."
        )
    if not cls.for_one_language and isinstance(languages, OneLanguage):
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
