"""The web application: its routes, its error pages, and the server."""

import contextlib
import errno
import os
import secrets
import socket
import sqlite3
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.web.audit_pages import AuditPages
from bilingual_crawler.web.concordance_pages import ConcordancePages
from bilingual_crawler.web.gate import LOGIN, TOKEN, Gate, Hosts, Keys, is_loopback
from bilingual_crawler.web.judge_pages import JudgePages
from bilingual_crawler.web.library import SIGNS, is_of_crawl, list_folders
from bilingual_crawler.web.library_pages import BELOW, LibraryPages, OpenFolders, ServedLibrary
from bilingual_crawler.web.login import Login
from bilingual_crawler.web.pages import CorpusPages, CrawlPages, ServedFolder
from bilingual_crawler.web.picture_pages import PicturePages
from bilingual_crawler.web.rendering import prepare, static_files
from bilingual_crawler.web.run_pages import OrderPages, RunPages
from bilingual_crawler.web.runs.child import ChildRuns
from bilingual_crawler.web.runs.runs import Runs
from bilingual_crawler.web.runs.scrapyd import ScrapydRuns, ScrapydServer

A_YEAR = 31_536_000
ERRORS = {
    404: ("Not found", "There is no such page."),
    405: ("Not possible", "This URL only accepts forms of this server."),
}

MIN_TOKEN_LENGTH = 16
SHUTDOWN_SECONDS = 2


def make_app(served: ServedFolder | ServedLibrary, hosts: Hosts) -> ASGIApp:
    """Return the application for a folder, or for all that are below one.

    It keeps the search index of each open folder up to date while it runs.
    """
    login = Login(served.keys)
    routes = [
        Route(LOGIN, login.form),
        Route(LOGIN, login.enter, methods=["POST"]),
        Route("/logout", login.leave, methods=["POST"]),
        Route("/static/{name}", _static),
    ]
    if served.runs is not None:
        order = OrderPages(served, served.runs)
        routes += [Route("/new", order.form), Route("/new", order.submit, methods=["POST"])]
    if isinstance(served, ServedLibrary):
        folders = OpenFolders(served, lambda site: _app(site, folder_routes(site)))
        listed = LibraryPages(served)
        routes += [Route("/", listed.index)]
        app = _app(
            served, [*routes, Mount(f"{BELOW}{{key}}", app=folders)], _closing(folders.close)
        )
    else:
        app = _app(served, [*routes, *folder_routes(served)], _indexing(served))
    return Gate(app, hosts, served.keys)


def folder_routes(site: ServedFolder) -> list[BaseRoute]:
    """Return the routes of the pages of one folder."""
    corpus, run, judge, audit = (
        CorpusPages(site), RunPages(site), JudgePages(site), AuditPages(site),
    )  # fmt: skip
    crawl = CrawlPages(site, run.values)
    concordance, drawn = ConcordancePages(site), PicturePages(site)
    return [
        Route("/", corpus.search),
        Route("/pairs", corpus.pairs),
        Route("/pair/{pair}", corpus.pair),
        Route("/pair/{pair}/mark", judge.mark, methods=["POST"]),
        Route("/pair/{pair}/sentence/{at:int}", judge.mark_sentence, methods=["POST"]),
        Route("/undo", judge.undo, methods=["POST"]),
        Route("/audit", audit.show),
        Route("/audit", audit.answer, methods=["POST"]),
        Route("/concordance", concordance.lines),
        Route("/words/{list}", concordance.words),
        Route("/pictures", drawn.pictures),
        Route("/crawl", crawl.crawl),
        Route("/crawl/live", crawl.live),
        Route("/run/live", run.live),
        Route("/run/log", run.log),
        Route("/run/stop", run.stop, methods=["POST"]),
        Route("/run/resume", run.resume, methods=["POST"]),
    ]


Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


