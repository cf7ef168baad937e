"""The matcher, which combines all evidence into one-to-one pairs while pages come in.

A page is compared with the candidates that the indexes find, and each comparison becomes a
probability. How rare a word or an image is, and which other candidates a page has, is only known in
the end. So each page is weighed again whenever its site has doubled, one per page that comes, and
`finish` weighs all of them once more. The result does not depend on the order in which pages came.

Pages with the same text are one node, which is paired once with each other language, under
whichever of its URLs has the best evidence.

All languages share the pages and their indexes. The choice is made for each two languages by a
`PairChoice`; of more than two, `finish` makes clusters of versions first (`clusters.py`), and pairs
are what these contain.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from operator import itemgetter

from bilingual_crawler.languages import LanguagePair, LanguageSet, ParallelLanguages
from bilingual_crawler.pairing.choice import Nodes, PairChoice, both_of
from bilingual_crawler.pairing.clusters import ClusterMaker
from bilingual_crawler.pairing.comparison import likeness, rivalry
from bilingual_crawler.pairing.copies import FirstCopies
from bilingual_crawler.pairing.edges import Edge
from bilingual_crawler.pairing.judging import EdgeJudge
from bilingual_crawler.pairing.lexicon import TranslationLexicon
from bilingual_crawler.pairing.model import load_pair_model
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairingPage
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids, UrlModel
from bilingual_crawler.pairing.substance import Substance, substance_model
from bilingual_crawler.pairing.weighing import Weigher

SURE = 0.9
"""From here on, before the end, a page meets no others by its words."""
BATCH = 1_000
MOST_MOVED = 200
"""Pages of a site that joins another that are weighed again at once; the others in their turn."""

Declaration = tuple[str, tuple[tuple[str, str], ...]]
"""The URL of a page, and (URL, ISO 639-3 code) of each translation declared for it."""
Place = Callable[[Urls], int | None]
"""Returns the place of two URLs in an order, None for the end."""


class Matcher:
    """Keeps the best one-to-one pairs of each two of some languages.

    `detectors` are the names of those to ask, all by default; without any that looks at content,
    URLs and claims decide alone. The URL model among the `aids` is asked by `finish` and not while
    pages come in, because that would cost more than all the rest. What a sentence model and the
    user's detectors need comes with the pages (`PairingAids.page_of`).
    """

    def __init__(
        self,
        languages: ParallelLanguages,
        detectors: Collection[str] | None = None,
        aids: PairingAids = NO_AIDS,
    ) -> None:
        asked = frozenset(aids.detector_names if detectors is None else detectors)
        self.languages = languages
        self._model = aids.model or load_pair_model()
        self._weigher = Weigher(languages, asked, self._model, aids)
        self._url_model = aids.url_model if "url_model" in asked else None
        self._weighed_at: defaultdict[str, deque[tuple[str, int]]] = defaultdict(deque)
        self._pages = self._weigher.pages
        self._copies: dict[str, str] = {}
        """The node of every page that is not the first with its text."""
        self._contents = FirstCopies()
        self._same_content: dict[str, str] = {}
        """The first node with the content of another node, whose menus differ."""
        substance = None if aids.thin_pairs else aids.substance or substance_model()
        self._judge = EdgeJudge(self._weigher, self._model, substance)
        self._only: PairChoice | None = None
        """The choice of a matcher for two languages."""
        self._choices: dict[tuple[str, str], PairChoice] = {}
        if isinstance(languages, LanguagePair):
            self._only = self._choices[languages.codes] = PairChoice(languages, self._judge)
        self._finishing = False

    def __len__(self) -> int:
        return sum(len(choice.standing) for choice in self._all_choices)

    @property
    def _all_choices(self) -> tuple[PairChoice, ...]:
        return tuple(self._choices.values())

    def _choice(self, node: str, other: str) -> PairChoice:
        """Return the choice between the languages of two nodes."""
        if self._only is not None:
            return self._only
        language_of, number_of = self._pages.language_of, self._pages.number_of
        pair = self.languages.pair_of(language_of(number_of(node)), language_of(number_of(other)))
        choice = self._choices.get(pair.codes)
        if choice is None:
            choice = self._choices[pair.codes] = PairChoice(pair, self._judge)
            choice.is_finishing = self._finishing
        return choice

    def _choices_of(self, node: str) -> Iterator[PairChoice]:
        """Yield the choices in which a node may be paired."""
        if self._only is not None:
            yield self._only
            return
        language = self._pages.language_of(self._pages.number_of(node))
        for choice in self._all_choices:
            if language in choice.pair:
                yield choice

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every current pair."""
        return list(self.iter_pairs())

    def iter_pairs(self, place: Place | None = None) -> Iterator[DocumentPair]:
        """Iterate over the pairs, in order, for callers that cannot hold all of them in memory."""
        standing = (
            (pair, choice) for choice in self._all_choices for pair in choice.standing.values()
        )
        if place is None:
            return (choice.packer.unpack(pair) for pair, choice in standing)
        places = ((place((pair.first, pair.second)), pair, choice) for pair, choice in standing)
        keyed = [(inf if at is None else at, pair, choice) for at, pair, choice in places]
        keyed.sort(key=itemgetter(0))
        return (choice.packer.unpack(pair) for _, pair, choice in keyed)

    def standing(self) -> Iterable[PackedPair]:
        """Return every pair as it is stored, without unpacking its evidence."""
        if self._only is not None:
            return self._only.standing.values()
        return [pair for choice in self._all_choices for pair in choice.standing.values()]

    def standing_of(self, pair: LanguagePair) -> Iterable[PackedPair]:
        """Return every pair of two of the languages, as it is stored."""
        choice = self._choices.get(pair.codes)
        return () if choice is None else choice.standing.values()

    def refused(self) -> Iterator[DocumentPair]:
        """Yield the counterparts that are no pairs, each with the reason."""
        for choice in self._all_choices:
            yield from choice.refused_pairs()

    @property
    def refused_count(self) -> int:
        """How many counterparts are no pairs."""
        return sum(len(choice.refused) for choice in self._all_choices)

    @property
    def candidate_count(self) -> int:
        """How many candidates were weighed."""
        return sum(len(choice.edges) for choice in self._all_choices)

    def weigh(self, one: str, other: str) -> DocumentPair | None:
        """Return the pair that two known pages would make, whatever other candidates there are."""
        verdict = self._weigher.weigh(one, other)
        if verdict is None:
            return None
        edge = Edge(verdict)
        self._judge.judge_alone(edge)
        return self._choice(one, other).described(edge)

    def substance(self, urls: Urls) -> Substance | None:
        """Return what two known pages hold beside frames and copies."""
        return self._weigher.substance(urls)

    def candidates(self) -> Iterator[DocumentPair]:
        """Yield every candidate, with its probability and what each detector says."""
        for choice in self._all_choices:
            first = choice.pair.first.code
            for node, edges in choice.edges:
                if self._pages.language_of(self._pages.number_of(node)) == first:
                    yield from map(choice.described, edges.values())

    def use_lexicon(
        self, lexicon: TranslationLexicon | None, pair: LanguagePair | None = None
    ) -> None:
        """Use another lexicon from now on, or none; `finish` weighs everything with it.

        Of more than two languages `pair` says which two it is for.
        """
        self._weigher.use_lexicon(lexicon, pair)

    @property
    def lexicon(self) -> TranslationLexicon | None:
        """The lexicon in use, if any; safe to ask from another thread."""
        return self._weigher.lexicon

    def features(self) -> Iterator[tuple[Nodes, Urls, list[float]]]:
        """Yield the numbers of every candidate, from which a model learns, without rivals."""
        for choice in self._all_choices:
            for node, edges in choice.edges:
                for other, edge in edges.items():
                    if node < other and not edge.verdict.is_final:
                        urls = edge.verdict.urls
                        yield (node, other), urls, self._weigher.numbers(*urls, edge.model)

    def features_of(self, one: str, other: str, model: float | None = None) -> list[float]:
        """Return the numbers of any two pages."""
        numbers = self._weigher.numbers(one, other, model)
        nodes = self._node_of(one), self._node_of(other)
        rivals = self._choice(*nodes).edges.rivals(*nodes)
        return [*numbers, *rivalry(likeness(numbers), *rivals)]

    def paired_url(self, node: str) -> str | None:
        """Return the URL under which a node is paired; None if it is not.

        `node` is one of those that were given with the pages. Of nodes with the same content one is
        paired. Safe to ask from another thread while pages are weighed.
        """
        url = self._paired_url(self._same_content.get(node, node))
        return url if url is not None and self._copies.get(url, url) == node else None

    def _paired_url(self, node: str) -> str | None:
        """Return the URL under which a node is in its likeliest pair."""
        found = [pair for choice in self._choices_of(node) if (pair := choice.standing_pair(node))]
        if not found:
            return None
        pair = found[0] if len(found) == 1 else max(found, key=lambda each: each.probability or 0.0)
        return pair.first if self._node_of(pair.first) == node else pair.second

    def partner_of(self, url: str) -> str | None:
        """Return the page that this page, or another with the same content, is paired with.

        Of partners in several languages it is the one in the first of these languages.
        """
        return next(iter(self.partners_of(url)), None)

    def partners_of(self, url: str) -> list[str]:
        """Return the pages that this page is paired with, one in each language at most."""
        if url not in self._pages:
            return []
        node = self._node_of(url)
        partners = (choice.partner_of(node) for choice in self._choices_of(node))
        urls = (self._paired_url(each) for each in partners if each is not None)
        return [each for each in urls if each is not None]

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
        self._set_finishing(True)
        try:
            self._review(nodes, self._all_candidates(check), copies.listed)
        except BaseException:
            self._same_content = known
            raise
        self._set_finishing(False)
        self._refuse_lists(copies.listed)
        return self._take_changes()

    def _set_finishing(self, finishing: bool) -> None:
        self._finishing = finishing
        for choice in self._all_choices:
            choice.is_finishing = finishing

    def _refuse_lists(self, listed: Mapping[str, str]) -> None:
        """Refuse pairs of lists whose only entries are a pair themselves."""
        for choice in self._all_choices:
            for node, other in list(choice.standing):
                entry, other_entry = listed.get(node), listed.get(other)
                if entry is None or other_entry is None:
                    continue
                if both_of(self._node_of(entry), self._node_of(other_entry)) in choice.standing:
                    choice.refuse(node, other, "a list with one entry, which is in a pair")

    def _all_candidates(self, check: Callable[[], None]) -> Iterator[Urls]:
        for url in sorted(self._pages):
            check()
            for other in self._weigher.partners(url):
                yield url, other

    def _take_changes(self) -> Changes[DocumentPair]:
        changes: Changes[DocumentPair] = Changes()
        for choice in self._all_choices:
            choice.take_changes(changes)
        return changes

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
        """Weigh a page again that was weighed when its site was half as large.

        Pages in a pair that is sure wait for the end, unless they name another page by now. With
        more than two languages all do, because it would cost too much.
        """
        if self._only is None:
            return
        queue = self._weighed_at[site]
        if queue and queue[0][1] * 2 <= pages:
            url, _ = queue.popleft()
            queue.append((url, pages))
            node = self._node_of(url)
            partners = self.partners_of(url)
            if self._is_sure(node) and not self._weigher.is_disputed(url, partners):
                return
            known = [
                edge.verdict.urls
                for choice in self._choices_of(node)
                for edge in choice.edges.of(node).values()
            ]
            candidates = ((url, other) for other in self._weigher.partners(url))
            self._review({node}, [*known, *candidates])

    def _is_sure(self, node: str) -> bool:
        """Return True if a node is in pairs that are sure without the lexicon."""
        found = (choice.best_edge(node) for choice in self._choices_of(node))
        edges = [edge for edge in found if edge is not None]
        return bool(edges) and all(
            (edge.learned or 0.0) <= 0.0 and edge.probability >= SURE for edge in edges
        )

    def _consider(self, candidates: Iterable[Urls]) -> None:
        """Weigh new candidates; those that exist already can only get better."""
        new = dict.fromkeys(nodes for one, other in candidates if (nodes := self._take(one, other)))
        if self._only is not None:
            self._only.consider(new)
            return
        chosen: dict[PairChoice, list[Nodes]] = {}
        for nodes in new:
            chosen.setdefault(self._choice(*nodes), []).append(nodes)
        for choice, some in chosen.items():
            choice.consider(some)

    def _take(self, one: str, other: str, model: float | None = None) -> Nodes | None:
        """Keep the evidence for two pages if it is better than what was known of their nodes."""
        verdict = self._weigher.weigh(one, other, model)
        if verdict is None:
            return None
        node, other_node = self._node_of(one), self._node_of(other)
        if node == other_node:
            return None
        edge = self._choice(node, other_node).edges.add(node, other_node, verdict)
        if edge is None:
            return None
        edge.model = model
        return node, other_node

    def _review(
        self, nodes: set[str], candidates: Iterable[Urls], lists: Container[str] = ()
    ) -> None:
        """Forget what was known of some nodes, weigh candidates, and choose their pairs again."""
        for choice in self._all_choices:
            choice.clear(nodes)
        done: set[int] = set()
        for one, other in candidates:
            both = hash(both_of(one, other))
            if both not in done:
                done.add(both)
                self._take(one, other)
        if self._finishing and self._url_model is not None:
            self._ask_url_model(nodes, self._url_model)
        for choice in self._all_choices:
            choice.compete(nodes, lists)
        if self._finishing and isinstance(self.languages, LanguageSet):
            self._choose_clusters(nodes)
            return
        for choice in self._all_choices:
            choice.choose(nodes, choice.judge_all(nodes))
            if not self._finishing:
                choice.forget_hopeless(nodes)

    def _choose_clusters(self, nodes: set[str]) -> None:
        """Choose the pairs of all nodes by the clusters that they make."""
        maker = ClusterMaker(
            lambda node: self._pages.language_of(self._pages.number_of(node)),
            self._link,
            self._weigher.weigh,
        )
        judged = {choice: list(choice.judge_all(nodes)) for choice in self._all_choices}
        maker.make(each for some in judged.values() for each in some)
        for choice in self._all_choices:
            some = [
                (node, other, edge)
                for node in nodes
                for other, edge in choice.edges.of(node).items()
                if node < other
            ]
            maker.settle(some, self._judge.look_inside)
            choice.choose(nodes, some)

    def _link(self, node: str, other: str) -> Edge | None:
        """Return the edge between two nodes, which is weighed if no index brought them together."""
        choice = self._choice(node, other)
        edge = choice.edges.of(node).get(other)
        if edge is None and self._take(node, other) is not None:
            edge = choice.edges.between(node, other)
            choice.judge(node, other, edge)
        return edge

    def _ask_url_model(self, nodes: set[str], ask: UrlModel) -> None:
        """Ask the model about every candidate, so that all have the same chance."""
        waiting = (
            edge.verdict.urls
            for node in sorted(nodes)
            for choice in self._choices_of(node)
            for other, edge in choice.edges.of(node).items()
            if (other not in nodes or node < other) and not edge.verdict.is_final
        )
        while some := list(islice(waiting, BATCH)):
            for (one, other), chance in zip(some, ask(some), strict=True):
                self._take(one, other, float(chance))
