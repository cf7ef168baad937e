"""What an export consists of, counted in the pass that writes it, for its datasheet.

Sites, languages, sizes, dates, licences, marks of machine translation, and personal data.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.personal_data import (
    KINDS,
    PersonalFind,
    find_personal_data,
    masked,
    region_of,
)
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.urls.hosts import host_of, site_of


@dataclass(slots=True)
class LanguageSize:
    """The amount of text in a language."""

    texts: int = 0
    """Sides of sentence pairs, or documents."""
    words: int = 0
    """Runs of characters between spaces: few in scripts without spaces."""
    characters: int = 0

    def add(self, text: str, texts: int = 1) -> None:
        """Count a text."""
        self.texts += texts
        self.words += len(text.split())
        self.characters += len(text)


@dataclass(slots=True)
class Survey:
    """The counts of an export."""

    languages: dict[str, LanguageSize] = field(default_factory=dict)
    sites: Counter[str] = field(default_factory=Counter)
    """Sentence pairs or documents by site; a pair of two sites counts for both."""
    licences: Counter[str] = field(default_factory=Counter)
    """Sides or documents by the licence that their page states; "" for none."""
    machine: Counter[str] = field(default_factory=Counter)
    """Sides or documents by the mark of machine translation of their page."""
    personal: Counter[str] = field(default_factory=Counter)
    """Finds of personal data by kind."""
    first_fetched: str = ""
    last_fetched: str = ""

    def add_pair(self, row: SentencePair) -> None:
        """Count a sentence pair."""
        for site in {_site(row.url1), _site(row.url2)}:
            self.sites[site] += 1
        for language, text in ((row.lang1, row.text1), (row.lang2, row.text2)):
            self.languages.setdefault(language, LanguageSize()).add(text)
        self._note(row.licence1, row.machine1, row.fetched1)
        self._note(row.licence2, row.machine2, row.fetched2)

    def add_document(self, document: Document) -> None:
        """Count a document."""
        self.sites[_site(document.url)] += 1
        size = self.languages.setdefault(document.language or "und", LanguageSize())
        size.texts += 1
        for paragraph in document.paragraphs:
            size.add(paragraph.text, texts=0)
        self._note(document.licence, document.machine_translated, document.fetched_at)

    def add_personal(self, found: Iterable[PersonalFind]) -> None:
        """Count finds of personal data."""
        for each in found:
            self.personal[each.kind] += 1

    def _note(self, licence: str, machine: str, fetched: str) -> None:
        self.licences[licence] += 1
        if machine:
            self.machine[machine] += 1
        if fetched:
            self.first_fetched = min(self.first_fetched or fetched, fetched)
            self.last_fetched = max(self.last_fetched, fetched)


def _site(url: str) -> str:
    return site_of(host_of(url))


class PersonalData:
    """Counts personal data in what is exported, and masks it on request."""

    def __init__(self, survey: Survey, changed: Counter[str], *, masks: bool) -> None:
        self._survey = survey
        self._changed = changed
        self._masks = masks

    def __call__(self, text: str, url: str) -> str:
        """Return the text to export of a page."""
        found = self.find(text, url)
        return masked(text, found) if found and self._masks else text

    def find(self, text: str, url: str) -> list[PersonalFind]:
        """Return the finds in a text of a page, which are counted."""
        found = find_personal_data(text, region_of(url))
        if found:
            self._survey.add_personal(found)
            if self._masks:
                self._changed.update(f"{KINDS[each.kind]} masked" for each in found)
        return found
