"""Text as it is indexed, queries as they are typed, hits as they are shown."""

import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.web.search.query import (
    MAX_PROGRAM_SIZE,
    QueryError,
    anchor_of,
    fold,
    fold_with_places,
    index_columns,
    parse_pattern,
    parse_words,
    program_size,
)
from bilingual_crawler.web.search.search import pieces
from tests.support.pattern_attacks import tried_in_little_memory

ADDRESS_SPACE = 2_000_000_000
EXPLODING = (
    "a{99999999}",
    "a{99999999}?",
    "[ab]{9999999,}",
    "\\w{1000000,9999999}",
    "(?:(?:(?:(?:(?:a{99}){99}){99}){99}){99})",
    "(" * 40 + "a" + ")+" * 40,
    "(?:" * 30 + "a+b" + "){1,}" * 30,
    "(?:a{5000}) {5000}(?:(?:(?:b{99}){99}){99}){99}",
    "(?x)a{9 9 9 9 9 9 9}",
    "(?i)(?ix:(a{2000}) {2000})",
    "\\\\(?x)(a{2000}) # again\n{2000}",
    "(?<=a{9999999})b",
    "(?:(?:a{3000}){e<=1}){3000}",
)


def marked(query, text, words=None):
    shown = pieces(text, query.spans(text), words)
    return "".join(f"[{each.text}]" if each.hit else each.text for each in shown)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ÁRBOL", "arbol"),
        ("Straße", "strasse"),
        ("ΟΔΟΣ", "οδοσ"),
        ("İstanbul", "istanbul"),
        ("ﬁn", "fin"),
        ("كِتَابٌ", "كتاب"),
        ("がく", "がく"),
        ("हिन्दी", "हिन्दी"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_case_accents_and_forms_do_not_count(text, folded):
    assert fold(text) == folded


@given(st.text(max_size=40))
def test_every_folded_character_leads_back_into_the_text(text):
    folded = fold_with_places(text)
    assert len(folded.text) == len(folded.begins) == len(folded.ends)
    assert all(0 <= begin < end <= len(text) for begin, end in zip(*folded[1:], strict=True))


def test_scripts_without_spaces_are_indexed_by_pairs_of_characters():
    assert index_columns("去北京市!") == (" 去北 北京 京市 !", "京 北 去 市")


def test_words_in_a_text_without_spaces_stay_words():
    assert index_columns("用iPhone拍")[0].split() == ["用", "iphone", "拍"]


def test_terms_are_bound_to_a_side_and_quoted():
    query = parse_words('museo "los lunes" cerr* -martes')
    assert query.in_fts5(1) == (
        '((text1 : "museo" AND text1 : "los lunes" AND text1 : "cerr" *) NOT text1 : "martes")'
    )


@pytest.mark.parametrize("text", ['a" OR text2 : "b', "NEAR(a b)", "a AND", "(a", "text1:x", "^a"])
def test_operators_of_the_index_are_plain_words_to_us(text):
    assert all(atom.text.isalnum() for term in parse_words(text).terms for atom in term.atoms), text


def test_a_phrase_that_is_not_closed_goes_to_the_end():
    (term,) = parse_words('"los lunes').terms
    assert [atom.text for atom in term.atoms] == ["los", "lunes"]


def test_a_short_run_is_asked_for_by_its_character():
    assert parse_words("京").in_fts5(2) == '(chars2 : "京")'
    assert parse_words("北京市").in_fts5(2) == '(text2 : "北京 京市")'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no word to look for"),
        ("...", "regular expression"),
        ("-museo", "without a minus"),
        ("a*", "2 letters"),
        ("x" * 301, "300 characters"),
        (" ".join("abcdefghijklmnopqrstuvwxyz"), "20 words"),
    ],
)
def test_a_query_that_cannot_be_run_says_why(text, says):
    with pytest.raises(QueryError, match=says):
        parse_words(text)


@pytest.mark.parametrize(
    ("typed", "text", "shown"),
    [
        ("esta", "El museo está.", "El museo [está]."),
        ("museo", "Museos, museo", "Museos, [museo]"),
        ("mus*", "Museos y musas", "[Museos] y [musas]"),
        ('"los lunes"', "los, lunes. Los martes", "[los, lunes]. Los martes"),
        ("well-known", "a well known fact", "a [well known] fact"),
        ("京市", "北京市", "北[京市]"),
        ("strasse", "Die Straße.", "Die [Straße]."),
        ("cafe", "cafe\u0301s cafe\u0301", "cafe\u0301s [cafe\u0301]"),
        ("हिन्दी", "हिन्दी भाषा", "[हिन्दी] भाषा"),
        ("museo -lunes", "museo lunes", "[museo] lunes"),
    ],
)
def test_hits_are_marked_as_the_index_finds_them(typed, text, shown):
    assert marked(parse_words(typed), text) == shown


