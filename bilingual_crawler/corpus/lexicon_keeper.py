"""The lexicons of a crawl: where they come from, and where they are saved.

What a crawl has learned is in its folder, one file per two languages. What the user gave it to
begin with is not written there again, so the lexicons of crawls can be added up.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.lexicon_learning import LexiconLearner, PageTexts
from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import (
    LanguagePair,
    Languages,
    OneLanguage,
    ParallelLanguages,
)
from bilingual_crawler.pairing.lexicon import (
    TranslationLexicon,
    lexicon_file,
    of_languages,
    read_lexicons,
)
from bilingual_crawler.pairing.pair import PackedPair
from bilingual_crawler.pairing.resources import PairingAids

logger = logging.getLogger(__name__)

StandingOf = Callable[[LanguagePair], Iterable[PackedPair]]
"""Returns the pairs of two languages at this moment."""


class LexiconKeeper:
    """The lexicons of a crawl and those that learn them, one per two languages.

    Without a folder nothing is saved.
    """

    def __init__(
        self,
        given: Iterable[TranslationLexicon] = (),
        folder: Path | None = None,
        *,
        learns: bool = True,
    ) -> None:
        self.learns = learns
        self._given = tuple(given)
        self._folder = folder
        self._earlier = () if folder is None else tuple(stored_lexicons(folder))
        self._learners: dict[str, LexiconLearner] = {}
        self._texts = PageTexts()

    @classmethod
    def open(cls, config: Config, folder: Path | None = None) -> "LexiconKeeper":
        """Begin with what the settings name, and with what the folder has."""
        return cls(read_lexicons(config.lexicon), folder, learns=config.learn_lexicon)

    def aids(self, aids: PairingAids) -> PairingAids:
        """Return aids for pairing that begin with these lexicons."""
        return replace(aids, lexicons=(*self._given, *self._earlier))

    def read(self, document: Document, languages: Languages) -> None:
        """Take in a page."""
        if not self.learns or isinstance(languages, OneLanguage):
            return
        for pair in languages.pivots():
            if document.language in pair or isinstance(languages, LanguagePair):
                self._learner(pair).read(document)

    def step(
        self, languages: Languages, standing_of: StandingOf
    ) -> Iterator[tuple[TranslationLexicon | None, LanguagePair]]:
        """Go on after a page; yield the lexicons to use from now on, where that changes."""
        if not self.learns or isinstance(languages, OneLanguage):
            return
        for pair in languages.pivots():
            news = self._learner(pair).step(partial(standing_of, pair), self._save)
            if news is not None:
                yield *news, pair

    def finish(
        self, languages: ParallelLanguages, standing_of: StandingOf
    ) -> Iterator[tuple[TranslationLexicon | None, LanguagePair]]:
        """Yield the lexicons that all pages taught; None where there is none to use."""
        for pair in languages.pivots():
            learner = self._learner(pair)
            yield learner.finish(partial(standing_of, pair), self._save), pair

    def _learner(self, pair: LanguagePair) -> LexiconLearner:
        learner = self._learners.get(str(pair))
        if learner is None:
            given, earlier = (
                of_languages(pair.codes, each) for each in (self._given, self._earlier)
            )
            learner = LexiconLearner(pair, given, earlier, self._texts)
            self._learners[str(pair)] = learner
        return learner

    def _save(self, lexicon: TranslationLexicon) -> None:
        if self._folder is None:
            return
        file = self._folder / lexicon_file("-".join(lexicon.languages))
        try:
            lexicon.write(file)
        except OSError as error:
            logger.warning("The lexicon cannot be saved in %s: %s", file, error)


def stored_lexicons(folder: Path) -> Iterable[TranslationLexicon]:
    """Yield the lexicons in the folder of a crawl; one that cannot be read is learned anew."""
    for file in sorted(folder.glob(lexicon_file("*"))):
        try:
            yield TranslationLexicon.read(file)
        except ConfigurationError as error:
            logger.warning("%s Its words are learned anew.", error)


def joined_lexicons(folders: Iterable[Path]) -> tuple[TranslationLexicon, ...]:
    """Return the lexicons of several crawls, added up per two languages."""
    joined: dict[tuple[str, str], TranslationLexicon] = {}
    for found in (each for folder in sorted(folders) for each in stored_lexicons(folder)):
        languages = found.languages if found.languages in joined else found.languages[::-1]
        known = joined.get(languages)
        if known is None:
            joined[found.languages] = found
        else:
            joined[languages] = of_languages(languages, (known, found)) or known
    return tuple(joined.values())