def _app(
    served: ServedFolder | ServedLibrary,
    routes: Sequence[BaseRoute],
    lifespan: Lifespan | None = None,
) -> Starlette:
    """Return an application whose errors are pages too."""

    async def on_http_error(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        heading, sentence = ERRORS.get(status, ("Not possible", "This request is not supported."))
        return await run_in_threadpool(served.message, status, heading, sentence)

    def on_index_error(_: Request, error: Exception) -> Response:
        return served.message(
            503, "No index", f"The search index cannot be read ({error}). Restart the server."
        )

    return Starlette(
        routes=routes,
        exception_handlers={HTTPException: on_http_error, sqlite3.Error: on_index_error},
        lifespan=lifespan,
    )


def _indexing(site: ServedFolder) -> Lifespan:
    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        site.indexer.start()
        await run_in_threadpool(prepare)
        try:
            yield
        finally:
            await run_in_threadpool(site.close)

    return lifespan


def _closing(close: Callable[[], None]) -> Lifespan:
    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(prepare)
        try:
            yield
        finally:
            await run_in_threadpool(close)

    return lifespan


def _static(request: Request) -> Response:
    file = static_files().get(request.path_params["name"])
    if file is None:
        return PlainTextResponse("There is no such file.\n", 404)
    fresh = request.query_params.get("v") == file.version
    lasting = f"public, max-age={A_YEAR}, immutable" if fresh else "no-cache"
    return Response(file.content, media_type=file.kind, headers={"Cache-Control": lasting})


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of `scrapy serve`."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    browser: bool = True
    allowed_hosts: list[str] = field(default_factory=list)
    allow_crawls: bool = False
    """Whether the page may start, stop and resume crawls."""
    max_crawls: int = 4
    scrapyd: ScrapydServer | None = None
    """The scrapyd that runs them; without one, they are processes of this machine."""
    settings: dict[str, str] = field(default_factory=dict)
    """Settings that hold for all of them."""
    program: str = "scrapy"


def serve(options: ServerOptions) -> None:
    """Serve until Ctrl-C; print the URL once the server listens."""
    folder = check_folder(options.folder, may_be_empty=options.allow_crawls)
    token = check_token(options)
    listener = listen(options.host, options.port)
    with listener:
        port = listener.getsockname()[1]
        keys = Keys(token, port)
        served = open_served(folder, keys, make_runs(folder, options))
        hosts = Hosts(options.host, options.allowed_hosts)
        url = f"http://{_in_url(options.host)}:{port}/"
        _announce(served, folder, url, token)
        opened = f"{url}?{TOKEN}={keys.single_pass()}" if keys.needed else url
        server = make_server(served, hosts, opened if options.browser else "")
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        print("Stopped.")  # noqa: T201 - to the person at the terminal


def make_runs(folder: Path, options: ServerOptions) -> Runs | None:
    """Return what starts crawls below a folder; None if that is not allowed."""
    if not options.allow_crawls:
        return None
    fixed = options.settings
    runner = ChildRuns(fixed) if options.scrapyd is None else ScrapydRuns(options.scrapyd, fixed)
    return Runs(folder, runner, fixed, most=options.max_crawls, program=options.program)


def open_served(folder: Path, keys: Keys, runs: Runs | None = None) -> ServedFolder | ServedLibrary:
    """Return the folder of a crawl with its index, or else the folder with many of them."""
    if not is_of_crawl(folder):
        return ServedLibrary(folder, keys, runs)
    try:
        return ServedFolder(folder, keys, runs=runs)
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(
            f"The search index cannot be written in {folder}: {error}.",
            "Make the folder writable, or copy it elsewhere.",
        ) from None


def make_server(
    served: ServedFolder | ServedLibrary, hosts: Hosts, url: str = ""
) -> uvicorn.Server:
    """Return the server for a folder, not yet running; it opens a browser at `url`."""
    return _Server(url, make_app(served, hosts))


class _Server(uvicorn.Server):
    """Uvicorn without its log; opens the browser once it is ready."""

    def __init__(self, url: str, app: ASGIApp) -> None:
        self._url = url
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then open the page if there is a screen."""
        await super().startup(sockets)
        if self.started and self._url and _has_screen():
            webbrowser.open(self._url)


def check_folder(folder: Path, *, may_be_empty: bool = False) -> Path:
    """Return the folder; raise an error if there is no crawl in it or below it."""
    if not folder.is_dir():
        raise ConfigurationError(
            f"There is no folder {folder}.",
            "Name the folder of a crawl, or one with several: scrapy serve crawls/",
        )
    is_empty = not is_of_crawl(folder) and not list_folders(folder.resolve()).cards
    if is_empty and not may_be_empty:
        raise ConfigurationError(
            f"{folder} is not the folder of a crawl, and there is none below it: no folder has one"
            f" of {', '.join(SIGNS)}.",
            "Name the folder that was given with -a output=DIR (crawls/... by default).",
        )
    return folder.resolve()


def check_token(options: ServerOptions) -> str | None:
    """Return the token; generate one if others than the user could do harm.

    Other machines reach a server that is not on the loopback interface, and other users of this
    machine one that is: they must not start crawls in the user's name.
    """
    token = options.token
    if token is not None and len(token) < MIN_TOKEN_LENGTH:
        raise ConfigurationError(
            f"A token needs at least {MIN_TOKEN_LENGTH} characters; "
            "without --token, a good one is generated."
        )
    if token is None and (options.allow_crawls or not is_loopback(options.host)):
        return secrets.token_urlsafe(24)
    return token


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 is any free port."""
    if not 0 <= port <= 65535:  # noqa: PLR2004 - what a port is
        raise ConfigurationError(f"{port} is not a port: choose a number from 0 (any) to 65535.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise ConfigurationError(
            f"{host} is not an address of this machine: choose one with --host, or leave it out."
        ) from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise ConfigurationError(_why_not(error, host, port)) from None
    return listener


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is in use: choose another one, or --port 0 for any that is free."
    if error.errno == errno.EACCES:
        return f"Port {port} needs administrator rights: choose one above 1023, or --port 0."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine: choose one with --host, or leave it out."
    return f"The server cannot listen on {host}, port {port}: {error.strerror}."


def _announce(
    served: ServedFolder | ServedLibrary, folder: Path, url: str, token: str | None
) -> None:
    if token is None:
        lines = [f"Serving {folder} at {url}"]
    else:
        lines = [f"Serving {folder} at {url}?{TOKEN}={quote(token)}", f"Token: {token}"]
    if isinstance(served, ServedFolder) and not served.indexer.is_writer:
        lines.append("Another server on this folder maintains the search index.")
    lines.append("Press Ctrl-C to stop.")
    print("\n".join(lines), flush=True)  # noqa: T201 - to the person at the terminal


def _in_url(host: str) -> str:
    """Return the host for a URL; an address that means all interfaces becomes the host name."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not listened on
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _has_screen() -> bool:
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or any(
        name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
