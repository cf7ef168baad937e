"""Who may ask for what: the checks before every page, and the headers on every answer.

Whatever is served was crawled from strangers, and whatever runs on the same machine can reach
a loopback port, a page in the user's browser too. So the name in the Host header must be one
of ours (else a stranger's name could be pointed at this machine), what changes something or
costs something, as every search does, must come from our own pages or from the user, and off
the loopback interface everything needs a token.
"""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Iterable
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bilingual_crawler.urls.hosts import normal_host

LOGIN = "/login"
OPEN_PATHS = (LOGIN, "/static/")
SAFE_METHODS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Hosts:
    """The names by which the server may be asked.

    A name that a stranger owns can lead to any address, but an address in the Host header is
    what the browser has been told to open: so off the loopback interface addresses are fine.
    """

    def __init__(self, bound_to: str, more: Iterable[str] = ()) -> None:
        self._addresses = not is_loopback(bound_to)
        names = {bound_to, *more, *LOOPBACK_NAMES}
        if self._addresses:
            names |= {socket.gethostname(), socket.getfqdn()}
        self._names = {normal_host(each) or each for each in names}

    def __contains__(self, header: object) -> bool:
        name = normal_host(str(header))
        if name is None:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._addresses


class Keys:
    """The token that people are given, and what is derived from it and this process."""

    def __init__(self, token: str | None, port: int = 0) -> None:
        self._token = token
        self._secret = secrets.token_bytes(32)
        self.cookie = f"bilingual_crawler_{port}"

    @property
    def needed(self) -> bool:
        """Whether a token must be shown at all."""
        return self._token is not None

    def is_token(self, given: str) -> bool:
        """Compare in a time that tells nothing."""
        return self._token is not None and _equal(given, self._token)

    def session(self) -> str:
        """What the cookie of somebody who has shown the token holds."""
        return self._sign("session")

    def csrf(self, purpose: str) -> str:
        """What a form of ours holds and a form of a stranger cannot know."""
        return self._sign(f"form {purpose}")

    def is_csrf(self, given: str, purpose: str) -> bool:
        """Whether a form is ours."""
        return _equal(given, self.csrf(purpose))

    def admits(self, headers: Headers) -> bool:
        """Whether a request shows the token or the cookie that was given for it."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(given.strip())
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(self.cookie)
        return found is not None and _equal(found.value, self.session())

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, f"{text} {self._token}".encode(), sha256).hexdigest()


class Gate:
    """The outermost layer: refuses what must not pass, and adds the headers."""

    def __init__(self, app: ASGIApp, hosts: Hosts, keys: Keys) -> None:
        self._app = app
        self._hosts = hosts
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, request: Request) -> PlainTextResponse | RedirectResponse | None:
        headers = request.headers
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _refuse(421, "This server is not known by that name (--allow-host NAME adds it)")
        if not _same_origin(headers):
            return _refuse(
                403,
                "This came from the page of another site, which may not ask anything here;"
                " to see it, go to the address bar of the browser and press Enter",
            )
        path = request.url.path
        if not self._keys.needed or path.startswith(OPEN_PATHS) or self._keys.admits(headers):
            return None
        if request.method in SAFE_METHODS and "text/html" in headers.get("accept", ""):
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{LOGIN}?to={quote(path + query)}", 303)
        return _refuse(401, "This needs the token that the server printed", "Bearer")


def _same_origin(headers: Headers) -> bool:
    """Whether the browser says that a request comes from our own pages, or from the user.

    Programs that are no browsers say nothing, and are nobody's tool against this server.
    Our pages send no referrer, so some browsers send `Origin: null`; the form's own secret,
    which is asked for too, decides then.
    """
    if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    origin = headers.get("origin", "null")
    return origin == "null" or urlsplit(origin).netloc == headers.get("host")


def _refuse(status: int, sentence: str, challenge: str = "") -> PlainTextResponse:
    headers = {"WWW-Authenticate": challenge} if challenge else {}
    return PlainTextResponse(f"{sentence}.\n", status, headers)


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return wrapped


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
