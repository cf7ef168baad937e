"""The login form of a server that needs a token."""

import asyncio

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bilingual_crawler.web.corpus_pages import form_of
from bilingual_crawler.web.gate import LOGIN
from bilingual_crawler.web.rendering import render
from bilingual_crawler.web.site import ServedFolder

WRONG_SECONDS = 1.0
"""How long a wrong token is answered late: nobody guesses long tokens at that pace."""


class Login:
    """Takes the token and gives a cookie for it."""

    def __init__(self, site: ServedFolder) -> None:
        self._keys = site.keys

    def form(self, request: Request) -> Response:
        """The form."""
        if not self._keys.needed or self._keys.admits(request.headers):
            return RedirectResponse("/", 303)
        return self._form(request.query_params.get("to", "/"))

    async def enter(self, request: Request) -> Response:
        """Compare the token; the cookie is for this server alone and gone with it."""
        form = await form_of(request) or {}
        to = _own_path(form.get("to", "/"))
        if not self._keys.is_csrf(form.get("csrf", ""), "login"):
            return await run_in_threadpool(self._form, to, "The form is too old: try again.")
        if not self._keys.is_token(form.get("token", "").strip()):
            await asyncio.sleep(WRONG_SECONDS)
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
        """Take the cookie back."""
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
    """A path of this server, whatever a stranger's link asked for."""
    own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if own else "/"
