"""Whole crawls of sites that choose the language of a page by who asks for it."""

from collections import Counter
from contextlib import ExitStack
from http.cookies import SimpleCookie
from typing import NamedTuple

import pytest

from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.corpus.sources.reading import SourceReading, warc_documents
from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.warc_reader import read_records
from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.crawling import crawl, documents, pairs, report
from tests.support.fetching import HTML, NOT_FOUND, Site
from tests.support.recordings import page, to

pytestmark = pytest.mark.crawl

ON = {"BILINGUAL_NEGOTIATE": 1}
PAGES = ("/", "/uno", "/dos")


def text(language, host, path, links=""):
    """A page of a site: the same notice on all, with a number of its own."""
    number = int(host.rpartition(".")[2]) * 1000 + 11 * PAGES.index(path)
    own = page(language, number, to(*PAGES) + links).decode()
    notice = SPANISH if language == "es" else BASQUE
    more = "".join(f"<p>{each} ({number})</p>" for each in notice)
    return own.replace("</body>", f"{more}</body>").encode()


def language_asked_for(request):
    """The language that a simple server would take from an Accept-Language header."""
    return "eu" if request.headers.get("Accept-Language", "").startswith("eu") else "es"


def host_of(request):
    return request.server.server_address[0]


def cookie_of(request, name):
    found = SimpleCookie(request.headers.get("Cookie", "")).get(name)
    return found.value if found else None


class NegotiatingSite(Site):
    """Answers every page by `choose(request, path, number of the request)`."""

    def __init__(self, choose, answers=None, host="127.0.0.1"):
        super().__init__(answers, host)
        self.choose = choose
        self.fetched = []

    def answer_to(self, path):
        if path not in PAGES:
            return super().answer_to(path)

        def answer(request):
            self.fetched.append((path, language_asked_for(request)))
            return self.choose(request, path, len(self.fetched))

        return answer


def by_header(request, path, _number):
    return 200, HTML, text(language_asked_for(request), host_of(request), path)


def variants_of(found):
    return Counter(
        (each["url"].rpartition("/")[2], each["variant"], each["language"]) for each in found
    )


BOTH = {(path[1:], code, code): 1 for path in PAGES for code in ("spa", "eus")}


@pytest.fixture(scope="module")
def header_crawl(tmp_path_factory):
    """A site that goes by the header, crawled in two runs, with an archive."""
    output = tmp_path_factory.mktemp("negotiation") / "out"
    settings = ON | {"BILINGUAL_WARC": 1}
    with NegotiatingSite(by_header) as site:
        crawl(site.url + "/", output, settings=settings | {"CLOSESPIDER_PAGECOUNT": 3})
        first = list(site.fetched)
        crawl(site.url + "/", output, settings=settings)
    return output, first, site.fetched[len(first) :]


def test_every_page_of_a_host_that_goes_by_the_header_is_fetched_in_both_languages(header_crawl):
    output, _, _ = header_crawl
    assert variants_of(documents(output)) == BOTH


def test_the_two_documents_of_one_address_are_a_pair(header_crawl):
    output, _, _ = header_crawl
    found = pairs(output)
    assert len(found) == len(PAGES)
    for pair in found:
        assert pair["url1"].removesuffix("#variant=spa") == pair["url2"].removesuffix(
            "#variant=eus"
        )
        assert pair["evidence"][0]["detector"] == "same_page"


def test_a_resumed_crawl_knows_which_hosts_have_both_languages(header_crawl):
    _, first, second = header_crawl
    asked = Counter(first + second)
    assert asked["/", "es"] == 2, "once as a page, once to make sure"
    assert asked["/", "eu"] == 3, "twice to find out, once as a page"
    assert all(asked[path, code] == 1 for path in PAGES[1:] for code in ("es", "eu")), asked
    assert second, "there was something left for the second run"


def test_the_archive_tells_the_variants_of_an_address_apart(header_crawl):
    output, _, _ = header_crawl
    marks: Counter[tuple[str, str]] = Counter()
    for file in output.glob("*.warc.gz"):
        for record in read_records(file, lambda at: pytest.fail(str(at))):
            if record.headers.get("WARC-Type") == "response":
                url = record.headers["WARC-Target-URI"]
                marks[url.rpartition("/")[2], record.headers.get("X-Crawler-Variant")] += 1
    for path in PAGES:
        assert marks[path[1:], None] == 1
        assert marks[path[1:], "eus"] == 1


