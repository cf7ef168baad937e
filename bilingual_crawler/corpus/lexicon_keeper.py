"""The lexicons of a crawl: which there are, where they come from, and where they are saved.

A crawl for more than two languages learns the words of the first language with each other one that
was named, and of any other two that have enough pairs, those with the most first. What a lexicon
costs does not depend on the number of languages, so the number of lexicons is bounded.

What a crawl has learned is in its folder, one file per two languages. What the user gave it to
begin with is not written there again, so the lexicons of crawls can be added up.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.lexicon_learning import (
    ADOPT_AFTER,
    LEAST_PAIRS,
    LexiconLearner,
    PageTexts,
)
from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import (
    LanguagePair,
    Languages,
    LanguageSet,
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

MOST_OTHER_LEXICONS = 3
"""The most lexicons that a crawl learns beside those of the first language."""
LOOK_EVERY = 250
"""Pages between two looks for languages with enough pairs; fewer at the first pages."""
LEAST_STANDING = 2 * LEAST_PAIRS
"""The pairs of two languages that are enough, sure or not."""

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
        self._read: Counter[str] = Counter()
        """The pages in each language, in crawls for more than two."""
        self._look_at = ADOPT_AFTER
        self._others: dict[str, LanguagePair] = {}
        """Pairs of languages with a lexicon, without the first language that was named."""

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
        if isinstance(languages, LanguagePair):
            self._learner(languages).read(document)
            return
        self._read[document.language or ""] += 1
        self._texts.add(document)
        for pair in self._pairs_of(languages):
            if document.language in pair:
                self._learner(pair).read(document)

    def step(
        self, languages: Languages, standing_of: StandingOf
    ) -> Iterator[tuple[TranslationLexicon | None, LanguagePair]]:
        """Go on after a page; yield the lexicons to use from now on, where that changes."""
        if not self.learns or isinstance(languages, OneLanguage):
            return
        if isinstance(languages, LanguageSet) and self._read.total() >= self._look_at:
            self._look_at += min(self._look_at, LOOK_EVERY)
            self._look_for_others(languages, standing_of)
        for pair in self._pairs_of(languages):
            news = self._learner(pair).step(partial(standing_of, pair), self._save)
            if news is not None:
                yield *news, pair

    def finish(
        self, languages: ParallelLanguages, standing_of: StandingOf
    ) -> Iterator[tuple[TranslationLexicon | None, LanguagePair]]:
        """Yield the lexicons that all pages taught; None where there is none to use."""
        if isinstance(languages, LanguageSet):
            self._look_for_others(languages, standing_of)
        for pair in self._pairs_of(languages):
            learner = self._learner(pair)
            yield learner.finish(partial(standing_of, pair), self._save), pair

    def _pairs_of(self, languages: ParallelLanguages) -> list[LanguagePair]:
        """Return every two languages whose words are learned."""
        if isinstance(languages, LanguagePair):
            return [languages]
        others = self._others.values()
        return [*languages.pivots(), *(pair for pair in others if _are_both_in(pair, languages))]

    def _look_for_others(self, languages: LanguageSet, standing_of: StandingOf) -> None:
        """Learn the words of other languages too that have enough pairs, while there is room."""
        room = MOST_OTHER_LEXICONS - len(self._others)
        known = {str(pair) for pair in self._pairs_of(languages)}
        common = [code for code, pages in self._read.items() if pages >= LEAST_STANDING]
        pairs = (languages.pair_of(*both) for both in combinations(sorted(common), 2) if room > 0)
        sizes = {
            pair: sum(1 for _ in standing_of(pair)) for pair in pairs if str(pair) not in known
        }
        enough = [pair for pair, size in sizes.items() if size >= LEAST_STANDING]
        for pair in sorted(enough, key=lambda pair: (-sizes[pair], str(pair)))[:room]:
            self._others[str(pair)] = pair

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


def _are_both_in(pair: LanguagePair, languages: LanguageSet) -> bool:
    return all(map(languages.__contains__, pair.codes))


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
