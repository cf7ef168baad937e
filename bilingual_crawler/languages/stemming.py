"""Words that can be compared: in lower case, and reduced to stems where there is a stemmer.

A topic has one form of a term and texts have many: "infortunio sul lavoro" and "infortuni sul
lavoro". Snowball reduces both to one stem in the languages below. In all others, words are only
lower-cased; accents stay, because they distinguish words (Icelandic "ár" is a year and "ar" is
nothing). Scripts without spaces are compared character by character, so that a term is found
anywhere.
"""

import re
from functools import cache, lru_cache
from threading import Lock

from bilingual_crawler.languages.normal_forms import MARKS, UNSPACED, normalize

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
"""Words per language whose stems are cached; the most frequent ones make up nearly all text."""
LONGEST_WORD = 60
"""Characters; anything longer is not a word and stays as it is."""
DOTTED = frozenset(("aze", "tur"))
"""Languages with a dotless i, whose capital is I."""

_DOTS = str.maketrans("I\u0130", "\u0131i")
_PLAIN = re.compile(r"[^\W_]+")
_SPECIAL = re.compile(f"[{UNSPACED}{MARKS}]")
_ANY = re.compile(rf"[{UNSPACED}]|(?:[^\W_{UNSPACED}]|[{MARKS}])+")


class Stems:
    """Splits text of one language into stems. Safe to use from any thread."""

    def __init__(self, language: str | None) -> None:
        name = ALGORITHMS.get(language or "")
        self._stemmer = None
        if name:
            import snowballstemmer  # noqa: PLC0415 - 30 languages, which few crawls need

            self._stemmer = snowballstemmer.stemmer(name)
        self._one_at_a_time = Lock()  # a stemmer keeps the word as its state
        self._is_dotted = language in DOTTED
        self._stem = lru_cache(maxsize=REMEMBERED)(self._ask)

    def of(self, text: str) -> list[str]:
        """Return the stems of all words of a text, in order."""
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
    """Return the stemmer of a language; None is any language."""
    return Stems(language)
