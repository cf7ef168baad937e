"""The language of a page and of its paragraphs, as an identifier sees it; CLD2 by default.

The main text decides if nearly all of it is in one language. If it is mixed, the whole page
decides: translated pages often have a long untranslated part, a quotation or a program, and the
words around it show what the page is. Hints (top-level domain, declared and wanted languages) did
not make CLD2 more accurate on recorded sites, and misled it when they were wrong (a false
`lang="gl"` turns Spanish into Galician); so they are used only if it has no answer without them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pycld2

from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.languages import Language, language_of_cld2, language_of_tag

SURE_PERCENT = 95
CONTENT_PERCENT = 20
NEARLY_HALF = 45
LEAST_TEXT = 200
SHORT_PARAGRAPH = 25
LONGEST_TEXT = 200_000

Shares = list[tuple[str, int]]


class PageLanguage(NamedTuple):
    """The language of a page (ISO 639-3), what decided it, and the shares of all languages.

    `source` is one of "main text", "whole page", "hints", "declaration", "none".
    """

    code: str | None
    source: str
    shares: Shares

    @property
    def is_mixed(self) -> bool:
        """True if some paragraphs may be in another language."""
        return bool(self.shares) and self.shares[0][1] < SURE_PERCENT


class Identification(NamedTuple):
    """What an identifier says about a text."""

    reliable: bool
    """False where the answer may well be wrong: a short text, or one of several languages."""
    shares: Shares
    """ISO 639-3 codes with the percent of the text in each, most first; empty if unknown."""


class LanguageIdentifier(ABC):
    """Tells languages apart; one instance serves a whole crawl, and is made without arguments.

    It is asked about pages and about single paragraphs, from several threads.
    """

    @abstractmethod
    def identify(self, text: str, hints: Sequence[str] = (), domain: str = "") -> Identification:
        """Return the languages of a text.

        `hints` are ISO 639-3 codes of languages that are likely here, `domain` is the top-level
        domain of the page. They are only given where there was no answer without them.
        """

    def knows(self, code: str) -> bool:  # noqa: ARG002 - for those that override it
        """Return False for a language that is taken on the word of the page that declares it."""
        return True


class Cld2(LanguageIdentifier):
    """Compact Language Detector 2."""

    def identify(self, text: str, hints: Sequence[str] = (), domain: str = "") -> Identification:
        """Return CLD2's answer, without what it does not know."""
        known = [language for language in map(language_of_tag, hints) if language]
        try:
            reliable, _, details = pycld2.detect(
                text[:LONGEST_TEXT],
                isPlainText=True,
                bestEffort=bool(known or domain),
                hintLanguageHTTPHeaders=",".join(code for each in known for code in each.cld2[:1]),
                hintTopLevelDomain=domain,
            )
        except (pycld2.error, ValueError):
            return Identification(reliable=False, shares=[])
        shares: dict[str, int] = {}
        for _, code, percent, _ in details:
            language = language_of_cld2(code)
            if language is not None and percent > 0:
                shares[language.code] = shares.get(language.code, 0) + percent
        return Identification(reliable, sorted(shares.items(), key=lambda share: -share[1]))

    def knows(self, code: str) -> bool:
        """Return True if CLD2 has a model of the language."""
        language = language_of_tag(code)
        return language is not None and bool(language.cld2)


CLD2 = Cld2()


def detect_page(
    paragraphs: Sequence[Paragraph],
    *,
    declared: Iterable[str] = (),
    wanted: Iterable[str] = (),
    domain: str = "",
    identifier: LanguageIdentifier = CLD2,
) -> PageLanguage:
    """Return the language of a page with these paragraphs.

    `declared` are language tags of the page and its headers, `wanted` ISO 639-3 codes,
    `domain` the top-level domain.
    """
    said = _first_language(declared)
    everything = "\n".join(each.text for each in paragraphs)
    main = "\n".join(each.text for each in paragraphs if not each.boilerplate)
    if said is not None and said.code in set(wanted) and not identifier.knows(said.code):
        return PageLanguage(said.code, "declaration", [(said.code, 100)])
    main_shares = identifier.identify(main).shares if len(main) >= LEAST_TEXT else []
    if main_shares and main_shares[0][1] >= SURE_PERCENT:
        return PageLanguage(main_shares[0][0], "main text", main_shares)
    shares = identifier.identify(everything).shares
    if shares:
        code = _choose(shares, main_shares, said.code if said else None)
        return PageLanguage(code, "whole page", shares)
    shares = identifier.identify(everything, _hints(said, wanted), domain).shares
    if shares:
        return PageLanguage(shares[0][0], "hints", shares)
    if said is not None and everything:
        return PageLanguage(said.code, "declaration", [])
    return PageLanguage(None, "none", [])


def label_paragraphs(
    paragraphs: Iterable[Paragraph], page: PageLanguage, identifier: LanguageIdentifier = CLD2
) -> None:
    """Set the language of each paragraph of the content that is long enough to tell.

    Paragraphs are only examined one by one if the page is mixed, and only languages with a share
    of the page are accepted: a name or a number looks like any language.
    """
    present = {code for code, _ in page.shares}
    for paragraph in paragraphs:
        if paragraph.boilerplate or len(paragraph.text) < SHORT_PARAGRAPH:
            continue
        if not page.is_mixed:
            paragraph.language = page.code
            continue
        answer = identifier.identify(paragraph.text)
        if answer.reliable and answer.shares and answer.shares[0][0] in present:
            paragraph.language = answer.shares[0][0]


def sure_language(text: str) -> str | None:
    """Return the language (ISO 639-3) of nearly all of a text; None if CLD2 is not sure."""
    answer = CLD2.identify(text)
    if answer.reliable and answer.shares and answer.shares[0][1] >= SURE_PERCENT:
        return answer.shares[0][0]
    return None


def _choose(shares: Shares, main: Shares, declared: str | None) -> str:
    """Return the language of a mixed page, among those of a substantial part of its content.

    It is the most frequent one of the whole page, or the declared one if that is as frequent.
    """
    possible = {code for code, percent in main if percent >= CONTENT_PERCENT}
    ranked = [code for code, _ in shares if code in possible] or [shares[0][0]]
    if declared in ranked and dict(shares)[declared] >= NEARLY_HALF:
        return declared
    return ranked[0]


def _first_language(tags: Iterable[str]) -> Language | None:
    for tag in tags:
        language = language_of_tag(tag.partition(",")[0])
        if language is not None:
            return language
    return None


def _hints(declared: Language | None, wanted: Iterable[str]) -> list[str]:
    return [*([declared.code] if declared else []), *wanted]
