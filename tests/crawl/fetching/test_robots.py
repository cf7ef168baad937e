"""robots.txt is obeyed, by everybody who asks at the same time too."""

import pytest
import scrapy
from scrapy.robotstxt import ProtegoRobotParser

from bilingual_crawler.crawl.fetching import robots as middleware
from tests.support.fetching import Arrivals, Site, crawl

TEXT = {"Content-Type": "text/plain"}


def robots(text):
    return (200, TEXT, text.encode())


def test_requests_that_wait_for_the_same_robots_txt_all_obey_it():
    def slow(_handler):
        Arrivals.wait_for(8 + 1)
        return robots("User-agent: *\nDisallow: /")

    with Site({"/robots.txt": slow}) as site:
        urls = [f"{site.url}/{number}" for number in range(8)]
        result = crawl(*urls, ROBOTSTXT_OBEY=True, middlewares=Arrivals.WIRED)
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


PARSED: list[bytes] = []


class RecordingParser(ProtegoRobotParser):
    """Scrapy's usual parser, which notes what it is given."""

    def __init__(self, robotstxt_body, spider):
        PARSED.append(robotstxt_body)
        super().__init__(robotstxt_body, spider)


def test_rules_for_thousands_of_other_robots_do_not_reach_the_parser():
    agents = "".join(f"User-agent: bot{number}\n" for number in range(8_000))
    rules = "".join(f"Disallow: /{number}/\n" for number in range(2_000))
    ours = "User-agent: bilingual-crawler\nDisallow: /no\n"
    PARSED.clear()
    with Site({"/robots.txt": robots(agents + rules + ours)}) as site:
        parser = f"{__name__}.RecordingParser"
        result = crawl(
            f"{site.url}/no", f"{site.url}/7/", ROBOTSTXT_OBEY=True, ROBOTSTXT_PARSER=parser
        )
    assert result.failures == {f"{site.url}/no": "robots_txt"}
    assert [*filter(None, PARSED)] == [b"User-agent: *\nDisallow: /no"]


def test_a_robots_txt_that_was_redirected_is_cut_too():
    text = "User-agent: *\nDisallow: /no\n" + "# filler\n" * 80_000 + "Disallow: /late\n"
    away = (301, {"Location": "/files/rules"}, b"")
    with Site({"/robots.txt": away, "/files/rules": robots(text)}) as site:
        result = crawl(f"{site.url}/late", f"{site.url}/no", ROBOTSTXT_OBEY=True)
    assert list(result.pages) == [f"{site.url}/late"]
    assert result.failures == {f"{site.url}/no": "robots_txt"}


def test_a_robots_txt_is_cut_between_lines():
    start = "User-agent: *\n" + "# filler\n" * 58_000
    text = start + "#" * (512 * 1024 - len(start) - len("\nDisallow: /")) + "\nDisallow: /x\n"
    with Site({"/robots.txt": robots(text)}) as site:
        result = crawl(f"{site.url}/page", ROBOTSTXT_OBEY=True)
    assert not result.failures


def test_a_version_behind_our_name_does_not_matter():
    text = "User-agent: Bilingual-Crawler/0.1.0\nDisallow: /no\n\nUser-agent: *\nDisallow:"
    with Site({"/robots.txt": robots(text)}) as site:
        result = crawl(f"{site.url}/yes", f"{site.url}/no", ROBOTSTXT_OBEY=True)
    assert result.failures == {f"{site.url}/no": "robots_txt"}


@pytest.mark.parametrize("name", ["MyBot/2.0 (+https://example.org)", "Mozilla/5.0 (x; mybot/3)"])
def test_a_project_with_a_name_of_its_own_is_spoken_to_by_that(name):
    text = "User-agent: mybot/1.0\nDisallow: /no\n\nUser-agent: *\nDisallow: /"
    settings = {"USER_AGENT": name, "ROBOTSTXT_USER_AGENT": None, "ROBOTSTXT_OBEY": True}
    with Site({"/robots.txt": robots(text)}) as site:
        result = crawl(f"{site.url}/yes", f"{site.url}/no", **settings)
    assert result.failures == {f"{site.url}/no": "robots_txt"}


def test_a_name_for_one_site_is_what_that_site_speaks_to():
    text = "User-agent: mybot\nDisallow: /no\n\nUser-agent: bilingual-crawler\nDisallow: /"
    with Site({"/robots.txt": robots(text)}) as site:
        requests = [
            scrapy.Request(f"{site.url}{path}", headers={"User-Agent": "MyBot/2.0"})
            for path in ("/yes", "/no")
        ]
        result = crawl(*requests, ROBOTSTXT_OBEY=True)
    assert result.failures == {f"{site.url}/no": "robots_txt"}
    assert site.asked.count("/robots.txt") == 1


def test_what_there_is_no_room_for_is_freed_and_fetched_again(monkeypatch):
    monkeypatch.setattr(middleware, "MAX_KEPT", 1)
    forbidden = robots("User-agent: *\nDisallow: /no")
    with (
        Site({"/robots.txt": forbidden}) as one,
        Site({"/robots.txt": forbidden}, host="127.0.0.2") as other,
    ):
        urls = [f"{each.url}{path}" for path in ("/a", "/no") for each in (one, other)]
        result = crawl(*urls, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=1, BILINGUAL_HONOUR="")
    assert result.failures == dict.fromkeys(urls[2:], "robots_txt")
    assert one.asked.count("/robots.txt") == other.asked.count("/robots.txt") == 2


def test_within_the_limit_each_host_is_asked_once():
    with Site() as one, Site(host="127.0.0.2") as other:
        urls = [f"{each.url}/{number}" for number in range(3) for each in (one, other)]
        crawl(*urls, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=1)
    assert one.asked.count("/robots.txt") == other.asked.count("/robots.txt") == 1


def test_an_error_page_is_no_robots_txt():
    with Site({"/robots.txt": (404, TEXT, b"User-agent: *\nDisallow: /")}) as site:
        assert len(crawl(f"{site.url}/", ROBOTSTXT_OBEY=True).pages) == 1


def test_a_delay_that_nobody_can_wait_for_keeps_the_host_out():
    text = "User-agent: *\nCrawl-delay: 700\nDisallow: /no"
    with Site({"/robots.txt": robots(text)}) as site:
        urls = f"{site.url}/page", f"{site.url}/no"
        result = crawl(*urls, ROBOTSTXT_OBEY=True)
        assert result.failures == {urls[0]: "crawl_delay", urls[1]: "robots_txt"}
        assert "700 seconds" in result.details[urls[0]]
        assert "BILINGUAL_LONGEST_CRAWL_DELAY=600" in result.details[urls[0]]
        assert site.pages_asked == []
        longer = crawl(urls[0], ROBOTSTXT_OBEY=True, BILINGUAL_LONGEST_CRAWL_DELAY=700)
    assert not longer.failures
