"""Translations that live on another domain: which hosts are crawled because a page says so."""

from typing import Any

import pytest

from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.scope import ForeignHosts
from bilingual_crawler.documents.document import Alternate, Document, Link
from bilingual_crawler.store.journal import Journal
from tests.support.crawling import crawl, documents, finish, pairs, start
from tests.support.named_hosts import NamedHosts
from tests.support.redis_server import needs_redis, serve_redis
from tests.support.scoring import Page

ES, EUS = "http://www.example.es", "http://www.example.eus"
ARTICLES = 8
SETTINGS = {"BILINGUAL_SCORER": "breadth_first", "BILINGUAL_CHECKPOINT_SECONDS": 0.1}


def page(language, path, links=(), alternates=None):
    return Page(language, list(links), alternates or {}).html(path)


def one_site_on_two_domains():
    """Each page declares its translation; only the first leads to the others of its language."""
    pages = {}
    for number in range(ARTICLES):
        path = f"/{number}" if number else "/"
        links = [f"/{each}" for each in range(1, ARTICLES)] if not number else []
        claims = {"es": f"{ES}{path}", "eu": f"{EUS}{path}"}
        pages[f"{ES}{path}"] = page("spa", path, links, claims)
        pages[f"{EUS}{path}"] = page("eus", path, links, claims)
    pages[f"{EUS}/"] = page("eus", "/", ["/bakarrik", "/1"], {"es": f"{ES}/"})
    pages[f"{EUS}/bakarrik"] = page("eus", "/bakarrik")
    return pages


def run(hosts, proxy, output, **options):
    return crawl(f"{ES}/", output, proxy=proxy, settings=SETTINGS | options)


def urls(output):
    return {document["url"] for document in documents(output)}


@pytest.mark.crawl
def test_a_site_on_two_domains_is_crawled_whole(tmp_path):
    hosts = NamedHosts(one_site_on_two_domains())
    with hosts.served() as proxy:
        run(hosts, proxy, tmp_path / "out")
    assert urls(tmp_path / "out") == set(hosts.pages)
    assert len(pairs(tmp_path / "out")) >= ARTICLES - 1


@pytest.mark.crawl
def test_a_crawl_that_is_stopped_goes_on_with_both_domains(tmp_path):
    hosts = NamedHosts(one_site_on_two_domains())
    with hosts.served() as proxy:
        runs = 0
        while urls(tmp_path / "out") != set(hosts.pages) if runs else True:
            run(hosts, proxy, tmp_path / "out", CLOSESPIDER_PAGECOUNT=6, CONCURRENT_REQUESTS=1)
            runs += 1
            assert runs < 2 * len(hosts.pages)
    assert runs > 1
    assert len(hosts.pages_of("www.example.eus")) == len(set(hosts.pages_of("www.example.eus")))


@needs_redis
@pytest.mark.crawl
def test_workers_of_one_crawl_share_what_they_know_of_both_domains(tmp_path):
    hosts = NamedHosts(one_site_on_two_domains())
    with hosts.served() as proxy, serve_redis() as redis:
        options = SETTINGS | {"BILINGUAL_FRONTIER": redis.url, "BILINGUAL_WORKER_SITES": 1}
        workers = [
            start(
                f"{ES}/",
                tmp_path / "out",
                proxy=proxy,
                settings=options | {"BILINGUAL_WORKER": name},
            )
            for name in ("one", "two")
        ]
        for worker in workers:
            finish(worker)
    found = set().union(*(urls(tmp_path / "out" / name) for name in ("one", "two")))
    assert found == set(hosts.pages)


@pytest.mark.crawl
def test_a_page_cannot_have_hundreds_of_hosts_crawled(tmp_path):
    strangers = [f"http://stranger{number}.example" for number in range(300)]
    head = "".join(
        f'<link rel="alternate" hreflang="eu" href="{each}/{path}">'
        for each in strangers
        for path in ("a", "b", "c")
    )
    hosts = NamedHosts(
        {f"{each}/{path}": page("eus", path, ["/d"]) for each in strangers for path in "abcd"}
    )
    hosts.pages[f"{ES}/"] = page("spa", "/", ["/2"]).replace(b"</head>", f"{head}</head>".encode())
    hosts.pages[f"{ES}/2"] = hosts.pages[f"{ES}/"]
    with hosts.served() as proxy:
        run(hosts, proxy, tmp_path / "out")
        asked = {host: hosts.pages_of(host) for host in hosts.asked if "stranger" in host}
        assert len(asked) == 5
        assert all(pages == ["/a"] for pages in asked.values())


