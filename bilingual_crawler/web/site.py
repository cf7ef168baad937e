"""What all pages share: the folder, its index, its marks, and how a page is put together."""

from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse

from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.web.crawl_state import CrawlFigures, languages_of
from bilingual_crawler.web.gate import Keys
from bilingual_crawler.web.marks import Marks
from bilingual_crawler.web.rendering import render
from bilingual_crawler.web.search.indexer import Indexer


class ServedFolder:
    """One crawl folder, as the pages see it."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self.folder = folder
        self.keys = keys
        self.indexer = Indexer(folder)
        self.index = self.indexer.path
        self.marks = Marks(folder)
        self.crawl = CrawlFigures(folder, self.index)

    def language_names(self) -> list[str]:
        """The names of the two languages; plain words where the crawl does not say."""
        names = list(languages_of(self.crawl.report()).values())
        return names if len(names) == 2 else ["First language", "Second language"]  # noqa: PLR2004

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page."""
        names = self.language_names()
        known = languages_of(self.crawl.report()).values()
        text = render(
            template,
            names=names,
            title=" \N{EN DASH} ".join(known or names),
            folder=self.folder.name,
            csrf=self.keys.csrf("mark"),
            has_token=self.keys.needed,
            language_name=language_name,
            **values,
        )
        return HTMLResponse(text, status)

    def message(self, status: int, heading: str, sentence: str) -> HTMLResponse:
        """A page that says one thing."""
        return self.page("message.html", status, tab="", heading=heading, sentence=sentence)


def language_name(code: str) -> str:
    """The name of a language; the code itself if nobody knows it."""
    language = language_of_tag(code)
    return code if language is None else language.name
