"""Marks of machine translation: what a page says about the origin of its text.

Two cases are distinguished. A page may say that its own text is machine output: services that
serve translated pages do so, and so does the markup that Google's documentation asks for. Or a
page may merely offer to be translated: the widget is on the original too, whose text is as good
as any. If a service names the language that it translates from, a page in another language is its
output; a widget that only works in the reader's browser never produces output.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.urls.hosts import host_of

LONGEST_VALUE = 2_000
SCAFFOLDING = 6
"""Elements of Google's scaffolding that prove its output: it wraps each text in two."""
MACHINE_SHARE = 0.5

Attributes = Mapping[str, str]

_SERVICES = {
    "gtranslate": ("gtranslate", "gt_float", "gt-current-lang", "gt_switcher"),
    "google": ("translate_a/element", "google_translate_element", "goog-te-", "googtrans"),
    "weglot": ("weglot",),
    "translatepress": ("translatepress", "trp-language", "trp_language"),
    "linguise": ("linguise",),
    "conveythis": ("conveythis",),
    "bablic": ("bablic",),
    "localize": ("localizecdn", "localizejs"),
    "transposh": ("transposh",),
    "microsoft": ("microsofttranslator", "microsofttranslatorwidget"),
}
_NAMES = re.compile(
    "|".join(
        f"(?P<{service}>{'|'.join(map(re.escape, names))})" for service, names in _SERVICES.items()
    ),
    re.IGNORECASE,
)
_SETTINGS = {
    "gtranslateSettings": "gtranslate",
    "language_from": "weglot",
    "linguise_configs": "linguise",
    "onveyThis": "conveythis",
}
_SOURCE = re.compile(
    r"""\b(?:default_language|language_from|source_language(?:_code)?|original_language)"""
    r"""["']?\s*:\s*["']([A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?)["']"""
)
_IN_ADDRESS = re.compile(r"""\burl_structure["']?\s*:\s*["']sub_""")
_QUOTED_TAG = re.compile(r"'([a-z]{2,3}(?:_[a-z]{2})?)'")
_TRANSLATED_CLASS = re.compile(r"(?:^|\s)translated-(?:ltr|rtl)(?:\s|$)")
_TRANSLATED_TAG = re.compile(r"-x-mtfrom-|-t-.*\bt0-", re.IGNORECASE)
_BY_MACHINE = re.compile(
    r"machine[ -]?translat|automatic(?:ally)?[ -]translat"
    r"|(?:google|microsoft|bing|yandex|baidu) translat|\b(?:deepl|systran|promt|apertium)\b",
    re.IGNORECASE,
)
_PROXIES = re.compile(
    r"(?:^|\.)(?:translate\.goog|translate\.googleusercontent\.com|translatetheweb\.com"
    r"|microsofttranslator\.com|translate\.yandex\.(?:com|net|ru))$"
)
_TRANSLATES_PAGES = re.compile(r"(?:^|\.)translate\.google\.[a-z.]{2,6}$")
_NAMED = frozenset(("generator", "translator", "translated-by", "translation"))


