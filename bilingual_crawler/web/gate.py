"""Access control: the checks before every page, and the headers of every response.

What is served was crawled from untrusted sites, and everything on the same machine can reach a
loopback port, including web pages in the user's browser. So the name in the Host header must be
one of ours (otherwise a foreign name could be pointed at this machine). Requests that change or
cost something, as every search does, must come from our own pages or from the user. Off the
loopback interface, and where crawls can be started, everything needs a token: the URL that the
server prints has it, and it is replaced by a cookie at once.
"""

import hmac
import ipaddress
import secrets
import socket
import threading
from collections.abc import Iterable
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bilingual_crawler.urls.hosts import normal_host

LOGIN = "/login"
TOKEN = "token"  # noqa: S105 - a name
"""The parameter of a URL that has the token."""
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
    """Return whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Hosts:
    """The names under which the server may be reached.

    A foreign name can lead to any address, but an address in the Host header is what the user
    opened in the browser: so off the loopback interface, addresses are allowed.
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
    """The token that users are given, and the secrets derived from it and this process."""

    def __init__(self, token: str | None, port: int = 0) -> None:
        self._token = token
        self._secret = secrets.token_bytes(32)
        self._passes: set[str] = set()
        self._changing = threading.Lock()
        self.cookie = f"bilingual_crawler_{port}"

    @property
    def needed(self) -> bool:
        """Whether a token is needed at all."""
        return self._token is not None

    def is_token(self, given: str) -> bool:
        """Return whether this is the token; takes constant time."""
        return self._token is not None and _equal(given, self._token)

    def single_pass(self) -> str:
        """Return a token that opens the pages once.

        It is for the browser that the server opens itself: other users can read its command line.
        """
        made = secrets.token_urlsafe(24)
        self._passes.add(made)
        return made

    def opens(self, given: str) -> bool:
        """Return whether a URL has the token, or a pass that nobody has used."""
        with self._changing:
            if given in self._passes:
                self._passes.remove(given)
                return True
        return self.is_token(given)

    def set_cookie(self, answer: Response, request: Request) -> None:
        """Let the browser in from now on, as long as this process runs."""
        answer.set_cookie(
            self.cookie,
            self.session(),
            httponly=True,
            samesite="strict",
            secure=request.headers.get("x-forwarded-proto") == "https",
        )

    def session(self) -> str:
        """Return the cookie of a user who has entered the token."""
        return self._sign("session")

    def csrf(self, purpose: str) -> str:
        """Return the secret of our forms, which foreign forms cannot know."""
        return self._sign(f"form {purpose}")

    def is_csrf(self, given: str, purpose: str) -> bool:
        """Return whether a form is ours."""
        return _equal(given, self.csrf(purpose))

    def admits(self, headers: Headers) -> bool:
        """Return whether a request has the token, or the cookie that was given for it."""
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
    """The outermost layer: refuses forbidden requests, and adds the headers."""

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

    def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _refuse(
                421, "This server is not known under that name (--allow-host NAME adds it)"
            )
        if not _same_origin(headers):
            return _refuse(
                403,
                "This request came from a page of another site, which is not allowed;"
                " to open it yourself, press Enter in the address bar of the browser",
            )
        if not self._keys.needed or request.url.path.startswith(OPEN_PATHS):
            return None
        return self._unknown(request)

    def _unknown(self, request: Request) -> Response | None:
        """Return what someone gets who is not known by a cookie or header; None for others."""
        to, token = _without_token(request)
        is_reading = request.method in SAFE_METHODS
        if token and is_reading and self._keys.opens(token):
            answer = RedirectResponse(to, 303)
            self._keys.set_cookie(answer, request)
            return answer
        if self._keys.admits(request.headers):
            return RedirectResponse(to, 303) if token and is_reading else None
        if is_reading and "text/html" in request.headers.get("accept", ""):
            return RedirectResponse(f"{LOGIN}?to={quote(to)}", 303)
        return _refuse(401, "This needs the token that the server printed", "Bearer")


def _without_token(request: Request) -> tuple[str, str]:
    """Return the path and query of a request without the token, which no page should show."""
    path, query, token = request.url.path, request.url.query, request.query_params.get(TOKEN, "")
    if token:
        fields = parse_qsl(query, keep_blank_values=True)
        query = urlencode([(name, value) for name, value in fields if name != TOKEN])
    to = f"{quote(path)}?{query}" if query else quote(path)
    return own_path(to), token


def own_path(path: str) -> str:
    """Return the path if it is on this server, or else "/": links may be untrusted."""
    own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if own else "/"


def _same_origin(headers: Headers) -> bool:
    """Return whether, according to the browser, a request comes from our own pages or the user.

    Programs other than browsers do not say, and cannot be abused by web pages. Our pages send
    no referrer, so some browsers send `Origin: null`; then the secret of the form, which is
    checked too, decides.
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
