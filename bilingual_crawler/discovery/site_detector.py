"""Whether a site has two of the wanted languages, found out with a few downloads.

As in Barbosa et al., the links that the predictor takes for switches are fetched first, and the
languages of their targets and of their page decide. What a page declares with hreflang goes before
them, since reading it costs nothing; the home page comes after them, if the detector began deeper
in the site (ILSP-FC); the sitemap comes last.

Both languages on two pages are not enough. A switch may lead to a page whose text was never
translated, to a single landing page for foreigners, to machine output or to another site. So a
second language counts if there are more pages behind its page, and no sign of machine translation.

Nothing is fetched here: `wanted` returns what to fetch; `take`, `take_sitemap` and `missed` take
the results, until there is a `verdict`.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from urllib.parse import urljoin, urlsplit

from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.discovery.site_pages import (
    PROMISES,
    Candidate,
    Candidates,
    LanguagePages,
    SitePage,
    name_of,
    read_site_page,
)
from bilingual_crawler.discovery.site_records import AGAINST, Answer, Approach, Finding, SiteVerdict
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.sitemap import Sitemap
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.resolver import UrlResolver

LIKELIHOOD = 0.8
"""The least likelihood to follow a link, and to call a site bilingual: that of Barbosa et al."""
BUDGET = 10
DECLARED = 0.95
"""The worth of the site's own word: hreflang, a sitemap."""
NAMED = 0.8
"""The worth of two links that name the two languages."""
UNKNOWN = 0.5
SERVICE_DOUBT = 0.7
"""The factor of the likelihood if a machine translation service is on the pages."""
LEADS_PER_PAGE = 2
"""Leads to one language that are followed from a page."""
LOOKS_INSIDE = 2
"""Pages of a version that are examined, if its first page leaves doubts."""
GONE = frozenset({"http_404", "http_410", "not_html"})
"""Reasons why a page is missing for good."""
SITEMAP = "/sitemap.xml"
ENOUGH = 2
"""The languages that make a site one to crawl."""
MOST_NAMED = 10
"""The most languages that a finding names."""


