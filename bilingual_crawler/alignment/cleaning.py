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
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b

from ftfy.badness import is_bad
from rapidfuzz import fuzz

from bilingual_crawler.alignment.figures import (
    currencies_differ,
    numbers_differ,
    without_digits,
)
from bilingual_crawler.alignment.language_models import LikelySide
from bilingual_crawler.alignment.vocabularies import Vocabularies
from bilingual_crawler.store.marks import REJECTED, CorpusMarks
from bilingual_crawler.store.sentence_pair import BOILERPLATE, DUPLICATE, SentencePair
from bilingual_crawler.urls.hosts import host_of, site_of

FEWEST_LETTERS = 3
MOST_CHARACTERS = 1_000
LEAST_SHARE_OF_LETTERS = 0.5
LARGEST_RATIO = 2.5
SLACK = 15
"""Characters by which a short sentence may differ, whatever the ratio."""
ALIKE = 90
"""Of 100: as similar as a text and its copy with one name changed."""
REWORDED = 60
"""Of 100: as similar as a text and its copy with two words changed."""
LEAST_SCORE = 0.7
"""Of pairs between 0.5 and 0.7, a third is wrong on sites that the scores have not seen."""

_TAGS = (
    "a|abbr|b|br|button|code|div|em|font|form|h[1-6]|hr|i|iframe|img|input|label|li|ol|p|pre"
    "|script|span|strong|style|sub|sup|svg|table|td|th|tr|u|ul"
)
_MARKUP = re.compile(
    rf"(?i:</?(?:{_TAGS})\b[^<>]*>)|<!--"
    r"|&(?:[a-zA-Z]{2,8}|#\d{1,6});|\{\{|\}\}|\{%|%\}"
    r"|\[/(?:[a-z]+_)?[a-z]+\]|\[(?:(?:vc|et_pb|fusion)_\w+|(?:url|img|color|size|caption)[= ])"
    r"|\bfunction\s*\(|\bvar \w+ ?=|\bdocument\.\w|[\w-]\s*:\s*[\w#-]+;\s*\}|-->"
)
_MOJIBAKE = re.compile(
    "\ufffd|[\x80-\x9f]|[\u00c2-\u00d9\u00e2\u00ef\u0102\u0393\u0420\u0421][^\\w\\s\\x00-\\x7f]"
    "|[\u00c2-\u00c5\u00d0\u00d1][\u00a1-\u00bf\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u2122]"
)
"""What most garbled text has; ftfy decides, which takes longer."""
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


def markup(pair: SentencePair) -> bool:
    """Return True if a side contains remains of the page's code; text about code has it on both."""
    return _MARKUP.findall(pair.text1) != _MARKUP.findall(pair.text2)


def mojibake(pair: SentencePair) -> bool:
    """Return True if a side was decoded with the wrong encoding, or has lost characters."""
    return any(
        _MOJIBAKE.search(text) and ("\ufffd" in text or is_bad(text)) for text in _texts(pair)
    )


def few_letters(pair: SentencePair) -> bool:
    """Return True if at least half of a side is digits and signs: a table, a date, a formula."""
    for text in _texts(pair):
        written = len(text) - sum(map(str.isspace, text))
        if _letters(text, marks=True) < LEAST_SHARE_OF_LETTERS * written:
            return True
    return False


def numbers(pair: SentencePair) -> bool:
    """Return True if each side has numbers that the other lacks: another price, another year."""
    return numbers_differ(pair.text1, pair.text2)


def currency(pair: SentencePair) -> bool:
    """Return True if the sides name different currencies."""
    return currencies_differ(pair.text1, pair.text2)


def copied(known: Vocabularies) -> Rule:
    """Return the rule that a pair is a translation, not the same text twice, or nearly.

    Related languages have pairs that differ in a letter ("Autor", "Author"): these are good if
    what differs is in the one language here and in the other there.
    """

    def broken(pair: SentencePair) -> bool:
        first, second = (text.casefold() for text in _texts(pair))
        if first == second:
            return True
        alike = fuzz.ratio(first, second, score_cutoff=ALIKE) > 0
        return alike and not known.tell_apart(first, second)

    return broken


def untranslated(known: Vocabularies) -> Rule:
    """Return the rule that a side is not the other one with a few words changed."""

    def broken(pair: SentencePair) -> bool:
        first, second = (text.casefold() for text in _texts(pair))
        if not fuzz.ratio(first, second, score_cutoff=REWORDED):
            return False
        return known.is_foreign(first, 0) or known.is_foreign(second, 1)

    return broken


def wrong_language(known: Vocabularies) -> Rule:
    """Return the rule that each side is in its own language."""

    def broken(pair: SentencePair) -> bool:
        return known.is_foreign(pair.text1, 0) or known.is_foreign(pair.text2, 1)

    return broken


def unsure(pair: SentencePair) -> bool:
    """Return True if the aligner itself doubts the pair."""
    return pair.score < LEAST_SCORE


def unlikely(first: LikelySide, second: LikelySide) -> Rule:
    """Return the rule that each side is a likely text in its language, not codes or names in a row.

    It is not asked by default: most of what it drops are good pairs about something rare.
    """

    def broken(pair: SentencePair) -> bool:
        return first.is_unlikely(pair.text1) or second.is_unlikely(pair.text2)

    return broken


