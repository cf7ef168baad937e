import threading

import pytest

from bilingual_crawler.config.site_keys import compile_pattern
from tests.support.pattern_attacks import tried_in_little_memory

HUGE = ("a{99999999}", "(?:(?:(?:a{9999}){9999}){9999}){9999}", "(" * 90 + "a" + ")+" * 90)


def test_a_long_pattern_is_refused():
    with pytest.raises(ValueError, match="longer than 1,000 characters"):
        compile_pattern("a" * 1001)
    assert compile_pattern("a" * 1000)


@pytest.mark.parametrize("text", [r"(a+)+$", r"(\w+\d*)+$", r"(/?[a-z]+)+\.html$", r"(.*)*x"])
def test_a_pattern_that_backtracks_without_end_is_refused(text):
    with pytest.raises(ValueError, match="avoid a repetition inside a repetition"):
        compile_pattern(text)


@pytest.mark.parametrize(
    "text", ["/es/", r"(/[a-z]+)+/x", r"^https://[^/]+/(es|eu)/", r".*/es/.*/print", r"\d{4}-\d+"]
)
def test_an_honest_pattern_is_not_refused(text):
    assert compile_pattern(text).pattern == text


@pytest.mark.parametrize("text", ["(?:(?:a)?){9999999}", "((a?){999}b?){0,999}", "(?x)(a) {99999}"])
def test_a_pattern_that_repeats_groups_without_end_is_refused(text):
    with pytest.raises(ValueError, match="repeats its groups more than 10,000 times"):
        compile_pattern(text)


def test_patterns_can_be_read_outside_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(compile_pattern("/es/")))
    thread.start()
    thread.join()
    assert found[0].search("https://example.org/es/")


@pytest.mark.parametrize("number", range(len(HUGE)))
def test_a_repeated_pattern_takes_no_more_memory_than_its_text(number):
    said = tried_in_little_memory(
        f"compile_pattern(HUGE[{number}])",
        "from bilingual_crawler.config.site_keys import compile_pattern",
        "from tests.config.test_site_keys import HUGE",
        most=1_000_000_000,
    )
    assert "re.compile" in said or "repetition" in said, said
