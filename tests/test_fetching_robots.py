"""robots.txt is obeyed, by everybody who asks at the same time too."""

import time

import pytest

from tests.fetching_support import Site, crawl

TEXT = {"Content-Type": "text/plain"}


def robots(text):
    return (200, TEXT, text.encode())


def test_requests_that_wait_for_the_same_robots_txt_all_obey_it():
    def slow(_handler):
        time.sleep(0.1)
        return robots("User-agent: *\nDisallow: /")

    with Site({"/robots.txt": slow}) as site:
        urls = [f"{site.url}/{number}" for number in range(8)]
        result = crawl(*urls, ROBOTSTXT_OBEY=True)
    assert result.reasons == ["robots_txt"] * 8
    assert site.asked == ["/robots.txt"]


def test_robots_txt_is_asked_for_our_name():
    text = "User-agent: bilingual-crawler\nDisallow: /no\n\nUser-agent: *\nDisallow: /"
    with Site({"/robots.txt": robots(text)}) as site:
        result = crawl(f"{site.url}/yes", f"{site.url}/no", ROBOTSTXT_OBEY=True)
    assert list(result.pages) == [f"{site.url}/yes"]
    assert result.failures == {f"{site.url}/no": "robots_txt"}


def test_only_the_start_of_an_enormous_robots_txt_is_read():
    text = "User-agent: *\nDisallow: /no\n" + "# filler\n" * 80_000 + "Disallow: /late\n"
    with Site({"/robots.txt": robots(text)}) as site:
        result = crawl(f"{site.url}/late", f"{site.url}/no", ROBOTSTXT_OBEY=True)
    assert list(result.pages) == [f"{site.url}/late"]
    assert result.failures == {f"{site.url}/no": "robots_txt"}


@pytest.mark.parametrize("answer", [(404, TEXT, b""), (403, TEXT, b"")])
def test_a_robots_txt_that_does_not_exist_forbids_nothing(answer):
    with Site({"/robots.txt": answer}) as site:
        result = crawl(f"{site.url}/", ROBOTSTXT_OBEY=True)
    assert len(result.pages) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [((503, TEXT, b""), "robots_unavailable"), (lambda _handler: None, "connection")],
)
def test_a_robots_txt_that_cannot_be_had_forbids_everything(answer, reason):
    with Site({"/robots.txt": answer}) as site:
        urls = [f"{site.url}/{number}" for number in range(4)]
        result = crawl(*urls, ROBOTSTXT_OBEY=True, RETRY_ENABLED=False)
    assert not result.pages
    assert result.failures == dict.fromkeys(urls, reason)
    assert set(site.asked) == {"/robots.txt"}


def test_robots_txt_is_not_asked_for_before_a_page_that_is_refused():
    with Site() as site:
        crawl(f"{site.url}/", ROBOTSTXT_OBEY=True, BILINGUAL_ALLOW_PRIVATE=False)
    assert site.asked == []
