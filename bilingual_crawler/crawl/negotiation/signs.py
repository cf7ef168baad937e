"""Signs that a site chooses a language by cookie: cookies that it sets, and its pages."""

import re
from collections.abc import Iterable
from itertools import islice
from urllib.parse import urlsplit

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
"""Cookies in which sites and frameworks store the language, most common first."""
MAX_HEADER = 4096
MAX_COOKIES = 5
"""Cookies to take from one response."""
MAX_SWITCHES = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_VALUE = re.compile(r"[A-Za-z0-9_.%~+/=-]{1,200}")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8}){0,2}")


def cookies_set(headers: Iterable[bytes], code: str, *, by_switch: bool) -> dict[str, str]:
    """Return the cookies in which a site may store a language: name and value.

    All cookies set by a language switch are taken, since one may be the ID of a session that
    stores the language. From any other response only cookies whose value is a tag of the
    language are taken, since others may be personal.
    """
    found: dict[str, str] = {}
    for header in headers:
        cookie = header[:MAX_HEADER].decode("latin-1").partition(";")[0]
        name, _, value = (part.strip() for part in cookie.partition("="))
        value = value.strip('"')
        fits = _NAME.fullmatch(name) and _VALUE.fullmatch(value)
        if fits and (by_switch or _names_language(value, code)):
            found[name] = value
    return dict(islice(found.items(), MAX_COOKIES))


def _names_language(value: str, code: str) -> bool:
    language = language_of_tag(value) if _TAG.fullmatch(value) else None
    return language is not None and language.code == code


def common_cookies(code: str) -> dict[str, str]:
    """Return cookies with common names that request a language."""
    return dict.fromkeys(COMMON_NAMES, language_tag(code))


def switches_of(document: Document, code: str) -> list[str]:
    """Return the targets of a page's links that name a language, on the same host."""
    host = urlsplit(document.url).netloc
    found = (
        link.url
        for link in document.links
        if code in languages_of_link(link) and link.url != document.url
    )
    return list(islice((url for url in found if urlsplit(url).netloc == host), MAX_SWITCHES))


def offers_without_link(document: Document, code: str) -> bool:
    """Return True if a page offers a language without a link: by a button or in a form."""
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
    """Return True if a page declares that it has its own address in a language."""
    return any(each.language == code and each.url != document.url for each in document.alternates)
