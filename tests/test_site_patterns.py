import threading

import pytest

from bilingual_crawler.sites.patterns import compile_pattern


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


def test_patterns_can_be_read_outside_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(compile_pattern("/es/")))
    thread.start()
    thread.join()
    assert found[0].search("https://example.org/es/")
