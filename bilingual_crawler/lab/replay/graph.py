"""The part of a recorded site that links lead to, under the rules that a crawl obeys.

The number of reachable pages is the length of every curve; the links between them are those that
the oracle may follow.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urljoin

from protego import Protego
from scrapy.http import Headers

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.fetching import tdmrep
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME
from bilingual_crawler.crawl.fetching.limits import MAX_ROBOTS_TXT, looks_binary, objection_to
from bilingual_crawler.crawl.fetching.optouts import (
    CLOSED,
    forbids_links,
    opt_out_of,
    robots_directives,
)
from bilingual_crawler.crawl.fetching.robots import rules_for
from bilingual_crawler.crawl.scope import Scope
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.replay.recording import MOST_REDIRECTS
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import Languages
from bilingual_crawler.store.warc_reader import OK, RecordedResponse
from bilingual_crawler.urls.hosts import host_of


class SiteGraph(NamedTuple):
    """The pages that links lead to, in breadth-first order, and where their links lead."""

    seeds: tuple[str, ...]
    links: dict[str, tuple[str, ...]]

    @property
    def pages(self) -> int:
        """The number of reachable pages."""
        return len(self.links)


def draw_graph(
    site: RecordedSite, seeds: Iterable[str], scope: Scope, config: Config, pair: Languages
) -> SiteGraph:
    """Follow every link from the seeds, each page once."""
    return _Walk(site, scope, config, pair).walk(tuple(seeds))


class _Walk:
    def __init__(self, site: RecordedSite, scope: Scope, config: Config, pair: Languages) -> None:
        self._site = site
        self._recording = site.recording
        self._scope = scope
        self._config = config
        self._pair = pair
        self._robots: dict[str, Protego | None] = {}
        self._reserved: dict[str, tuple[tdmrep.ReservationRule, ...]] = {}

    def walk(self, seeds: tuple[str, ...]) -> SiteGraph:
        starts = tuple(page for seed in seeds if (page := self._page(seed, 0, is_seed=True)))
        links: dict[str, tuple[str, ...]] = dict.fromkeys(starts, ())
        queue = deque((page, 0) for page in links)
        while queue:
            page, depth = queue.popleft()
            targets = dict.fromkeys(
                target
                for url, step in self._links(page)
                if (target := self._page(url, depth + step)) is not None
            )
            links[page] = tuple(targets)
            for target in targets:
                if target not in links:
                    links[target] = ()
                    queue.append((target, depth + 1))
        return SiteGraph(starts, links)

    def _page(self, url: str, depth: int, *, is_seed: bool = False) -> str | None:
        """Return the page that a URL leads to through redirects, or None."""
        for _ in range(MOST_REDIRECTS + 1):
            if is_seed:
                self._scope.admit(host_of(url))
            if self._scope.refusal(url, depth) is not None or not self._may_fetch(url):
                return None
            if self._site.is_page(url):
                return self._recording.name_of(url)
            target = self._recording.redirect_of(url)
            if target is None:
                return None
            url = target
        return None

    def _links(self, page: str) -> list[tuple[str, int]]:
        """Return the targets of a page, each with the steps that a crawl adds to the depth."""
        answer = self._site.answer(page)
        if answer is None or not self._is_read(answer):
            return []
        refresh = self._site.refresh_of(page, answer)
        if refresh is not None and refresh in self._recording:
            return [(refresh, 0)]
        document = self._site.document(page, answer)
        if self._is_closed(document, answer):
            return []
        for alternate in document.alternates:
            self._admit_host(alternate.url, alternate.language)
        claimed = [each.url for each in document.alternates if each.url != page]
        return [(url, 1) for url in (*claimed, *(link.url for link in document.links))]

    def _is_read(self, answer: RecordedResponse) -> bool:
        headers = Headers({name: [value] for name, value in answer.headers})
        if objection_to(headers, self._config.content_types, 0) is not None:
            return False
        return not looks_binary(answer.body)

    def _admit_host(self, url: str, language: str | None) -> None:
        host = host_of(url)
        if self._config.follow_alternates and host and language in self._pair:
            self._scope.admit_host(host)

    def _is_closed(self, document: Document, answer: RecordedResponse) -> bool:
        tags = (value for name, value in answer.headers if name.lower() == b"x-robots-tag")
        robots = document.robots | robots_directives(tags)
        reserved = document.tdm_reservation or answer.header("tdm-reservation") == "1"
        honour = self._config.honour
        return opt_out_of(robots, reserved, honour) in CLOSED or forbids_links(robots, honour)

    def _may_fetch(self, url: str) -> bool:
        root = urljoin(url, "/")
        if root not in self._robots:
            self._robots[root] = _parsed_robots(self._site.answer(urljoin(root, "robots.txt")))
            self._reserved[root] = _reserved(self._site.answer(urljoin(root, tdmrep.PATH)))
        robots = self._robots[root]
        if robots is not None and not robots.can_fetch(url, ROBOT_NAME):
            return False
        reserved = "tdm" in self._config.honour and tdmrep.is_reserved(url, self._reserved[root])
        return not reserved


def _parsed_robots(answer: RecordedResponse | None) -> Protego | None:
    if answer is None or answer.status != OK:
        return None
    text = answer.body[:MAX_ROBOTS_TXT].decode("utf-8-sig", "ignore")
    return Protego.parse(rules_for(ROBOT_NAME, text))


def _reserved(answer: RecordedResponse | None) -> tuple[tdmrep.ReservationRule, ...]:
    if answer is None or answer.status != OK:
        return ()
    try:
        return tdmrep.read_rules(answer.body)
    except tdmrep.UnreadableError:
        return tdmrep.EVERYTHING
