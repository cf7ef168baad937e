"""Marks of document and sentence pairs: the forms that set them, and the way back."""

import re
import threading
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bilingual_crawler.store.marks import MarkError, Marks
from bilingual_crawler.web.corpus_view import find_pair, sentence_at
from bilingual_crawler.web.pages import ServedFolder, form_of
from bilingual_crawler.web.search.index import reading

MARKS = {"accept": True, "reject": False, "none": None}
MOST_UNDONE = 200
_LIST = re.compile(r"/pairs\?[\w=&]{0,100}#p-[0-9a-f]{1,64}")
"""The places in the list of pairs to which a mark may lead back."""


class MarkChange(NamedTuple):
    """A mark that was set, what was there before, and the page to show when it is undone."""

    marks: Marks
    first: str
    second: str
    before: bool | None
    now: bool | None
    place: str


class JudgePages:
    """The handlers of marks, and of undo."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site
        self._changes: deque[MarkChange] = deque(maxlen=MOST_UNDONE)
        self._lock = threading.Lock()

    async def mark(self, request: Request) -> Response:
        """Save the mark of a pair and show it again, or the list that it was marked in."""
        form = await form_of(request) or {}
        return await run_in_threadpool(self._mark, request.path_params["pair"], form)

    def _mark(self, name: str, form: Mapping[str, str]) -> Response:
        if refused := self._refused(form):
            return refused
        with reading(self._site.index) as connection:
            pair = find_pair(connection, name)
        if pair is None:
            return self._no_pair()
        back = form.get("back", "")
        place = back if _LIST.fullmatch(back) else f"/pair/{pair.pair}"
        return self._put(self._site.marks, (pair.url1, pair.url2), form["mark"], place)

    async def mark_sentence(self, request: Request) -> Response:
        """Save the mark of a sentence pair and show its documents again."""
        form = await form_of(request) or {}
        asked = request.path_params
        return await run_in_threadpool(self._mark_sentence, asked["pair"], asked["at"], form)

    def _mark_sentence(self, name: str, at: int, form: Mapping[str, str]) -> Response:
        if refused := self._refused(form):
            return refused
        with reading(self._site.index) as connection:
            found = sentence_at(connection, name, at)
        if found is None:
            return self._no_pair()
        page = form.get("page", "1")
        place = f"/pair/{name}?page={page if re.fullmatch('[0-9]{1,6}', page) else 1}#s{at}"
        texts = found.text1, found.text2
        return self._put(self._site.sentence_marks, texts, form["mark"], place)

    def _put(self, marks: Marks, key: tuple[str, str], mark: str, place: str) -> Response:
        now = MARKS[mark]
        try:
            with self._lock:
                before = marks.of(*key)
                marks.put(*key, now)
                self._changes.append(MarkChange(marks, *key, before, now, place))
                self._site.can_undo = True
        except (MarkError, OSError) as error:
            return self._site.message(409, "Not marked", str(error))
        return RedirectResponse(f"{self._site.root}{place}", 303)

    async def undo(self, request: Request) -> Response:
        """Take back the last mark that was set through this server."""
        form = await form_of(request) or {}
        return await run_in_threadpool(self._undo, form)

    def _undo(self, form: Mapping[str, str]) -> Response:
        if refused := self._refused({**form, "mark": "none"}):
            return refused
        with self._lock:
            if not self._changes:
                return self._site.message(
                    409, "Nothing to undo", "No mark was set since the start."
                )
            last = self._changes.pop()
            self._site.can_undo = bool(self._changes)
            if last.marks.of(last.first, last.second) != last.now:
                sentence = "The mark was changed again meanwhile, so it was left as it is."
                return self._site.message(409, "Not undone", sentence)
            try:
                last.marks.put(last.first, last.second, last.before)
            except (MarkError, OSError) as error:
                return self._site.message(409, "Not undone", str(error))
        return RedirectResponse(f"{self._site.root}{last.place}", 303)

    def _refused(self, form: Mapping[str, str]) -> Response | None:
        """Return why a form is not accepted; None if it is."""
        if not self._site.keys.is_csrf(form.get("csrf", ""), "mark"):
            sentence = "The form is not from this server, or from before its last start"
            return self._site.message(403, "Not marked", f"{sentence}: open the pair again.")
        if form.get("mark") not in MARKS:
            return self._site.message(400, "Not marked", "A mark is accept, reject or none.")
        return None

    def _no_pair(self) -> Response:
        return self._site.message(
            404, "No such pair", "The pair is not in the corpus, or no longer: search for its text."
        )
