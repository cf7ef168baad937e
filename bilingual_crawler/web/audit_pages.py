"""The audit as a page: a sample of sentence pairs is read, and the precision of all is estimated.

It asks the same questions in the same order as `scrapy audit` and writes the same files, so that
one can be left for the other at any time.
"""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bilingual_crawler.corpus.audit import (
    FEWEST,
    MARGIN,
    Audit,
    Question,
    Sample,
    Verdict,
    read_answers,
    sample_size,
    write_answer,
    write_result,
)
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.source import Account, CorpusSource
from bilingual_crawler.store.folder import require_pairs
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.pages import ServedFolder, form_of

SOON_SECONDS = 1.5
"""How long a page waits for the sample before it says that it is being drawn."""
SAME_SECONDS = 60.0
"""How long a sample is asked although sentence pairs are being added."""
MARGINS = {"0.1": 0.1, "0.05": 0.05, "0.03": 0.03, "0.02": 0.02}
"""The half-widths of the interval at which an audit may stop, as they are chosen on the page."""
UNDO = "undo"
KEYS = {
    Verdict.PARALLEL: ("p", "Parallel", "the texts say the same"),
    Verdict.BORDERLINE: ("b", "Borderline", "something is missing, added or loose"),
    Verdict.WRONG: ("w", "Wrong", "the texts do not say the same"),
    Verdict.SKIPPED: ("s", "Skip", "you cannot tell; it does not count"),
}
"""The key, name and meaning of each answer, as the command has them."""


class PreparedSample(NamedTuple):
    """A sample of the sentence pairs, and the questions by what identifies their texts."""

    stamp: tuple[int, ...]
    drawn: float
    sample: Sample
    questions: Mapping[str, Question]

    @property
    def age(self) -> float:
        """The seconds since it was drawn."""
        return time.monotonic() - self.drawn


