"""The login: a token is entered once, and replaced by a cookie."""

import asyncio

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bilingual_crawler.web.gate import LOGIN, Keys, own_path
from bilingual_crawler.web.pages import form_of
from bilingual_crawler.web.rendering import render

WRONG_TOKEN_SECONDS = 1.0
"""Delay of the answer to a wrong token: too slow to guess long tokens."""


class Login:
    """Exchanges the token for a cookie."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def form(self, request: Request) -> Response:
        """Show the form."""
        if not self._keys.needed or self._keys.admits(request.headers):
            return RedirectResponse("/", 303)
        return self._form(request.query_params.get("to", "/"))

    async def enter(self, request: Request) -> Response:
        """Check the token and set a cookie, which is valid for this server process only."""
        form = await form_of(request) or {}
        to = own_path(form.get("to", "/"))
        if not self._keys.is_csrf(form.get("csrf", ""), "login"):
            return await run_in_threadpool(self._form, to, "The form has expired: try again.")
        if not self._keys.is_token(form.get("token", "").strip()):
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
            return await run_in_threadpool(self._form, to, "That is not the token.")
        answer = RedirectResponse(to, 303)
        self._keys.set_cookie(answer, request)
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
        text = render("login.html", to=own_path(to), problem=problem, csrf=csrf)
        return HTMLResponse(text, 403 if problem else 200)
