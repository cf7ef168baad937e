"""Glossaries: words with their translations, as TBX and as tab-separated text.

`learn_entries` derives them from the sentence pairs that are exported, with the lexicon of the
alignment (IBM Model 1, both directions in agreement), over whole words. An entry is a pair of
words that prefer each other, and that were seen often enough.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler import __version__
from bilingual_crawler.alignment.overlap import MOST_PAIRS, learn_lexicon
from bilingual_crawler.alignment.two_passes import UNSPACED
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.safe_text import DECLARATION, XmlText, one_line
from bilingual_crawler.export.source import Account, CorpusSource, of_one_pair
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import SentencePair

LEAST_SHARE = 0.3
"""The least share of a word that its translation must have."""
LEAST_SCORE = 0.5
"""The least Dice coefficient: of the sentences with either word, how many have both."""
LEAST_SEEN = 4
SHORTEST = 3
"""Characters of a word; shorter ones are mostly grammar."""
ALIKE = "words that are the same in both languages"
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_NO_SPACES = UNSPACED | {"tha", "lao", "khm", "mya"}


class GlossaryEntry(NamedTuple):
    """A word, its translation, how often they go together (0 to 1), and in how many sentences."""

    word1: str
    word2: str
    score: float
    seen: int


def learn_entries(pairs: Iterable[tuple[str, str]]) -> list[GlossaryEntry]:
    """Return the entries that texts of two languages teach, sorted by the first word."""
    spelt1, spelt2 = _Spellings(), _Spellings()
    texts = [(spelt1.take(one), spelt2.take(two)) for one, two in pairs]
    lexicon = learn_lexicon(texts)
    if lexicon is None:
        return []
    words1 = {number: word for word, number in lexicon.ids1.items()}
    words2 = {number: word for word, number in lexicon.ids2.items()}
    shares = lexicon.shares.tocoo()
    best1: defaultdict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    best2: defaultdict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    for row, column, share in zip(shares.row, shares.col, shares.data, strict=True):
        one, two = words1[int(row)], words2[int(column)]
        best1[one] = max(best1[one], (float(share), two))
        best2[two] = max(best2[two], (float(share), one))
    chosen = {
        one: two
        for one, (share, two) in best1.items()
        if share >= LEAST_SHARE and best2[two][1] == one and min(len(one), len(two)) >= SHORTEST
    }
    return sorted(_judged(chosen, texts, spelt1, spelt2))


def _judged(
    chosen: Mapping[str, str],
    texts: Iterable[tuple[list[str], list[str]]],
    spelt1: "_Spellings",
    spelt2: "_Spellings",
) -> Iterator[GlossaryEntry]:
    """Yield the choices that occur together often enough, with their Dice coefficient."""
    with1, with2, together = Counter[str](), Counter[str](), Counter[str]()
    for text1, text2 in texts:
        words1, words2 = set(text1), set(text2)
        with1.update(words1)
        with2.update(words2)
        together.update(word for word in words1 if chosen.get(word) in words2)
    for one, two in chosen.items():
        score = 2 * together[one] / (with1[one] + with2[two])
        if score >= LEAST_SCORE and together[one] >= LEAST_SEEN:
            yield GlossaryEntry(spelt1[one], spelt2[two], round(score, 3), together[one])


class _Spellings:
    """The words of a language, folded, and the usual spelling of each."""

    def __init__(self) -> None:
        self._spelt: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def take(self, text: str) -> list[str]:
        """Return the folded words of a text."""
        found = []
        for spelt in _WORD.findall(text):
            word = spelt.casefold()
            found.append(word)
            self._spelt[word][spelt] += 1
        return found

    def __getitem__(self, word: str) -> str:
        return max(self._spelt[word].items(), key=lambda each: (each[1], each[0]))[0]


class _Glossary(Exporter):
    """What both forms share: learning the entries, and leaving out what is no translation."""

    stem = "glossary"

    def entries(
        self, source: CorpusSource, account: Account
    ) -> tuple[tuple[str, str], Iterator[GlossaryEntry]]:
        """Return the two languages and the entries, which are counted."""
        languages, rows = of_one_pair(source.sentences(), account)
        for language in _NO_SPACES.intersection(languages):
            raise ConfigurationError(
                f"{language} is written without spaces, so its words are not known, and"
                f" {self.name} needs words: export sentences, such as --to tmx."
            )
        return languages, _counted(learn_entries(_texts(rows)), account)


def _texts(rows: Iterable[SentencePair]) -> Iterator[tuple[str, str]]:
    yield from ((row.text1, row.text2) for row in islice(rows, MOST_PAIRS))


def _counted(entries: Iterable[GlossaryEntry], account: Account) -> Iterator[GlossaryEntry]:
    for entry in entries:
        if entry.word1.casefold() == entry.word2.casefold():
            account.left_out[ALIKE] += 1
        else:
            account.written["entries"] += 1
            yield entry


class GlossaryTable(_Glossary):
    """A word, its translation and a comment per line, as OmegaT reads glossaries."""

    name = "glossary"
    about = "words with translations learned from the sentences, tab-separated"
    ending = ".tsv"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the entries, without a header: OmegaT would take it for a term."""
        _, entries = self.entries(source, account)
        with text_file(path) as file:
            for each in entries:
                words = (one_line(word, account.changed) for word in each[:2])
                file.write("\t".join((*words, _comment(each))) + "\n")


class Tbx(_Glossary):
    """TermBase eXchange, TBX 2 (ISO 30042:2008), which translation tools read."""

    name = "tbx"
    about = "words with translations learned from the sentences, as TBX for translation tools"
    ending = ".tbx"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write one concept per entry."""
        languages, entries = self.entries(source, account)
        tags = list(map(language_tag, languages))
        safe = XmlText(account.changed)
        with text_file(path) as file:
            file.write(
                f'{DECLARATION}<martif type="TBX" xml:lang="{tags[0]}">\n<martifHeader>\n<fileDesc>'
                f"<sourceDesc><p>Learned by bilingual-crawler {__version__} from aligned"
                " sentences of web pages</p></sourceDesc></fileDesc>\n</martifHeader>\n"
                "<text><body>\n"
            )
            for number, each in enumerate(entries, 1):
                sets = "".join(
                    f'<langSet xml:lang="{tag}"><tig><term>{safe.text(word)}</term></tig></langSet>'
                    for tag, word in zip(tags, each[:2], strict=True)
                )
                note = f"<note>{_comment(each)}</note>"
                file.write(f'<termEntry id="t{number}">{note}{sets}</termEntry>\n')
            file.write("</body></text>\n</martif>\n")


def _comment(entry: GlossaryEntry) -> str:
    return f"score {entry.score:g}, in {entry.seen} sentences"
