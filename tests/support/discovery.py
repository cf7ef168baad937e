"""A search for bilingual sites without a network, for the tests of discovery."""

from bilingual_crawler.config.discovery import STRATEGIES
from bilingual_crawler.discovery.graph import OutLink
from bilingual_crawler.discovery.learner import Learner
from bilingual_crawler.discovery.search import Search
from bilingual_crawler.discovery.site_records import Approach, SiteRecord, Standing
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.hosts import host_of, site_of


def open_search(path, strategy="back-forward", learn_after=10, pages=0, **options):
    """A search whose journal lies in `path`; close the journal to be able to go on with it."""
    chosen = STRATEGIES[strategy]
    journal = Journal(path / "crawl.sqlite")
    learner = Learner(learn_after, learns=chosen.learns, pages=pages)
    return Search(journal, chosen, learner, **options), journal


def close(search, journal):
    search.graph.close()
    journal.close()


def to(*urls, words=("anchor:x",)):
    """Links to other sites as they are found on a page."""
    return [OutLink(url, site_of(host_of(url)), words) for url in urls]


def verdict(search, url, bilingual, words=(), via=""):
    """Tell a search how the examination of a page's site has ended."""
    standing = Standing.BILINGUAL if bilingual else Standing.OTHER
    search.judged(SiteRecord(site_of(host_of(url)), standing, Approach(url, words, via), 2))


def urls(candidates):
    return [candidate.approach.url for candidate in candidates]