class AuditDesk:
    """The sample of a folder, drawn on a thread: reading a large corpus twice takes a while."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._answering = threading.Lock()
        self._prepared: PreparedSample | None = None
        self._drawing: threading.Thread | None = None
        self._problem = ""

    def prepared(self) -> PreparedSample | None:
        """Return the sample of the file as it is; None while it is being drawn.

        Raise a ConfigurationError if there is nothing to judge.
        """
        require_pairs(self._folder, "an audit")
        stamp = _stamp(self._folder / SENTENCES)
        if not stamp:
            raise ConfigurationError(
                "There are no sentence pairs to judge yet: align the corpus with"
                f" scrapy align {self._folder}"
            )
        with self._lock:
            known = self._prepared
            if known is not None and (known.stamp == stamp or known.age < SAME_SECONDS):
                return known
            if self._drawing is None:
                self._problem = ""
                self._drawing = threading.Thread(
                    target=self._draw, args=(stamp,), name="audit", daemon=True
                )
                self._drawing.start()
            drawing = self._drawing
        drawing.join(SOON_SECONDS)
        with self._lock:
            if self._problem:
                raise ConfigurationError(self._problem)
            return self._prepared if not drawing.is_alive() else None

    def _draw(self, stamp: tuple[int, ...]) -> None:
        prepared, problem = None, "The sample cannot be drawn: the server's output says why."
        try:
            sample = Sample(lambda: CorpusSource(self._folder, Account()).links())
            questions = {each.digest: each for each in sample.questions}
            prepared = PreparedSample(stamp, time.monotonic(), sample, questions)
            problem = ""
            if not questions:
                problem = "There are no good sentence pairs to judge: cleaning dropped all of them."
        except (ConfigurationError, OSError) as error:
            problem = str(error)
        finally:  # or else the page would wait for ever
            with self._lock:
                self._prepared, self._problem, self._drawing = prepared, problem, None

    def audit(self, prepared: PreparedSample, margin: float = MARGIN) -> Audit:
        """Return the audit with all answers up to now, those of the command too."""
        return Audit(prepared.sample, read_answers(self._folder), margin)

    def answer(
        self, prepared: PreparedSample, question: Question, verdict: Verdict, margin: float
    ) -> None:
        """Write an answer and what follows from it."""
        with self._answering:
            write_answer(self._folder, question, verdict)
            write_result(self._folder, self.audit(prepared, margin))

    def take_back(self, prepared: PreparedSample, margin: float) -> None:
        """Withdraw the last answer, if there is one."""
        with self._answering:
            audit = self.audit(prepared, margin)
            last = last_answered(audit, prepared)
            if last is not None:
                write_answer(self._folder, last, None)
                write_result(self._folder, self.audit(prepared, margin))


def last_answered(audit: Audit, prepared: PreparedSample) -> Question | None:
    """Return the pair that was answered last; None if no answer is left."""
    given = (prepared.questions.get(digest) for digest in reversed(audit.answers))
    return next((each for each in given if each is not None), None)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


class AuditPages:
    """The handlers of the Audit tab."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site
        self._desk = AuditDesk(site.folder)

    def show(self, request: Request) -> Response:
        """Show the next pair, or the result if all were read."""
        margin_name = margin_of(request.query_params.get("margin", ""))
        try:
            prepared = self._desk.prepared()
        except ConfigurationError as error:
            return self._site.page("audit.html", tab="audit", problem=str(error), phase="none")
        if prepared is None:
            return self._site.page("audit.html", tab="audit", problem="", phase="drawing")
        audit = self._desk.audit(prepared, MARGINS[margin_name])
        return self._question(audit, prepared, margin_name)

    def _question(self, audit: Audit, prepared: PreparedSample, margin_name: str) -> HTMLResponse:
        interval, total = audit.precision(), sum(prepared.sample.pairs)
        result = audit.to_dict()
        return self._site.page(
            "audit.html",
            tab="audit",
            problem="",
            phase="asking",
            question=audit.next_question(),
            interval=interval,
            planned=sample_size(total, audit.margin),
            total=total,
            is_enough=audit.is_enough,
            can_undo=last_answered(audit, prepared) is not None,
            verdicts=result["verdicts"],
            thresholds=result["thresholds"],
            keys=KEYS,
            margins=MARGINS,
            margin=margin_name,
            fewest=FEWEST,
        )

    async def answer(self, request: Request) -> Response:
        """Take an answer, and show the next pair."""
        form = await form_of(request) or {}
        return await run_in_threadpool(self._answer, form)

    def _answer(self, form: Mapping[str, str]) -> Response:
        site = self._site
        if not site.keys.is_csrf(form.get("csrf", ""), "mark"):
            sentence = "The form is not from this server, or from before its last start"
            return site.message(403, "Not answered", f"{sentence}: open the page again.")
        margin_name, verdict = margin_of(form.get("margin", "")), form.get("verdict", "")
        try:
            prepared = self._desk.prepared()
            if prepared is not None:
                action = self._action(prepared, form.get("digest", ""), verdict, margin_name)
                if action is None:
                    return site.message(400, "Not answered", "There is no such answer or pair.")
                action()
        except (ConfigurationError, OSError) as error:
            return site.message(409, "Not answered", str(error))
        return RedirectResponse(f"{site.root}/audit?margin={margin_name}", 303)

    def _action(
        self, prepared: PreparedSample, digest: str, verdict: str, margin_name: str
    ) -> Callable[[], None] | None:
        margin = MARGINS[margin_name]
        if verdict == UNDO:
            return lambda: self._desk.take_back(prepared, margin)
        question = prepared.questions.get(digest)
        if verdict not in set(Verdict) or question is None:
            return None
        return lambda: self._desk.answer(prepared, question, Verdict(verdict), margin)


def margin_of(given: str) -> str:
    """Return the name of a margin: what was given, or the usual one."""
    return given if given in MARGINS else str(MARGIN)
