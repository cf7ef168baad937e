"""The corpus: search, the list of document pairs, a pair side by side, its mark."""

from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bilingual_crawler.store.folder import is_of_one_language
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.corpus_view import (
    ORDERS,
    SENTENCES_A_PAGE,
    count_of,
    find_pair,
    list_pairs,
    next_unmarked,
    paragraphs_of,
    sentences_of,
)
from bilingual_crawler.web.marks import MarkError
from bilingual_crawler.web.search.index import reading
from bilingual_crawler.web.search.query import QueryError
from bilingual_crawler.web.search.search import MOST_COUNTED, SIDES, In, SearchQuestion, search
from bilingual_crawler.web.site import ServedFolder

SIZES = (10, 20, 50, 100)
CONTEXTS = {
    "3": "3 words around",
    "5": "5 words around",
    "10": "10 words around",
    "": "Whole sentence",
    "more": "With neighbours",
}
PAIRS_A_PAGE = 20
LAST_PAGE = 100_000
MOST_FORM_BYTES = 10_000
MARKS = {"accept": True, "reject": False, "none": None}


class CorpusPages:
    """The handlers of the Corpus tab."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site

    def search(self, request: Request) -> HTMLResponse:
        """The search box, with the hits of what was typed or a word about the corpus."""
        asked = request.query_params
        question = question_of(asked)
        given = _given(asked)
        found, problem = None, ""
        with reading(self._site.index) as connection:
            sentences = count_of(connection, "sentences")
            pairs = count_of(connection, "pairs")
            if question.text.strip():
                try:
                    found = search(connection, question)
                except QueryError as error:
                    problem = str(error)
            latest = [] if found or problem else list_pairs(connection, "newest", 1, 8)
        return self._site.page(
            "search.html",
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
            most_counted=MOST_COUNTED,
            per_page=SENTENCES_A_PAGE,
            progress=self._site.indexer.progress.get("sentences"),
            has_file=(self._site.folder / SENTENCES).exists(),
            crawl_folder=str(self._site.folder),
            one_language=is_of_one_language(self._site.crawl.report()),
        )

    def pairs(self, request: Request) -> HTMLResponse:
        """The list of document pairs."""
        asked = request.query_params
        order = asked.get("order", "found")
        order = order if order in ORDERS else "found"
        page = _number(asked.get("page"), 1, 1, LAST_PAGE)
        with reading(self._site.index) as connection:
            total = count_of(connection, "pairs")
            listed = list_pairs(connection, order, page, PAIRS_A_PAGE)
        marks = self._site.marks.all()
        return self._site.page(
            "pairs.html",
            tab="corpus",
            listed=listed,
            order=order,
            page=page,
            last=max(1, -(-total // PAIRS_A_PAGE)),
            total=total,
            marks=marks,
            accepted=sum(marks.values()),
        )

    def pair(self, request: Request) -> Response:
        """One document pair: its evidence and its text side by side."""
        page = _number(request.query_params.get("page"), 1, 1, LAST_PAGE)
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
            sentences=sentences,
            texts=texts,
            page=page,
            more=len(sentences) == SENTENCES_A_PAGE,
            mark=marks.get((pair.url1, pair.url2)),
            onward=None if onward == pair.pair else onward,
        )

    async def mark(self, request: Request) -> Response:
        """Save the mark of a pair and show it again."""
        form = await form_of(request)
        if form is None or not self._site.keys.is_csrf(form.get("csrf", ""), "mark"):
            return await run_in_threadpool(
                self._site.message,
                403,
                "Not marked",
                "The form was not one of this server's, or is from before its last start: "
                "open the pair again.",
            )
        if form.get("mark") not in MARKS:
            return await run_in_threadpool(
                self._site.message, 400, "Not marked", "A mark is accept, reject or none."
            )
        return await run_in_threadpool(self._save, request.path_params["pair"], MARKS[form["mark"]])

    def _save(self, name: str, good: bool | None) -> Response:
        with reading(self._site.index) as connection:
            pair = find_pair(connection, name)
        if pair is None:
            return self._no_pair()
        try:
            self._site.marks.put(pair.url1, pair.url2, good)
        except (MarkError, OSError) as error:
            return self._site.message(409, "Not marked", str(error))
        return RedirectResponse(f"/pair/{pair.pair}", 303)

    def _no_pair(self) -> HTMLResponse:
        return self._site.message(
            404, "No such pair", "The pair is not in the corpus, or no longer: search for its text."
        )


def question_of(asked: QueryParams) -> SearchQuestion:
    """The question that the address of a page asks; what makes no sense counts as not given."""
    within = asked.get("in", "any")
    context = asked.get("context", "")
    context = context if context in CONTEXTS else ""
    size = _number(asked.get("n"), 20, 1, SIZES[-1])
    return SearchQuestion(
        text=asked.get("q", "").strip(),
        within=cast("In", within if within in SIDES else "any"),
        other=asked.get("other", "").strip(),
        is_pattern=asked.get("mode") == "regex",
        match_case=asked.get("case") == "1",
        dropped=asked.get("dropped") == "1",
        page=_number(asked.get("page"), 1, 1, LAST_PAGE),
        size=size if size in SIZES else 20,
        words=int(context) if context.isdecimal() else None,
        neighbours=context == "more",
        after=_number(asked.get("after"), 0, 0, 1 << 60),
    )


async def form_of(request: Request) -> dict[str, str] | None:
    """The fields of a small form; None for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_FORM_BYTES:
            return None
    return dict(parse_qsl(body.decode("utf-8", "replace")))


def _given(asked: QueryParams) -> dict[str, Any]:
    """What links to further pages repeat."""
    names = ("q", "in", "other", "mode", "case", "dropped", "n", "context")
    return {name: asked[name] for name in names if name in asked}


def _number(text: str | None, usual: int, least: int, most: int) -> int:
    if text is None or not text.isdecimal() or len(text) > len(str(most)):
        return usual
    return min(most, max(least, int(text)))
