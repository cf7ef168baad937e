"""The application: its routes, its error pages, and the login."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bilingual_crawler.web.gate import LOGIN, Gate, Hosts
from bilingual_crawler.web.pages import CorpusPages, CrawlPages, ServedFolder, form_of
from bilingual_crawler.web.rendering import prepare, render, static_files

WRONG_TOKEN_SECONDS = 1.0
"""Delay of the answer to a wrong token: too slow to guess long tokens."""
A_YEAR = 31_536_000
ERRORS = {
    404: ("Not found", "There is no such page."),
    405: ("Not possible", "This URL only accepts forms of this server."),
}


def make_app(site: ServedFolder, hosts: Hosts) -> ASGIApp:
    """Return the application for a crawl folder; it keeps the index up to date while it runs."""
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
        heading, sentence = ERRORS.get(status, ("Not possible", "This request is not supported."))
        return await run_in_threadpool(site.message, status, heading, sentence)

    def on_index_error(_: Request, error: Exception) -> Response:
        return site.message(
            503, "No index", f"The search index cannot be read ({error}). Restart the server."
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


class Login:
    """Exchanges the token for a cookie."""

    def __init__(self, site: ServedFolder) -> None:
        self._keys = site.keys

    def form(self, request: Request) -> Response:
        """Show the form."""
        if not self._keys.needed or self._keys.admits(request.headers):
            return RedirectResponse("/", 303)
        return self._form(request.query_params.get("to", "/"))

    async def enter(self, request: Request) -> Response:
        """Check the token and set a cookie, which is valid for this server process only."""
        form = await form_of(request) or {}
        to = _own_path(form.get("to", "/"))
        if not self._keys.is_csrf(form.get("csrf", ""), "login"):
            return await run_in_threadpool(self._form, to, "The form has expired: try again.")
        if not self._keys.is_token(form.get("token", "").strip()):
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
            return await run_in_threadpool(self._form, to, "That is not the token.")
        answer = RedirectResponse(to, 303)
        answer.set_cookie(
            self._keys.cookie,
            self._keys.session(),
            httponly=True,
            samesite="strict",
            secure=request.headers.get("x-forwarded-proto") == "https",
        )
        return answer

    async def leave(self, request: Request) -> Response:
        """Delete the cookie."""
        form = await form_of(request) or {}
        answer = RedirectResponse(LOGIN, 303)
        if self._keys.is_csrf(form.get("csrf", ""), "mark"):
            answer.delete_cookie(self._keys.cookie, httponly=True, samesite="strict")
        return answer

    def _form(self, to: str, problem: str = "") -> HTMLResponse:
        csrf = self._keys.csrf("login")
        text = render("login.html", to=_own_path(to), problem=problem, csrf=csrf)
        return HTMLResponse(text, 403 if problem else 200)


def _own_path(path: str) -> str:
    """Return the path if it is on this server, or else "/": links may be untrusted."""
    own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if own else "/"