def test_context_is_cut_to_words_around_the_hit():
    query = parse_words("cinco")
    text = "uno dos tres cuatro cinco seis siete ocho nueve"
    assert marked(query, text, 2) == "…tres cuatro [cinco] seis siete…"
    assert marked(query, text, 20) == "uno dos tres cuatro [cinco] seis siete ocho nueve"
    assert marked(query, "sin nada", 2) == "sin nada"


def test_context_of_a_text_without_spaces_is_counted_in_characters():
    assert marked(parse_words("京"), "一二三四五六京七八九十百千", 2) == "…三四五六[京]七八九十…"


def test_a_regular_expression_is_met_as_it_is_written():
    assert marked(parse_pattern(r"m\w+o\b"), "El Museo malo") == "El [Museo] [malo]"
    assert marked(parse_pattern("m", match_case=True), "Mm") == "M[m]"
    assert marked(parse_pattern("x*"), "abc") == "abc"


def test_a_pattern_that_explodes_is_stopped_with_a_sentence():
    with pytest.raises(QueryError, match="takes too long"):
        parse_pattern(r"(?:a|aa)+$").matches("a" * 5000 + "b")


def test_a_pattern_that_cannot_be_read_is_told():
    with pytest.raises(QueryError, match="cannot be read"):
        parse_pattern("(museo")


@pytest.mark.parametrize("number", range(len(EXPLODING)))
def test_a_pattern_that_would_take_all_memory_is_refused_before_it_is_compiled(number):
    said = tried_in_little_memory(
        f"parse_pattern(EXPLODING[{number}])",
        "from bilingual_crawler.web.search.query import parse_pattern",
        "from tests.web.test_query import EXPLODING",
        most=ADDRESS_SPACE,
    )
    assert "becomes too large" in said or "flag x is not supported" in said, said


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}-\d{2}",
        r"(?:\w+ ){3,8}museo",
        r"\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+",
        r"(a|b)+ (c|d)+ (e|f)+ (g|h)+ (i|j)+",
        r"[A-Z]{1,3}[- ]?\d{4,6}(?:/\d{2})?",
        r".{100,300}$",
        r"\(?x\)+",
    ],
)
def test_patterns_that_people_write_are_not_too_large(pattern):
    assert parse_pattern(pattern)


@given(st.text(alphabet=r"ab.+*?(){}[]|\\1234,: x#", max_size=20))
def test_what_is_compiled_is_as_small_as_it_was_judged(pattern):
    """Where `regex` unrolls a repeat, its program holds each element as often."""
    if program_size(pattern) > MAX_PROGRAM_SIZE:
        return
    try:
        compiled = regex.compile(pattern, cache_pattern=False)
    except (regex.error, OverflowError):
        return
    assert sys.getsizeof(compiled) < 1_000 * program_size(pattern) + 10_000


@pytest.mark.parametrize(
    ("pattern", "anchor"),
    [
        (r"\bcas(a|o)s?\b", "cas"),
        (r"\bcasa*", "cas"),
        (r"(el|la) \bcasa", "casa"),
        (r"北京.{2}", "北京"),
        (r"\bÁrbol", "arbol"),
        (r"casa", None),
        (r"\bcasa|\bperro", None),
        (r"(?i)\bcasa", None),
        (r"(?!x)\bcasa", None),
        (r"(\bcasa)?", None),
        (r"[\bcasa]", None),
        (r"\b[cC]asa", None),
        (r"\bc", None),
        ("\\", None),
        ("[", None),
        ("(?", None),
    ],
)
def test_the_index_is_asked_first_where_a_pattern_has_an_anchor(pattern, anchor):
    found = anchor_of(pattern)
    assert (found and found.atoms[0].text) == anchor


@given(st.text(alphabet=r"ab\b.*+?()[]{}|1, ", max_size=12), st.text("ab 1", max_size=12))
def test_an_anchor_never_hides_a_match(pattern, text):
    try:
        compiled = regex.compile(pattern)
    except (regex.error, OverflowError):
        return
    anchor = anchor_of(pattern)
    if anchor is not None and compiled.search(text, timeout=60):
        assert regex.search(anchor.in_regex(), text, regex.V1), (pattern, text)
