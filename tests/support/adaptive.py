"""Pages made by hand, and a crawl of them without an engine: best first, one at a time."""

import heapq
from dataclasses import dataclass, field

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Alternate, Document, Link, Paragraph
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import LanguagePair, language_of_tag
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import DocumentPair, Evidence, PairingPage
from bilingual_crawler.scoring.adaptive.scorer import AdaptiveScorer
from bilingual_crawler.scoring.scorer import NothingYet

SITE = "https://site.example"
PAIR = LanguagePair.parse("eng-fra")


def adaptive(**settings):
    return AdaptiveScorer(PAIR, NothingYet(), Config(**settings))


def page(path, language, *links, depth=1, alternates=None, text=()):
    """A page; a link is a path, or a path and its words."""
    made = [
        Link(SITE + each) if isinstance(each, str) else Link(SITE + each[0], each[1])
        for each in links
    ]
    declared = [
        Alternate(SITE + target, tag, language_of_tag(tag).code)
        for tag, target in (alternates or {}).items()
    ]
    return Document(
        SITE + path,
        language=language,
        links=made,
        alternates=declared,
        depth=depth,
        paragraphs=[Paragraph(each, language=language) for each in text],
    )


def pair(first, second):
    return DocumentPair(
        SITE + first, SITE + second, PAIR.codes, (Evidence("test", 0.9, "says so"),)
    )


def fetch(scorer, document, *pairs):
    """A page arrives, with the pairs that it makes; its links are scored."""
    scorer.arrived(document)
    for each in pairs:
        scorer.found(each, kept=True)
    scores = scorer.score(document, document.links)
    return dict(zip((link.url.removeprefix(SITE) for link in document.links), scores, strict=True))


@dataclass
class Crawl:
    """Fetches the pages of a hand-made site in the order that a scorer wants."""

    pages: dict
    scorer: AdaptiveScorer
    order: list = field(default_factory=list)
    probed: list = field(default_factory=list)
    states: dict = field(default_factory=dict)
    waiting: dict = field(default_factory=dict)
    heap: list = field(default_factory=list)

    def push(self, url, score):
        if self.states.get(url) in {None, State.QUEUED}:
            self.states[url] = State.QUEUED
            self.waiting[url] = score
            heapq.heappush(self.heap, (-score, len(self.order), url))

    def run(self, seed, most=1_000):
        matcher = Matcher(PAIR)
        self.push(SITE + seed, 1.0)
        while self.heap and len(self.order) < most:
            score, _, url = heapq.heappop(self.heap)
            if self.states[url] is not State.QUEUED or self.waiting[url] != -score:
                continue
            document = self.pages.get(url)
            self.states[url] = State.FAILED if document is None else State.DONE
            if document is None:
                self.scorer.failed(url, "http_404")
                continue
            self.order.append(url.removeprefix(SITE))
            self._arrive(document, matcher)
        return self.order

    def _arrive(self, document, matcher):
        self.scorer.arrived(document)
        if document.language in PAIR:
            named = [(each.url, each.language) for each in document.alternates]
            for link in document.links:
                named += [(link.url, code) for code in languages_of_link(link)]
            changes = matcher.add(PairingPage(document.url, document.language, tuple(named)))
            for each in changes.found.values():
                self.scorer.found(each, kept=True)
        new = [link for link in document.links if self.states.get(link.url) in {None, State.QUEUED}]
        scores = self.scorer.score(document, new)
        for proposal in self.scorer.proposals():
            if proposal.url not in self.states:
                self.probed.append(proposal.url.removeprefix(SITE))
                self.push(proposal.url, proposal.score)
        for url, priority in self.scorer.changes():
            if self.states.get(url) is State.QUEUED:
                self.push(url, priority)
        for link, score in zip(new, scores, strict=True):
            if score > self.waiting.get(link.url, 0.0):
                self.push(link.url, score)
