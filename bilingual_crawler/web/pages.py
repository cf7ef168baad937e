"""The pages of the web application: search, document pairs, and the state of the crawl."""

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.store.folder import is_of_one_language
from bilingual_crawler.store.marks import Marks, SentenceMarks
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.concordance.index_file import ConcordanceIndex
from bilingual_crawler.web.corpus_view import (
    ORDERS,
    SENTENCES_PER_PAGE,
    count_pairs,
    count_sentences,
    find_pair,
    list_pairs,
    next_unmarked,
    paragraphs_of,
    sentences_of,
)
from bilingual_crawler.web.crawl_state import CrawlFigures, SiteRow, languages_of
from bilingual_crawler.web.gate import Keys
from bilingual_crawler.web.pictures import DETECTORS
from bilingual_crawler.web.rendering import draw, render
from bilingual_crawler.web.runs.runs import Runs
from bilingual_crawler.web.search.index import reading
from bilingual_crawler.web.search.indexer import Indexer
from bilingual_crawler.web.search.query import QueryError
from bilingual_crawler.web.search.search import (
    MAX_COUNTED,
    SIDES,
    In,
    SearchQuestion,
    language_pairs,
    search,
)

SIZES = (10, 20, 50, 100)
CONTEXTS = {
    "3": "3 words around",
    "5": "5 words around",
    "10": "10 words around",
    "": "Whole sentence",
    "more": "With neighbours",
}
PAIRS_PER_PAGE = 20
LAST_PAGE = 100_000
MAX_FORM_BYTES = 10_000
LONGEST_LANGS = 20
SITES_PER_PAGE = 50
COLUMNS: dict[str, Callable[[SiteRow], Any]] = {
    "site": lambda site: site.name,
    "pages": lambda site: -site.pages,
    "pairs": lambda site: -site.pairs,
    "yield": lambda site: -site.pairs_per_100,
    "waiting": lambda site: -site.waiting,
    "failed": lambda site: -site.failed,
    "state": lambda site: site.state,
}
"""The columns by which the table of sites can be sorted."""
OF_PAIRS = frozenset(("pairs", "yield"))
"""Columns that a crawl of one language does not have."""


