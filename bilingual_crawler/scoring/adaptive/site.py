"""One site while it is crawled: what each page, pair and failure teaches."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.scoring.adaptive.memory import Memory, Room
from bilingual_crawler.scoring.adaptive.numbering import (
    NEITHER,
    Vector,
    go_together,
    likeliest,
    widened,
)
from bilingual_crawler.scoring.adaptive.page import (
    SURE,
    Certainty,
    Fate,
    KnownUrl,
    Switches,
    Tie,
    slot_of,
)
from bilingual_crawler.scoring.adaptive.sections import YieldSection
from bilingual_crawler.scoring.adaptive.texts import TextWorth
from bilingual_crawler.scoring.adaptive.transforms import Prediction, Transforms, UrlTransform
from bilingual_crawler.scoring.adaptive.value import RecentYield, is_pair_elsewhere, value_of
from bilingual_crawler.scoring.adaptive.weights import WEIGHTS
from bilingual_crawler.scoring.scorer import Proposal
from bilingual_crawler.store.compact import CompactMap
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.habits import are_spellings
from bilingual_crawler.urls.hosts import host_of, site_of

MOST_TEXTS = 100_000
MOST_SWITCHES = 20
LEAST_TEXT = 20
MOST_JUDGED = 400
NEWS = 0.05
CHANGED = 0.02

SUNK = 1e-6
"""The factor of all values on a site whose harvest is over."""

ALIAS = 1e-6
"""The value of another URL of a page that is fetched, or waits under a better one."""

FREE_PROBES, PROBES_PER_HIT = 5, 3
LEAST_PROBE = 0.5


class Probe(NamedTuple):
    """Why a URL is tried that no link has shown."""

    source: int
    target: int
    """The languages of the page and of the counterpart that the rule predicts."""
    rule: UrlTransform


class SiteModel:
    """What is learned about one site; grows with its pages up to a fixed size."""

    def __init__(
        self, name: str, languages: ParallelLanguages, harvest: RecentYield, room: Room
    ) -> None:
        self.name = name
        self.harvest = harvest
        self.memory = Memory(languages, room)
        self.numbers = self.memory.numbers
        self.evidence = self.memory.evidence
        self.switches = Switches()
        self.transforms: dict[tuple[int, int], Transforms] = defaultdict(Transforms)
        """The rules that turn URLs of one language into those of another."""
        self.texts = CompactMap()
        """The hashes of the paragraphs so far, all with the value 1."""
        self.stays = [WEIGHTS.stays * WEIGHTS.stays_prior, WEIGHTS.stays_prior]
        self.guesses = [WEIGHTS.guess_right * WEIGHTS.guess_prior, WEIGHTS.guess_prior]
        self.shown: set[int] = set()
        """The wanted languages of its pages so far."""
        self.probes: dict[KnownUrl, Probe] = {}
        self.probing = [0, 0]
        self._proposed: list[Proposal] = []
        self._unsettled: list[tuple[KnownUrl, KnownUrl, Tie]] = []
        self._aliases_waiting: list[str] = []

    def arrived(self, document: Document) -> None:
        """Learn from a page that was fetched."""
        self._admit_languages(document)
        page = self._page_at(document)
        if page.fate is Fate.FETCHED:
            return
        self.evidence.pages += 1
        page.language = self.numbers.of(document.language)
        page.depth = document.depth
        page.text = TextWorth.of(document)
        page.lone = all(mate.fate is Fate.GONE for mate in page.ties)
        self.memory.end_of_waiting(page, Fate.FETCHED)
        for section in page.group.languages:
            section.add(page.language)
            self.memory.touch(section)
        self._learn_way(page)
        self._learn_text(page, document)
        self._read_claims(page, document)
        self._read_switches(page, document)
        if page.language != NEITHER:
            self.shown.add(page.language)
            self.evidence.saw(page)
        for mate, tie in list(page.ties.items()):
            self.memory.dirty[mate] = None
            if mate.fate is Fate.FETCHED:
                self._settle(page, mate, tie)
                self._review(mate)
        self._review(page)
        if self.harvest.fetched(host_of(document.url)):
            self.memory.judge_all_again()
        elif not self.harvest.is_over:
            self._propose(page)

    def _admit_languages(self, document: Document) -> None:
        """Give numbers to languages that the page shows, if whatever the site has is wanted."""
        if not self.numbers.is_open:
            return
        self.memory.admit(document.language)
        for alternate in document.alternates:
            self.memory.admit(alternate.language)
        for link in document.links:
            named = languages_of_link(link)
            if len(named) == 1 and self._is_here(link.url):
                self.memory.admit(*named, by_link=True)

    def redirected(self, source: str, target: str) -> None:
        """Learn that a URL leads to another, whose page may have come long before."""
        alias = self.memory.own(source, 0)
        if not self._is_here(target) or alias in self.probes:
            return  # a probe that redirects is reported as failed
        spelling = self.memory.get(target)
        page = self.memory.own(target, alias.depth)
        is_new = self.memory.lead(source, target)
        for each in (alias, spelling):
            if each is not None:
                self._lead_on(each, page, followed=each is alias)
        if is_new:  # the page that comes tells of it again
            self._learn_habit(self.memory.habits.learn(source, target))

    def _page_at(self, document: Document) -> KnownUrl:
        """Return the record of a page that has come, with what was known of its other names."""
        url, requested, canonical = document.url, document.requested_url, document.canonical
        self.memory.aliases.pop(url_fingerprint(url), None)
        spelling = self.memory.get(url)
        page = self.memory.own(url, document.depth)
        if page.fate is Fate.FETCHED:
            return page
        self._learn_habit(self.memory.habits.stayed(url))
        if spelling is not None and self.memory.get(spelling.url) is page:
            self._lead_on(spelling, page)
        if requested and requested != url and self._is_here(requested):
            self.redirected(requested, url)
        if canonical and canonical != url and are_spellings(canonical, url):
            alias = self.memory.own(canonical, document.depth)
            if alias.fate is Fate.WAITING:
                self.memory.lead(canonical, url)
                self._lead_on(alias, page)
        return page

    def _learn_habit(self, changed: bool) -> None:
        """Make URLs one that are spellings of each other, if the habits have changed."""
        if changed:
            for alias, page in self.memory.respell():
                self._lead_on(alias, page)

    def found(self, first: str, second: str, codes: tuple[str, str], *, kept: bool) -> None:
        """Learn from a pair in two languages that pairing has found or given up."""
        one, other = self.memory.known(first, 0), self.memory.known(second, 0)
        sides = [self.numbers.side(self.numbers.of(code)) for code in codes]
        self.harvest.paired(kept=kept)
        if kept:
            one.pair_with(sides[1], other)
            other.pair_with(sides[0], one)
            self._confirm(one, other)
        else:
            one.part_from(other)
            other.part_from(one)
        for page in (one, other):
            self._review(page)
            self.memory.dirty.update(dict.fromkeys(page.ties))

    def failed(self, url: str) -> None:
        """Learn from a URL that gave no page."""
        page = self.memory.own(url, 0)
        if page.fate is not Fate.WAITING:
            return
        self.memory.end_of_waiting(page, Fate.GONE)
        probe = self.probes.pop(page, None)
        if probe is not None:
            self.transforms[probe.source, probe.target].judge(probe.rule, right=False)
        best = max(page.ties.values(), default=None)
        for mate, tie in page.ties.items():
            self.memory.dirty[mate] = None
            if mate.is_fetched:
                if probe is None:
                    self._judge_failed(mate, tie, is_best=tie is best)
                self._review(mate)

    def _judge_failed(self, mate: KnownUrl, tie: Tie, *, is_best: bool) -> None:
        """Judge a tie of a fetched page to a URL that gave none.

        Only the best reason to try the URL was wrong; and a promise is broken once nothing else may
        still keep it: a declared address that does not exist says nothing about the one to which
        the language switch leads.
        """
        if is_best:
            self.evidence.judge(tie, right=0.0)
        if not any(self.evidence.is_alive(mate, each) for each in mate.ties):
            self._kept(mate.group.yields, 0.0)

    def seen(self, document: Document, link: Link, rule: int) -> KnownUrl:
        """Return the record of a link's target, with what the link says about its language.

        `rule` is what `rules` say of the link.
        """
        target = self.memory.known(link.url, document.depth + 1)
        if target.fate is not Fate.WAITING:
            return target
        language = self.numbers.of(document.language)
        target.rule = max(target.rule, rule)
        if target.certainty < Certainty.ANCHOR and (named := languages_of_link(link)):
            lean = self.numbers.leaning(named, WEIGHTS.sure_anchor)
            target.guess(lean, Certainty.ANCHOR)
        if target.certainty < Certainty.PARENT and document.language:
            stays = self.stays[0] / self.stays[1]
            lean = self.numbers.leaning(frozenset((document.language,)), stays)
            target.guess(lean, Certainty.PARENT)
        if not target.slot and language != NEITHER:
            target.slot, target.parent = slot_of(link), language
        return target

    def think(self, page: KnownUrl, shares: Vector) -> None:
        """Use the URL model's answer about a language, as far as it was right before."""
        trust = self.guesses[0] / self.guesses[1]
        page.hunch = likeliest(shares)
        judged = [
            before * (trust * share + (1.0 - trust) / len(shares))
            for before, share in zip(widened(page.prior, len(shares)), shares, strict=True)
        ]
        total = sum(judged)
        page.guess(tuple([each / total for each in judged]), Certainty.MODEL)

    def value(self, page: KnownUrl, asked: str) -> float:
        """Return the current value of a waiting URL; hardly any for another name of a page.

        `asked` is the spelling that the frontier will know.
        """
        if page.fate is Fate.FETCHED:
            return ALIAS
        if page.priority is None and asked != page.url:
            page.asked = asked
        now = self._value(page)
        if page.priority is None or now >= page.priority:
            page.priority = now
            self.memory.dirty.pop(page, None)
        else:  # a frontier takes less than before from `changes` alone
            self.memory.dirty[page] = None
        return now

    def changes(self) -> Iterator[tuple[str, float]]:
        """Return waiting URLs whose value has changed noticeably."""
        self.settle_up()
        aliases, self._aliases_waiting = self._aliases_waiting, []
        for url in aliases:
            yield url, ALIAS
        for page in self.memory.to_judge_again(MOST_JUDGED):
            before, now = page.priority, self._value(page)
            if before is None or abs(now - before) > CHANGED * before:
                page.priority = now
                yield page.asked or page.url, now

    def _value(self, page: KnownUrl) -> float:
        value = value_of(page, self.evidence)
        return value * SUNK if self.harvest.is_over else value

    def proposals(self) -> list[Proposal]:
        """Return URLs that a rule predicts and no link has shown."""
        proposed, self._proposed = self._proposed, []
        return proposed

    def _lead_on(self, alias: KnownUrl, page: KnownUrl, *, followed: bool = False) -> None:
        """Pass the hopes for a URL that redirects on to its target.

        If the redirect was `followed`, the target waits at the priority of the URL that led to it.
        Otherwise one of the two spellings goes on waiting, and stands for both.
        """
        if alias is page or alias.fate is not Fate.WAITING:
            return
        self.memory.end_of_waiting(alias, Fate.GONE)
        if alias.priority is not None and page.fate is Fate.WAITING and page.priority is None:
            page.priority = alias.priority
            page.asked = page.url if followed else alias.asked or alias.url
            self.memory.dirty[page] = None
        elif alias.priority is not None and not followed:
            self._aliases_waiting.append(alias.asked or alias.url)
        if page.fate is Fate.WAITING and alias.certainty > page.certainty:
            page.guess(alias.prior, alias.certainty)
        self._pass_ties_on(alias, page)
        page.rule = max(page.rule, alias.rule)
        if not page.slot:
            page.slot, page.parent = alias.slot, alias.parent

    def _pass_ties_on(self, alias: KnownUrl, page: KnownUrl) -> None:
        for mate in list(alias.ties):
            if alias in mate.switches:
                page.note_switch_from(mate.language)
                if page not in mate.switches:
                    mate.switch_to(page, mate.switches[alias])
        for mate, tie in list(alias.ties.items()):
            if mate is not page and self.memory.tie(mate, page, tie):
                if page.fate is mate.fate is Fate.FETCHED:
                    self._settle(page, mate, tie)
                self._review(mate)
        self._review(page)

    def _learn_way(self, page: KnownUrl) -> None:
        """Learn from where the link that led here has led."""
        probe = self.probes.pop(page, None)
        if probe is not None:
            right = page.language == probe.target
            self.probing[1] += right
            self.transforms[probe.source, probe.target].judge(probe.rule, right=right)
        if page.hunch is not None:
            self.guesses[0] += page.hunch == page.language
            self.guesses[1] += 1
        if NEITHER in {page.parent, page.language}:
            return
        crossed = page.language != page.parent
        self.switches.learn(page.slot, crossed=crossed)
        if page.certainty <= Certainty.MODEL:
            self.stays[0] += not crossed
            self.stays[1] += 1

    def _learn_text(self, page: KnownUrl, document: Document) -> None:
        """Learn how much of a page is new; the document leaves out menus and the like."""
        new = total = 0
        for paragraph in document.main_paragraphs:
            size = len(paragraph.text)
            if size < LEAST_TEXT:
                continue
            total += size
            digest = crc32(paragraph.text.encode("utf-8", "surrogatepass"))
            if digest not in self.texts:
                new += size
                if len(self.texts) < MOST_TEXTS:
                    self.texts[digest] = 1
        if total:
            for section in page.group.yields:
                section.add(section.fresh, new / total)
                self.memory.touch(section)

    def _read_claims(self, page: KnownUrl, document: Document) -> None:
        """Read the translations that a page declares in hreflang."""
        named: dict[int, KnownUrl] = {}
        own: list[KnownUrl] = []
        for alternate in document.alternates:
            language = self.numbers.of(alternate.language)
            if language == NEITHER or not self._is_here(alternate.url):
                continue
            if are_spellings(alternate.url, page.url):
                own.append(page)
                continue
            target = self.memory.known(alternate.url, document.depth + 1)
            if language == page.language:
                own.append(target)
            if target is page:
                continue
            code = self.numbers.codes[language]
            lean = self.numbers.leaning(frozenset((code,)), WEIGHTS.sure_declared)
            if target.guess(lean, Certainty.DECLARED):
                self.memory.dirty[target] = None
            named.setdefault(language, target)
        page.is_copy = bool(own) and page not in own
        self._tie_named(page, named, Tie.DECLARED)
        if any(go_together(page.language, each) for each in named):
            page.claims = True

    def _read_switches(self, page: KnownUrl, document: Document) -> None:
        """Read the links of a page that change the language."""
        named: dict[int, KnownUrl] = {}
        for link in document.links:
            language = self._switched_to(page, link)
            if language is None or not self._is_here(link.url):
                continue
            target = self.memory.known(link.url, document.depth + 1)
            if language == page.language:
                is_twin = target.key == page.key and not are_spellings(target.url, page.url)
                page.is_copy = page.is_copy or is_twin
                continue
            if target is page or target in page.switches or len(page.switches) >= MOST_SWITCHES:
                continue
            code = self.numbers.codes[language]
            lean = self.numbers.leaning(frozenset((code,)), WEIGHTS.sure_anchor)
            target.guess(lean, Certainty.ANCHOR)
            page.switch_to(target, language)
            target.note_switch_from(page.language)
            if page.language == NEITHER:
                named.setdefault(language, target)
                continue
            self.memory.tie(page, target, Tie.SWITCH)
            if target.switched_from(page.language) == 1 or page in target.switches:
                page.claims = True
        self._tie_named(page, named, Tie.SWITCH)

    def _switched_to(self, page: KnownUrl, link: Link) -> int | None:
        """Return the wanted language that a link names or leads to, if it does."""
        codes = self.numbers.codes
        named = [codes.index(code) for code in languages_of_link(link) if code in codes]
        if named:
            return next((each for each in sorted(named) if each != page.language), page.language)
        if page.language != NEITHER and self.switches.crosses(slot_of(link)) > SURE:
            return self._only_other(page.language)
        return None

    def _only_other(self, language: int) -> int | None:
        """Return the language to which a link leads that names none, if there is only one other."""
        if self.numbers.is_pair:
            return 1 - language
        others = self.shown - {language}
        return next(iter(others)) if len(others) == 1 else None

    def _tie_named(self, page: KnownUrl, named: dict[int, KnownUrl], tie: Tie) -> None:
        """Tie a page to the translations it names; one in another language ties them together."""
        if page.language != NEITHER:
            for language, target in named.items():
                if go_together(page.language, language):
                    self.memory.tie(page, target, tie)
            return
        first, *others = [named[language] for language in sorted(named)] or (None,)
        for other in others:
            if first is not None and other is not first:
                self.memory.tie(first, other, tie)

    def _is_here(self, url: str) -> bool:
        return site_of(host_of(url)) == self.name

    def _settle(self, page: KnownUrl, mate: KnownUrl, tie: Tie) -> None:
        """Judge whether a tie was right, now that both pages are there."""
        if page.language == mate.language == NEITHER:
            return
        if tie is Tie.SWITCH and (
            page.switched_from(mate.language) > 1 or mate.switched_from(page.language) > 1
        ):
            return
        if self.evidence.is_alive(page, mate):
            self._unsettled.append((page, mate, tie))
        elif not is_pair_elsewhere(page, mate):
            self._judge_both(page, mate, tie, right=0.0)

    def settle_up(self) -> None:
        """Judge the ties of the last page, now that pairing has had its say."""
        unsettled, self._unsettled = self._unsettled, []
        for page, mate, tie in unsettled:
            right = self.evidence.settled(page, mate, tie)
            self._judge_both(page, mate, tie, right=right)
            is_mutual = tie is Tie.SWITCH and page in mate.switches
            if self.evidence.is_alive(page, mate) and (tie is Tie.DECLARED or is_mutual):
                self._confirm(page, mate)
            self._review(page)
            self._review(mate)

    def _judge_both(self, page: KnownUrl, mate: KnownUrl, tie: Tie, *, right: float) -> None:
        if not right and tie not in (max(page.ties.values()), max(mate.ties.values())):
            return  # each of them has a better reason to be tied to another
        self.evidence.judge(tie, right=right)
        if tie is max(mate.ties.values()):
            self.evidence.texts.judge(mate.text.kind, right=right)
        sections = dict.fromkeys((*page.group.yields, *mate.group.yields))
        self._kept(sections, right * min(page.text.worth, mate.text.worth))

    def _kept(self, sections: Iterable[YieldSection], amount: float) -> None:
        """Count how far a promise of a translation was kept."""
        for section in sections:
            section.add(section.kept, amount)
            self.memory.touch(section)

    def _confirm(self, one: KnownUrl, other: KnownUrl) -> None:
        """Learn how the URLs of a pair differ, once for each two languages."""
        to_other, to_one = (1 << self.numbers.side(each.language) for each in (other, one))
        if one.learned & to_other and other.learned & to_one:
            return
        one.learned |= to_other
        other.learned |= to_one
        if NEITHER in {one.language, other.language} or one.language == other.language:
            return
        self.transforms[one.language, other.language].learn(one.url, other.url)
        self.transforms[other.language, one.language].learn(other.url, one.url)

    def _review(self, page: KnownUrl) -> None:
        """Count for its sections how likely a fetched page has a translation."""
        if page.fate is not Fate.FETCHED or page.language == NEITHER:
            return
        promise = 0.0 if page.is_copy else self._promise(page)
        before = page.promise
        if before is not None and abs(promise - before) <= NEWS:
            return
        amount, weight = (promise, 1.0) if before is None else (promise - before, 0.0)
        for section in page.group.yields:
            section.add(section.paired, amount, weight)
            if page.lone:
                section.add(section.lone, amount, weight)
                section.add(section.sides[page.language], amount, weight)
            self.memory.touch(section)
        if page.rule >= 0:
            counts = self.evidence.rules[page.rule]
            counts[0] += amount
            counts[1] += weight
        page.promise = promise

    def _promise(self, page: KnownUrl) -> float:
        ties = page.ties
        best = 1.0 if any(partner not in ties for partner in page.partners) else 0.0
        for mate, tie in ties.items():
            if self.evidence.is_alive(page, mate):
                worth = min(self.evidence.worth_of_text(each) for each in (page, mate))
                promise = self.evidence.strength(page, mate, tie) * worth
                if mate.fate is Fate.WAITING:
                    wanted = self.numbers.elsewhere(mate.languages, page.language)
                    promise *= wanted * mate.group.kept
                elif mate not in page.partners:
                    promise *= self.evidence.in_silence(page, mate, tie)
                best = max(best, promise)
        return best

    def _propose(self, page: KnownUrl) -> None:
        """Look where rules predict the counterparts of a page."""
        languages = self._lacking(page) if page.is_fetched else ()
        for language in languages:
            for prediction in self.transforms[page.language, language].predict(page.url):
                target = self.memory.get(prediction.url)
                if target is not None:
                    if target.fate is not Fate.GONE and target is not page:
                        self.memory.tie(page, target, Tie.RULE)
                    continue
                if self.probing[0] >= FREE_PROBES + PROBES_PER_HIT * self.probing[1]:
                    continue
                self._probe(page, language, prediction)
        if languages:
            self._review(page)

    def _lacking(self, page: KnownUrl) -> Sequence[int]:
        """Return the languages in which a page has no likely version, and for which rules exist."""
        if self.numbers.is_pair:
            return () if (page.promise or 0.0) > LEAST_PROBE else (1 - page.language,)
        found = {
            mate.seems
            for mate, tie in page.ties.items()
            if self.evidence.is_alive(page, mate)
            and self.evidence.strength(page, mate, tie) > LEAST_PROBE
        }
        return sorted(
            target
            for source, target in self.transforms
            if source == page.language and target not in found and go_together(source, target)
        )

    def _probe(self, page: KnownUrl, language: int, prediction: Prediction) -> None:
        """Propose a URL, unless the page itself speaks against it."""
        target = self.memory.known(prediction.url, page.depth + 1)
        code = self.numbers.codes[language]
        lean = self.numbers.leaning(frozenset((code,)), WEIGHTS.sure_anchor)
        target.guess(lean, Certainty.ANCHOR)
        self.memory.tie(page, target, Tie.RULE)
        if prediction.trust * self.evidence.strength(page, target, Tie.RULE) < LEAST_PROBE:
            self.memory.end_of_waiting(target, Fate.GONE)
            return
        self.probing[0] += 1
        self.probes[target] = Probe(page.language, language, prediction.rule)
        why = f"{prediction.rule}, as in {prediction.support} pairs of this site"
        self._proposed.append(
            Proposal(target.url, self.value(target, target.url), target.depth, why)
        )