def test_both_documents_are_read_back_from_the_archive(header_crawl):
    output, _, _ = header_crawl
    search = PairSearch(LanguagePair.parse("spa-eus"))
    (file,) = output.glob("*.warc.gz")
    for found in warc_documents(file, SourceReading(search.languages, skips=search.skips)):
        search.take(found)
    search.finish()
    assert {DocumentKey.parse(pair.second) for pair in search.pairs} == {
        (DocumentKey.parse(pair.first).url, "eus") for pair in search.pairs
    }
    assert len(search) == len(PAGES)


def always_spanish(request, path, _number):
    return 200, HTML | {"Set-Cookie": "session=eu1234; Path=/"}, text("es", host_of(request), path)


def in_turns(request, path, number):
    return 200, HTML, text("es" if number % 2 else "eu", host_of(request), path)


def refusing_basque(request, path, _number):
    if language_asked_for(request) == "eu":
        return 500, HTML, b"<p>Errorea"
    return 200, HTML, text("es", host_of(request), path)


def home_elsewhere(request, path, _number):
    if path != "/":
        return NOT_FOUND
    return 302, {"Location": f"/{language_asked_for(request)}/"}, b""


def by_cookie(name, links, value="eu"):
    def choose(request, path, _number):
        language = "eu" if cookie_of(request, name) == value else "es"
        return 200, HTML, text(language, host_of(request), path, links)

    return choose


def partly_elsewhere(request, path, number):
    if path == "/dos" and language_asked_for(request) == "eu":
        return 302, {"Location": "/bestea"}, b""
    return by_header(request, path, number)


NOTICES = [f"/aviso{number}" for number in range(20)]


def home_in_both(request, _path, _number):
    headers = HTML | {"Vary": "Accept-Encoding, Accept-Language"}
    return 200, headers, page(language_asked_for(request), 7, to(*NOTICES))


def many_sites():
    """A site of each kind, each on a host of its own."""
    own_pages = {
        f"/{code}{path}": (
            200,
            HTML,
            text(code, "127.0.0.14", path).replace(b'"/', f'"/{code}/'.encode()),
        )
        for code in ("es", "eu")
        for path in PAGES
    }
    switch = 302, {"Location": "/", "Set-Cookie": "site_idioma=eu; Path=/; HttpOnly"}, b""
    session = 302, {"Location": "/", "Set-Cookie": "sid=8f3a; Path=/; HttpOnly"}, b""
    to_switch, button = '<a href="/idioma?l=2">Euskara</a>', "<nav><button>Euskara</button></nav>"
    notices = {path: (200, HTML, page("es", 1000 + at)) for at, path in enumerate(NOTICES)}
    return {
        "none": NegotiatingSite(always_spanish, host="127.0.0.11"),
        "chance": NegotiatingSite(in_turns, host="127.0.0.12"),
        "unwanted": NegotiatingSite(by_header, host="127.0.0.13"),
        "redirect": NegotiatingSite(home_elsewhere, own_pages, host="127.0.0.14"),
        "cookie": NegotiatingSite(
            by_cookie("site_idioma", to_switch), {"/idioma?l=2": switch}, host="127.0.0.15"
        ),
        "session": NegotiatingSite(
            by_cookie("sid", to_switch, "8f3a"), {"/idioma?l=2": session}, host="127.0.0.19"
        ),
        "button": NegotiatingSite(by_cookie("django_language", button), host="127.0.0.16"),
        "partly": NegotiatingSite(
            partly_elsewhere,
            {"/bestea": (200, HTML, text("eu", "127.0.0.18", "/dos"))},
            host="127.0.0.18",
        ),
        "refusing": NegotiatingSite(refusing_basque, host="127.0.0.20"),
        "home": NegotiatingSite(home_in_both, notices, host="127.0.0.17"),
    }


