"""Personal data in a text: e-mail addresses, telephone numbers and bank accounts (IBAN).

Telephone numbers are found by `phonenumbers`, the port of the library that Android uses: with a
country code anywhere, and without one on sites of a country's own domain. The library is slow, so
it only sees what has enough digits. IBANs are checked here, by their country's length and the
checksum of ISO 7064, which is five lines: the libraries that do it are under the LGPL
(python-stdnum) or need one that is (schwifty needs pycountry).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import phonenumbers

from bilingual_crawler.urls.hosts import host_of

EMAIL, PHONE, IBAN = "EMAIL", "PHONE", "IBAN"
KINDS = {EMAIL: "e-mail addresses", PHONE: "telephone numbers", IBAN: "bank accounts (IBAN)"}
"""What is found, by the word that replaces it, such as [EMAIL]."""

_EMAIL = re.compile(
    r"(?<![\w.+%-])[\w+%-](?:[\w.+%-]{0,62}[\w+%-])?@(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24}(?![\w@])"
)
_PHONE = re.compile(r"(?<![\d+/.,-])(?:\+|\()?\d(?:[ ().\-/\u00a0\u2011]{0,3}\d){6,16}(?![\d])")
_IBAN = re.compile(r"(?<![A-Z0-9])([A-Z]{2})\d{2}(?:[ \u00a0]?[A-Z0-9]){11,30}")
_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20"
    " EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27"
    " JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18"
    " NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23"
    " TN24 TR26 UA29 VA22 VG24 XK20"
)
IBAN_LENGTHS = {each[:2]: int(each[2:]) for each in _LENGTHS.split()}
"""Characters of an IBAN by country, without spaces (SWIFT's registry of ISO 13616)."""
_REGIONS = {"uk": "GB", "eus": "ES", "cat": "ES", "gal": "ES", "bzh": "FR", "su": "RU"}
"""Domains whose country is not spelled alike."""


class PersonalFind(NamedTuple):
    """Personal data in a text: where it is, and what."""

    start: int
    end: int
    kind: str


def region_of(url: str) -> str | None:
    """Return the country whose telephone numbers a site writes without a country code."""
    return _region(host_of(url).rpartition(".")[2])


@lru_cache(maxsize=1_000)
def _region(domain: str) -> str | None:
    region = _REGIONS.get(domain, domain.upper())
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


def find_personal_data(text: str, region: str | None = None) -> list[PersonalFind]:
    """Return the personal data in a text in its order; none overlaps another."""
    found: list[PersonalFind] = []
    if "@" in text:
        found += [PersonalFind(*match.span(), EMAIL) for match in _EMAIL.finditer(text)]
    if _has_digits(text):
        found += _without(_ibans(text), found)
        found += _without(_phones(text, region), found)
    return sorted(found)


def masked(text: str, found: Sequence[PersonalFind]) -> str:
    """Return a text in which each find is replaced by its kind, such as [EMAIL]."""
    parts, at = [], 0
    for start, end, kind in found:
        parts += [text[at:start], f"[{kind}]"]
        at = end
    return "".join((*parts, text[at:]))


class MaskedPositions:
    """Where a position of a text is after masking."""

    def __init__(self, found: Sequence[PersonalFind]) -> None:
        self._found = found
        self._starts = [each.start for each in found]
        self._shifts = [0]
        for start, end, kind in found:
            self._shifts.append(self._shifts[-1] + len(kind) + 2 - (end - start))

    def __call__(self, position: int) -> int:
        """Return the new position; one inside a find moves to the end of its mask."""
        before = bisect_right(self._starts, position - 1)
        if before and position < self._found[before - 1].end:
            position = self._found[before - 1].end
        return position + self._shifts[before]


def _has_digits(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _without(candidates: Iterator[PersonalFind], taken: list[PersonalFind]) -> list[PersonalFind]:
    return [
        each
        for each in candidates
        if not any(each.start < other.end and other.start < each.end for other in taken)
    ]


def _ibans(text: str) -> Iterator[PersonalFind]:
    for match in _IBAN.finditer(text):
        length = IBAN_LENGTHS.get(match[1], 0)
        end, compact = match.start(), ""
        for each in match[0]:
            if len(compact) == length:
                break
            end += 1
            compact += each.strip()
        whole = end == len(text) or not text[end].isalnum()
        if whole and len(compact) == length and _is_checked(compact):
            yield PersonalFind(match.start(), end, IBAN)


def _is_checked(iban: str) -> bool:
    """Return True if the checksum is right (ISO 7064, modulo 97)."""
    return int("".join(str(int(each, 36)) for each in iban[4:] + iban[:4])) % 97 == 1


def _phones(text: str, region: str | None) -> Iterator[PersonalFind]:
    for match in _PHONE.finditer(text):
        number = match[0]
        if region is None and not number.startswith(("+", "(+")):
            continue
        for known in phonenumbers.PhoneNumberMatcher(number, region):
            yield PersonalFind(match.start() + known.start, match.start() + known.end, PHONE)