@pytest.mark.crawl
def test_a_host_that_does_not_lead_back_is_not_crawled_after_a_stop_either(tmp_path):
    stranger = "http://www.stranger.example"
    hosts = NamedHosts(
        {
            f"{ES}/": page("spa", "/", ["/2", f"{stranger}/9"], {"eu": f"{stranger}/1"}),
            f"{ES}/2": page("spa", "/2", ["/3"], {"eu": f"{stranger}/2"}),
            f"{ES}/3": page("spa", "/3", [f"{stranger}/9"]),
        }
        | {f"{stranger}/{number}": page("eus", f"/{number}", ["/8"]) for number in range(1, 10)}
    )
    with hosts.served() as proxy:
        for most in (1, 0):  # after one page the stranger's has not been asked for yet
            run(hosts, proxy, tmp_path / "out", CLOSESPIDER_PAGECOUNT=most, CONCURRENT_REQUESTS=1)
    assert hosts.pages_of("www.example.es") == ["/", "/2", "/3"]
    assert sorted(hosts.pages_of("www.stranger.example")) == ["/1", "/2"]


@pytest.mark.crawl
def test_a_host_that_led_back_stays_in_the_crawl_after_a_stop(tmp_path):
    """Also when no URL of it waits while the crawl stands still."""
    hosts = NamedHosts(
        {
            f"{ES}/": page("spa", "/", [], {"eu": f"{EUS}/"}),
            f"{EUS}/": page("eus", "/", [f"{ES}/2"]),
            f"{ES}/2": page("spa", "/2", [f"{EUS}/berandu"]),
            f"{EUS}/berandu": page("eus", "/berandu"),
        }
    )
    with hosts.served() as proxy:
        for most in (1, 1, 0):
            run(hosts, proxy, tmp_path / "out", CLOSESPIDER_PAGECOUNT=most, CONCURRENT_REQUESTS=1)
    assert hosts.pages_of("www.example.eus") == ["/", "/berandu"]


def run_workers(hosts, folder, *most):
    """One worker after the other, each with a folder of its own, of so many pages each."""
    with hosts.served() as proxy, serve_redis() as redis:
        for number, pages in enumerate(most):
            options: dict[str, Any] = {
                "BILINGUAL_FRONTIER": redis.url,
                "BILINGUAL_WORKER": f"worker{number}",
            }
            options |= {"CLOSESPIDER_PAGECOUNT": pages, "CONCURRENT_REQUESTS": 1}
            run(hosts, proxy, folder, **options)


@needs_redis
@pytest.mark.crawl
def test_a_worker_asks_for_an_answer_to_what_another_one_has_read(tmp_path):
    stranger = "http://www.stranger.example"
    claims = f'<link rel="alternate" hreflang="eu" href="{stranger}/1">'
    start_page = page("spa", "/", [], {"eu": f"{EUS}/"})
    hosts = NamedHosts(
        {
            f"{ES}/": start_page.replace(b"</head>", f"{claims}</head>".encode()),
            f"{EUS}/": page("eus", "/", ["/bakarrik"], {"es": f"{ES}/"}),
            f"{EUS}/bakarrik": page("eus", "/bakarrik"),
            f"{stranger}/1": page("eus", "/1", ["/2"]),
            f"{stranger}/2": page("eus", "/2"),
        }
    )
    run_workers(hosts, tmp_path / "out", 1, 0)
    assert hosts.pages_of("www.example.es") == ["/"]
    assert hosts.pages_of("www.example.eus") == ["/", "/bakarrik"]
    assert hosts.pages_of("www.stranger.example") == ["/1"]


@needs_redis
@pytest.mark.crawl
def test_a_worker_knows_the_answer_that_another_one_has_read(tmp_path):
    hosts = NamedHosts(
        {
            f"{ES}/": page("spa", "/", [], {"eu": f"{EUS}/"}),
            f"{EUS}/": page("eus", "/", ["/1"], {"es": f"{ES}/"}),
            f"{EUS}/1": page("eus", "/1", ["/2"]),
            f"{EUS}/2": page("eus", "/2"),
        }
    )
    run_workers(hosts, tmp_path / "out", 1, 1, 0)
    assert hosts.pages_of("www.example.eus") == ["/", "/1", "/2"]


