"""What an evaluation counts, and what it compares with."""

import gzip
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation import one_to_one
from bilingual_crawler.lab.evaluation.classification import (
    NEGATIVE,
    POSITIVE,
    announced_language,
    compare_languages,
    compare_pairs,
    same_but_for_language,
)
from bilingual_crawler.lab.evaluation.metrics import Confusion, scores, well_covered
from bilingual_crawler.lab.evaluation.one_to_one import (
    CandidateSite,
    Duplicates,
    SameKey,
    align,
    candidate_pairs,
    decide_sides,
    group_by_site,
    model_table,
    recalls,
    take_one_to_one,
)
from bilingual_crawler.lab.labels import (
    GoldPair,
    LabelledPair,
    LabelledUrl,
    SkippedLines,
    gold_rows,
    language_rows,
    pair_rows,
)
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.pair_features import all_tokens, stripped
from tests.support.tiny_models import parallel_model, url2lang_model

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared"))
TOKENS = all_tokens()


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    return Url2Lang(url2lang_model(tmp_path_factory.mktemp("url2lang")))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return ParallelUrls(parallel_model(tmp_path_factory.mktemp("parallel")))


def test_precision_recall_and_f1_are_those_of_the_textbook():
    found = scores(["a", "a", "a", "b"], ["a", "a", "b", "b"])
    first, second = found.classes
    assert (first.label, first.precision, first.recall) == ("a", 1, pytest.approx(2 / 3))
    assert (second.label, second.precision, second.recall) == ("b", 0.5, 1)
    assert (first.f1, second.f1) == (pytest.approx(0.8), pytest.approx(2 / 3))
    assert found.macro_precision == pytest.approx(0.75)
    assert found.macro_recall == pytest.approx(5 / 6)
    assert found.macro_f1 == pytest.approx((0.8 + 2 / 3) / 2)


def test_macro_figures_count_only_classes_that_occur_in_the_data():
    found = scores(["a", "a"], ["a", "z"])
    assert [each.label for each in found.classes] == ["a"]
    assert found.macro_f1 == found.of("a").f1
    assert found.of("z").f1 == 0


def test_a_class_that_is_never_told_has_no_precision():
    assert scores(["a"], ["b"]).of("a").precision == 0


def test_the_unknown_share_is_that_of_all_answers():
    assert scores(["a", "a", "b", "unknown"], ["unknown", "a", "unknown", "b"]).unknown_share == 0.5


def test_a_limited_report_still_judges_on_all_rows():
    found = scores(["a", "b"], ["a", "a"], only={"a"})
    assert [each.label for each in found.classes] == ["a"]
    assert found.macro_precision == 0.5


def test_nothing_measured_is_zero_and_no_error():
    assert scores([], []).macro_f1 == scores([], []).unknown_share == 0


def test_accuracy_counts_all_rows_also_in_a_limited_report():
    assert scores(["a", "b", "b", "c"], ["a", "b", "c", "c"], only={"a"}).accuracy == 0.75


def test_a_confusion_says_what_each_class_is_taken_for():
    """Of four Basque URLs one is right; three Spanish ones, one English one."""
    gold = ["eus"] * 4 + ["spa"] * 3 + ["eng"]
    answers = ["eus", "eng", "eng", "spa", "spa", "spa", "eng", "eng"]
    confusion = Confusion(gold, answers)
    assert confusion.entries() == [
        ("eus", "eng", 2, 0.5),
        ("eus", "eus", 1, 0.25),
        ("eus", "spa", 1, 0.25),
        ("spa", "spa", 2, pytest.approx(2 / 3)),
        ("spa", "eng", 1, pytest.approx(1 / 3)),
        ("eng", "eng", 1, 1.0),
    ]
    assert [each[:3] for each in confusion.errors()] == [
        ("eus", "eng", 2),
        ("eus", "spa", 1),
        ("spa", "eng", 1),
    ]
    assert [each.label for each in confusion.taken_for("eng", 0.4)] == ["eus"]
    assert [each.label for each in confusion.taken_for("eng", 0.1)] == ["eus", "spa"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(rows):
    for each in scores([gold for gold, _ in rows], [told for _, told in rows]).classes:
        total = each.precision + each.recall
        mean = 2 * each.precision * each.recall / total if total else 0
        assert each.f1 == pytest.approx(mean)


def test_a_language_is_well_covered_by_many_urls_of_many_sites():
    rows = [LabelledUrl(f"http://www.s{n % 10}.org/{n}", "eus") for n in range(100)]
    rows += [LabelledUrl(f"http://p{n}.one.org/{n}", "cat") for n in range(100)]
    rows += [LabelledUrl(f"http://s{n}.org/", "spa") for n in range(99)]
    assert well_covered(rows) == {"eus"}


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://x.example/es/a?hl=eu", "eus"),
        ("http://x.es/fr/a", "fra"),
        ("http://de.x.es/a", "spa"),
        ("http://de.x.com/a", "deu"),
        ("http://x.com/a", "unknown"),
        ("http://[", "unknown"),
    ],
)
def test_rules_trust_parameters_then_directories_then_suffix_then_subdomain(url, code):
    assert announced_language(url) == code


