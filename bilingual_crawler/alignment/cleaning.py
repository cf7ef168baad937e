"""Which sentence pairs are unfit for a corpus, and why.

A rule is a function that returns True for a pair that breaks it; the first broken rule is recorded
as the reason. Nothing is deleted.

Duplicates and boilerplate show only when all pairs of a crawl are known: of duplicates the best
copy is kept. Until then a pair is kept as a digest of eight bytes in a temporary SQLite database,
which is on disk when it is large.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Mapping
from hashlib import blake2b

from rapidfuzz import fuzz

from bilingual_crawler.documents.language import sure_language
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.urls.hosts import host_of, site_of

FEWEST_LETTERS = 3
MOST_CHARACTERS = 1_000
LEAST_SHARE_OF_LETTERS = 0.5
LARGEST_RATIO = 2.5
SLACK = 15
"""Characters by which a short sentence may differ, whatever the ratio."""
ALIKE = 90
"""Of 100: as similar as a text and its copy with one name changed."""
LEAST_CHARACTERS_FOR_LANGUAGE = 40
LEAST_CHARACTERS_FOR_THIRD = 100
"""CLD2 needs this many to tell one of the two languages, and this many to tell any other."""
LEAST_SCORE = 0.2

_TAGS = (
    "a|abbr|b|br|button|code|div|em|font|form|h[1-6]|hr|i|iframe|img|input|label|li|ol|p|pre"
    "|script|span|strong|style|sub|sup|svg|table|td|th|tr|u|ul"
)
_MARKUP = re.compile(
    rf"(?i:</?(?:{_TAGS})\b[^<>]*>)|<!--"
    r"|&(?:[a-zA-Z]{2,8}|#\d{1,6});|\{\{|\}\}|\{%|%\}|\[/?[a-z_]+[ \]=]"
    r"|\bfunction\s*\(|\bvar \w+ ?=|\bdocument\.\w|[\w-]\s*:\s*[\w#-]+;\s*\}|-->"
)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)

Rule = Callable[[SentencePair], bool]


def no_letters(pair: SentencePair) -> bool:
    """Return True if a side has no word at all."""
    return not all(map(_letters, _texts(pair)))


def too_short(pair: SentencePair) -> bool:
    """Return True if a side is a fragment; in scripts without spaces one character is a word."""
    return any(
        _letters(text) < FEWEST_LETTERS and not _UNSPACED.search(text) for text in _texts(pair)
    )


def too_long(pair: SentencePair) -> bool:
    """Return True if a side is longer than a sentence: a list, or text that was not split."""
    return any(len(text) > MOST_CHARACTERS for text in _texts(pair))


def copied(pair: SentencePair) -> bool:
    """Return True if both sides are the same text, which was not translated."""
    first, second = (text.casefold() for text in _texts(pair))
    return first == second or fuzz.ratio(first, second, score_cutoff=ALIKE) > 0


def markup(pair: SentencePair) -> bool:
    """Return True if a side contains remains of the page's code."""
    return any(_MARKUP.search(text) for text in _texts(pair))


def few_letters(pair: SentencePair) -> bool:
    """Return True if at least half of a side is digits and signs: a table, a date, a formula."""
    for text in _texts(pair):
        written = len(text) - sum(map(str.isspace, text))
        if _letters(text, marks=True) < LEAST_SHARE_OF_LETTERS * written:
            return True
    return False


def wrong_language(pair: SentencePair) -> bool:
    """Return True if CLD2 is sure that a side is in the other's language, or in a third one."""
    return _is_foreign(pair.text1, pair.lang1, pair.lang2) or _is_foreign(
        pair.text2, pair.lang2, pair.lang1
    )


def _is_foreign(text: str, language: str, other: str) -> bool:
    if len(text) < LEAST_CHARACTERS_FOR_LANGUAGE and not _UNSPACED.search(text):
        return False
    found = sure_language(text)
    if found is None or found == language:
        return False
    return found == other or len(text) >= LEAST_CHARACTERS_FOR_THIRD


def unsure(pair: SentencePair) -> bool:
    """Return True if the aligner itself doubts the pair."""
    return pair.score < LEAST_SCORE


