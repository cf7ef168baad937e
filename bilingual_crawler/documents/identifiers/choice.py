"""Which identifier the pages of a site get: that of the crawl, or the site's own."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from bilingual_crawler.config.checks import FASTTEXT
from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.documents.identifiers.fasttext import FastTextIdentifier
from bilingual_crawler.documents.identifiers.taught import TaughtIdentifier
from bilingual_crawler.documents.identifiers.taught_folder import read_taught
from bilingual_crawler.documents.language import LanguageIdentifier
from bilingual_crawler.languages import Language, Languages
from bilingual_crawler.plugins import PluginKind
from bilingual_crawler.urls.hosts import host_of

IDENTIFIER_PLUGINS = PluginKind(
    "a language identifier",
    "bilingual_crawler.identifiers",
    LanguageIdentifier,
    {"cld2": "bilingual_crawler.documents.language.Cld2"},
)


def load_identifier(
    name: str, wanted: Iterable[str] = (), taught: str | Path = ""
) -> LanguageIdentifier:
    """Return the identifier that BILINGUAL_IDENTIFIER names; `wanted` are the crawl's languages.

    Languages of the folder `taught` are identified beside those that it knows.
    """
    made: LanguageIdentifier
    if name.startswith(FASTTEXT):
        made = FastTextIdentifier(name.removeprefix(FASTTEXT), wanted)
    else:
        made = IDENTIFIER_PLUGINS.make(name, "BILINGUAL_IDENTIFIER")
    return TaughtIdentifier(made, read_taught(taught)) if taught else made


class Identifiers:
    """The identifiers of a crawl and of the sites that have one of their own, all loaded."""

    def __init__(self, config: Config, languages: Languages, sites: Sites | None = None) -> None:
        self._sites = sites or Sites()
        self._default = config.identifier
        named = {config.identifier, *self._sites.said("identifier")}
        wanted = {*languages.codes}
        for own in self._sites.said("languages"):
            wanted.update(own.codes)
        self._loaded = {
            name: load_identifier(name, wanted, config.taught) for name in sorted(named)
        }
        self._of_host = lru_cache(maxsize=1 << 14)(self._find)

    def ignorant_of(self, languages: Languages) -> list[Language]:
        """Return the languages that the identifier of the crawl has no model of."""
        return [each for each in languages if not self.default.knows(each.code)]

    @property
    def default(self) -> LanguageIdentifier:
        """The identifier of the sites without one of their own."""
        return self._loaded[self._default]

    def of(self, url: str) -> LanguageIdentifier:
        """Return the identifier for a page."""
        return self._of_host(host_of(url)) if len(self._loaded) > 1 else self.default

    def _find(self, host: str) -> LanguageIdentifier:
        return self._loaded[self._sites.rules_for(host).identifier or self._default]
