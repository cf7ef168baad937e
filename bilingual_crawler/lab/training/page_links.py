"""Which pages link to which: the negatives that a crawler meets (SBFC, section 3.1).

The links come from tables, or from recorded sites (WARC), whose pages are parsed as in a crawl.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bilingual_crawler.lab.labels import (
    LabelledPair,
    SkippedLines,
    link_rows,
    registered_domain,
)
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.lab.training.negatives import DomainUrls, genuine_negatives
from bilingual_crawler.store.warc_reader import OK

RECORDED = (".warc", ".warc.gz")


class PageLinks:
    """The links of pages, by registered domain, and the languages of the linked pages."""

    def __init__(
        self,
        paths: Iterable[Path] = (),
        *,
        skipped: SkippedLines | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._links: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._languages: dict[str, str] = {}
        for path in paths:
            tell(f"Reading links from {path.name}")
            recorded = path.name.endswith(RECORDED)
            rows = _recorded(path) if recorded else link_rows(str(path), skipped or SkippedLines())
            for page, link, language in rows:
                self._links[registered_domain(page)][page].append(link)
                if language:
                    self._languages[link] = language

    def __bool__(self) -> bool:
        return bool(self._links)

    def negatives(self, domain: str, site: DomainUrls) -> Iterator[LabelledPair]:
        """Yield the links of the pages of a site that link to their translations."""
        links = self._links.get(domain)
        if links:
            known = {url: code for code, urls in site.urls.items() for url in urls if code}
            languages = {
                url: known.get(url) or self._languages.get(url, "")
                for urls in links.values()
                for url in urls
            }
            yield from genuine_negatives(site, links, languages)

    def negatives_of(self, pairs: Iterable[LabelledPair]) -> Iterator[LabelledPair]:
        """Yield the same for all sites of some pairs."""
        sites: defaultdict[str, list[LabelledPair]] = defaultdict(list)
        for pair in pairs:
            if pair.domain in self._links:
                sites[pair.domain].append(pair)
        for domain in sorted(sites):
            yield from dict.fromkeys(self.negatives(domain, DomainUrls(sites[domain])))


def _recorded(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield page, linked page and its language, for all links between recorded pages."""
    site = RecordedSite(Recording(path), ())
    languages: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    for page in site.recording.pages:
        answer = site.answer(page)
        if answer is None or answer.status != OK:
            continue
        document = site.document(page, answer)
        languages[page] = document.language or ""
        links[page] = [
            target for link in document.links if (target := site.recording.page_of(link.url))
        ]
    for page, targets in links.items():
        for target in dict.fromkeys(targets):
            yield page, target, languages.get(target, "")