def length_ratio(usual: float) -> Rule:
    """Return the rule that the lengths of the sides may not differ too much from the usual ratio.

    `usual` is the number of characters of the second language per character of the first.
    """

    def broken(pair: SentencePair) -> bool:
        length1, length2 = len(pair.text1) * usual, float(len(pair.text2))
        longer, shorter = max(length1, length2), min(length1, length2)
        return longer > LARGEST_RATIO * shorter and longer - shorter > SLACK

    return broken


def rules(usual_ratio: float) -> Mapping[str, Rule]:
    """Return all rules for single pairs by name, in the order in which they are applied."""
    return {
        "no_letters": no_letters,
        "too_short": too_short,
        "too_long": too_long,
        "copied": copied,
        "markup": markup,
        "few_letters": few_letters,
        "length_ratio": length_ratio(usual_ratio),
        "wrong_language": wrong_language,
        "unsure": unsure,
    }


def broken_rule(pair: SentencePair, asked: Mapping[str, Rule]) -> str:
    """Return the name of the first rule that a pair breaks, "" if it is good."""
    return next((name for name, rule in asked.items() if rule(pair)), "")


def _texts(pair: SentencePair) -> tuple[str, str]:
    return pair.text1, pair.text2


def _letters(text: str, *, marks: bool = False) -> int:
    """Count the letters of a text; with `marks` also the marks above and below them."""
    found = sum(map(str.isalpha, text))
    if marks and not text.isascii():
        found += sum(unicodedata.category(each)[0] == "M" for each in text)
    return found


DUPLICATE, BOILERPLATE = "duplicate", "boilerplate"
FEWEST_PAGES = 5
LEAST_SHARE = 0.1
"""A pair on this many documents of a site, and on this share of them, is boilerplate."""

SCHEMA = """
CREATE TABLE best (digest INTEGER PRIMARY KEY, score REAL, number INTEGER);
CREATE TABLE times (digest INTEGER PRIMARY KEY, documents INTEGER, last INTEGER);
CREATE TABLE sites (site TEXT PRIMARY KEY, documents INTEGER, last INTEGER) WITHOUT ROWID;
"""
BETTER = """
INSERT INTO best VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE
SET score = excluded.score, number = excluded.number WHERE excluded.score > score
"""
COUNT = """
INSERT INTO {0} VALUES (?, 1, ?) ON CONFLICT DO UPDATE
SET documents = documents + (last != excluded.last), last = excluded.last
"""


class Repeats:
    """Takes every good pair once, in order; then tells which of them repeat."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.executescript(SCHEMA)
        self._connection.execute("BEGIN")

    def close(self) -> None:
        """Discard everything."""
        self._connection.close()

    def add(self, number: int, document: int, pair: SentencePair) -> None:
        """Add the pair with this number in the crawl; `document` numbers its document pair."""
        site = _site(pair)
        run = self._connection.execute
        run(BETTER, (_digest(pair), pair.score, number))
        run(COUNT.format("times"), (_digest(pair, site), document))
        run(COUNT.format("sites"), (site, document))

    def broken_rule(self, number: int, pair: SentencePair) -> str:
        """Return why a pair is dropped after all, "" if it is kept."""
        ask, site = self._connection.execute, _site(pair)
        (documents,) = ask(
            "SELECT documents FROM times WHERE digest = ?", (_digest(pair, site),)
        ).fetchone()
        if documents >= FEWEST_PAGES:
            (every,) = ask("SELECT documents FROM sites WHERE site = ?", (site,)).fetchone()
            if documents >= LEAST_SHARE * every:
                return BOILERPLATE
        (best,) = ask("SELECT number FROM best WHERE digest = ?", (_digest(pair),)).fetchone()
        return DUPLICATE if best != number else ""


def _site(pair: SentencePair) -> str:
    return site_of(host_of(pair.url1))


def _digest(pair: SentencePair, site: str = "") -> int:
    """Return a number for the text of a pair, the same for copies in other case and spacing."""
    texts = [" ".join(text.casefold().split()) for text in (pair.text1, pair.text2)]
    key = "\n".join((site, pair.lang1, pair.lang2, *texts))
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
