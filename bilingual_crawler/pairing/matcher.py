"""The matcher, which combines all evidence into one-to-one pairs while pages come in.

A page is compared with the candidates that the indexes find, and each comparison becomes a
probability. How rare a word or an image is, and which other candidates a page has, is only known in
the end. So each page is weighed again whenever its site has doubled, one per page that comes, and
`finish` weighs all of them once more. The result does not depend on the order in which pages came.

Pages with the same text are one node, which is paired once, under whichever of its URLs has the
best evidence.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from operator import itemgetter

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.comparison import likeness, rivalry
from bilingual_crawler.pairing.copies import FirstCopies
from bilingual_crawler.pairing.edges import Edge, Edges
from bilingual_crawler.pairing.lexicon import TranslationLexicon
from bilingual_crawler.pairing.model import load_pair_model, probability
from bilingual_crawler.pairing.one_to_one import ACCEPT, OneToOne, Rank, Urls
from bilingual_crawler.pairing.pair import (
    Changes,
    DocumentPair,
    PackedPair,
    PairingPage,
    PairPacker,
)
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids, UrlModel
from bilingual_crawler.pairing.substance import Substance, substance_model
from bilingual_crawler.pairing.weighing import Weigher

HOPELESS = 0.05
"""Candidates below this are not kept before the end."""
SURE = 0.9
"""From here on, before the end, a page meets no others by its words."""
SAME = 0.02
"""How far a probability may move before the end while a pair keeps its explanation."""
BATCH = 1_000
MOST_MOVED = 200
"""Pages of a site that joins another that are weighed again at once; the others in their turn."""

Declaration = tuple[str, tuple[tuple[str, str], ...]]
"""The URL of a page, and (URL, ISO 639-3 code) of each translation declared for it."""
Nodes = tuple[str, str]
Place = Callable[[Urls], int | None]
"""Returns the place of two URLs in an order, None for the end."""


class Matcher:
    """Keeps the best one-to-one pairs of a language pair.

    `detectors` are the names of those to ask, all by default; without any that looks at content,
    URLs and claims decide alone. The URL model among the `aids` is asked by `finish` and not while
    pages come in, because that would cost more than all the rest. What a sentence model and the
    user's detectors need comes with the pages (`PairingAids.page_of`).
    """

    def __init__(
        self,
        pair: LanguagePair,
        detectors: Collection[str] | None = None,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        asked = frozenset(aids.detector_names if detectors is None else detectors)
        self.pair = self._pair = pair
        self._model = aids.model or load_pair_model()
        self._weigher = Weigher(pair, asked, self._model, aids)
        self._url_model = aids.url_model if "url_model" in asked else None
        self._weighed_at: defaultdict[str, deque[tuple[str, int]]] = defaultdict(deque)
        self._pages = self._weigher.pages
        self._copies: dict[str, str] = {}
        """The node of every page that is not the first with its text."""
        self._contents = FirstCopies()
        self._same_content: dict[str, str] = {}
        """The first node with the content of another node, whose menus differ."""
        self._edges = Edges()
        self._packer = PairPacker(pair.codes)
        self._standing: dict[Nodes, PackedPair] = {}
        self._refused: set[Nodes] = set()
        """Counterparts that have nobody else, and are no pair."""
        self._substance = None if aids.thin_pairs else aids.substance or substance_model()
        self._finishing = False
        self._changes: Changes[PackedPair] = Changes()
        self._pairs = OneToOne(self._note_joined, self._note_parted)

    def __len__(self) -> int:
        return len(self._standing)

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every current pair."""
        return list(self.iter_pairs())

    def iter_pairs(self, place: Place | None = None) -> Iterator[DocumentPair]:
        """Iterate over the pairs, in order, for callers that cannot hold all of them in memory."""
        standing = self._standing.values()
        if place is None:
            return map(self._packer.unpack, standing)
        places = ((place((pair.first, pair.second)), pair) for pair in standing)
        keyed = [(inf if at is None else at, pair) for at, pair in places]
        keyed.sort(key=itemgetter(0))
        return (self._packer.unpack(pair) for _, pair in keyed)

    def standing(self) -> Iterable[PackedPair]:
        """Return every pair as it is stored, without unpacking its evidence."""
        return self._standing.values()

    def refused(self) -> Iterator[DocumentPair]:
        """Yield the counterparts that are no pairs, each with the reason."""
        for node, other in sorted(self._refused):
            yield self._pair_of(node, other)

    @property
    def refused_count(self) -> int:
        """How many counterparts are no pairs."""
        return len(self._refused)

    @property
    def candidate_count(self) -> int:
        """How many candidates were weighed."""
        return len(self._edges)

    def weigh(self, one: str, other: str) -> DocumentPair | None:
        """Return the pair that two known pages would make, whatever other candidates there are."""
        verdict = self._weigher.weigh(one, other)
        if verdict is None:
            return None
        base = verdict.base
        edge = Edge(verdict)
        if not verdict.is_final:
            edge.learned = self._weigher.learned(verdict.urls)
            base = self._model.odds(base, rivalry(verdict.likeness, 0.0, 0.0))
        edge.probability = probability(base + (edge.learned or 0.0))
        self._look_inside(edge)
        return self._described(edge)

    def substance(self, urls: Urls) -> Substance | None:
        """Return what two known pages hold beside frames and copies."""
        return self._weigher.substance(urls)

    def candidates(self) -> Iterator[DocumentPair]:
        """Yield every candidate, with its probability and what each detector says."""
        for node, edges in self._edges:
            if self._pages.language_of(self._pages.number_of(node)) == self._pair.first.code:
                for other in edges:
                    yield self._pair_of(node, other)

    def use_lexicon(self, lexicon: TranslationLexicon | None) -> None:
        """Use another lexicon from now on, or none; `finish` weighs everything with it."""
        self._weigher.use_lexicon(lexicon)

    @property
    def lexicon(self) -> TranslationLexicon | None:
        """The lexicon in use, if any; safe to ask from another thread."""
        return self._weigher.lexicon

    def features(self) -> Iterator[tuple[Urls, list[float]]]:
        """Yield the numbers of every candidate, rivals included: what a model learns from."""
        for node, edges in self._edges:
            for other, edge in edges.items():
                if node < other and not edge.verdict.is_final:
                    urls = edge.verdict.urls
                    yield urls, self.features_of(*urls, edge.model)

    def features_of(self, one: str, other: str, model: float | None = None) -> list[float]:
        """Return the numbers of any two pages."""
        numbers = self._weigher.numbers(one, other, model)
        rivals = self._edges.rivals(self._node_of(one), self._node_of(other))
        return [*numbers, *rivalry(likeness(numbers), *rivals)]

    def paired_url(self, node: str) -> str | None:
        """Return the URL under which a node is paired; None if it is not.

        `node` is one of those that were given with the pages. Of nodes with the same content one is
        paired. Safe to ask from another thread while pages are weighed.
        """
        url = self._paired_url(self._same_content.get(node, node))
        return url if url is not None and self._copies.get(url, url) == node else None

    def _paired_url(self, node: str) -> str | None:
        partner = self._pairs.partner_of(node)
        pair = None if partner is None else self._standing.get(_both(node, partner))
        if pair is None:
            return None
        return pair.first if self._node_of(pair.first) == node else pair.second

    def partner_of(self, url: str) -> str | None:
        """Return the page that this page, or another with the same content, is paired with."""
        partner = self._pairs.partner_of(self._node_of(url))
        return None if partner is None else self._paired_url(partner)

    def _node_of(self, url: str) -> str:
        node = self._copies.get(url, url)
        return self._same_content.get(node, node)

    def add(self, page: PairingPage, node: str | None = None) -> Changes[DocumentPair]:
        """Add a page; return which pairs it completed, improved or replaced.

        `node` is the URL of an earlier page with the same text, if there is one.
        """
        moved = self._join_families(page)
        site, pages = self._index(page, node or page.url)
        self._consider((url, other) for url in moved for other in self._weigher.partners(url))
        self._consider((page.url, other) for other in self._weigher.partners(page.url))
        self._reweigh(site, pages)
        return self._take_changes()

    def restore(self, pages: Iterable[tuple[PairingPage, str]]) -> None:
        """Add pages that were known before, each with its node, and weigh them once."""
        for page, node in pages:
            self.hold(page, node)
        self.finish()

    def hold(self, page: PairingPage, node: str | None = None) -> None:
        """Add a page that is not weighed until `finish`, when all others are there."""
        self._join_families(page)
        self._index(page, node or page.url)

    def _join_families(self, page: PairingPage | None = None) -> list[str]:
        """Move the pages of sites that join others; return some, to be weighed again at once."""
        moved: list[str] = []
        for (site, family), urls in self._weigher.families(page):
            self._weighed_at[family].extend(self._weighed_at.pop(site, ()))
            moved += urls
        return moved[:MOST_MOVED]

    def alias(self, source: str, target: str) -> Changes[DocumentPair]:
        """Learn that `source` leads to the page at `target`."""
        self._consider(self._weigher.alias(source, target))
        return self._take_changes()

    def declare(self, claims: Iterable[Declaration]) -> Changes[DocumentPair]:
        """Learn what a sitemap says about pages that are there or may still come.

        It counts like what the pages themselves declare, and is merged with it.
        """
        self._consider(both for claim in claims for both in self._weigher.declare(*claim))
        return self._take_changes()

    def finish(self, check: Callable[[], None] = lambda: None) -> Changes[DocumentPair]:
        """Weigh everything once more, now that all pages are there.

        `check` is called for each page and may raise an exception to stop: then the pairs stay as
        they were, and nothing can be added any more.
        """
        self._join_families()
        nodes, known = {self._node_of(url) for url in self._pages}, self._same_content
        self._weigher.settle()
        copies = self._weigher.group(set(self._pages) - self._copies.keys())
        self._same_content = copies.same
        nodes |= {self._node_of(url) for url in self._pages}
        self._finishing = True
        try:
            self._review(nodes, self._all_candidates(check))
        except BaseException:
            self._same_content = known
            raise
        self._finishing = False
        self._refuse_lists(copies.listed)
        return self._take_changes()

    def _refuse_lists(self, listed: Mapping[str, str]) -> None:
        """Refuse pairs of lists whose only entries are a pair themselves."""
        for node, other in list(self._standing):
            entry, other_entry = listed.get(node), listed.get(other)
            if entry is None or other_entry is None:
                continue
            if _both(self._node_of(entry), self._node_of(other_entry)) in self._standing:
                self._note_parted(node, other)
                self._edges.between(
                    node, other
                ).refused = "a list with one entry, which is in a pair"
                self._refused.add(_both(node, other))

    def _all_candidates(self, check: Callable[[], None]) -> Iterator[Urls]:
        for url in sorted(self._pages):
            check()
            for other in self._weigher.partners(url):
                yield url, other

    def _take_changes(self) -> Changes[DocumentPair]:
        changes, self._changes = self._changes, Changes()
        unpacked: Changes[DocumentPair] = Changes()
        unpacked.found = {urls: self._packer.unpack(pair) for urls, pair in changes.found.items()}
        unpacked.lost = {urls: self._packer.unpack(pair) for urls, pair in changes.lost.items()}
        unpacked.better_explained = changes.better_explained
        return unpacked

    def _index(self, page: PairingPage, node: str) -> tuple[str, int]:
        if node != page.url:
            self._copies[page.url] = node
        site, pages = self._weigher.add(page)
        if node == page.url:
            known = self._pages[node]
            first = self._contents.first_of(known)
            if first != known.number:
                content = self._pages.url_of(first)
                self._same_content[node] = self._same_content.get(content, content)
        if self._node_of(page.url) == page.url:
            self._weighed_at[site].append((node, pages))
        return site, pages

    def _reweigh(self, site: str, pages: int) -> None:
        """Weigh a page again that was weighed when its site was half as large."""
        queue = self._weighed_at[site]
        if queue and queue[0][1] * 2 <= pages:
            url, _ = queue.popleft()
            queue.append((url, pages))
            node = self._node_of(url)
            known = [edge.verdict.urls for edge in self._edges.of(node).values()]
            found = self._weigher.partners(url, is_sure=self._is_sure(node))
            partners = ((url, other) for other in found)
            self._review({node}, [*known, *partners])

    def _is_sure(self, node: str) -> bool:
        """Return True if a node is in a pair that is sure without the lexicon."""
        partner = self._pairs.partner_of(node)
        edge = None if partner is None else self._edges.of(node).get(partner)
        return edge is not None and (edge.learned or 0.0) <= 0.0 and edge.probability >= SURE

    def _consider(self, candidates: Iterable[Urls]) -> None:
        """Weigh new candidates; those that exist already can only get better."""
        new = dict.fromkeys(nodes for one, other in candidates if (nodes := self._take(one, other)))
        stood = self._standing.keys() & {_both(*nodes) for nodes in new}
        for node, other in new:
            self._edges.compete(node, other)
        for node, other in new:
            edge = self._edges.between(node, other)
            before = edge.rank
            self._judge(node, other, edge)
            if edge.probability < HOPELESS:
                self._forget(node, other)
            elif edge.rank > before:
                self._pairs.raise_rank(node, other, edge.rank)
                if self._pairs.partner_of(node) == other and _both(node, other) in stood:
                    self._note_parted(node, other)
                    self._note_joined(node, other)

    def _take(self, one: str, other: str, model: float | None = None) -> Nodes | None:
        """Keep the evidence for two pages if it is better than what was known of their nodes."""
        verdict = self._weigher.weigh(one, other, model)
        if verdict is None:
            return None
        node, other_node = self._node_of(one), self._node_of(other)
        if node == other_node:
            return None
        edge = self._edges.add(node, other_node, verdict)
        if edge is None:
            return None
        edge.model = model
        return node, other_node

    def _forget(self, node: str, other: str) -> None:
        """Drop a candidate; it still counts as a rival of others."""
        if self._pairs.partner_of(node) != other:
            self._edges.remove(node, other)

    def _judge(self, node: str, other: str, edge: Edge) -> None:
        """Set the probability of a candidate, in view of its rivals.

        The lexicon is asked last, and only where its answer may matter.
        """
        base, alike = edge.verdict.base, edge.verdict.likeness
        if not edge.verdict.is_final:
            rivals = self._edges.rivals(node, other)
            base = self._model.odds(base, rivalry(alike, *rivals))
            if edge.learned is None:
                edge.learned = self._weigher.learned(edge.verdict.urls, base)
            base += edge.learned or 0.0
        edge.probability = probability(base)
        if edge.refused is None and edge.probability >= ACCEPT:
            self._look_inside(edge)

    def _look_inside(self, edge: Edge) -> None:
        """Ask whether two counterparts hold translated content."""
        substance = self._weigher.substance(edge.verdict.urls)
        edge.refused = ""
        if substance is not None:
            edge.translated_share = substance.translated_share
            if self._substance is not None:
                edge.refused = substance.why_refused(self._substance)

    def _review(self, nodes: set[str], candidates: Iterable[Urls]) -> None:
        """Forget what was known of some nodes, weigh candidates, and choose their pairs again."""
        for node in nodes:
            self._edges.clear(node)
        done: set[int] = set()
        for one, other in candidates:
            both = hash(_both(one, other))
            if both not in done:
                done.add(both)
                self._take(one, other)
        if self._finishing and self._url_model is not None:
            self._ask_url_model(nodes, self._url_model)
        for node in nodes:
            for other in self._edges.of(node):
                self._edges.compete(node, other)
        self._pairs.replace(self._ranks(nodes), nodes)
        if not self._finishing:
            self._forget_hopeless(nodes)

    def _forget_hopeless(self, nodes: set[str]) -> None:
        for node in nodes:
            for other, edge in list(self._edges.of(node).items()):
                if edge.probability < HOPELESS:
                    self._forget(node, other)

    def _ranks(self, nodes: set[str]) -> Iterator[tuple[str, str, Rank]]:
        for node in nodes:
            for other, edge in self._edges.of(node).items():
                if other not in nodes or node < other:
                    self._judge(node, other, edge)
                    yield node, other, edge.rank

    def _ask_url_model(self, nodes: set[str], ask: UrlModel) -> None:
        """Ask the model about every candidate, so that all have the same chance."""
        waiting = (
            edge.verdict.urls
            for node in sorted(nodes)
            for other, edge in self._edges.of(node).items()
            if (other not in nodes or node < other) and not edge.verdict.is_final
        )
        while some := list(islice(waiting, BATCH)):
            for (one, other), chance in zip(some, ask(some), strict=True):
                self._take(one, other, float(chance))

    def _note_joined(self, node: str, other: str) -> None:
        edge = self._edges.between(node, other)
        if edge.refused:
            self._refused.add(_both(node, other))
            return
        pair = self._changes.lost.get(edge.verdict.urls)
        if (
            pair is None
            or self._finishing
            or abs((pair.probability or 0.0) - edge.probability) > SAME
        ):
            pair = self._packer.pack(self._pair_of(node, other))
        self._standing[_both(node, other)] = pair
        self._changes.add(pair)

    def _note_parted(self, node: str, other: str) -> None:
        self._refused.discard(_both(node, other))
        pair = self._standing.pop(_both(node, other), None)
        if pair is not None:
            self._changes.drop(pair)

    def _pair_of(self, node: str, other: str) -> DocumentPair:
        return self._described(self._edges.between(node, other))

    def _described(self, edge: Edge) -> DocumentPair:
        return DocumentPair(
            *edge.verdict.urls,
            self._pair.codes,
            self._weigher.explain(edge.verdict.urls, edge.model, learned=edge.learned is not None),
            edge.probability,
            edge.translated_share,
            edge.refused or "",
        )


def _both(node: str, other: str) -> Nodes:
    return (node, other) if node < other else (other, node)
