"""The pages that start, watch, stop and resume crawls."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.folder import JOURNAL
from bilingual_crawler.web.crawl_state import urls_under_way
from bilingual_crawler.web.library import is_of_crawl, key_of_path
from bilingual_crawler.web.library_pages import BELOW, ServedLibrary
from bilingual_crawler.web.pages import ServedFolder, form_of
from bilingual_crawler.web.rendering import render
from bilingual_crawler.web.report_file import made_of_files, read_report
from bilingual_crawler.web.runs.form import (
    FIELDS,
    GROUPS,
    MAX_BYTES,
    defaults,
    form_of_order,
    is_open,
    read_form,
)
from bilingual_crawler.web.runs.order import CrawlOrder, Problems
from bilingual_crawler.web.runs.runs import Runs, idle_state

PURPOSE = "run"
"""What the secret of the forms is for."""
EXPIRED = "The form is not from this server, or from before its last start: open the page again."


class OrderPages:
    """The form for a crawl: a new one below the folder of many, or the only one that is served."""

    def __init__(self, served: ServedLibrary | ServedFolder, runs: Runs) -> None:
        self._served = served
        self._runs = runs
        self._only = served.folder if isinstance(served, ServedFolder) else None
        """The folder of the crawl if there is no choice."""

    def form(self, request: Request) -> Response:
        """Show the form, empty or with what another crawl was started with."""
        given: dict[str, str] = {}
        order = None
        try:
            if folder := self._folder_asked_for(request):
                order = order_of(self._runs, folder)
                given = form_of_order(order, self._runs.root)
        except ConfigurationError as error:
            return self._served.message(404, "Not found", str(error))
        return self._form(given, {}, order, status=200)

    def _folder_asked_for(self, request: Request) -> Path | None:
        if isinstance(self._served, ServedFolder):
            return self._only
        name = request.query_params.get("from", "")
        return self._served.folder(name) if name else None

    async def submit(self, request: Request) -> Response:
        """Check the form; start the crawl if that was asked for and nothing is wrong."""
        form = await form_of(request, MAX_BYTES) or {}
        return await run_in_threadpool(self._submit, form)

    def _submit(self, form: Mapping[str, str]) -> Response:
        if not self._served.keys.is_csrf(form.get("csrf", ""), PURPOSE):
            return self._served.message(403, "Not started", EXPIRED)
        order, problems = read_form(form, self._runs, self._only)
        if form.get("action") != "start":
            return self._form(form, problems, order, status=200)
        if problems:
            return self._form(form, problems, order, status=422)
        try:
            self._runs.start(order)
        except ConfigurationError as error:
            return self._form(form, {"": [str(error)]}, order, status=409)
        if self._only is not None:
            return RedirectResponse("/crawl", 303)
        key = key_of_path(order.output.relative_to(self._runs.root))
        return RedirectResponse(f"{BELOW}{quote(key)}/crawl", 303)

    def _form(
        self,
        given: Mapping[str, str],
        problems: Problems,
        order: CrawlOrder | None = None,
        *,
        status: int,
    ) -> HTMLResponse:
        left_out = set(self._runs.fixed) | ({"output"} if self._only is not None else set())
        is_new = order is None or not is_of_crawl(order.output)
        return self._served.page(
            "new_crawl.html",
            status,
            tab="new" if self._only is None else "crawl",
            is_new=is_new,
            given={name: given.get(name, "") for name in FIELDS},
            problems=problems,
            groups=GROUPS,
            usual=defaults(),
            is_open=is_open,
            command=None if order is None else self._runs.command(order),
            fixed=self._runs.fixed,
            left_out=left_out,
            csrf_run=self._served.keys.csrf(PURPOSE),
        )


class RunPages:
    """What the page of a crawl says about its run, and its buttons."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site
        self._runs = site.runs

    def live(self, _: Request) -> HTMLResponse:
        """Show the controls, which change with the state of the crawl."""
        return self._part("run_live.html")

    def log(self, _: Request) -> HTMLResponse:
        """Show what is being fetched, and the last lines of the log."""
        return self._part("run_log.html")

    def _part(self, template: str) -> HTMLResponse:
        values = self.values()
        may_run = self._runs is not None
        text = render(template, root=self._site.root, may_run=may_run, **values)
        state = "running" if values["run"].is_going_on else values["run"].phase
        return HTMLResponse(text, headers={"X-Crawl-State": state})

    def values(self) -> dict[str, Any]:
        """Return what the templates need."""
        folder, runs = self._site.folder, self._runs
        state = idle_state(folder) if runs is None else runs.state(folder, with_log=True)
        return {
            "run": state,
            "change": f"/new?from={quote(self._site.key)}" if self._site.root else "/new",
            "is_crawl": runs is not None and is_crawl(runs, folder),
            "command": self._command(),
            "under_way": urls_under_way(folder / JOURNAL) if state.is_going_on else [],
            "csrf_run": self._site.keys.csrf(PURPOSE),
        }

    def _command(self) -> str | None:
        runs, folder = self._runs, self._site.folder
        if runs is None or not is_crawl(runs, folder):
            return None
        return runs.command(order_of(runs, folder))

    async def stop(self, request: Request) -> Response:
        """Stop the crawl."""
        form = await form_of(request) or {}
        return await run_in_threadpool(self._change, form, "stop")

    async def resume(self, request: Request) -> Response:
        """Start the crawl again with what it was started with."""
        form = await form_of(request) or {}
        return await run_in_threadpool(self._change, form, "resume")

    def _change(self, form: Mapping[str, str], what: str) -> Response:
        if self._runs is None:
            sentence = "Start the server with --allow-crawls to start and stop crawls here."
            return self._site.message(403, "Not allowed", sentence)
        if not self._site.keys.is_csrf(form.get("csrf", ""), PURPOSE):
            return self._site.message(403, "Nothing changed", EXPIRED)
        try:
            if what == "stop":
                self._runs.stop(self._site.folder)
            else:
                self._resume(self._runs)
        except ConfigurationError as error:
            return self._site.message(409, "Nothing changed", " ".join(error.problems))
        return RedirectResponse(f"{self._site.root}/crawl", 303)

    def _resume(self, runs: Runs) -> None:
        order = order_of(runs, self._site.folder)
        problems = runs.check(order)
        if problems:
            raise ConfigurationError(*(each for found in problems.values() for each in found))
        runs.start(order)


def is_crawl(runs: Runs, folder: Path) -> bool:
    """Return True if there is a crawl to resume, and not a corpus that was made from files."""
    return runs.last_order(folder) is not None or not made_of_files(read_report(folder))


def order_of(runs: Runs, folder: Path) -> CrawlOrder:
    """Return what a crawl was started with: here, or elsewhere as far as its report says."""
    if not is_crawl(runs, folder):
        raise ConfigurationError("This corpus was made from files: there is no crawl to resume.")
    order = runs.last_order(folder) or CrawlOrder.from_report(folder, read_report(folder))
    settings = {name: each for name, each in order.settings.items() if name not in runs.fixed}
    return replace(order, settings=settings)
