"""A crawl of a recorded site, simulated: the order of its downloads, without engine or network.

The frontier, the scope, the scorer and pairing are those of a crawl, and they are asked in the same
order; what is missing is everything between them that takes time. `tests/lab/test_simulation.py`
checks that the order is that of a replay. Nothing is stored, and pages are not compared for
duplicates, because neither changes the order.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.keep_rule import KeepRule
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.scope import ForeignHosts, Scope
from bilingual_crawler.documents.document import Document
from bilingual_crawler.frontier.entry import Entry, Pushed, State
from bilingual_crawler.frontier.memory import MemoryFrontier
from bilingual_crawler.lab.replay.recording import MOST_REDIRECTS
from bilingual_crawler.lab.replay.run import Run
from bilingual_crawler.lab.simulation.web import Part, SimulatedAnswer, SimulatedWeb, Target
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PairingPage
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.scoring.scorekeeper import Failed, PairNews, Redirected, Scorekeeper
from bilingual_crawler.scoring.scorer import REFUSED, SEED_PRIORITY, CrawlSoFar, LinkScorer
from bilingual_crawler.store.journal import Journal, JournalSource
from bilingual_crawler.store.warc_reader import OK
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

NOT_THERE = frozenset({"http_404", "http_410"})
NEVER = 1e9

MakeScorer = Callable[[CrawlSoFar], LinkScorer]


class NoJournal(Journal):
    """A journal that keeps nothing, for state that ends with its crawl."""

    def __init__(self) -> None:
        """Open no file."""

    def define(self, schema: str) -> None:
        """Ignore a table."""

    def read(self, sql: str, row: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ARG002 - there are no rows
        """Return no rows."""
        return iter(())

    def attach(self, source: JournalSource) -> None:
        """Ignore a part of the crawl."""


class _Asked(NamedTuple):
    """What a request carries, beside its URL and its priority."""

    depth: int
    is_seed: bool = False
    is_probe: bool = False
    claimed_by: str = ""
    came_from: tuple[str, ...] = ()
    """The URLs that redirected to it."""


class SimulatedCrawl:
    """Crawls a site with one scorer, one page at a time."""

    def __init__(
        self,
        web: SimulatedWeb,
        seeds: tuple[str, ...],
        scope: Scope,
        config: Config,
        budget: int = 0,
    ) -> None:
        self._web = web
        self._seeds = seeds
        self._scope = scope
        self._config = config
        self._budget = budget
        self._frontier = MemoryFrontier(self._gate)
        self._foreign = ForeignHosts(NoJournal(), config.alternate_hosts)
        self._lexicons = LexiconKeeper.open(config)
        aids = self._lexicons.aids(PairingAids.read(config))
        self._aliases: dict[str, str] = {}
        self._rule = KeepRule(
            lambda _: web.pair, config.duplicate_share, aids, frozenset(), self._aliases.items
        )
        self._matcher = self._rule.matcher(seeds[0])
        self._asked: dict[int, _Asked] = {}
        self._paired: set[str] = set()
        self._languages: dict[int, str] = {}
        self._probes: Counter[str] = Counter()
        self._ended: set[str] = set()
        self._seed_fingerprints = frozenset(map(url_fingerprint, seeds))
        self._keeper: Scorekeeper
        self.order: list[str] = []
        self.requests = self.missing = 0

    def run(self, make: MakeScorer, seed: int = 0) -> Run:
        """Crawl until nothing is left, or the budget is spent."""
        random.seed(seed)
        begun = time.monotonic()
        self._keeper = Scorekeeper(make(self), NEVER)
        for url in self._seeds:
            self._push(url, SEED_PRIORITY, _Asked(0, is_seed=True))
        while not self._is_spent:
            entry = self._frontier.pop(0.0)
            if entry is None:
                break
            self._fetch(entry)
        pairs = [(pair.first, pair.second) for pair in self._matcher.iter_pairs()]
        seconds = time.monotonic() - begun
        return Run(self.order, pairs, self.requests, self.missing, seconds)

    def state_of(self, url: str) -> State | None:
        """Return the state of a URL; None if it was never pushed."""
        return self._frontier.state_of(url_fingerprint(url))

    def language_of(self, url: str) -> str | None:
        """Return the language of a fetched page; None if it was not fetched, or has none."""
        return self._languages.get(url_fingerprint(url))

    def partner_of(self, url: str) -> str | None:
        """Return the current partner of a page."""
        return self._rule.partner_of(self._aliases.get(url) or url)

    def slugs_agree(self, first: str, second: str) -> float | None:
        """Return the share of words in two addresses that translate each other, if known."""
        return self._rule.slugs_agree(first, second)

    @property
    def _is_spent(self) -> bool:
        return bool(self._budget) and len(self.order) >= self._budget

    def _gate(self, host: str, _active: int, now: float) -> float | None:
        return None if self._ended and site_of(host) in self._ended else now

    def _push(self, url: str, priority: float, asked: _Asked) -> None:
        fingerprint = url_fingerprint(url)
        if self._frontier.push(fingerprint, url, host_of(url), priority) is Pushed.NEW:
            self._asked[fingerprint] = asked

    def _fetch(self, entry: Entry) -> None:
        asked = self._asked.pop(entry.fingerprint)
        if not self._scope.covers(entry.host) and not self._foreign.is_unanswered(entry.host):
            self._scope.admit_host(entry.host)
        answer = self._web.answer(entry.url)
        if answer.reason != Outcome.ROBOTS_TXT:
            self.requests += 1
            if answer.status == OK:
                self.order.append(answer.name)
            elif not answer.target:
                self.missing += 1
        if answer.page is not None:
            self._take(entry, asked, answer)
            self._frontier.end(entry.fingerprint, State.DONE, Outcome.PROCESSED)
        elif answer.target and len(asked.came_from) < MOST_REDIRECTS:
            self._redirect(entry, asked, answer.target)
            self._frontier.end(entry.fingerprint, State.DONE, Outcome.REDIRECTED)
            if asked.is_probe:
                self._keeper.tell(Failed(entry.url, Outcome.REDIRECTED))
        else:
            self._fail(entry, asked, answer.reason or Outcome.TOO_MANY_REDIRECTS)

    def _fail(self, entry: Entry, asked: _Asked, reason: str) -> None:
        if asked.is_probe and reason in NOT_THERE:
            reason = Outcome.PROBE_MISSED
        self._frontier.end(entry.fingerprint, State.FAILED, reason)
        for url in (*asked.came_from, entry.url):
            self._keeper.tell(Failed(url, reason))

    def _redirect(self, entry: Entry, asked: _Asked, target: str) -> None:
        host = host_of(target)
        if asked.is_seed:
            self._scope.admit(host)
        claimed_by = ""
        if self._scope.covers(host):
            claimed_by, _ = self._foreign.claim_of(host)
            refusal = self._scope.refusal(target, asked.depth)
        elif asked.claimed_by and site_of(host) == site_of(entry.host):
            claimed_by = asked.claimed_by
            self._foreign.learn(host, RequestState(claimed_by=claimed_by))
            refusal = self._scope.refusal_on_any_site(target, asked.depth)
        else:
            refusal = self._scope.refusal(target, asked.depth)
        if refusal is not None:
            return
        if target != entry.url and entry.url not in self._aliases:
            self._aliases[entry.url] = target
            self._report(self._matcher.alias(entry.url, target))
        self._keeper.tell(Redirected(entry.url, target))
        came_from = (*asked.came_from, entry.url)
        self._push(
            target,
            entry.priority,
            asked._replace(claimed_by=claimed_by, came_from=came_from),
        )

    def _take(self, entry: Entry, asked: _Asked, answer: SimulatedAnswer) -> None:
        """Pair a page and score its links."""
        page = answer.page
        assert page is not None
        document = page.document
        document.depth = asked.depth
        document.requested_url = asked.came_from[0] if asked.came_from else entry.url
        for part in page.parts:
            self._pair(part, document)
        if document.language is not None:
            for url in (document.url, document.requested_url):
                self._languages[url_fingerprint(url)] = document.language
        scorer = self._keeper.scorer
        weight = 1.0 if asked.is_seed else scorer.weight_of(document)
        follow = self._has_answered(document) and weight
        targets = self._wanted(document, page.targets, scorer) if follow else []
        links = [each.link for each in targets]
        verdict = self._keeper.judge(document, links, self._keeper.take_news())
        self._reorder(verdict.changes)
        self._ended.update(map(site_of, verdict.exhausted))
        self._request(document, targets, [score * weight for score in verdict.scores])
        for proposal in verdict.proposals:
            if url_fingerprint(proposal.url) in self._frontier:
                continue
            if self._scope.refusal(proposal.url, proposal.depth) is not None:
                continue
            site = site_of(host_of(proposal.url))
            if not proposal.linked and self._probes[site] >= self._config.probes:
                continue
            self._probes[site] += not proposal.linked
            self._push(
                proposal.url,
                proposal.score,
                self._asked_of(proposal.url, document)._replace(is_probe=not proposal.linked),
            )

    def _pair(self, part: Part, document: Document) -> None:
        page = _named(part.page, document.requested_url)
        if page.url in self._paired:
            return
        if part.machine_translated and self._config.machine_translated == "drop":
            return
        self._paired.add(page.url)
        node = self._rule.node_of(page.url, part.signature)
        self._report(self._matcher.add(page, node))
        self._lexicons.read(part.document or document, self._web.pair)
        if isinstance(self._matcher, Matcher):
            for news in self._lexicons.step(self._web.pair, self._matcher.standing_of):
                self._matcher.use_lexicon(*news)

    def _report(self, changes: Changes[DocumentPair]) -> None:
        for pair in changes.found.values():
            self._keeper.tell(PairNews(pair, kept=True))
        for pair in changes.lost.values():
            self._keeper.tell(PairNews(pair, kept=False))

    def _wanted(
        self, document: Document, targets: list[Target], scorer: LinkScorer
    ) -> list[Target]:
        """Return the links to score: new to the frontier, or waiting and able to rise."""
        foreign = self._declared_abroad(document)
        depth, state_of, scope = document.depth + 1, self._frontier.state_of, self._scope
        seen: set[int] = set()
        wanted = []
        for target in targets:
            state = state_of(target.fingerprint)
            if state is State.QUEUED:
                if scorer.sees_context:
                    wanted.append(target)
            elif state is None and (scorer.sees_context or target.fingerprint not in seen):
                seen.add(target.fingerprint)
                url = target.link.url
                ask = scope.refusal_on_any_site if url in foreign else scope.refusal
                if ask(url, depth) is None:
                    wanted.append(target)
        return wanted

    def _declared_abroad(self, document: Document) -> set[str]:
        """Return declared translations on hosts that have yet to link back, one per language."""
        if not self._config.follow_alternates:
            return set()
        own = host_of(document.url)
        found: dict[tuple[str, str], str] = {}
        for each in document.alternates:
            host = host_of(each.url)
            if each.language not in self._web.pair or not host or self._scope.covers(host):
                continue
            if self._foreign.claim(host, own):
                found.setdefault((host, each.language or ""), each.url)
        return set(found.values())

    def _has_answered(self, document: Document) -> bool:
        host = host_of(document.url)
        if not self._foreign.is_unanswered(host):
            return True
        if self._foreign.read(document):
            self._scope.admit_host(host)
            return True
        return False

    def _reorder(self, changes: Iterable[tuple[str, float]]) -> None:
        for url, priority in changes:
            fingerprint = url_fingerprint(url)
            if fingerprint not in self._seed_fingerprints:
                self._frontier.set_priority(fingerprint, priority)

    def _request(self, document: Document, targets: list[Target], scores: list[float]) -> None:
        best: dict[int, tuple[float, str]] = {}
        for target, score in zip(targets, scores, strict=True):
            known = best.get(target.fingerprint)
            if known is None or score > known[0]:
                best[target.fingerprint] = score, target.link.url
        for fingerprint, (score, url) in best.items():
            if score == REFUSED:
                continue
            if fingerprint in self._frontier:
                self._frontier.raise_priority(fingerprint, score)
            else:
                self._push(url, score, self._asked_of(url, document))

    def _asked_of(self, url: str, document: Document) -> _Asked:
        claimed_by, _ = self._foreign.claim_of(host_of(url))
        return _Asked(document.depth + 1, claimed_by=claimed_by)


def _named(page: PairingPage, requested: str | None) -> PairingPage:
    """Return a page under the URL that was requested too."""
    if not requested or requested == page.url or requested in page.names:
        return page
    return replace(page, names=tuple(sorted({*page.names, requested})))