def is_pair(first, second):
    return same_but_for_language(stripped(first, TOKENS), stripped(second, TOKENS))


@pytest.mark.parametrize(
    "tokens",
    [("en", "is"), ("english", "islenska"), ("eng", "isl"), ("en-gb", "is-is"), ("fra", "fre")],
)
def test_token_stripping_knows_names_and_codes_of_every_language(tokens):
    first, second = (f"http://x.example/{token}/a?b=1" for token in tokens)
    assert is_pair(first, second)
    assert not is_pair(first, second.replace("/a", "/c"))


def test_a_url_is_no_translation_of_itself():
    assert not is_pair("http://x.example/en/a", "http://x.example/en/a")
    assert not is_pair("http://x.example/en/a", "http://x.example/en/a/")


def test_a_broken_url_is_no_translation_of_another():
    assert not is_pair("http://[broken", "http://[broken/fr")
    assert stripped("http://[broken", TOKENS).key == "http://[broken"


def write(folder, text, name="data.tsv"):
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)


def test_rows_are_read_whatever_the_spelling_of_their_language(tmp_path):
    skipped = SkippedLines()
    file = write(
        tmp_path,
        "http://a/\tspa\nhttp://b/\tes\textra\nhttp://c/\tBasque\nhttp://d/\tunknown\n",
    )
    rows = list(language_rows(file, skipped))
    assert [row.language for row in rows] == ["spa", "spa", "eus", "unknown"]
    assert not skipped.count
    assert not str(skipped)


def test_bad_lines_are_counted_and_the_first_is_told(tmp_path):
    skipped = SkippedLines()
    file = write(tmp_path, b"url\tlang\n\nhttp://a/\tspa\nhttp://b/\n\tspa\nhttp://\xff/\teus\n")
    rows = list(language_rows(file, skipped))
    assert [row.language for row in rows] == ["spa", "eus"]
    assert str(skipped) == "3 lines skipped, first line 1: 'lang' is not a language"


def test_labelled_pairs_are_read(tmp_path):
    skipped = SkippedLines()
    file = write(tmp_path, "http://a/\thttp://b/\t1\nhttp://a/\thttp://c/\t0\r\na\tb\tc\na\tb\n")
    assert [row[:3] for row in pair_rows(file, skipped)] == [
        ("http://a/", "http://b/", True),
        ("http://a/", "http://c/", False),
    ]
    assert str(skipped) == "2 lines skipped, first line 3: the third column is 'c', not 0 or 1"


def test_pairs_may_have_languages_after_their_label(tmp_path):
    file = write(tmp_path, "http://a/\thttp://b/\t0\ten\tfr\nhttp://a/\thttp://c/\t1\n")
    first, second = pair_rows(file, SkippedLines())
    assert (first.parallel, first.language_pair) == (False, "eng-fra")
    assert (second.parallel, second.language_pair) == (True, "")


def test_a_header_names_the_columns_of_pairs(tmp_path):
    skipped = SkippedLines()
    text = "url1\turl2\tlang1\tlang2\nhttp://a/\thttp://b/\tfra\teng\nhttp://a/\n"
    (row,) = pair_rows(write(tmp_path, text), skipped)
    assert (row.parallel, row.language_pair) == (True, "eng-fra")
    assert skipped.count == 1
    labelled = "label\turl2\turl1\n1\thttp://b/\thttp://a/\n"
    (row,) = pair_rows(write(tmp_path, labelled), skipped)
    assert row[:3] == ("http://a/", "http://b/", True)


def test_gold_pairs_are_read(tmp_path):
    skipped = SkippedLines()
    file = write(tmp_path, "url1\turl2\nhttp://a/\thttp://b/\tcat\n")
    assert list(gold_rows(file, skipped)) == [("http://a/", "http://b/")]
    assert str(skipped) == "1 line skipped, first line 1: not two URLs with a tab between"


