"""Text as words that can be compared: without case, and cut to stems where there is a stemmer.

A term of a topic is written in one form and stands in a text in many: "infortunio sul lavoro"
and "infortuni sul lavoro". Snowball brings both to one stem in the languages below. In all
others words are only freed of case; accents stay, because they tell words apart (Icelandic "ár"
is a year and "ar" is nothing). Scripts without spaces are compared character by character, so
that a term is found wherever it stands.
"""

import re
from functools import cache, lru_cache
from threading import Lock

from bilingual_crawler.languages.normal_forms import normalize
from bilingual_crawler.languages.unicode_ranges import MARKS, UNSPACED

ALGORITHMS = {
    "ara": "arabic",
    "cat": "catalan",
    "ces": "czech",
    "dan": "danish",
    "deu": "german",
    "ell": "greek",
    "eng": "english",
    "epo": "esperanto",
    "est": "estonian",
    "eus": "basque",
    "fas": "persian",
    "fin": "finnish",
    "fra": "french",
    "gle": "irish",
    "hin": "hindi",
    "hun": "hungarian",
    "hye": "armenian",
    "ind": "indonesian",
    "ita": "italian",
    "lit": "lithuanian",
    "nep": "nepali",
    "nld": "dutch",
    "nor": "norwegian",
    "pol": "polish",
    "por": "portuguese",
    "ron": "romanian",
    "rus": "russian",
    "sot": "sesotho",
    "spa": "spanish",
    "srp": "serbian",
    "swe": "swedish",
    "tam": "tamil",
    "tur": "turkish",
    "yid": "yiddish",
}
"""The stemmer of each language that has one, by its name in Snowball."""

REMEMBERED = 1 << 16
"""Words of a language whose stem is kept; the most frequent ones make up nearly all text."""
LONGEST_WORD = 60
"""Characters; what is longer is no word and stays as it is."""
DOTTED = frozenset(("aze", "tur"))
"""Languages with an i without a dot, whose capital is I."""

_DOTS = str.maketrans("I\u0130", "\u0131i")
_PLAIN = re.compile(r"[^\W_]+")
_SPECIAL = re.compile(f"[{UNSPACED}{MARKS}]")
_ANY = re.compile(rf"[{UNSPACED}]|(?:[^\W_{UNSPACED}]|[{MARKS}])+")


class Stems:
    """Cuts text of one language into stems. Any thread may ask at any time."""

    def __init__(self, language: str | None) -> None:
        name = ALGORITHMS.get(language or "")
        self._stemmer = None
        if name:
            import snowballstemmer  # noqa: PLC0415 - 30 languages, which few crawls need

            self._stemmer = snowballstemmer.stemmer(name)
        self._one_at_a_time = Lock()  # a stemmer works on a word that it keeps in itself
        self._is_dotted = language in DOTTED
        self._stem = lru_cache(maxsize=REMEMBERED)(self._ask)

    def of(self, text: str) -> list[str]:
        """The stems of all words of a text, in order."""
        if self._is_dotted:
            text = text.translate(_DOTS)
        text = normalize("NFC", text).lower()
        words: list[str] = (_ANY if _SPECIAL.search(text) else _PLAIN).findall(text)
        if self._stemmer is None:
            return words
        stem = self._stem
        return [stem(word) if len(word) <= LONGEST_WORD else word for word in words]

    def _ask(self, word: str) -> str:
        assert self._stemmer is not None
        with self._one_at_a_time:
            return str(self._stemmer.stemWord(word))


@cache
def stems_of(language: str | None) -> Stems:
    """The one that cuts text of a language; None is any language."""
    return Stems(language)