class SiteDetector:
    """Asks for pages of one site until it can tell whether the site has both languages.

    Of more languages than two, any two are enough.

    Links below `likelihood` are not followed, `budget` is the most requests it may take; `sitemaps`
    says whether /sitemap.xml may be requested, at the end and if all else fails.
    """

    def __init__(
        self,
        site_url: str,
        languages: ParallelLanguages,
        predictor: LinkPredictor,
        *,
        likelihood: float = LIKELIHOOD,
        budget: int = BUDGET,
        sitemaps: bool = True,
    ) -> None:
        self._languages = languages
        self._all = languages.sought_from(None)
        self._predictor = predictor
        self._likelihood = likelihood
        self._budget = budget
        self._sitemaps = sitemaps
        self._site = ""
        self._candidates = Candidates()
        self._pages: list[SitePage] = []
        self._found = LanguagePages(languages)
        self._came_by: dict[str, Candidate] = {}
        self._failed: dict[str, str] = {}
        self._findings: dict[Finding, None] = {}
        self._looked_inside: Counter[str] = Counter()
        self._verdict: SiteVerdict | None = None
        start = UrlResolver(site_url).resolve(site_url) or site_url
        self._starts_at_home = _is_home(start)
        self._settle_at(start)
        self._add(Candidate(start, "start", self._all))

    @property
    def downloads(self) -> int:
        """The number of requests so far, whatever their result."""
        return self._candidates.downloads

    @property
    def verdict(self) -> SiteVerdict | None:
        """The verdict on the site; None while it is not known."""
        return self._verdict

    def wanted(self) -> list[str]:
        """Return what to fetch next, best first; the same again until a result is reported.

        Fetching the first alone takes the fewest downloads; all of them may be fetched at once.
        """
        waiting = [] if self._verdict else self._candidates.waiting(self._found.missing)
        alike = [each.url for each in waiting if each.way == waiting[0].way]
        return alike[: max(0, self._budget - self.downloads)]

    def is_sitemap(self, url: str) -> bool:
        """Return True if a wanted URL is a sitemap, to be reported with `take_sitemap`."""
        return url in self._candidates and self._candidates[url].way == "sitemap"

    def take(self, document: Document) -> None:
        """Take a page that was fetched; a page in both languages may come as one or as two."""
        came_by = self._candidates.answered(document.requested_url or document.url, document.url)
        if came_by is not None and came_by.way == "start":
            self._settle_at(document.url)
        seen = next((page for page in self._pages if page.page.url == document.key), None)
        if not self._is_ours(document.url):
            self._note("other_site", f"{came_by or 'A page'} leads to {document.url}.")
        elif seen is None:
            for part in split_mixed(document, self._languages) or (document,):
                self._see(part, came_by)
        elif came_by is not None:
            self._explain_arrival(seen, came_by)
        self._conclude()

    def take_sitemap(self, url: str, sitemap: Sitemap) -> None:
        """Take the translations that a sitemap names."""
        self._candidates.answered(url, url)
        named: Counter[str] = Counter()
        for claim in sitemap.claims():
            for address, code in claim.alternates:
                if code in self._found.missing and self._is_ours(address):
                    named[code] += 1
                    if named[code] <= LEADS_PER_PAGE:
                        self._add(_declared(address, code, claim.url))
        for code, count in named.items():
            self._note("sitemap", f"{url} names {count:,} pages in {name_of(code)}.")
        self._conclude()

    def missed(self, url: str, reason: str) -> None:
        """Record that a page could not be fetched; `reason` is a word such as http_404."""
        came_by = self._candidates.answered(url, url)
        if came_by is not None and came_by.way != "sitemap":
            self._failed[url] = reason
            if reason in GONE and came_by.way in PROMISES:
                detail = f"{came_by} leads to {url}, which cannot be read ({reason})."
                self._note("dead_link", detail)
        self._conclude()

    def _settle_at(self, url: str) -> None:
        """Make the site the one that an address leads to in the end."""
        if not self._is_ours(url):
            self._site = site_of(host_of(url))
            self._candidates.forget_waiting()
            if self._sitemaps:
                self._add(Candidate(urljoin(url, SITEMAP), "sitemap", self._all))
        if not self._starts_at_home:
            self._add(Candidate(urljoin(url, "/"), "home", self._all))

    def _is_ours(self, url: str) -> bool:
        return site_of(host_of(url)) == self._site

    def _add(self, candidate: Candidate) -> None:
        if self._is_ours(candidate.url):
            self._candidates.add(candidate)

    def _see(self, document: Document, came_by: Candidate | None) -> None:
        page = read_site_page(document, self._languages, self._predictor, self._likelihood)
        if came_by is not None:
            self._came_by[page.page.url] = came_by
            self._explain_arrival(page, came_by)
        self._pages.append(page)
        self._found.add(page)
        if came_by is None or came_by.way != "inside":
            self._follow(page)

    def _follow(self, page: SitePage) -> None:
        """Add the candidates that a page leads to."""
        for url, code in page.declared:
            if not self._is_ours(url):
                detail = f"{page.url} declares {url}, on another site, as {name_of(code)}."
                self._note("other_site", detail)
            self._add(_declared(url, code, page.url))
        named = self._languages.codes
        for code in named if len(named) == len(self._all) else sorted(self._all):
            leads = (lead for lead in page.leads if code in lead.sought)
            for lead in islice(leads, LEADS_PER_PAGE):
                self._add(Candidate(lead.url, "link", lead.sought, page.url, lead.likelihood))
        for urls in page.paired[:1]:
            for code, url in urls.items():
                self._add(Candidate(url, "anchors", frozenset((code,)), page.url, NAMED))

    def _explain_arrival(self, page: SitePage, came_by: Candidate) -> None:
        """Record what is wrong with a page that should have been in another language."""
        if page.machine:
            detail = f"{page.url} says that it is machine-translated ({page.machine})."
            self._note("machine", detail)
        elif came_by.way not in PROMISES or page.language in came_by.sought:
            return
        elif not page.is_text:
            self._note("empty", f"{came_by} leads to {page.url}, which has hardly any text.")
        elif page.language in self._all - self._found.missing:
            detail = (
                f"{came_by} leads to {page.url}, whose text is in {name_of(page.language)}:"
                " at most its menu is translated."
            )
            self._note("menu", detail)
        else:
            detail = f"{came_by} leads to {page.url}, which is in {name_of(page.language)}."
            self._note("other_language", detail)

    def _conclude(self) -> None:
        """Say yes as soon as it is certain, no when nothing is left to look at."""
        if self._verdict is None and not self._found.missing:
            self._verdict = self._agree()
        if self._verdict is None and not self.wanted():
            self._verdict = self._decline()

    def _agree(self) -> SiteVerdict | None:
        """Judge a site on which two languages were found; None if more must be seen of it."""
        found = self._found
        mixed = found.mixed()
        if mixed is not None:
            detail = f"{mixed.url} has text in two languages, side by side."
            return self._answer("yes", DECLARED, [Finding("mixed", detail)])
        alone = [code for code in found.found if not found.has_extent(code)]
        if len(found.found) - len(alone) < ENOUGH:
            for code in alone:
                return None if self._look_inside(code) else self._call_landing_page(code)
        findings, likelihood = found.ties(self._came_by)
        if likelihood < self._likelihood:
            return None
        service = found.service()
        if service:
            detail = f"The pages use {service}, which translates by machine unless people do."
            findings.append(Finding("machine", detail))
            return self._answer("unsure", likelihood * SERVICE_DOUBT, findings)
        return self._answer("yes", likelihood, findings)

    def _look_inside(self, code: str) -> bool:
        """Return True if another page can show that a language has more than a landing page."""
        if any(each.way == "inside" for each in self._candidates.waiting(frozenset())):
            return True
        own = self._found.own_links(code)
        fresh = next((url for url in own if not self._candidates.was_asked(url)), None)
        if fresh is None or self._looked_inside[code] >= LOOKS_INSIDE:
            return False
        self._looked_inside[code] += 1
        self._add(Candidate(fresh, "inside", frozenset((code,)), self._found[code][0].url))
        return True

    def _call_landing_page(self, code: str) -> SiteVerdict:
        detail = (
            f"{name_of(code)} is only on {self._found[code][0].url}, which leads to no further"
            " page in that language."
        )
        return self._answer("no", 1 - self._likelihood, [Finding("landing", detail)])

    def _decline(self) -> SiteVerdict:
        """Say no, or unsure, when there is nothing left to ask for."""
        if not any(page.is_text for page in self._pages):
            return self._answer("unsure", UNKNOWN, self._nothing_read())
        left = self._candidates.waiting(self._found.missing)
        promising = [each for each in left if each.way in PROMISES or each.way == "inside"]
        if promising:
            detail = f"{self.downloads} downloads are spent, and {len(promising)} links are left."
            return self._answer("unsure", UNKNOWN, [Finding("budget", detail)])
        if not self._found.missing:
            names = " and ".join(map(name_of, self._found.found))
            detail = f"{names} are there, but nothing ties them together."
            return self._answer("unsure", UNKNOWN, [Finding("no_tie", detail)])
        refused = [
            f"{url} could not be read ({reason})"
            for url, reason in self._failed.items()
            if reason not in GONE and self._candidates[url].way in PROMISES
        ]
        if refused:
            return self._answer("unsure", UNKNOWN, [Finding("refused", f"{'; '.join(refused)}.")])
        self._note_objections()
        return self._answer("no", max(page.doubtful for page in self._pages))

    def _nothing_read(self) -> list[Finding]:
        if self._pages:
            return [Finding("empty", f"{self._pages[0].url} has hardly any text.")]
        missed = "; ".join(f"{url} ({reason})" for url, reason in self._failed.items())
        return [Finding("unreachable", f"Nothing could be read: {missed}.")]

    def _note_objections(self) -> None:
        """Record why a site is not bilingual, if that was not seen on the way."""
        for page in self._pages:
            if page.proxied or page.service:
                how = "links to a service that translates" if page.proxied else "can be translated"
                self._note("machine", f"{page.url} {how} by machine ({page.service or 'a proxy'}).")
            if page.away:
                detail = f"{page.url} links to {page.away}, on another site, for another language."
                self._note("other_site", detail)
        if not any(finding.word in AGAINST for finding in self._findings):
            missing = sorted(self._found.missing)
            names = " or ".join(map(name_of, missing))
            if len(missing) > MOST_NAMED:
                names = "another wanted language"
            pages = "page" if len(self._pages) == 1 else f"{len(self._pages)} pages"
            self._note("no_link", f"No link on the {pages} read is likely to lead to {names}.")

    def _note(self, word: str, detail: str) -> None:
        self._findings[Finding(word, detail)] = None

    def _answer(
        self, answer: Answer, likelihood: float, findings: Iterable[Finding] = ()
    ) -> SiteVerdict:
        characters: Counter[str] = Counter()
        for page in self._pages:
            characters[page.language or "und"] += page.characters
        total = characters.total() or 1
        return SiteVerdict(
            site=self._site,
            answer=answer,
            likelihood=likelihood,
            languages=tuple((code, count / total) for code, count in characters.most_common()),
            findings=tuple(dict.fromkeys((*findings, *self._findings))),
            entries=self._found.entries,
            downloads=self.downloads,
        )