@pytest.mark.crawl
def test_a_later_page_can_lead_back_and_redirects_inside_the_site_are_followed(tmp_path):
    bare = "http://example.eus"
    hosts = NamedHosts(
        {
            f"{ES}/": page("spa", "/", ["/2"], {"eu": f"{bare}/1"}),
            f"{ES}/2": page("spa", "/2", [], {"eu": f"{bare}/2"}),
            f"{bare}/1": f"{EUS}/1",
            f"{bare}/2": f"{EUS}/2",
            f"{EUS}/1": page("eus", "/1", ["/never"]),
            f"{EUS}/2": page("eus", "/2", ["/more", f"{ES}/2"]),
            f"{EUS}/more": page("eus", "/more"),
        }
    )
    with hosts.served() as proxy:
        # One after the other: /never is followed if its page comes after the one that leads back.
        run(hosts, proxy, tmp_path / "out", CONCURRENT_REQUESTS=1)
    assert sorted(hosts.pages_of("www.example.eus")) == ["/1", "/2", "/more"]


@pytest.mark.crawl
def test_a_declared_host_declares_no_others(tmp_path):
    third = "http://www.third.example"
    hosts = NamedHosts(
        {
            f"{ES}/": page("spa", "/", [], {"eu": f"{EUS}/"}),
            f"{EUS}/": page("eus", "/", ["/2"], {"es": f"{ES}/", "eu": f"{third}/"}),
            f"{EUS}/2": page("eus", "/2", [], {"es": f"{third}/2"}),
            f"{third}/": page("eus", "/", [f"{ES}/"]),
            f"{third}/2": page("spa", "/2", [f"{ES}/"]),
        }
    )
    with hosts.served() as proxy:
        run(hosts, proxy, tmp_path / "out")
    assert hosts.pages_of("www.example.eus") == ["/", "/2"]
    assert "www.third.example" not in hosts.asked


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    yield journal
    journal.close()


def test_a_host_that_two_sites_declare_may_lead_back_to_either(journal):
    claims = ForeignHosts(journal, 5)
    assert claims.claim("www.example.eus", "www.liar.example")
    assert claims.claim("www.example.eus", "www.example.es")
    assert claims.is_unanswered("www.example.eus")
    assert claims.read(Document(f"{EUS}/", alternates=[Alternate(f"{ES}/", "es", "spa")]))
    assert not claims.is_unanswered("www.example.eus")


@pytest.mark.parametrize("rel", ["nofollow", "UGC noopener", "sponsored"])
def test_links_that_a_site_does_not_stand_for_do_not_lead_back(journal, rel):
    claims = ForeignHosts(journal, 5)
    claims.claim("www.example.eus", "www.example.es")
    assert not claims.read(Document(f"{EUS}/", links=[Link(f"{ES}/", rel=rel)]))
    assert claims.read(Document(f"{EUS}/", links=[Link("http://example.es/x", rel="noopener")]))


def test_the_hosts_of_one_domain_share_one_allowance(journal):
    claims = ForeignHosts(journal, 2)
    assert claims.claim("one.example", "a.evil.com")
    assert claims.claim("two.example", "b.evil.com")
    assert not claims.claim("three.example", "c.evil.com")
    assert claims.claim("two.example", "c.evil.com")
    assert not claims.claim("three.example", "one.example")


def state_for(claims, host):
    claimed_by, answered = claims.claim_of(host)
    return RequestState(claimed_by=claimed_by, claim_answered=answered)


def test_what_is_known_goes_with_the_request_and_into_the_journal(tmp_path, journal):
    claims = ForeignHosts(journal, 1)
    claims.claim("www.example.eus", "www.example.es")
    asked = state_for(claims, "www.example.eus")
    claims.read(Document(f"{EUS}/", links=[Link(f"{ES}/")]))
    answered = state_for(claims, "www.example.eus")
    journal.checkpoint(wait=True)
    journal.close()
    later = ForeignHosts(Journal(tmp_path / "crawl.sqlite"), 1)
    assert state_for(later, "www.example.eus") == answered
    assert not later.claim("other.example", "www.example.es")
    other = ForeignHosts(Journal(tmp_path / "other.sqlite"), 1)
    other.learn("www.example.eus", asked)
    assert other.is_unanswered("www.example.eus")
    other.learn("www.example.eus", answered)
    assert not other.is_unanswered("www.example.eus")
    other.learn("www.example.org", RequestState())
    assert "www.example.org" not in other
