"""What the user brings to pairing: a word list, a sentence model, detectors, other models.

The project ships no word list and no sentence model, so the combined model has not learned to use
them. Each adds odds of its own instead: a straight line through the point where it says nothing,
cut off on both sides, so that it can decide where everything else is in doubt and never outvotes
everything. `docs/experiments/pairing.md` has the measurement behind the numbers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document
from bilingual_crawler.pairing import almeida
from bilingual_crawler.pairing.comparison import GROUPS
from bilingual_crawler.pairing.detectors import NO_DETECTORS, Addition, UserDetectors
from bilingual_crawler.pairing.embeddings import Nearness, TextEmbedder, load_encoder
from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.lexicon import TranslationLexicon, read_lexicons
from bilingual_crawler.pairing.model import PairModel, load_pair_model
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import Evidence, PairingPage, page_of
from bilingual_crawler.pairing.profile import Embedder, passing
from bilingual_crawler.pairing.substance import SubstanceModel
from bilingual_crawler.pairing.validations import read_validations
from bilingual_crawler.pairing.word_list import Dictionary, WordList

RESOURCES = ("dictionary", "embeddings")
"""The detectors that need a resource of the user."""
LEARNED = "lexicon"
"""The detector that needs what crawls have learned (`lexicon_evidence.py`)."""
DETECTORS = ("same_page", "alternates", *GROUPS, "pplocator", "almeida", *RESOURCES, LEARNED)
"""The built-in detectors."""

UrlModel = Callable[[Sequence[Urls]], Sequence[float]]
"""Returns the probability that each two URLs are parallel."""


class AgreementOdds(NamedTuple):
    """What agreement beyond chance adds to the log-odds."""

    neutral: float
    """The agreement that speaks neither for nor against a pair."""
    slope: float
    least: float
    most: float

    def odds(self, beyond_chance: float) -> float:
        """Return the contribution, which grows with the agreement."""
        return max(self.least, min(self.most, self.slope * (beyond_chance - self.neutral)))

    def score(self, beyond_chance: float) -> float:
        """Return a score from 0 to 1, at least 0.5 where the contribution is not negative."""
        return round(passing(beyond_chance, self.neutral), 3)

    def addition(self, detector: str, beyond_chance: float, why: str) -> Addition:
        """Return the contribution with its evidence."""
        return self.odds(beyond_chance), Evidence(detector, self.score(beyond_chance), why)


DICTIONARY = AgreementOdds(0.15, 10.0, 0.0, 3.0)
"""Never against a pair: a list that lacks their words, or their endings, is no evidence."""
EMBEDDINGS = AgreementOdds(0.4, 8.0, -2.0, 3.0)


@dataclass(frozen=True, slots=True)
class PairingAids:
    """What helps pairing: models, and the resources and detectors of the user."""

    model: PairModel | None = None
    url_model: UrlModel | None = None
    word_list: WordList | None = None
    embedder: Embedder | None = None
    detectors: UserDetectors = NO_DETECTORS
    lexicons: tuple[TranslationLexicon, ...] = ()
    """What crawls have learned of words, in any number and order of languages."""
    cross_domain: int = 3
    """On how many other domains translations of a site's pages are looked for by content."""
    chosen_sites: tuple[str, ...] | None = None
    """URLs on the sites that the user named; None if all that come are."""
    substance: SubstanceModel | None = None
    """Another model of what is a pair than the shipped one."""
    thin_pairs: bool = False
    """True if counterparts without translated content are pairs as well."""
    validations: Mapping[str, almeida.Validation] = field(default_factory=lambda: almeida.DEFAULTS)
    """How the detector almeida judges each type of file."""

    @classmethod
    def read(cls, config: Config, url_model: UrlModel | None = None) -> Self:
        """Read what the settings name; raise a ConfigurationError if something cannot be read."""
        name = config.embeddings
        return cls(
            load_pair_model(config.pair_model),
            url_model,
            WordList.read(config.word_list) if config.word_list else None,
            TextEmbedder(load_encoder(name), Path(name).name) if name else None,
            UserDetectors.load(config.detectors, DETECTORS),
            tuple(read_lexicons(config.lexicon)),
            config.cross_domain,
            thin_pairs=config.thin_pairs,
            validations=(
                read_validations(Path(config.validations).expanduser())
                if config.validations
                else almeida.DEFAULTS
            ),
        )

    def page_of(self, document: Document) -> PairingPage:
        """Return what pairing needs to know about a document, with what these add to it."""
        return page_of(document, self.embedder, self.detectors.notes_of(document))

    @property
    def detector_names(self) -> tuple[str, ...]:
        """Every detector that can be asked, the user's last."""
        return (*DETECTORS, *self.detectors.names)


NO_AIDS = PairingAids()


class Resources:
    """The user's resources and detectors that are asked."""

    def __init__(self, aids: PairingAids, asked: Collection[str]) -> None:
        wanted = aids.word_list if "dictionary" in asked else None
        self._dictionary = None if wanted is None else Dictionary(wanted)
        self._nearness = Nearness() if "embeddings" in asked else None
        self._detectors = aids.detectors.only(asked)

    def __bool__(self) -> bool:
        """Return True if anything can be said about any page."""
        return self._dictionary is not None or bool(self._nearness) or bool(self._detectors)

    def add(self, page: KnownPage) -> None:
        """Add a page."""
        if self._dictionary is not None:
            self._dictionary.add(page)
        if self._nearness is not None:
            self._nearness.add(page)

    def forget(self) -> None:
        """Recount what is common."""
        if self._dictionary is not None:
            self._dictionary.forget()

    def said(self, first: KnownPage, second: KnownPage, *, text: bool) -> Iterator[Addition]:
        """Yield what is added to the log-odds of two pages, with the reasons.

        Without `text` on both pages only detectors are asked.
        """
        if text and self._dictionary is not None:
            agreement = self._dictionary.compare(first, second)
            if agreement is not None:
                why = (
                    f"{agreement.found} of the {agreement.known} words in the word list have their"
                    f" translation on the other page, {agreement.beyond_chance:.0%} beyond chance"
                )
                yield DICTIONARY.addition("dictionary", agreement.beyond_chance, why)
        if text and self._nearness is not None:
            near = self._nearness.compare(first, second)
            if near is not None:
                why = f"the sentence model finds the texts similar, {near:.0%} beyond chance"
                yield EMBEDDINGS.addition("embeddings", near, why)
        yield from self._detectors.said(first.page, second.page)
