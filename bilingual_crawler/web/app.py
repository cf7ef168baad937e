"""The application: which address is answered by what."""

import contextlib
import sqlite3
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bilingual_crawler.web.corpus_pages import CorpusPages
from bilingual_crawler.web.crawl_pages import CrawlPages
from bilingual_crawler.web.gate import LOGIN, Gate, Hosts
from bilingual_crawler.web.login import Login
from bilingual_crawler.web.rendering import prepare, static_files
from bilingual_crawler.web.site import ServedFolder

A_YEAR = 31_536_000
ERRORS = {
    404: ("Not found", "There is no such page."),
    405: ("Not possible", "This address takes forms of this server alone."),
}


def make_app(site: ServedFolder, hosts: Hosts) -> ASGIApp:
    """The pages of a crawl folder; its index is followed as long as the application runs."""
    corpus, crawl, login = CorpusPages(site), CrawlPages(site), Login(site)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        site.indexer.start()
        await run_in_threadpool(prepare)
        try:
            yield
        finally:
            await run_in_threadpool(site.indexer.close)

    async def on_http_error(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        heading, sentence = ERRORS.get(status, ("Not possible", "That cannot be asked for here."))
        return await run_in_threadpool(site.message, status, heading, sentence)

    def on_index_error(_: Request, error: Exception) -> Response:
        return site.message(
            503, "No index", f"The index of the search cannot be read ({error}). Start anew."
        )

    app = Starlette(
        routes=[
            Route("/", corpus.search),
            Route("/pairs", corpus.pairs),
            Route("/pair/{pair}", corpus.pair),
            Route("/pair/{pair}/mark", corpus.mark, methods=["POST"]),
            Route("/crawl", crawl.crawl),
            Route("/crawl/live", crawl.live),
            Route(LOGIN, login.form),
            Route(LOGIN, login.enter, methods=["POST"]),
            Route("/logout", login.leave, methods=["POST"]),
            Route("/static/{name}", _static),
        ],
        exception_handlers={HTTPException: on_http_error, sqlite3.Error: on_index_error},
        lifespan=lifespan,
    )
    return Gate(app, hosts, site.keys)


def _static(request: Request) -> Response:
    file = static_files().get(request.path_params["name"])
    if file is None:
        return PlainTextResponse("There is no such file.\n", 404)
    fresh = request.query_params.get("v") == file.version
    lasting = f"public, max-age={A_YEAR}, immutable" if fresh else "no-cache"
    return Response(file.content, media_type=file.kind, headers={"Cache-Control": lasting})