def test_a_gzipped_file_is_known_by_its_bytes(tmp_path):
    file = write(tmp_path, gzip.compress(b"http://a/\tspa\n"), "data.tsv")
    assert [row[:2] for row in language_rows(file, SkippedLines())] == [("http://a/", "spa")]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:10] + b"\xff" * 20, lambda data: data[:2]]
)
def test_a_damaged_gzip_file_is_told(tmp_path, damage):
    file = write(tmp_path, damage(gzip.compress(b"http://a/\tspa\n" * 50)))
    with pytest.raises(ConfigurationError, match=r"data\.tsv"):
        list(language_rows(file, SkippedLines()))


@pytest.mark.parametrize("name", ["missing.tsv", ""])
def test_a_file_that_cannot_be_read_is_told(tmp_path, name):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        list(language_rows(str(tmp_path / name), SkippedLines()))


def test_model_and_rules_are_compared_on_the_same_urls(languages):
    rows = [
        LabelledUrl("http://x.org/es/home", "spa"),
        LabelledUrl("http://x.org/home?lang=es", "spa"),
        LabelledUrl("http://x.fr/en/home", "fra"),
        LabelledUrl("http://x.org/eu/home", "eus"),
    ]
    seen: list[int] = []
    result = compare_languages(rows, languages, advance=seen.append)
    assert sum(seen) == result.rows == 4
    assert result.model.of("spa").recall == 1
    assert result.rules.of("eus").recall == 1
    assert result.model.of("eus").recall == 0
    assert result.not_known == {"eus": 1}
    figures = result.figures()
    assert figures["macro_f1"] == result.model.macro_f1
    assert figures["baseline_macro_f1"] == result.rules.macro_f1
    assert figures["unknown_share"] == 0.25
    assert figures["urls_per_second"] > 0
    assert "positive_f1" not in figures


def test_pairs_are_compared_in_both_classes(pairs):
    site = "http://site1.example"
    rows = [
        LabelledPair(f"{site}/en/news", f"{site}/fr/news", True),
        LabelledPair(f"{site}/en/news", f"{site}/fr/about", False),
        LabelledPair("http://[", "http://[/fr", False),
    ]
    result = compare_pairs(rows, pairs, TOKENS)
    assert [each.label for each in result.model.classes] == [NEGATIVE, POSITIVE]
    assert result.model.macro_f1 == result.rules.macro_f1 == 1
    assert result.figures()["positive_f1"] == result.figures()["baseline_positive_f1"] == 1
    assert "unknown_share" not in result.figures()


def test_macro_f1_is_given_for_each_language_pair():
    """Rules find one of two French pairs and no Finnish one, and take one other pair for one."""
    site = "http://site1.example"
    rows = [
        LabelledPair(f"{site}/en/news", f"{site}/fr/news", True, "eng", "fra"),
        LabelledPair(f"{site}/fr/neuf", f"{site}/en/new", True, "fra", "eng"),
        LabelledPair(f"{site}/en/news", f"{site}/fr/neuf", False, "eng", "fra"),
        LabelledPair(f"{site}/en/a", f"{site}/fi/b", True, "eng", "fin"),
        LabelledPair(f"{site}/en/b", f"{site}/fi/b", False, "eng", "fin"),
        LabelledPair(f"{site}/en/b", f"{site}/en/a", False, "eng", "eng"),
        LabelledPair(f"{site}/en/b", f"{site}/de/a", False, "eng", "deu"),
        LabelledPair(f"{site}/en/b", f"{site}/x", False),
    ]
    result = compare_pairs(rows, None, TOKENS)
    assert [(each.languages, each.parallel, each.others) for each in result.language_pairs] == [
        ("eng-fra", 2, 1),
        ("eng-fin", 1, 1),
    ]
    french, finnish = result.figures()["language_pairs"].values()
    assert french["baseline_positive_f1"] == pytest.approx(2 / 3)
    assert french["baseline_macro_f1"] == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert finnish["baseline_macro_f1"] == 0


def test_a_row_counts_for_the_language_pair_that_it_is_given():
    row = LabelledPair("http://a.example/en/a", "http://a.example/fr/a", True, "eng", "fra")
    other = row._replace(second="http://a.example/en/b", second_language="eng", parallel=False)
    (only,) = compare_pairs([row, other], None, TOKENS, languages=["eng-fra"] * 2).language_pairs
    assert (only.parallel, only.others) == (1, 1)


