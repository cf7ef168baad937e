"""A user's source of backlinks: what links to a site of the synthetic web."""

from bilingual_crawler.discovery.backlinks import BacklinkProvider
from bilingual_crawler.urls.hosts import host_of, site_of
from tests.support.synthetic_web.web import Web


class WebBacklinks(BacklinkProvider):
    """Answers as the search engine of the synthetic web does."""

    web = Web(70, 4, 0.35)

    def sources_of(self, site: str, most: int) -> list[str]:
        found = [source for target, source in self.web.backlinks() if _site(target) == site]
        if not found:
            raise LookupError(f"no page links to {site}")
        return ["no address", *found]


def _site(url: str) -> str:
    return site_of(host_of(url))
