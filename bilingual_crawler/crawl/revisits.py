"""A crawl revisited: pages are fetched again after a while, and only if they have changed.

When a run begins, the pages whose last visit is long enough ago (BILINGUAL_REVISIT) go back into
the frontier among the others, and what the crawl had until then is copied to the folder `before`.
Their requests ask for the page only if it has changed, so that most answers are empty. A page that
has changed takes the place of the old one in the corpus, its new links are followed, and its
translation is looked at next. A page that is gone (404, 410, a redirect, an opt-out, another
language) leaves the corpus. One whose server fails stays, and is due again in the next run.

`changes.tsv` says what the visits since then found, and which translation did not follow a change
of its original.
"""

import logging
import re
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import Response

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.request_state import RequestState, end_url
from bilingual_crawler.crawl.requests import encode, fingerprint_of
from bilingual_crawler.crawl.signals import url_ended
from bilingual_crawler.documents.dedup import paragraph_hashes
from bilingual_crawler.documents.document import Document, DocumentKey
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.visits import DuePage, Version, Visits, validator
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.reporting.counts import REVISITED
from bilingual_crawler.store.durable import replacing, text_file
from bilingual_crawler.store.folder import CHANGES
from bilingual_crawler.store.journal_tables import JournaledDict
from bilingual_crawler.urls.fingerprint import request_fingerprint, url_fingerprint

if TYPE_CHECKING:
    from bilingual_crawler.crawl.context import Crawl
    from bilingual_crawler.crawl.slots import SlotGate

logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS changes (url TEXT PRIMARY KEY, round TEXT NOT NULL, what TEXT NOT NULL)
WITHOUT ROWID;
"""
TIME = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
ROUND, ROUND_OPEN = "revisit began", "revisit under way"
"""Facts: the time at which the last revisit began, and whether it is still going on."""
VALIDATORS = ("If-None-Match", "If-Modified-Since")
NOT_MODIFIED = "http_304"
GONE = frozenset({"http_404", "http_410", Outcome.REDIRECTED})
CHANGED, NEW, LEFT = "changed", "new", "gone"
COLUMNS = ("status", "url", "translation", "translation_status")
NEXT = 1.0
"""The priority of the translation of a page that has changed."""


class Revisits:
    """Records the visits to all pages, and visits again those that are due."""

    def __init__(self, crawl: "Crawl") -> None:
        self._crawl = crawl
        self._visits = Visits(crawl.folder.journal)
        self._changes: JournaledDict[str, tuple[str, str]] = JournaledDict(
            crawl.folder.journal,
            "changes",
            SCHEMA,
            key=str,
            encode=lambda told: told,
            decode=lambda begun, what: (str(begun), str(what)),
        )
        self._underway: dict[str, set[str]] = {}
        """URL -> keys of the documents that this visit has found there."""
        self._changed: set[str] = set()
        crawl.crawler.signals.connect(self._ended, signal=url_ended)

    @property
    def _round(self) -> str:
        return time_of_round(self._crawl.folder.facts.get(ROUND))

    def begin(self, gate: "SlotGate") -> None:
        """Put the pages that are due back into the frontier."""
        interval, facts = self._crawl.config.revisit, self._crawl.folder.facts
        if not interval:
            return
        now = time.time()
        due = list(self._visits.due(now - interval))
        if not due:
            logger.info("No page was last fetched longer ago than BILINGUAL_REVISIT.")
            return
        before = None
        if facts.get(ROUND_OPEN) != "yes":
            before = self._crawl.folder.keep_before()
            facts[ROUND], facts[ROUND_OPEN] = str(now), "yes"
        for page in due:
            self._visit(page, now, gate)
        logger.info(
            "Visiting %d pages again%s",
            len(due),
            "" if before is None else f"; what the crawl had until now is kept in {before}",
        )

    def _visit(self, page: DuePage, now: float, gate: "SlotGate") -> None:
        crawl = self._crawl
        is_paired = crawl.corpus.partner_of(page.url) is not None
        score = page.priority(now, is_paired=is_paired)
        request = crawl.request(page.url, score=score, depth=page.depth)
        request.headers.update(page.version.headers())
        RequestState.update(request, visited_as=page.outcome)
        assert crawl.crawler.spider is not None
        payload = encode(request, crawl.crawler.spider)
        crawl.frontier.push(page.fingerprint, page.url, page.host, score, payload, again=True)
        gate.visit_again(page.host)

    def read(self, response: Response, documents: Iterable[Document]) -> None:
        """Record that a page was fetched, with all documents that were made of it."""
        request = response.request
        if request is None or RequestState.of(request).identity:
            return
        content = blake2b(digest_size=16)
        for document in documents:
            content.update(b"".join((document.title.encode("utf-8", "replace"), b"\0")))
            content.update(b"".join(paragraph_hashes(document)))
        page = fingerprint_of(request)
        if RequestState.of(request).visited_as:
            self._underway[response.url] = set()
            if self._visits.has_changed(page, content.digest()):
                self._changed.add(response.url)
        self._visits.fetched(
            page,
            at=time.time(),
            depth=int(request.meta.get("depth", 0)),
            version=_version_of(response),
            digest=content.digest(),
        )

    def takes(self, document: Document) -> bool:
        """Return True if a document is one of a page that is visited again."""
        keys = self._underway.get(document.url)
        if keys is not None:
            keys.add(document.key)
        return keys is not None

    def failed(self, request: Request, reason: str) -> bool:
        """Decide about a page that cannot be had. Return True if it ends as it did before."""
        visited_as = RequestState.of(request).visited_as
        if not visited_as or reason in GONE:
            return False
        if reason == NOT_MODIFIED:
            self._visits.not_modified(fingerprint_of(request), time.time())
        self._count("not_modified" if reason == NOT_MODIFIED else "failed")
        end_url(request, State.DONE, visited_as)
        return True

    def _ended(self, request: Request, state: State, reason: str) -> None:
        """Take what is gone out of the corpus, and record what has changed."""
        url, visited_as = request.url, RequestState.of(request).visited_as
        found = self._underway.pop(url, None)
        if not visited_as:
            if self._round and reason == Outcome.STORED:
                self._note(url, NEW)
            return
        is_there = found is not None and state is State.DONE
        if not is_there and reason not in GONE:
            return  # it has not changed, or could not be looked at
        gone = [
            key for key in self._crawl.corpus.keys_of(url) if self._is_gone(key, found or set())
        ]
        for key in gone:
            self._crawl.corpus.remove(key)
        if gone or reason in GONE:
            self._count(LEFT)
            self._note(url, LEFT)
        elif url in self._changed:
            self._count(CHANGED)
            self._note(url, CHANGED)
        else:
            self._count("same_text")
        self._changed.discard(url)
        partner = self._crawl.corpus.partner_of(url)
        if partner is not None and self._changes.get(url) == (self._round, CHANGED):
            self._crawl.frontier.raise_priority(url_fingerprint(partner), NEXT)

    def _is_gone(self, key: str, found: set[str]) -> bool:
        """Return True if a document is no longer at its address, unless that is served apart."""
        address, variant = DocumentKey.parse(key)
        served = variant and request_fingerprint(address, "GET", b"", variant)
        return key not in found and not (served and served in self._crawl.frontier)

    def _note(self, url: str, what: str) -> None:
        self._changes[url] = (self._round, what)

    def _count(self, what: str) -> None:
        assert self._crawl.crawler.stats is not None
        self._crawl.crawler.stats.inc_value(REVISITED + what)

    def finish(self, *, is_finished: bool) -> None:
        """Write what was found, when the corpus is tidy."""
        if not self._round:
            return
        if is_finished:
            self._crawl.folder.facts[ROUND_OPEN] = "no"
        path = self._crawl.folder.path / CHANGES
        with replacing(path) as fresh, text_file(fresh) as file:
            file.write("\t".join(COLUMNS) + "\n")
            for row in self._rows():
                file.write("\t".join(" ".join(cell.split()) for cell in row) + "\n")

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """Yield what changed since the revisit began, with what became of its translation."""
        corpus, begun = self._crawl.corpus, self._round
        found = {url: what for url, (when, what) in self._changes.items() if when == begun}
        for url, what in sorted(found.items()):
            partner = None if what == LEFT else corpus.partner_of(url)
            told = ""
            if partner is not None:
                address = DocumentKey.parse(partner).url
                told = found.get(address) or self._state_of(address)
            yield what, url, partner or "", told

    def _state_of(self, url: str) -> str:
        changed = self._visits.since([url], float(self._round))[url]
        return "not visited" if changed is None else CHANGED if changed else "unchanged"


def time_of_round(fact: str) -> str:
    """Return when a revisit began, as its folder says; empty if that is no time at all."""
    return fact if TIME.fullmatch(fact) else ""


def check_revisits(plan: CrawlPlan, config: Config, *, harvests: bool) -> None:
    """Raise ConfigurationError for a crawl whose pages cannot be visited again."""
    problems = []
    if config.frontier:
        problems.append(
            "BILINGUAL_REVISIT is for a crawl in one folder, not for the workers of a"
            " BILINGUAL_FRONTIER: put their folders together with scrapy merge, or leave it out."
        )
    if plan.discover or not harvests:
        problems.append(
            "BILINGUAL_REVISIT is for pages that are harvested, not for a search for bilingual"
            " sites: leave it out, or leave out -a discover=1."
        )
    if problems:
        raise ConfigurationError(*problems)


def make_unconditional(request: Request) -> None:
    """Turn a request for another visit into one for a page that is not known: after a redirect."""
    RequestState.update(request, visited_as="")
    for name in VALIDATORS:
        request.headers.pop(name, None)


def _version_of(response: Response) -> Version:
    etag, modified = (
        validator((response.headers.get(name) or b"").decode("latin-1"))
        for name in ("ETag", "Last-Modified")
    )
    try:
        parsed = parsedate_to_datetime(modified)
        at = parsed.replace(tzinfo=parsed.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return Version(etag)
    return Version(etag, modified, min(max(at, 0.0), datetime.now(UTC).timestamp()))
