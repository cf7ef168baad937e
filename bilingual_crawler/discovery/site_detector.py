"""Whether a site has two languages, found out with a few downloads.

As in Barbosa et al. the links that the predictor takes for switches are fetched first, and the
language of what they lead to and of the page they stand on decides. What a page declares with
hreflang goes before them, since it costs nothing to read; the home page comes after them, if the
detector began deeper in the site (ILSP-FC); the sitemap comes last.

Both languages on two pages are not enough. A switch may lead to a page whose text was never
translated, to one landing page for foreigners, to machine output or to somebody else's site. So a
second language counts if its page has pages of its own behind it, and says nothing of machines.

Nothing is fetched here: `wanted` tells what to fetch, `take`, `take_sitemap` and `missed` are told
what came of it, until there is a `verdict`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Literal, NamedTuple
from urllib.parse import urljoin

from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.discovery.site_page import SitePage, read_site_page
from bilingual_crawler.discovery.verdict import Answer, Finding, Verdict
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.sitemap import Sitemap
from bilingual_crawler.hosts import host_of, site_of
from bilingual_crawler.languages import LanguagePair, find_language
from bilingual_crawler.pairing.matcher import DETECTORS, Matcher
from bilingual_crawler.scoring.url_language import announced_languages

LIKELIHOOD = 0.8
"""From which a link is followed, and a site is called bilingual: what Barbosa et al. crawl with."""
BUDGET = 10
DECLARED = 0.95
"""What the word of the site itself is worth: hreflang, a sitemap."""
NAMED = 0.8
"""What two links are worth that name the two languages."""
LOOKS_ALIKE = 0.9
"""The probability from which two pages are said to look like translations."""
LIKENESS_WORTH = 0.5
"""What that is worth: without rivals, pages of one site all look somewhat alike."""
SERVICE_DOUBT = 0.7
"""What is left of the likelihood where a service that translates by machine is on the pages."""
LEADS_A_PAGE = 2
"""Leads to one language that are followed from a page."""
OWN_LINKS, OWN_SHARE = 3, 0.3
"""Links to pages that the other language does not link to, which make a version of a page."""
SMALL_SITE = 5
"""A page with fewer links to its own site may well be all there is."""
LOOKS_INSIDE = 2
"""Pages of a version that are looked at, where its first page leaves doubts."""
MIXED_TEXT = 300
"""Characters of each language on a page that has both."""
GONE = frozenset({"http_404", "http_410", "not_html"})
"""Why a page is missed for good."""
CLAIMS = frozenset({"alternates", "switches", "url_model", "same_page"})
SITEMAP = "/sitemap.xml"

Way = Literal["start", "alternates", "link", "inside", "anchors", "home", "sitemap"]
_RANK: dict[Way, int] = {
    "start": 0,
    "inside": 1,
    "alternates": 2,
    "link": 3,
    "home": 4,
    "anchors": 5,
    "sitemap": 6,
}


class _Candidate(NamedTuple):
    """A page that may show another language."""

    url: str
    way: Way
    sought: frozenset[str]
    source: str = ""
    """The page that led to it."""
    likelihood: float = 1.0

    @property
    def rank(self) -> tuple[int, float]:
        return _RANK[self.way], -self.likelihood


class SiteDetector:
    """Asks for pages of one site until it can tell whether the site has both languages.

    `likelihood` is that from which a link is followed, `budget` the most requests it may take;
    `sitemaps` says whether /sitemap.xml may be asked for, at the end and if all else fails.
    """

    def __init__(
        self,
        site_url: str,
        pair: LanguagePair,
        predictor: LinkPredictor,
        *,
        likelihood: float = LIKELIHOOD,
        budget: int = BUDGET,
        sitemaps: bool = True,
    ) -> None:
        self._pair = pair
        self._predictor = predictor
        self._likelihood = likelihood
        self._budget = budget
        self._start = site_url.partition("#")[0]
        self._site = site_of(host_of(site_url))
        self._candidates: dict[str, _Candidate] = {}
        self._asked: set[str] = set()
        self._pages: list[SitePage] = []
        self._came_by: dict[str, _Candidate] = {}
        self._failed: dict[str, str] = {}
        self._findings: dict[Finding, None] = {}
        self._looked_inside: Counter[str] = Counter()
        self._downloads = 0
        everything = frozenset(pair.codes)
        self._add(_Candidate(self._start, "start", everything))
        self._add_home(self._start)
        if sitemaps:
            self._add(_Candidate(urljoin(self._start, SITEMAP), "sitemap", everything))
        self._verdict: Verdict | None = None

    @property
    def downloads(self) -> int:
        """The requests that were made so far, whatever came of them."""
        return self._downloads

    @property
    def verdict(self) -> Verdict | None:
        """What is to be said of the site; None while that is not known."""
        return self._verdict

    def wanted(self) -> list[str]:
        """What to fetch next, best first; the same again until something is told of it."""
        if self._verdict is not None:
            return []
        waiting = sorted(self._waiting(), key=lambda candidate: candidate.rank)
        return [each.url for each in waiting][: self._budget - self._downloads]

    def is_sitemap(self, url: str) -> bool:
        """Whether a wanted URL is that of a sitemap, to be told with `take_sitemap`."""
        candidate = self._candidates.get(url)
        return candidate is not None and candidate.way == "sitemap"

    def take(self, document: Document) -> None:
        """Read a page that was fetched; a page in both languages may come as one or as two."""
        came_by = self._answered(document.requested_url or document.url, document.url)
        if came_by is not None and came_by.way == "start":
            self._settle_at(document.url)
        if site_of(host_of(document.url)) != self._site:
            self._note("other_site", f"{_of(came_by)} leads to another site, {document.url}.")
        elif seen := next((page for page in self._pages if page.page.url == document.key), None):
            if came_by is not None:
                self._explain_arrival(seen, came_by)
        else:
            for part in split_mixed(document, self._pair) or (document,):
                self._see(part, came_by)
        self._conclude()

    def take_sitemap(self, url: str, sitemap: Sitemap) -> None:
        """Read the translations that a sitemap names."""
        self._answered(url, url)
        named: Counter[str] = Counter()
        for claim in sitemap.claims():
            for address, code in claim.alternates:
                if code in self._missing() and self._is_ours(address):
                    named[code] += 1
                    if named[code] <= LEADS_A_PAGE:
                        sought = frozenset((code,))
                        found = _Candidate(address, "alternates", sought, claim.url, DECLARED)
                        self._add(found)
        for code, count in named.items():
            detail = f"{url} names versions in {_name(code)} of {count:,} pages."
            self._note("sitemap", detail)
        self._conclude()

    def missed(self, url: str, reason: str) -> None:
        """Learn that a page could not be had; `reason` is a word such as http_404 or robots_txt."""
        came_by = self._answered(url, url)
        if came_by is not None and came_by.way != "sitemap":
            self._failed[url] = reason
            if reason in GONE and came_by.way in {"alternates", "link"}:
                detail = f"{_of(came_by)} leads to {url}, which does not exist ({reason})."
                self._note("dead_link", detail)
        self._conclude()

    def _answered(self, asked: str, found: str) -> _Candidate | None:
        """Count a request once, under whichever name it is told."""
        known = found if asked not in self._candidates and found in self._candidates else asked
        self._downloads += known not in self._asked
        self._asked.update((asked, found))
        return self._candidates.get(known)

    def _settle_at(self, url: str) -> None:
        """Let the site be the one that the first address leads to."""
        if site_of(host_of(url)) != self._site:
            self._site = site_of(host_of(url))
            self._candidates = {
                each.url: each for each in self._candidates.values() if each.way == "start"
            }
            everything = frozenset(self._pair.codes)
            self._add(_Candidate(urljoin(url, SITEMAP), "sitemap", everything))
        self._add_home(url)

    def _add(self, candidate: _Candidate) -> None:
        if candidate.url in self._asked or not self._is_ours(candidate.url):
            return
        known = self._candidates.get(candidate.url)
        if known is None or candidate.rank < known.rank:
            self._candidates[candidate.url] = candidate

    def _add_home(self, url: str) -> None:
        self._add(_Candidate(urljoin(url, "/"), "home", frozenset(self._pair.codes)))

    def _is_ours(self, url: str) -> bool:
        return site_of(host_of(url)) == self._site

    def _see(self, document: Document, came_by: _Candidate | None) -> None:
        page = read_site_page(document, self._pair, self._predictor, self._likelihood)
        self._pages.append(page)
        if came_by is not None:
            self._came_by[page.page.url] = came_by
            self._explain_arrival(page, came_by)
        if came_by is None or came_by.way != "inside":
            self._follow(page)

    def _follow(self, page: SitePage) -> None:
        """Take in the ways that lead from a page to other languages."""
        for url, code in page.declared:
            if not self._is_ours(url):
                detail = f"{page.url} declares {url}, on another site, as {_name(code)}."
                self._note("other_site", detail)
            self._add(_Candidate(url, "alternates", frozenset((code,)), page.url, DECLARED))
        for code in self._pair.codes:
            leads = (lead for lead in page.leads if code in lead.sought)
            for lead in islice(leads, LEADS_A_PAGE):
                self._add(_Candidate(lead.url, "link", lead.sought, page.url, lead.likelihood))
        for urls in page.paired[:1]:
            for url, code in zip(urls, self._pair.codes, strict=True):
                self._add(_Candidate(url, "anchors", frozenset((code,)), page.url, NAMED))

    def _explain_arrival(self, page: SitePage, came_by: _Candidate) -> None:
        """Say what is wrong with a page that should have been in another language."""
        if page.machine:
            detail = f"{page.url} says that it is machine-translated ({page.machine})."
            self._note("machine", detail)
        elif (
            came_by.way not in {"alternates", "link", "anchors"} or page.language in came_by.sought
        ):
            return
        elif not page.is_text:
            self._note("empty", f"{_of(came_by)} leads to {page.url}, which has hardly any text.")
        elif page.language in self._found():
            detail = (
                f"{_of(came_by)} leads to {page.url}, whose text is in {_name(page.language)}:"
                " not more than its menu is translated."
            )
            self._note("menu", detail)
        else:
            detail = f"{_of(came_by)} leads to {page.url}, which is in {_name(page.language)}."
            self._note("other_language", detail)

    def _found(self) -> dict[str, list[SitePage]]:
        """The pages that show a language of the pair, by its code."""
        found: dict[str, list[SitePage]] = {}
        for page in self._pages:
            if page.counts and page.language in self._pair:
                found.setdefault(page.language, []).append(page)
        return found

    def _missing(self) -> frozenset[str]:
        return frozenset(self._pair.codes) - self._found().keys()

    def _waiting(self) -> Iterator[_Candidate]:
        """What is worth fetching, as things stand."""
        missing = self._missing()
        for candidate in self._candidates.values():
            if candidate.url in self._asked:
                continue
            if candidate.way in {"start", "inside", "home"} or candidate.sought & missing:
                yield candidate

    def _conclude(self) -> None:
        """Say yes as soon as that is sure, no when nothing is left to look at."""
        if self._verdict is not None:
            return
        found = self._found()
        if len(found) == len(self._pair.codes) and self._is_settled(found):
            self._verdict = self._agree(found)
        if self._verdict is None and not self.wanted():
            self._verdict = self._decline(found)

    def _is_settled(self, found: dict[str, list[SitePage]]) -> bool:
        """Whether each language has pages of its own, or is known to have none."""
        if self._mixed(found) is not None:
            return True
        for code in self._pair.codes:
            if not self._has_extent(code, found):
                fresh = [url for url in self._own_links(code, found) if url not in self._asked]
                left = LOOKS_INSIDE - self._looked_inside[code]
                if fresh and left > 0 and not self._strikes(code):
                    waits = any(
                        each.way == "inside" and each.url not in self._asked
                        for each in self._candidates.values()
                    )
                    if not waits:
                        self._looked_inside[code] += 1
                        source = found[code][0].url
                        self._add(_Candidate(fresh[0], "inside", frozenset((code,)), source))
                    return False
        return True

    def _has_extent(self, code: str, found: dict[str, list[SitePage]]) -> bool:
        """Whether a language has more on the site than one page for those who ask."""
        pages, others = found[code], found[self._pair.other(code).code]
        if len({page.url for page in pages}) > 1:
            return True
        if max(len(page.inside) for page in (*pages, *others)) < SMALL_SITE:
            return True
        own, every = self._own_links(code, found), set(pages[0].inside)
        return len(own) >= OWN_LINKS and len(own) >= OWN_SHARE * len(every)

    def _own_links(self, code: str, found: dict[str, list[SitePage]]) -> list[str]:
        """Where the pages of one language lead, and those of the other do not."""
        others = {
            url for page in found[self._pair.other(code).code] for url in (page.url, *page.inside)
        }
        inside = dict.fromkeys(url for page in found[code] for url in page.inside)
        return [url for url in inside if url not in others or announced_languages(url) == {code}]

    def _strikes(self, code: str) -> int:
        """How often a look inside a version has found another language."""
        return sum(
            1
            for page in self._pages
            if page.is_text
            and page.language != code
            and (came := self._came_by.get(page.page.url)) is not None
            and came.way == "inside"
            and code in came.sought
        )

    def _agree(self, found: dict[str, list[SitePage]]) -> Verdict | None:
        """Say yes, if something ties the languages together and each is more than a page."""
        mixed = self._mixed(found)
        if mixed is not None:
            detail = f"{mixed.url} has text in both languages, side by side."
            return self._say("yes", DECLARED, found, [Finding("mixed", detail)])
        for code in self._pair.codes:
            if not self._has_extent(code, found):
                detail = (
                    f"{_name(code)} is on {found[code][0].url} alone: that page has no pages in"
                    " this language behind it."
                )
                return self._say("no", 1 - self._likelihood, found, [Finding("landing", detail)])
        findings, likelihood = self._ties(found)
        if likelihood < self._likelihood:
            return None
        service = self._doubtful_service(found)
        if service:
            likelihood *= SERVICE_DOUBT
            detail = (
                f"The pages use {service}, which translates by machine; they do not say whether"
                " people did it here."
            )
            findings.append(Finding("machine", detail))
            return self._say("unsure", likelihood, found, findings)
        return self._say("yes", likelihood, found, findings)

    def _ties(self, found: dict[str, list[SitePage]]) -> tuple[list[Finding], float]:
        """What makes pages in two languages versions of each other, and how sure that is."""
        findings: list[Finding] = []
        doubt, tied = 1.0, set[str]()
        for pages in found.values():
            for page in pages:
                came_by = self._came_by.get(page.page.url)
                if came_by is None or came_by.way not in {"alternates", "link", "anchors"}:
                    continue
                if came_by.way not in tied:
                    doubt *= 1 - came_by.likelihood
                    tied.add(came_by.way)
                detail = f"{_of(came_by)} leads to {page.url}, in {_name(page.language)}."
                findings.append(Finding(came_by.way, detail))
        findings += [
            Finding("languages", f"The text of {pages[0].url} is in {_name(code)}.")
            for code, pages in found.items()
        ]
        alike = self._likeness(found)
        if alike is not None and alike[0] >= LOOKS_ALIKE:
            doubt *= 1 - LIKENESS_WORTH if tied else 1.0
            detail = f"{alike[1]} and {alike[2]} look like translations of each other."
            findings.append(Finding("translation", detail))
        return findings, 1 - doubt

    def _likeness(self, found: dict[str, list[SitePage]]) -> tuple[float, str, str] | None:
        """The two pages that look most like translations, as pairing sees them."""
        matcher = Matcher(self._pair, frozenset(DETECTORS) - CLAIMS)
        for pages in found.values():
            for page in pages:
                matcher.hold(page.page)
        best: tuple[float, str, str] | None = None
        for one, other in product(*(found[code] for code in self._pair.codes)):
            weighed = matcher.weigh(one.page.url, other.page.url)
            if weighed is not None and (best is None or weighed.score > best[0]):
                best = weighed.score, one.url, other.url
        return best

    def _mixed(self, found: dict[str, list[SitePage]]) -> SitePage | None:
        """A page that has enough text in both languages."""
        first, second = (
            {page.url: page for page in found.get(code, ()) if page.characters >= MIXED_TEXT}
            for code in self._pair.codes
        )
        return next((first[url] for url in first if url in second), None)

    def _doubtful_service(self, found: dict[str, list[SitePage]]) -> str:
        """A service that may have made one of the versions; a browser's own makes none."""
        services = {page.service for pages in found.values() for page in pages}
        return min(services - {"", "google", "microsoft"}, default="")

    def _decline(self, found: dict[str, list[SitePage]]) -> Verdict:
        """Say no, or that it is not known, when there is nothing left to ask for."""
        if not any(page.is_text for page in self._pages):
            return self._say("unsure", 0.5, found, self._unreachable())
        if len(found) == len(self._pair.codes):
            detail = "Both languages are there, but nothing says that they are versions."
            return self._say("unsure", 0.5, found, [Finding("no_tie", detail)])
        left = [each for each in self._waiting() if each.way in {"alternates", "link"}]
        if left:
            detail = f"{self._downloads} downloads were spent, and {len(left)} links are left."
            return self._say("unsure", 0.5, found, [Finding("budget", detail)])
        refused = {
            url: reason
            for url, reason in self._failed.items()
            if reason not in GONE and self._candidates[url].way in {"alternates", "link"}
        }
        if refused:
            detail = "; ".join(f"{url} could not be read ({why})" for url, why in refused.items())
            return self._say("unsure", 0.5, found, [Finding("refused", f"{detail}.")])
        return self._say("no", self._doubt(), found, self._objections())

    def _unreachable(self) -> list[Finding]:
        if self._pages:
            return [Finding("empty", f"{self._pages[0].url} has hardly any text.")]
        detail = "; ".join(f"{url} could not be read ({why})" for url, why in self._failed.items())
        return [Finding("unreachable", f"{detail or 'Nothing could be read'}.")]

    def _doubt(self) -> float:
        """How likely the site has both languages after all."""
        return max((page.doubtful for page in self._pages), default=0.0)

    def _objections(self) -> list[Finding]:
        """Why a site is not bilingual, where that was not seen on the way."""
        findings = []
        for page in self._pages:
            if page.proxied:
                detail = f"{page.url} links to a service that translates by machine."
                findings.append(Finding("machine", detail))
            elif page.service:
                detail = f"{page.url} offers to be translated by machine ({page.service})."
                findings.append(Finding("machine", detail))
            if page.away:
                detail = f"{page.url} links to {page.away}, on another site, for another language."
                findings.append(Finding("other_site", detail))
        seen = {finding.word for finding in (*self._findings, *findings)}
        if not seen & {"menu", "machine", "other_site", "dead_link", "other_language", "empty"}:
            names = " or ".join(_name(code) for code in sorted(self._missing()))
            pages = "page" if len(self._pages) == 1 else f"{len(self._pages)} pages"
            detail = f"No link on the {pages} read is likely to lead to {names}."
            findings.append(Finding("no_link", detail))
        return findings

    def _note(self, word: str, detail: str) -> None:
        self._findings[Finding(word, detail)] = None

    def _say(
        self,
        answer: Answer,
        likelihood: float,
        found: dict[str, list[SitePage]],
        findings: Iterable[Finding],
    ) -> Verdict:
        characters: Counter[str] = Counter()
        for page in self._pages:
            characters[page.language or "und"] += page.characters
        total = characters.total() or 1
        return Verdict(
            site=self._site,
            answer=answer,
            likelihood=min(1.0, likelihood),
            languages=tuple((code, count / total) for code, count in characters.most_common()),
            findings=tuple(dict.fromkeys((*findings, *self._findings))),
            entries=tuple((code, pages[0].url) for code, pages in found.items()),
            downloads=self._downloads,
        )


def _of(candidate: _Candidate | None) -> str:
    """What led to a page, at the beginning of a sentence."""
    if candidate is None or not candidate.source:
        return "The address"
    if candidate.way == "alternates":
        return f"The version that {candidate.source} declares"
    return f"A link on {candidate.source}"


def _name(code: str) -> str:
    return find_language(code).name if code else "no language that is known"