class ServedFolder:
    """What all pages share: one crawl folder, its index, its marks, and how a page is made."""

    def __init__(
        self, folder: Path, keys: Keys, root: str = "", *, key: str = "", runs: Runs | None = None
    ) -> None:
        self.folder = folder
        self.keys = keys
        self.root = root
        """What the paths of its pages begin with: nothing, if it is the only folder served."""
        self.key = key
        """What the list of all folders calls it."""
        self.runs = runs
        """What starts and stops its crawl; None if that is not allowed."""
        self.can_undo = False
        """Whether a mark was set that can be taken back."""
        self.indexer = Indexer(folder)
        self.index = self.indexer.path
        self.concordance = ConcordanceIndex(folder)
        self.marks = Marks(folder)
        self.sentence_marks = SentenceMarks(folder)
        self.crawl = CrawlFigures(folder, self.index)

    def close(self) -> None:
        """Stop keeping the indexes up to date."""
        self.concordance.close()
        self.indexer.close()

    def language_names(self) -> list[str]:
        """Return the names of the two languages; plain words if the crawl does not name them."""
        names = list(languages_of(self.crawl.report()).values())
        return names if len(names) == 2 else ["First language", "Second language"]  # noqa: PLR2004

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a whole page."""
        names = self.language_names()
        known = languages_of(self.crawl.report()).values()
        text = render(
            template,
            names=names,
            title=" \N{EN DASH} ".join(known or names),
            folder=self.folder.name,
            root=self.root,
            in_library=bool(self.root),
            is_corpus=True,
            may_run=self.runs is not None,
            can_undo_mark=self.can_undo,
            csrf=self.keys.csrf("mark"),
            has_token=self.keys.needed,
            language_name=language_name,
            **values,
        )
        return HTMLResponse(text, status)

    def message(self, status: int, heading: str, sentence: str) -> HTMLResponse:
        """Return a page with a single message."""
        return self.page("message.html", status, tab="", heading=heading, sentence=sentence)


def language_name(code: str) -> str:
    """Return the name of a language; the code itself if it is unknown."""
    language = language_of_tag(code)
    return code if language is None else language.name


class CorpusPages:
    """The handlers of the Corpus tab."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site

    def search(self, request: Request) -> HTMLResponse:
        """Show the search box with the hits, or an overview of the corpus if nothing was typed."""
        asked = request.query_params
        question = question_of(asked)
        languages: list[tuple[str, str]] = []
        given = _given(asked)
        found, problem = None, ""
        with reading(self._site.index) as connection:
            sentences = count_sentences(connection)
            pairs = count_pairs(connection)
            languages = language_pairs(connection)
            if question.text.strip():
                try:
                    found = search(connection, question)
                except QueryError as error:
                    problem = str(error)
            latest = [] if found or problem else list_pairs(connection, "newest", 1, 8)
        return self._site.page(
            "search.html",
            languages=sorted(languages),
            tab="corpus",
            question=question,
            given=given,
            found=found,
            problem=problem,
            sentences=sentences,
            pairs=pairs,
            latest=latest,
            marks=self._site.marks.all(),
            sizes=SIZES,
            contexts=CONTEXTS,
            most_counted=MAX_COUNTED,
            per_page=SENTENCES_PER_PAGE,
            progress=self._site.indexer.progress.get("sentences"),
            has_file=(self._site.folder / SENTENCES).exists(),
            crawl_folder=str(self._site.folder),
            one_language=is_of_one_language(self._site.crawl.report()),
        )

    def pairs(self, request: Request) -> HTMLResponse:
        """Show the list of document pairs."""
        asked = request.query_params
        order = _choice(asked, "order", ORDERS, "found")
        page = _page(asked)
        with reading(self._site.index) as connection:
            total = count_pairs(connection)
            listed = list_pairs(connection, order, page, PAIRS_PER_PAGE)
        marks = self._site.marks.all()
        return self._site.page(
            "pairs.html",
            tab="corpus",
            listed=listed,
            order=order,
            page=page,
            last=max(1, -(-total // PAIRS_PER_PAGE)),
            total=total,
            marks=marks,
            accepted=sum(marks.values()),
        )

    def pair(self, request: Request) -> Response:
        """Show one document pair: its evidence, and its texts side by side."""
        page = _page(request.query_params)
        marks = self._site.marks.all()
        with reading(self._site.index) as connection:
            pair = find_pair(connection, request.path_params["pair"])
            if pair is None:
                return self._no_pair()
            sentences = sentences_of(connection, pair.pair, page)
            texts = []
            if not sentences and page == 1:
                texts = [
                    paragraphs_of(connection, self._site.folder, url)
                    for url in (pair.url1, pair.url2)
                ]
            onward = next_unmarked(connection, pair.id, marks)
        return self._site.page(
            "pair.html",
            tab="corpus",
            pair=pair,
            detectors=DETECTORS,
            sentences=sentences,
            texts=texts,
            page=page,
            more=len(sentences) == SENTENCES_PER_PAGE,
            mark=marks.get((pair.url1, pair.url2)),
            said=self._site.sentence_marks.of,
            onward=None if onward == pair.pair else onward,
        )

    def _no_pair(self) -> HTMLResponse:
        return self._site.message(
            404, "No such pair", "The pair is not in the corpus, or no longer: search for its text."
        )


def question_of(asked: QueryParams) -> SearchQuestion:
    """Return the question in the parameters of a URL; invalid values count as not given."""
    context = _choice(asked, "context", CONTEXTS, "")
    size = _number(asked.get("n"), 20, 1, SIZES[-1])
    return SearchQuestion(
        text=asked.get("q", "").strip(),
        within=cast("In", _choice(asked, "in", SIDES, "any")),
        other=asked.get("other", "").strip(),
        is_pattern=asked.get("mode") == "regex",
        match_case=asked.get("case") == "1",
        dropped=asked.get("dropped") == "1",
        langs=_two_languages(asked.get("langs", "")),
        page=_page(asked),
        size=size if size in SIZES else 20,
        words=int(context) if context.isdecimal() else None,
        neighbours=context == "more",
        after=_number(asked.get("after"), 0, 0, 1 << 60),
    )


def _two_languages(text: str) -> tuple[str, str] | None:
    """Return the codes of "spa-eus"; None for anything else."""
    first, hyphen, second = text.partition("-")
    return (first, second) if hyphen and text.isascii() and len(text) <= LONGEST_LANGS else None


async def form_of(request: Request, most: int = MAX_FORM_BYTES) -> dict[str, str] | None:
    """Return the fields of a small form; None for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return dict(parse_qsl(body.decode("utf-8", "replace")))


def _given(asked: QueryParams) -> dict[str, Any]:
    """Return the parameters that links to further pages repeat."""
    names = ("q", "in", "langs", "other", "mode", "case", "dropped", "n", "context")
    return {name: asked[name] for name in names if name in asked}


def _choice(asked: QueryParams, name: str, choices: Container[str], default: str) -> str:
    given = asked.get(name, default)
    return given if given in choices else default


def _page(asked: QueryParams) -> int:
    return _number(asked.get("page"), 1, 1, LAST_PAGE)


def _number(text: str | None, default: int, low: int, high: int) -> int:
    if text is None or not text.isdecimal() or len(text) > len(str(high)):
        return default
    return min(high, max(low, int(text)))


class CrawlPages:
    """The handlers of the Crawl tab; `control` returns what its controls need."""

    def __init__(self, site: ServedFolder, control: Callable[[], dict[str, Any]]) -> None:
        self._site = site
        self._control = control

    def crawl(self, request: Request) -> HTMLResponse:
        """Show the whole page."""
        values = self._control() | self._values(request)
        return self._site.page("crawl.html", tab="crawl", **values)

    def live(self, request: Request) -> HTMLResponse:
        """Show the part of the page that changes; the script requests it while the crawl runs."""
        values = self._values(request)
        text = render(
            "crawl_live.html", root=self._site.root, language_name=language_name, **values
        )
        return HTMLResponse(text, headers={"X-Crawl-State": values["state"].state})

    def _values(self, request: Request) -> dict[str, Any]:
        asked = request.query_params
        sort = _choice(asked, "sort", COLUMNS, "pairs")
        reverse = asked.get("reverse") == "1"
        state = self._site.crawl.state()
        by_name = sorted(state.sites, key=COLUMNS["site"])
        sites = sorted(by_name, key=COLUMNS[sort], reverse=reverse)
        last = max(1, -(-len(sites) // SITES_PER_PAGE))
        page = min(last, _page(asked))
        return {
            "state": state,
            "drawing": draw(state.curve),
            "sites": sites[(page - 1) * SITES_PER_PAGE : page * SITES_PER_PAGE],
            "number_of_sites": len(sites),
            "columns": [
                name for name in COLUMNS if state.harvest == "pairs" or name not in OF_PAIRS
            ],
            "sort": sort,
            "reverse": reverse,
            "page": page,
            "last": last,
            "given": {"sort": sort, "reverse": "1" if reverse else ""},
        }