def _declared(url: str, code: str, source: str) -> Candidate:
    return Candidate(url, "alternates", frozenset((code,)), source, DECLARED)


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query


class Examination:
    """A site under examination, one page at a time, until there is a verdict.

    The detector stops as soon as it is sure, so pages requested together might be requested in
    vain; and a site met for the first time should be asked gently.
    """

    def __init__(self, site: str, approach: Approach, detector: SiteDetector) -> None:
        self.site = site
        self.approach = approach
        self._detector = detector
        self._under_way: str | None = None

    @property
    def verdict(self) -> SiteVerdict | None:
        """The verdict, once there is one."""
        return self._detector.verdict

    def take(self, asked: str, document: Document) -> None:
        """Take a page: the first one, or the one that was requested."""
        self._arrived(asked)
        self._detector.take(document)

    def missed(self, asked: str, reason: str) -> None:
        """Record that the requested page could not be fetched."""
        self._arrived(asked)
        self._detector.missed(asked, reason)

    def is_waiting_for(self, url: str) -> bool:
        """Return True if this very page was requested."""
        return self._under_way == url

    def next(self) -> str | None:
        """Return the page to request now; None while one is under way, or if none is wanted."""
        if self._under_way is not None or self._detector.verdict is not None:
            return None
        self._under_way = next(iter(self._detector.wanted()), None)
        return self._under_way

    def _arrived(self, url: str) -> None:
        if self._under_way == url:
            self._under_way = None