def test_without_a_model_the_rules_stand_alone():
    figures = compare_languages([LabelledUrl("http://x.org/es/", "spa")], None).figures()
    assert figures["baseline_macro_f1"] == 1
    assert "macro_f1" not in figures
    assert "urls_per_second" not in figures


def gold_of(*sites, pages=("home", "news", "about", "x")):
    return [
        GoldPair(f"http://{site}/en/{page}", f"http://{site}/fr/{page}")
        for site in sites
        for page in pages
    ]


def test_all_urls_of_a_site_are_candidates_and_no_others():
    sites = group_by_site([*gold_of("www.a.org"), *gold_of("b.example", pages=["x"])])
    assert [(len(site.firsts), len(site.seconds)) for site in sites] == [(4, 4), (1, 1)]
    assert candidate_pairs([*gold_of("a.example"), *gold_of("b.example")]) == 32


def test_subdomains_and_domains_with_a_gold_pair_across_are_one_site():
    across = [
        GoldPair("http://en.a.org/1", "http://fr.a.org/1"),
        GoldPair("http://a.org/2", "http://a.com/2"),
        GoldPair("http://www.a.com/3", "http://a.com/3f"),
    ]
    (site,) = group_by_site(across)
    assert site.pairs == 9


def test_every_pair_of_a_site_is_asked_about(pairs):
    seen: list[int] = []
    result = align(gold_of("a.example", "b.example"), pairs, TOKENS, advance=seen.append)
    assert sum(seen) == result.candidates == 32
    assert result.figures()["sites"] == 2


def test_gold_pairs_that_the_model_finds_are_its_recall(pairs):
    gold = gold_of("site1.example")
    hard = [GoldPair("http://site1.example/en/today", "http://site1.example/fr/us")]
    result = align(gold + hard + gold, pairs, TOKENS)
    assert result.gold == 5
    assert result.model.recall == 1
    assert result.model.sure_recall == pytest.approx(0.8)
    assert result.rules.recall == pytest.approx(0.8)
    assert result.figures()["baseline_recall"] == result.rules.recall


def test_a_url_is_never_paired_with_itself(pairs):
    page = "http://site1.example/en/home"
    gold = [GoldPair(page, "http://site1.example/fr/home"), GoldPair("http://site1.example/", page)]
    assert align(gold, pairs, TOKENS).model.recall == 1


def test_the_order_of_the_gold_list_does_not_help(pairs):
    """Pages that the model cannot tell apart are not paired by their place in the list."""
    pages = [f"zz{chr(ord('a') + number)}q" for number in range(20)]
    gold = [
        GoldPair(f"http://a.example/en/{page}", f"http://a.example/fr/{other}")
        for page, other in zip(pages, pages[7:] + pages[:7], strict=True)
    ]
    results = {align(order, pairs, TOKENS).model for order in (gold, gold[::-1])}
    assert len(results) == 1
    assert results.pop().recall < 0.5