class Outcome(NamedTuple):
    sites: dict
    documents: list
    pairs: list
    report: dict

    def variants(self, name):
        """Path, variant and language of every document of a site."""
        url = self.sites[name].url
        found = [each for each in self.documents if each["url"].startswith(url)]
        return variants_of(found)

    def pairs_of(self, name):
        return [each for each in self.pairs if each["url1"].startswith(self.sites[name].url)]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """One crawl of all of them."""
    folder = tmp_path_factory.mktemp("negotiation")
    rules = folder / "sites.toml"
    rules.write_text('["127.0.0.13"]\nnegotiate = false\n')
    with ExitStack() as stack:
        sites = {name: stack.enter_context(site) for name, site in many_sites().items()}
        crawl(
            ",".join(f"{site.url}/" for site in sites.values()),
            folder / "out",
            arguments={"sites": rules, "scorer": "breadth_first"},
            settings=ON | {"CONCURRENT_REQUESTS_PER_DOMAIN": 1},
        )
    out = folder / "out"
    return Outcome(sites, documents(out), pairs(out), report(out))


def test_a_host_that_does_not_choose_costs_one_request_more(outcome):
    fetched = outcome.sites["none"].fetched
    assert len(fetched) == len(PAGES) + 1
    assert Counter(fetched)["/", "eu"] == 1
    assert not any(variant for _, variant, _ in outcome.variants("none"))


def test_a_host_that_changes_by_chance_is_not_taken_for_one_that_listens(outcome):
    fetched = outcome.sites["chance"].fetched
    assert len(fetched) == len(PAGES) + 2, "the question, and the same once more"
    assert not any(variant for _, variant, _ in outcome.variants("chance"))


def test_nothing_is_asked_of_a_site_where_that_is_not_wanted(outcome):
    assert sorted(outcome.sites["unwanted"].fetched) == sorted((path, "es") for path in PAGES)


def test_a_redirect_by_language_leads_to_pages_like_any_other(outcome):
    site = outcome.sites["redirect"]
    asked = Counter(path for path in site.asked if path.startswith(("/es", "/eu")))
    assert asked.pop("/eu/") == 2, "once as the answer to the question"
    assert asked == dict.fromkeys(("/es/", "/es/uno", "/es/dos", "/eu/uno", "/eu/dos"), 1)
    assert not any(variant for _, variant, _ in outcome.variants("redirect"))
    assert len(outcome.pairs_of("redirect")) == len(PAGES)


@pytest.mark.parametrize("name", ["cookie", "session"])
def test_a_cookie_that_the_language_switch_sets_is_found_and_sent(outcome, name):
    found = outcome.variants(name)
    assert {(path, language) for path, _, language in found} == {
        (path, language) for path, _, language in BOTH
    }
    assert found.total() == len(BOTH)
    assert len(outcome.pairs_of(name)) == len(PAGES)


def test_usual_cookies_are_tried_where_a_page_offers_a_language_without_a_link(outcome):
    assert outcome.variants("button") == BOTH
    assert len(outcome.pairs_of("button")) == len(PAGES)


def test_a_host_of_which_only_one_page_has_both_languages_is_given_up(outcome):
    site = outcome.sites["home"]
    asked = Counter(path for path in site.asked if path in NOTICES)
    assert asked.total() == len(NOTICES) + 10
    assert len(site.fetched) == 3, "the server says that it chooses, so nothing is asked twice"
    assert outcome.report["urls_ended"]["one_language"]["count"] == 10 + len(("/bestea",))


def test_a_language_that_has_an_address_of_its_own_is_fetched_there(outcome):
    expected = BOTH | {("bestea", "eus", "eus"): 1}
    del expected["dos", "eus", "eus"]
    assert outcome.variants("partly") == expected
    assert outcome.sites["partly"].asked.count("/bestea") == 2, "and once more for the Spanish"


def test_a_host_that_gives_no_answer_is_asked_with_three_pages_and_then_left_alone(outcome):
    fetched = Counter(code for _, code in outcome.sites["refusing"].fetched)
    assert fetched == {"es": len(PAGES), "eu": 3}
    assert not any(variant for _, variant, _ in outcome.variants("refusing"))
    assert outcome.variants("refusing").total() == len(PAGES)