def length_ratio(usual: float) -> Rule:
    """Return the rule that the lengths of the sides may not differ too much from the usual ratio.

    `usual` is the number of characters of the second language per character of the first.
    """

    def broken(pair: SentencePair) -> bool:
        length1, length2 = len(pair.text1) * usual, float(len(pair.text2))
        longer, shorter = max(length1, length2), min(length1, length2)
        return longer > LARGEST_RATIO * shorter and longer - shorter > SLACK

    return broken


def rules(
    usual_ratio: float, known: Vocabularies, likely: tuple[LikelySide, LikelySide] | None = None
) -> Mapping[str, Rule]:
    """Return all rules for single pairs by name, in the order in which they are applied."""
    asked = {"unlikely": unlikely(*likely)} if likely else {}
    return {
        "no_letters": no_letters,
        "too_short": too_short,
        "too_long": too_long,
        "copied": copied(known),
        "markup": markup,
        "mojibake": mojibake,
        "few_letters": few_letters,
        "length_ratio": length_ratio(usual_ratio),
        "unsure": unsure,
        "numbers": numbers,
        "currency": currency,
        "untranslated": untranslated(known),
        "wrong_language": wrong_language(known),
        **asked,
    }


DOUBTS = frozenset(
    (
        *("length_ratio", "unsure", "numbers", "currency"),
        *("untranslated", "wrong_language", "unlikely"),
    )
)
"""The rules that doubt a translation; the others say that even a translation is of no use."""


def broken_rule(
    pair: SentencePair, asked: Mapping[str, Rule], marks: CorpusMarks | None = None
) -> str:
    """Return the name of the first rule that a pair breaks, "" if it is good.

    Marks of users decide: nothing drops an accepted sentence pair, and no doubt drops a sentence
    pair of accepted documents. What is rejected is dropped.
    """
    said = marks and marks.of_sentences(pair.text1, pair.text2)
    whole = marks and marks.of_documents(pair.url1, pair.url2)
    if said or said is False or whole is False:
        return "" if said else REJECTED
    broken = (name for name, rule in asked.items() if not (whole and name in DOUBTS) and rule(pair))
    return next(broken, "")


def _texts(pair: SentencePair) -> tuple[str, str]:
    return pair.text1, pair.text2


def _letters(text: str, *, marks: bool = False) -> int:
    """Count the letters of a text; with `marks` also the marks above and below them."""
    found = sum(map(str.isalpha, text))
    if marks and not text.isascii():
        found += sum(unicodedata.category(each)[0] == "M" for each in text)
    return found


ONLY_DIGITS = "only_digits_differ"
FEWEST_PAGES = 5
LEAST_SHARE = 0.1
"""A pair on this many documents of a site, and on this share of them, is boilerplate."""
MOST_ALIKE = 3
"""Pairs that are kept of those that differ only in digits."""

SCHEMA = """
CREATE TABLE best (digest INTEGER PRIMARY KEY, score REAL, number INTEGER);
CREATE TABLE times (digest INTEGER PRIMARY KEY, documents INTEGER, last INTEGER);
CREATE TABLE masks (digest INTEGER PRIMARY KEY, kept INTEGER);
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

    def broken_rule(self, number: int, pair: SentencePair, *, accepted: bool = False) -> str:
        """Return why a pair is dropped after all, "" if it is kept; call it once, in order.

        One copy of a pair is always kept; a user who accepted a pair accepted its digits as well.
        """
        ask, site = self._connection.execute, _site(pair)
        (best,) = ask("SELECT number FROM best WHERE digest = ?", (_digest(pair),)).fetchone()
        if best == number:
            if accepted:
                return ""
            return ONLY_DIGITS if self._is_one_of_many(pair) else ""
        (documents,) = ask(
            "SELECT documents FROM times WHERE digest = ?", (_digest(pair, site),)
        ).fetchone()
        if documents >= FEWEST_PAGES:
            (every,) = ask("SELECT documents FROM sites WHERE site = ?", (site,)).fetchone()
            if documents >= LEAST_SHARE * every:
                return BOILERPLATE
        return DUPLICATE

    def _is_one_of_many(self, pair: SentencePair) -> bool:
        """Return True if enough pairs are kept that differ from this one only in digits."""
        masked = [without_digits(text) for text in _texts(pair)]
        if masked == list(_texts(pair)):
            return False
        digest = _digest_of(pair, masked)
        found = self._connection.execute(
            "INSERT INTO masks VALUES (?, 1) ON CONFLICT DO UPDATE SET kept = kept + 1"
            " RETURNING kept",
            (digest,),
        )
        (kept,) = found.fetchone()
        return int(kept) > MOST_ALIKE


def _site(pair: SentencePair) -> str:
    return site_of(host_of(pair.url1))


def _digest(pair: SentencePair, site: str = "") -> int:
    """Return a number for the text of a pair, the same for copies in other case and spacing."""
    return _digest_of(pair, _texts(pair), site)


def _digest_of(pair: SentencePair, texts: Iterable[str], site: str = "") -> int:
    plain = [" ".join(text.casefold().split()) for text in texts]
    key = "\n".join((site, pair.lang1, pair.lang2, *plain))
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
