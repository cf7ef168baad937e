"""The list of all crawls and corpora below a folder, and the way to the pages of each."""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.web.gate import Keys
from bilingual_crawler.web.library import FolderList, list_folders, resolve_key
from bilingual_crawler.web.pages import ServedFolder
from bilingual_crawler.web.rendering import render
from bilingual_crawler.web.runs.runs import Runs

MAX_OPEN = 16
"""Folders whose index is kept up to date at a time."""
BELOW = "/c/"
"""What the paths of the folders begin with."""
STATE_WORDS = {
    "running": "running",
    "silent": "not finished",
    "stopped": "stopped",
    "finished": "finished",
    "imported": "imported",
    "built": "built from files",
    "new": "not begun",
    "unknown": "no report",
    "broken": "cannot be opened",
}


class ServedLibrary:
    """What all pages of a folder with many crawls share."""

    def __init__(self, root: Path, keys: Keys, runs: Runs | None = None) -> None:
        self.root = root
        self.keys = keys
        self.runs = runs
        """What starts crawls; None if that is not allowed."""

    def list(self) -> FolderList:
        """Return what is in the folder now."""
        return list_folders(self.root)

    def folder(self, key: str) -> Path:
        """Return the folder of a key; raise a ConfigurationError if it cannot be opened."""
        return resolve_key(self.root, key)

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page that belongs to no folder of the list."""
        text = render(
            template,
            title=self.root.name or "Corpora",
            folder="",
            root="",
            in_library=True,
            is_corpus=False,
            may_run=self.runs is not None,
            csrf=self.keys.csrf("mark"),
            has_token=self.keys.needed,
            **values,
        )
        return HTMLResponse(text, status)

    def message(self, status: int, heading: str, sentence: str) -> HTMLResponse:
        """Return a page with a single message."""
        return self.page("message.html", status, tab="", heading=heading, sentence=sentence)


class LibraryPages:
    """The handler of the list."""

    def __init__(self, library: ServedLibrary) -> None:
        self._library = library

    def index(self, _: Request) -> HTMLResponse:
        """Show every crawl and corpus with its size, languages and state."""
        found = self._library.list()
        return self._library.page(
            "library.html",
            tab="library",
            cards=found.cards,
            is_cut=found.is_cut,
            served=str(self._library.root),
            below=BELOW,
            words=STATE_WORDS,
        )


class OpenFolders:
    """Sends requests below /c/KEY to the pages of that folder, which it opens at the first one.

    Only some folders stay open: the one that was asked for longest ago is closed first.
    """

    def __init__(
        self, library: ServedLibrary, make_pages: Callable[[ServedFolder], ASGIApp]
    ) -> None:
        self._library = library
        self._make_pages = make_pages
        self._open: OrderedDict[Path, tuple[ServedFolder, ASGIApp]] = OrderedDict()
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        key = scope["path_params"]["key"]
        try:
            pages = await run_in_threadpool(self._pages_of, key)
        except ConfigurationError as error:
            pages = await run_in_threadpool(self._library.message, 404, "Not opened", str(error))
        await pages(scope, receive, send)

    def _pages_of(self, key: str) -> ASGIApp:
        folder = resolve_key(self._library.root, key)
        with self._lock:
            if folder not in self._open:
                self._open[folder] = self._made(folder, key)
            self._open.move_to_end(folder)
            while len(self._open) > MAX_OPEN:
                _, (old, _) = self._open.popitem(last=False)
                old.close()
            return self._open[folder][1]

    def _made(self, folder: Path, key: str) -> tuple[ServedFolder, ASGIApp]:
        try:
            site = ServedFolder(
                folder, self._library.keys, root=f"{BELOW}{quote(key)}", key=key,
                runs=self._library.runs,
            )  # fmt: skip
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"The search index cannot be written in {folder}: {error}. Make the folder"
                " writable, or copy it elsewhere."
            ) from None
        site.indexer.start()
        return site, self._make_pages(site)

    def close(self) -> None:
        """Close every folder."""
        with self._lock:
            for site, _ in self._open.values():
                site.close()
            self._open.clear()