@given(st.integers(1, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_likeliest_free_pair_is_taken_again_and_again(rows, columns, random):
    table = np.array(
        [[random.choice([0.1, 0.5, 0.9]) for _ in range(columns)] for _ in range(rows)]
    )
    site = CandidateSite(
        [f"a{row}" for row in range(rows)], [f"b{column}" for column in range(columns)]
    )
    best = sorted(
        itertools.product(range(rows), range(columns)), key=lambda place: (-table[place], place)
    )
    expected: dict[tuple[str, str], float] = {}
    for row, column in best:
        taken = {url for pair in expected for url in pair}
        if table[row, column] >= 0.5 and not taken & {f"a{row}", f"b{column}"}:
            expected[f"a{row}", f"b{column}"] = table[row, column]
    assert take_one_to_one(site, table, at_least=0.5) == expected
    assert take_one_to_one(site, table, at_least=0.5, kept=1) == expected


def test_soft_recall_forgives_a_partner_that_differs_in_language_tokens_alone():
    gold = [GoldPair("http://a.example/en/x", "http://a.example/fr/x")]
    near = "http://a.example/fr-ca/x"
    far = "http://a.example/fr/y"
    same = SameKey(TOKENS)
    assert recalls(gold, {(gold[0].first, near): 0.9}, same).soft_recall == 1
    assert recalls(gold, {(gold[0].first, near): 0.9}, same).recall == 0
    assert recalls(gold, {(gold[0].first, far): 0.9}, same).soft_recall == 0
    assert recalls(gold, {gold[0]: 0.4}, same).soft_recall == 1
    assert recalls(gold, {gold[0]: 0.4}, same).sure_recall == 0
    assert recalls(gold, {gold[0]: 0.4}, same).sure_soft_recall == 0
    assert recalls(gold, {(gold[0].first, near): 0.9}, same).sure_soft_recall == 1
    assert recalls([], {}, same).recall == 0


def test_soft_recall_is_what_the_table_of_equal_texts_says():
    """Three gold pairs: one exact, one with a copy of its first page, one with another page."""
    gold = [GoldPair(f"http://a.example/{n}", f"http://a.example/{n}f") for n in range(3)]
    found: dict[tuple[str, str], float] = {
        (gold[0].first, gold[0].second): 0.9,
        ("http://a.example/copy", gold[1].second): 0.9,
        (gold[2].first, "http://a.example/other"): 0.9,
    }
    table = [
        ("http://a.example/1", "http://a.example/b"),
        ("http://a.example/copy", "http://a.example/b"),
    ]
    result = recalls(gold, found, Duplicates(table))
    assert result.recall == pytest.approx(1 / 3)
    assert result.soft_recall == pytest.approx(2 / 3)


ENGLISH_FRENCH = LanguagePair.parse("eng-fra")


def test_the_side_of_a_candidate_is_stated_in_gold_in_its_tokens_or_guessed(languages):
    site = "http://site1.example"
    gold = [GoldPair(f"{site}/fr/gold", f"{site}/x")]
    urls = {
        f"{site}/x": "",
        f"{site}/stated": "fra",
        f"{site}/deutsch": "deu",
        f"{site}/en/a": "",
        f"{site}/es/home": "",
    }
    sides = decide_sides(urls, gold, ENGLISH_FRENCH, languages)
    assert sides.of == {
        f"{site}/x": 1,
        f"{site}/stated": 1,
        f"{site}/deutsch": None,
        f"{site}/en/a": 0,
        f"{site}/es/home": None,
        f"{site}/fr/gold": 0,
    }
    assert sides.how == {"gold list": 2, "table": 2, "tokens": 1, "url2lang": 1}
    assert (sides.gold_checked, sides.gold_right) == (2, 0)


def test_all_urls_of_the_gold_sites_are_candidates_if_given(pairs, languages):
    gold = gold_of("a.org", pages=("home",))
    more = [f"http://www.a.org/{code}/{page}" for code in ("en", "fr") for page in ("news", "us")]
    elsewhere = ["http://other.org/en/home"]
    sides = decide_sides(dict.fromkeys(more + elsewhere, ""), gold, ENGLISH_FRENCH, languages)
    (site,) = group_by_site(gold, sides.of)
    assert (len(site.firsts), len(site.seconds)) == (3, 3)
    assert candidate_pairs(gold, sides) == 9
    result = align(gold, pairs, TOKENS, sides=sides)
    assert result.figures()["candidates"] == "all URLs"
    assert result.figures()["by_site"]["a.org"] == {
        "gold": 1,
        "firsts": 3,
        "seconds": 3,
        "model": 1,
        "rules": 1,
    }
    assert align(gold, pairs, TOKENS).figures()["candidates"] == "gold URLs only"


def test_a_table_too_large_for_memory_is_the_same_on_disk(pairs, monkeypatch):
    pages = [f"p{number}" for number in range(70)]
    (site,) = group_by_site(gold_of("a.example", pages=pages))
    in_memory = model_table(site, pairs, lambda _: None)
    monkeypatch.setattr(one_to_one, "IN_MEMORY", 10)
    on_disk = model_table(site, pairs, lambda _: None)
    assert isinstance(on_disk, np.memmap)
    np.testing.assert_array_equal(in_memory, on_disk)
    assert in_memory[3, 65] == pytest.approx(
        pairs.probabilities([(site.firsts[3], site.seconds[65])])[0]
    )
    assert take_one_to_one(site, in_memory) == take_one_to_one(site, on_disk)


@pytest.mark.skipif(not (SHARED / "data" / "wmt16").is_dir(), reason="no WMT16 data at hand")
def test_token_stripping_reaches_on_wmt16_what_it_is_known_to_reach():
    gold = list(gold_rows(str(SHARED / "data" / "wmt16" / "train.pairs"), SkippedLines()))
    result = align(gold, None, TOKENS)
    assert len(gold) == 1624
    assert 0.6 < result.rules.recall < 0.75