@dataclass(slots=True)
class MachineMarks:
    """The signs of machine translation that were seen while a page was read."""

    says: str = ""
    """The mark by which the page calls its text machine output."""
    service: str = ""
    """A machine translation service that is on the page."""
    source: str = ""
    """The language from which the service translates."""
    browser_only: bool = False
    """Whether it leaves the page as it is until the reader asks for a translation."""
    scaffolding: int = 0

    def read_html(self, attributes: Attributes) -> None:
        """Read the attributes of the page as a whole."""
        if _TRANSLATED_CLASS.search(attributes.get("class", "")[:LONGEST_VALUE]):
            self._say("google_class")
        if _TRANSLATED_TAG.search(attributes.get("lang", "")[:LONGEST_VALUE]):
            self._say("language_tag")

    def read_meta(self, name: str, content: str) -> None:
        """Read a statement in the head of the page; `name` is in lower case."""
        if name == "x-translated-by":
            self._say("x_translated_by")
        elif name == "ms.translationtype" and content.upper() == "MT":
            self._say("ms_translationtype")
        elif name == "translation-stats":
            self._read_stats(content)
        elif name in _NAMED and _BY_MACHINE.search(content):
            self._say("meta_" + name.replace("-", "_"))

    def read_link(self, attributes: Attributes) -> None:
        """Read a <link>: the original of a translation, or a style sheet of a service."""
        if "machine-translated-from" in attributes.get("rel", "").lower().split():
            self._say("machine_translated_from")
        self.read_names(attributes.get("id"), attributes.get("href"))

    def read_script(self, attributes: Attributes) -> None:
        """Read the attributes of a script; some name the language they translate from."""
        self.read_names(attributes.get("id"), attributes.get("src"))
        settings = attributes.get("data-bablic-m")
        if settings and (tag := _QUOTED_TAG.search(settings[:LONGEST_VALUE])):
            self._note("bablic", tag[1])

    def read_script_text(self, text: str) -> None:
        """Read the settings of a service, which name the language it translates from."""
        for setting, service in _SETTINGS.items():
            at = text.find(setting)
            if at < 0:
                continue
            settings = text[max(0, at - LONGEST_VALUE) : at + LONGEST_VALUE]
            source = _SOURCE.search(settings)
            if service != "weglot" or source:
                self._note(service, source[1] if source else "")
                self.browser_only = service == "gtranslate" and not _IN_ADDRESS.search(settings)

    def read_names(self, one: str | None, other: str | None) -> None:
        """Read names (class, id, address) that reveal a service."""
        if not self.service and (one or other) and (service := _service_named(one, other)):
            self._note(service, "")

    def read_font(self, attributes: Attributes) -> None:
        """Count the elements that Google puts around every piece of text."""
        if attributes.get("style", "").replace(" ", "").rstrip(";") == "vertical-align:inherit":
            self.scaffolding += 1
            if self.scaffolding >= SCAFFOLDING:
                self._say("google_scaffolding")

    def read_comment(self, text: str) -> None:
        """Read a comment, in which a proxy signs its work."""
        if "delivered by GTranslate" in text:
            self._say("gtranslate_proxy")

    def mark_of(self, url: str, html_language: str, language: str | None) -> str:
        """Return the mark that shows this page to be machine output; "" if there is none.

        A page is the output of a service if neither its declared nor its real language is the
        one that the service translates from.
        """
        if _PROXIES.search(host_of(url)):
            return "translating_proxy"
        if self.says:
            return self.says
        source = language_of_tag(self.source.replace("_", "-")) if self.source else None
        if source is None or language is None or self.browser_only or source.code == language:
            return ""
        declared = language_of_tag(html_language)
        return "" if declared is not None and declared == source else self.service

    def _read_stats(self, content: str) -> None:
        """Read the statistics of Transposh: phrases, and those that people translated."""
        self._note("transposh", "")
        try:
            stats = json.loads(content)
            translated = int(stats["translated_phrases"] or 0)
            by_people = int(stats["human_translated_phrases"] or 0)
        except (ValueError, TypeError, LookupError, RecursionError):
            return
        if translated > 0 and translated - by_people > MACHINE_SHARE * translated:
            self._say("translation_stats")

    def _say(self, mark: str) -> None:
        self.says = self.says or mark

    def _note(self, service: str, source: str) -> None:
        if source or not self.service:
            self.service, self.source = service, source


def is_translating_proxy(url: str) -> bool:
    """Return True if a URL belongs to a service that shows translations of other pages."""
    host = host_of(url)
    return bool(_PROXIES.search(host) or _TRANSLATES_PAGES.search(host))


@lru_cache(maxsize=1 << 12)
def _service_named(one: str | None, other: str | None) -> str:
    found = _NAMES.search(f"{(one or '')[:LONGEST_VALUE]} {(other or '')[:LONGEST_VALUE]}")
    return (found.lastgroup or "") if found else ""
