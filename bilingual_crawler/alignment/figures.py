"""Numbers and currencies of two texts that should say the same.

A translation may write a number as a word, leave one out, or give a date in another order and an
hour on another clock. So a missing number says little, but a number on each side without its
counterpart is a sign that the texts differ: another price, another year, another chapter.
"""

import re
import unicodedata

LEAST_DIGITS = 2
"""Numbers of one digit are often written as words."""
HALF_DAY = 12
LAST_HOUR = 24

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f\u066b\u066c ]\d+)*")
_DIGIT = re.compile(r"\d")
_APART = re.compile(r"\D+")
_GROUPED = re.compile(r"\d{1,3}(?:\D\d{3})+")
_NOT_SAID = re.compile(r"(?:https?://|www\.)\S+|(?<!\S)[^\s@]+@\S+|\[\d{1,3}\]")
"""Addresses, and numbers of footnotes, which differ between editions."""
_DIGITS = re.compile(r"\d+(?:[\W_]*\d+)*")
_MONEY = {
    "EUR": r"\u20ac|\bEUR\b",
    "USD": r"(?<![A-Z])(?:US)?\$|\bUSD\b",
    "GBP": r"\u00a3|\bGBP\b",
    "JPY": r"\u00a5|\bJPY\b|\u5186",
    "CHF": r"\bCHF\b",
    "INR": r"\u20b9|\bINR\b",
    "RUB": r"\u20bd|\bRUB\b",
    "TRY": r"\u20ba|\bTRY\b",
}
_SIGNS = ("\u20ac", "$", "\u00a3", "\u00a5", "\u5186", "\u20b9", "\u20bd", "\u20ba")
_CODES = tuple(_MONEY)
_CURRENCY = re.compile("|".join(f"(?P<{name}>{signs})" for name, signs in _MONEY.items()))


def numbers_differ(text1: str, text2: str) -> bool:
    """Return True if each side has numbers that the other lacks, and few in common."""
    found1 = _numbers(text1)
    found2 = _numbers(text2) if found1 else found1
    if not found1 or not found2 or found1 == found2:
        return False
    pieces1, pieces2 = _pieces(text1), _pieces(text2)
    alone1 = {each for each in found1 - found2 if not _is_in(each, pieces2, text2)}
    alone2 = {each for each in found2 - found1 if not _is_in(each, pieces1, text1)}
    return bool(alone1 and alone2)


def currencies_differ(text1: str, text2: str) -> bool:
    """Return True if both sides name a currency, and none is on both."""
    found1 = _currencies(text1)
    found2 = _currencies(text2) if found1 else found1
    return bool(found1 and found2) and found1.isdisjoint(found2)


def without_digits(text: str) -> str:
    """Return a text with one sign for each number, date or price, for rows that differ in them."""
    return _DIGITS.sub("0", text)


def _currencies(text: str) -> set[str]:
    if not any(each in text for each in (*_SIGNS, *_CODES)):
        return set()
    return {each.lastgroup or "" for each in _CURRENCY.finditer(text)}


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text that a translation should have too, without separators."""
    if not _DIGIT.search(text):
        return set()
    return {
        number
        for match in _NUMBER.finditer(_NOT_SAID.sub(" ", text))
        for number in _parts(match.group())
        if len(number) >= LEAST_DIGITS
    }


def _parts(written: str) -> list[str]:
    """Return a grouped number as one, and anything else as its pieces: a date, a version."""
    if _GROUPED.fullmatch(written):
        return [_plain(written)]
    return [_plain(each) for each in _APART.split(written)]


def _pieces(text: str) -> set[str]:
    return {_plain(each) for each in _APART.split(text) if each}


def _is_in(number: str, pieces: set[str], text: str) -> bool:
    """Return True if a text has a number in another form: joined, rounded, on another clock."""
    if number in pieces or number in _plain(text):
        return True
    hour = int(number) if len(number) <= LEAST_DIGITS else LAST_HOUR + 1
    return hour <= LAST_HOUR and str(abs(hour - HALF_DAY)) in pieces


def _plain(written: str) -> str:
    """Return the digits of a text as ASCII, without leading zeros."""
    found = "".join(str(unicodedata.digit(each, "")) for each in written if each.isdigit())
    return found.lstrip("0") or found[-1:]
