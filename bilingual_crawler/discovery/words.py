"""The words around a link: the features of discovery's classifiers.

Barbosa's four contexts: the URL without its host, the host, the anchor and the text around it. A
word belongs to its context ("anchor:hotel" is not "url:hotel"), function words are left out and the
others stemmed. Words of a page are stemmed in the language of the page; addresses as English,
because most of them are, and because one address must give the same words wherever it is linked
from.

Of the function words only those of three letters and more are listed, because shorter ones are left
out everywhere. A language without a list loses little: Naive Bayes finds by itself that a word
occurs beside relevant and irrelevant links alike.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from urllib.parse import unquote, urlsplit

import snowballstemmer

from bilingual_crawler.documents.document import Link
from bilingual_crawler.languages import find_language

_LISTS = {
    "eng": "and are but for from has have her his its not our the their this that was were will"
    " with you your all any can more here click",
    "spa": "con del las los más para pero por que son sus una uno este esta como todo sobre aquí",
    "fra": "aux avec ces dans des elle est les leur mais nos notre nous par pas plus pour que qui"
    " son sur une vos votre vous ici",
    "deu": "auch auf aus bei das dem den der des die ein eine einen einer für hier ihr ihre ist"
    " mit nach nicht oder sich sie sind und uns von vor wie wir zum zur",
    "por": "com das dos mais mas não nas nos para pela pelo por que são seu sua uma aqui",
    "ita": "che con dei del della delle gli nel nella non per più sono sul una qui",
    "cat": "amb als aquí dels del els les més per que són una",
    "eus": "eta bat ere dago dira egin hau hemen izan ez edo",
    "nld": "aan dat een het hier met niet ook van voor zijn",
    "pol": "dla jest nie oraz się tym tutaj",
    "swe": "att den det ett för här inte med och som till",
}

STOP_WORDS = frozenset(word for words in _LISTS.values() for word in words.split())
WEB_WORDS = frozenset({"www", "http", "https", "html", "htm", "php", "asp", "aspx", "jsp", "index"})
"""Parts of addresses that say how a server works, not what a page is about."""


MOST_WORDS = 20
"""The most words of one context: a hostile page may have any number."""
LONGEST_WORD = 30
LONGEST_TEXT = 1_000
ENGLISH = "eng"

_WORD = re.compile(r"[^\W\d_]+")


def link_words(link: Link, language: str | None = None) -> tuple[str, ...]:
    """Return the words of a link on a page in `language`, each with its context."""
    anchor = f"{link.anchor} {link.image_alt}"
    return (
        *address_words(link.url),
        *_tagged("anchor", _words(anchor, language)),
        *_tagged("around", _words(link.context, language)),
    )


@lru_cache(maxsize=1 << 12)
def address_words(url: str) -> tuple[str, ...]:
    """Return the words of an address: all that is known about a page that a provider names."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ()
    rest = unquote(f"{parts.path} {parts.query}")
    names = (name for name in _WORD.findall(host) if name not in WEB_WORDS)
    return (
        *_tagged("host", names),
        *_tagged("url", (each for each in _words(rest, ENGLISH) if each not in WEB_WORDS)),
    )


def _tagged(context: str, words: Iterable[str]) -> Iterator[str]:
    for number, word in enumerate(dict.fromkeys(words)):
        if number == MOST_WORDS:
            return
        yield f"{context}:{word[:LONGEST_WORD]}"


def _words(text: str, language: str | None) -> Iterator[str]:
    for word in _WORD.findall(text[:LONGEST_TEXT].lower()):
        if len(word) > 2 and word not in STOP_WORDS:  # noqa: PLR2004 - two letters say little
            yield _stem(word[:LONGEST_WORD], language or ENGLISH)


@lru_cache(maxsize=1 << 15)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    return word if stemmer is None else stemmer.stemWord(word)


@cache
def _stemmer(language: str) -> "snowballstemmer.stemmer | None":
    """Return Snowball's stemmer for a language; None if there is none."""
    try:
        name = find_language(language).name.lower()
    except ValueError:
        return None
    return snowballstemmer.stemmer(name) if name in snowballstemmer.algorithms() else None
