"""Normalising text costs no more than reading it, whatever marks it has."""

import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.alignment.overlap import anchors
from bilingual_crawler.crawl.fetching.guard import is_open_host
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.encoding import clean
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.languages.normal_forms import CODES, MOST_MARKS, normalize, without_long_runs
from bilingual_crawler.languages.stemming import stems_of
from bilingual_crawler.scoring.pair_features import folded
from bilingual_crawler.urls.hosts import host_of
from bilingual_crawler.urls.resolver import UrlResolver
from bilingual_crawler.web.search.query import fold

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
RUN = "e" + "\u0301\u0323" * 100_000  # takes 20 seconds where it is sorted
SECONDS = 6  # of the processor
REAL = (
    "Tiếng Việt được viết bằng chữ Quốc ngữ",
    "בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים אֵ֥ת הַשָּׁמַ֖יִם",
    "བོད་སྐད་ཀྱི་ཡི་གེ་ཧཱུྃ",
    "ด้วยวิธีนี้ ที่นี่",
    "क्षेत्र में संग्रहालय",
    "Z̸̡̢̛̰̱̲̳̹̺͇͈͎͓͔͖͙͚̀́̂a̵̡l̷g̸o",
    "ｶﾞｷﾞｸﾞ ガギグ",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", REAL)
def test_real_text_of_any_script_keeps_all_its_marks(form, text):
    for written in (text, unicodedata.normalize("NFD", text)):
        assert normalize(form, written * 10) == unicodedata.normalize(form, written * 10)


@pytest.mark.parametrize("mark", ["\u0301", "\u0344", "\u0f73", "\uff9e", "\U0001d165", "\u05b0"])
def test_of_a_long_run_the_first_marks_stay(mark):
    assert without_long_runs(f"a{mark * 31}b{mark * 30}c") == f"a{mark * 30}b{mark * 30}c"
    assert without_long_runs(mark * 1000) == mark * MOST_MARKS


@given(
    st.text(st.sampled_from("ae\u0301\u0323\u0344\u05b0\u0f73\uff9e\U0001d165")), st.integers(0, 99)
)
def test_no_run_is_longer_than_allowed_and_nothing_else_changes(text, times):
    text += "\u0301\u0323" * times
    cut = without_long_runs(text)
    runs = [len(run) for run in cut.replace("e", "a").split("a")]
    assert max(runs) <= MOST_MARKS
    whole = [run[:MOST_MARKS] for run in text.replace("e", "a").split("a")]
    assert cut.replace("e", "a").split("a") == whole


def test_there_are_no_marks_where_none_are_looked_for():
    others = (code for code in range(sys.maxunicode + 1) if code not in CODES)
    decomposed = (unicodedata.normalize("NFKD", chr(code))[0] for code in others)
    assert not any(map(unicodedata.combining, decomposed))


@pytest.mark.parametrize(
    "read",
    [
        clean,
        fold,
        folded,
        is_open_host,
        language_of_tag,
        stems_of("eng").of,
        lambda text: anchors(text.replace("\u0301", "a\u0301")),
        lambda text: fold(text.replace("\u0301", "\u0640\u1dce\u1dcd")),  # U+0640 is taken out
        lambda text: host_of(f"http://{text}.example/"),
        lambda text: UrlResolver(f"http://{text}.example/", f"//{text}/")(f"http://{text}/"),
        lambda text: build_document("https://example.org/", f"<p>{text}<p>{text}".encode()),
    ],
)
def test_a_letter_with_a_hundred_thousand_marks_is_read_at_once(read):
    began = time.process_time()
    read(RUN)
    assert time.process_time() - began < SECONDS


def test_links_to_long_international_names_cost_little():
    href = "http://e" + "\u0301\u0323" * 1900
    page = "".join(f"<a href='{href}{number}/'>x</a>" for number in range(600))
    began = time.process_time()
    assert build_document("https://example.org/", page.encode()).links == []
    assert time.process_time() - began < SECONDS
