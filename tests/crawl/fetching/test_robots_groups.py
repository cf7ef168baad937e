"""Of a robots.txt, what speaks to us is read, as its parser would read the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from bilingual_crawler.crawl.fetching.identity import is_named
from bilingual_crawler.crawl.fetching.robots import rules_for

US = "bilingual-crawler"


@pytest.mark.parametrize(
    ("agent", "robot", "named"),
    [
        (US, US, True),
        ("Bilingual-Crawler", US, True),
        ("bilingual-crawler/0.1.0", US, True),
        ("bilingual-crawler/", US, True),
        ("bilingual-crawler*", US, True),
        ("bilingual", US, False),
        ("crawler", US, False),
        ("bilingual-crawler-pro", US, False),
        ("*", US, False),
        ("", US, False),
        ("/1.0", US, False),
        ("Foobot/9", "Mozilla/5.0 (compatible; FooBot/1.0)", True),
        ("foo", "Mozilla/5.0 (compatible; FooBot/1.0)", False),
        ("Offline Explorer", "offline explorer/2.0", True),
    ],
)
def test_a_robot_is_named_by_its_product_token(agent, robot, named):
    assert is_named(agent, robot) is named


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", []),
        ("User-agent: *\nDisallow: /a", ["Disallow: /a"]),
        ("User-agent: otherbot\nDisallow: /a", []),
        (f"User-agent: *\nDisallow: /a\nUser-agent: {US}\nAllow: /b", ["Allow: /b"]),
        (f"User-agent: {US}\nAllow: /b\nUser-agent: *\nDisallow: /a", ["Allow: /b"]),
        (f"User-agent: {US}\nDisallow:\nUser-agent: *\nDisallow: /", []),
        (f"User-agent: x\nUser-agent: {US}\nUser-agent: *\nDisallow: /a", ["Disallow: /a"]),
        (f"User-agent: {US}\nAllow: /a\nUser-agent: x\nAllow: /b\nUser-agent: {US}/2\nAllow: /c",
         ["Allow: /a", "Allow: /c"]),
        ("user agent *\ndissalow /a # why\nCRAWL-DELAY : 5", ["Disallow: /a", "Crawl-delay: 5"]),
        ("User-agent: *\nSitemap: /s\nDisallow: /a\nNoindex: /b", ["Disallow: /a"]),
        ("User-agent: *\nCrawl-delay: 5\nCrawl-delay: 9\nCrawl-delay: 5",
         ["Crawl-delay: 9", "Crawl-delay: 5"]),
        ("User-agent: *\nDisallow: /a\nDisallow: /a\nUser-agent:\nDisallow: /b", ["Disallow: /a"]),
        ("Disallow: /a", []),
    ],
)  # fmt: skip
def test_the_rules_for_us_are_those_of_our_groups_or_else_those_for_all(text, rules):
    found = rules_for(US, text).splitlines()
    assert found == (["User-agent: *", *rules] if rules else [])


NAMES = st.sampled_from(["*", US, US.upper(), "otherbot", "googlebot"])
PATHS = st.sampled_from(["", "/", "/a", "/a/b", "/*b", "/a$", "/A", "/*/b$"])
RULES = st.tuples(st.sampled_from(["Disallow", "Allow", "disalow"]), PATHS)
DELAYS = st.tuples(st.just("Crawl-delay"), st.sampled_from(["1", "30", "x"]))
LINES = st.tuples(st.just("User-agent"), NAMES) | RULES | DELAYS


@given(st.lists(LINES, max_size=12))
def test_the_parser_comes_to_the_same_answers_as_with_the_whole_file(lines):
    text = "\n".join(f"{field}: {value}" for field, value in lines)
    whole, part = Protego.parse(text), Protego.parse(rules_for(US, text))
    for path in ("/", "/a", "/a/b", "/c", "/A/b"):
        url = f"https://example.org{path}"
        assert part.can_fetch(url, US) == whole.can_fetch(url, US)
    assert part.crawl_delay(US) == whole.crawl_delay(US)


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_makes_it_fail(text):
    rules_for(US, text)
