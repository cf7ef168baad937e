"""Hand-made sites, crawled by the whole engine inside the test's own process."""

from dataclasses import dataclass, field
from typing import Any

from scrapy.crawler import CrawlerRunner
from twisted.internet.threads import blockingCallFromThread

from bilingual_crawler.spiders.bilingual import BilingualSpider
from tests.support.crawling import FAST
from tests.support.fetching import HTML, NOT_FOUND, Site, running_reactor

TEXTS = {
    "spa": (
        "La universidad comenzará el nuevo curso en septiembre y los estudiantes tendrán abierto "
        "el plazo de inscripción hasta finales de julio. El ayuntamiento de {name} ha aprobado "
        "también las ayudas para los jóvenes que quieran estudiar fuera de la provincia."
    ),
    "eus": (
        "Euskal Herriko unibertsitateak ikasturte berria hasiko du irailean, eta ikasleek "
        "izena emateko epea zabalik izango dute uztailaren amaierara arte. {name} herriko udalak "
        "laguntzak onartu ditu kanpoan ikasi nahi duten gazteentzat ere."
    ),
    "eng": (
        "The university will begin the new year in September, and the students may enrol until "
        "the end of July, as they did in the years before. The council of {name} has also agreed "
        "on grants for young people who want to study abroad."
    ),
}


@dataclass
class Page:
    """A page of a hand-made site: its language, what it links to, what it declares."""

    language: str
    links: list[str] = field(default_factory=list)
    alternates: dict[str, str] = field(default_factory=dict)

    def html(self, path):
        name = "".join(letter if letter.isalnum() else " " for letter in path).title()
        head = "".join(
            f'<link rel="alternate" hreflang="{code}" href="{url}">'
            for code, url in self.alternates.items()
        )
        links = "".join(f'<li><a href="{url}">{url}</a></li>' for url in self.links)
        text = TEXTS[self.language].format(name=name)
        return (
            f"<!doctype html><html><head><title>{name}</title>{head}</head><body>"
            f"<h1>{name}</h1><p>{text}</p><p>{name}: {text}</p><ul>{links}</ul></body></html>"
        ).encode()


class HandMade(Site):
    """A server with these pages and nothing else."""

    def __init__(self, pages):
        super().__init__({path: (200, HTML, page.html(path)) for path, page in pages.items()})

    def answer_to(self, path):
        return self.answers.get(path, NOT_FOUND)


@dataclass
class Outcome:
    """What came of a crawl: the paths in the order they were asked for, and the stats."""

    asked: list[str]
    stats: dict[str, Any]

    def __getitem__(self, name):
        return self.stats.get(f"bilingual/{name}", 0)


def settings_for(scorer, **settings):
    return {
        **FAST,
        "ADDONS": {"bilingual_crawler.addon.BilingualCrawler": 500},
        **({"BILINGUAL_SCORER": scorer} if scorer else {}),
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "LOG_ENABLED": False,
        "HTTPPROXY_ENABLED": False,
        **settings,
    }


def begin(site, output, scorer, arguments=None, **settings):
    """Start a crawl; the crawler, and what to call to wait for its end."""
    reactor = running_reactor()
    runner: Any = CrawlerRunner(settings_for(scorer, **settings))
    crawler = runner.create_crawler(BilingualSpider)
    usual = {"langs": "spa-eus", "seeds": f"{site.url}/", "output": str(output)}
    given = usual | (arguments or {})
    before = len(site.pages_asked)

    def run():
        blockingCallFromThread(reactor, runner.crawl, crawler, **given)
        return Outcome(site.pages_asked[before:], crawler.stats.get_stats())

    return crawler, run


def crawl_site(site, output, scorer, arguments=None, **settings):
    """A whole crawl, one page at a time, so that the order of requests is the order of scores."""
    return begin(site, output, scorer, arguments, **settings)[1]()
