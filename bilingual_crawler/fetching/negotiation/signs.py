"""Signs that a site chooses a language by cookie: what it sets, and what its pages show."""

import re
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.switches import languages_named, languages_of_link
from bilingual_crawler.languages import language_of_tag, language_tag

COMMON_NAMES = (
    "lang",
    "language",
    "locale",
    "pll_language",
    "django_language",
    "i18n",
    "i18next",
    "NEXT_LOCALE",
)
"""Cookies in which sites and their frameworks keep the language, most usual first."""
LONGEST_HEADER = 4096
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_VALUE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8}){0,2}")


def language_cookies(headers: Iterable[bytes], code: str) -> dict[str, str]:
    """The cookies that `Set-Cookie` headers set to a language: name and value.

    Whatever else a cookie holds is nobody's business, so only values that are a language tag
    are looked at.
    """
    found: dict[str, str] = {}
    for header in headers:
        try:
            cookies = SimpleCookie(header[:LONGEST_HEADER].decode("latin-1"))
        except CookieError:
            continue
        for name, morsel in cookies.items():
            if _NAME.fullmatch(name) and _VALUE.fullmatch(morsel.value):
                language = language_of_tag(morsel.value)
                if language is not None and language.code == code:
                    found[name] = morsel.value
    return found


def common_cookies(code: str) -> dict[str, str]:
    """Cookies with usual names that ask for a language."""
    return dict.fromkeys(COMMON_NAMES, language_tag(code))


def switches_without_link(document: Document, code: str) -> bool:
    """Whether a page offers a language but links to it nowhere: a button, a choice in a form."""
    if any(
        code in languages_of_link(link) and link.url != document.url for link in document.links
    ) or names_translation(document, code):
        return False
    in_place = any(code in languages_of_link(link) for link in document.links)
    return in_place or any(
        code in languages_named(paragraph.text)
        for paragraph in document.paragraphs
        if paragraph.boilerplate
    )


def names_translation(document: Document, code: str) -> bool:
    """Whether a page declares that it has an address of its own in a language."""
    return any(each.language == code and each.url != document.url for each in document.alternates)
