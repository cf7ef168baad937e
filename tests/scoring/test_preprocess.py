"""URLs as the models read them."""

import re
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from bilingual_crawler.scoring.encode import Ngrams, UrlEncoder, shortened
from bilingual_crawler.scoring.pair_features import FEATURES
from bilingual_crawler.scoring.preprocess import (
    HEAD,
    LONGEST,
    PREPROCESSINGS,
    TAIL,
    _decoded,
    ngram_table,
    prepare,
)
from tests.support.tiny_models import URLS, ngram_ids, tokenizer

SIZES, BUCKETS, MOST = (2, 3, 4, 5), 32768, 96

hosts = st.sampled_from(
    ["www.example.org", "xn--mnchen-3ya.de", "xn--\u0434.рф", "xn--99999999999.com", "[::1]", ""]
)
escapes = st.binary(max_size=30).map(lambda data: "".join(f"%{byte:02X}" for byte in data))
pieces = st.one_of(
    st.text(max_size=30),
    st.text(st.characters(categories=["Cs"]), min_size=1, max_size=3),
    escapes,
    st.sampled_from(["/", "?", "&amp;", "&#233;", "&#xD800;", "&#9999999;", "%", "%zz", "_", "+"]),
)
any_url = st.one_of(
    st.text(max_size=200),
    st.builds(
        lambda scheme, host, parts: scheme + host + "/" + "".join(parts),
        st.sampled_from(["http://", "https://", "//", ""]),
        hosts,
        st.lists(pieces, max_size=8),
    ),
)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://www.example.org/a_b-c?id=42", "www . example . org / a _ b - c ? id = 42"),
        ("HTTP://Example.ORG/Two%20Words", "Example . ORG / Two Words"),
        ("//x.org/1999abc", "x . org / 1999 abc"),
        ("http://x.org/?a=1&amp;lang=es", "x . org / ? a = 1 & lang = es"),
        ("http://x.org/caf%C3%A9", "x . org / café"),
        ("http://x.org/caf%E9", "x . org / café"),
        ("http://x.org/%25D8%25A7%25D9%2584", "x . org / ال"),
        ("http://x.org/हिन्दी_में", "x . org / हिन्दी _ में"),
        ("http://x.org/cafe\u0301", "x . org / café"),
        ("http://xn--mnchen-3ya.de/", "münchen . de /"),
        ("http://XN--MNCHEN-3YA.de/xn--mnchen-3ya", "MüNCHEN . de / xn - - mnchen - 3 ya"),
        ("http://xn--0.de/", "xn - - 0 . de /"),
        ("http://[broken", "[ broken"),
        ("  https://x.org/\x00a\ud800b\u200ec", "x . org / a b c"),
        ("", ""),
    ],
)
def test_a_url_is_decoded_and_split(url, parts):
    assert prepare(url) == parts


@pytest.mark.parametrize("name", ["section", "copy", "lang", "not", "para", "region"])
def test_a_parameter_is_not_taken_for_an_entity(name):
    assert prepare(f"x.org/?a=1&{name}=2") == f"x . org / ? a = 1 & {name} = 2"


@given(any_url)
@example("http://x/" + "%D8%A7" * 600)
@example("http://x/" + "a/" * 2000)
@example("http://x/" + "&amp;" * 900)
@example("http://x/" + "\U0001d15e" * 4000)
def test_any_url_becomes_parts_of_one_kind_with_single_blanks(url):
    text = prepare(url)
    assert len(text) <= 2 * (HEAD + TAIL)
    text.encode()
    for part in text.split(" ") if text else []:
        kinds = {
            "letter" if (each.isalnum() and not each.isdecimal()) or is_mark(each)
            else "digit" if each.isdecimal()
            else "special"
            for each in part
        }  # fmt: skip
        assert len(kinds) == 1, part
        assert kinds != {"special"} or len(part) == 1


def is_mark(character):
    return unicodedata.category(character)[0] == "M"


def test_both_ends_of_a_very_long_url_are_kept():
    text = prepare(f"https://es.example/{'a/' * 1990}?lang=eu")
    assert text.startswith("es . example /")
    assert text.endswith("? lang = eu")


AUTHORS, NO_SLASH = (PREPROCESSINGS[f"transducens{each}"].prepare for each in ("", "-no-slash"))


@pytest.mark.parametrize(
    ("url", "parts", "without_slashes"),
    [
        (  # the example of their model card
            "https://es.wikipedia.org/wiki/Halo_3#Matchmaking",
            "es . wikipedia . org / wiki / Halo _ 3 # Matchmaking",
            "es . wikipedia . org   wiki   Halo _ 3 # Matchmaking",
        ),
        (
            "http://www.Site1.org/a/?id=42&lang=es//",
            "www . Site 1 . org / a /? id = 42 & lang = es",
            "www . Site 1 . org   a   ? id = 42 & lang = es",
        ),
        (
            "https://x.org/a--b__c...d",
            "x . org / a -- b __ c ... d",
            "x . org   a -- b __ c ... d",
        ),
        (
            "https://x.org/-/!a/%20two%20%20words%09",
            "x . org /-/! a /   two   words",
            "x . org   -   ! a   two   words",
        ),
        ("ftp://x.org/caf%C3%A9", "x . org / café", "x . org   café"),
        ("http://x.org/caf%E9", r"x . org / caf \ xe 9", r"x . org   caf \ xe 9"),
        ("http://x.org/%2541", "x . org /% 41", "x . org   % 41"),
        ("x.org/a&amp;b", "x . org / a & amp ; b", "x . org   a & amp ; b"),
        ("http://x.org/हि", "x . org / ह ि", "x . org   ह ि"),
        ("http://x.org/a٣", "x . org / a٣", "x . org   a٣"),
        ("https://", "", ""),
        ("", "", ""),
    ],
)
def test_a_url_is_split_as_the_published_models_expect(url, parts, without_slashes):
    assert AUTHORS(url) == parts
    assert NO_SLASH(url) == without_slashes


@given(any_url, st.sampled_from(sorted(PREPROCESSINGS)))
@example("http://x/" + "a/" * 4000, "transducens")
@example("http://x/" + "%D8%A7" * 4000, "transducens")
@example("http://x/a\ud800b", "transducens-no-slash")
def test_any_url_can_be_prepared_in_every_way(url, name):
    text = PREPROCESSINGS[name].prepare(url)
    assert len(text) <= 8 * LONGEST
    text.encode()


def ngrams_spelt_out(url, sizes):
    """The n-grams as text, found the plain way."""
    text = f"\x02{_decoded(url).lower()}\x03"
    is_letter = [unicodedata.category(each)[0] in "LM" or ord(each) >= 0x1FFFF for each in text]
    found = []
    for begin in range(len(text)):
        for size in sizes:
            gram, kinds = text[begin : begin + size], is_letter[begin : begin + size]
            if len(gram) == size and any(kinds) and all(kinds[1:-1]):
                found.append(gram)
        if not is_letter[begin] and begin + 1 < len(text) and is_letter[begin + 1]:
            end = next(at for at in range(begin + 1, len(text)) if not is_letter[at])
            if end + 1 - begin > max(sizes):
                found.append(text[begin : end + 1])
    return list(dict.fromkeys(found))


@given(st.lists(any_url, max_size=5))
def test_ngrams_are_those_of_the_words_with_what_stands_around_them(urls):
    spelt = [ngrams_spelt_out(url, SIZES) for url in urls]
    table = ngram_table(urls, SIZES, 1 << 40, 4096)
    for grams, row in zip(spelt, table, strict=True):
        assert np.count_nonzero(row) == len(grams)
        assert not row[len(grams) :].any()


def test_many_urls_have_the_ngrams_that_each_has_alone():
    table = ngram_table(URLS * 10, SIZES, BUCKETS, MOST)
    for url, row in zip(URLS, table[-len(URLS) :], strict=True):
        assert [number for number in row if number] == ngram_ids(url, SIZES, BUCKETS, MOST)


def test_equal_ngrams_have_equal_numbers_in_every_url():
    one = ngram_ids("http://a.org/es/uno", SIZES, BUCKETS, MOST)
    two = ngram_ids("https://another.com/x/es/due", SIZES, BUCKETS, MOST)
    path = set(one) & set(two)
    suffix = set(ngram_ids("http://a.es", SIZES, BUCKETS, MOST))
    (slashes,) = ngram_ids("/es/", (4,), BUCKETS, MOST)[-1:]
    assert slashes in path
    assert slashes not in suffix


@given(any_url, st.integers(2, 500), st.integers(1, 50))
def test_ngram_numbers_are_different_ones_below_the_number_of_buckets(url, buckets, most):
    ids = ngram_ids(url, SIZES, buckets, most)
    assert len(ids) == len(set(ids)) <= most
    assert all(0 < each < buckets for each in ids)


def test_ngram_numbers_do_not_change_between_processes_and_versions():
    code = (
        "from tests.support.tiny_models import ngram_ids;"
        "print(ngram_ids('http://a.es/\\u00f1u', (2, 3, 4, 5), 32768, 96))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    ids = ngram_ids("http://a.es/ñu", SIZES, BUCKETS, MOST)
    assert printed.strip() == str(ids)
    assert ids[:4] == [43, 13921, 2721, 19184]


def spelt(encoder, arrays):
    """The tokens of encoded rows."""
    return [
        " ".join(encoder.tokenizer.id_to_token(number) for number in row[mask.astype(bool)])
        for row, mask in zip(arrays["input_ids"], arrays["attention_mask"], strict=True)
    ]


def test_a_url_is_encoded_between_its_marks():
    encoder = UrlEncoder(tokenizer(), 32)
    arrays = encoder.encode(["https://www.site1.example/es/home", "www"])
    assert spelt(encoder, arrays) == [
        "<s> www . site 1 . example / es / home </s>",
        "<s> www </s>",
    ]
    assert (arrays["input_ids"][1, 3:] == encoder.padding).all()
    assert set(arrays) == {"input_ids", "attention_mask"}
    assert {array.dtype for array in arrays.values()} == {np.dtype("int64")}


def test_a_pair_has_one_mark_between_its_urls():
    encoder = UrlEncoder(tokenizer(), 32)
    arrays = encoder.encode_pairs([("/es/home", "/en/about")])
    assert spelt(encoder, arrays) == ["<s> / es / home </s> / en / about </s>"]


def test_the_marks_that_a_tokenizer_would_add_itself_are_not_added(tmp_path):
    words = tokenizer()
    ids = [(mark, words.token_to_id(mark)) for mark in ("<s>", "</s>")]
    words.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ids
    )
    words.enable_padding(length=20)
    words.save(str(tmp_path / "tokenizer.json"))
    encoder = UrlEncoder(tmp_path / "tokenizer.json", 32)
    assert spelt(encoder, encoder.encode(["x"])) == ["<s> x </s>"]


def test_the_middle_of_a_long_url_is_left_out():
    assert shortened(list(range(100)), 8) == [0, 1, 2, 3, 4, 5, 98, 99]
    assert shortened([1, 2, 3], 3) == [1, 2, 3]
    assert shortened([1, 2, 3], 2) == [1, 2]


def test_of_a_long_pair_the_longer_url_is_shortened_first():
    encoder = UrlEncoder(tokenizer(), 23)
    long, short = "x/" * 40, "/es/home"
    assert [len(encoder.pair_rows([pair]).ids[0]) for pair in [(long, short), (short, long)]] == [
        23,
        23,
    ]
    first, second = halves(encoder, (long, short))
    assert (len(first), second) == (16, ["/", "es", "/", "home"])
    first, second = halves(encoder, (short, long))
    assert (first, len(second)) == (["/", "es", "/", "home"], 16)
    assert [len(half) for half in halves(encoder, (long, long))] == [10, 10]


def halves(encoder, pair):
    (row,) = spelt(encoder, encoder.encode_pairs([pair]))
    _, first, second, _ = re.split("<s>|</s>", row)
    return first.split(), second.split()


@given(st.lists(any_url, max_size=5), st.integers(8, 64))
def test_any_urls_can_be_encoded(urls, length):
    encoder = UrlEncoder(WORDS, length, Ngrams((3, 4), 512, 16))
    arrays = encoder.encode(urls)
    assert arrays["input_ids"].shape == arrays["attention_mask"].shape
    assert arrays["input_ids"].shape[0] == len(urls)
    assert arrays["input_ids"].shape[1] <= length
    assert arrays["ngrams"].shape[0] == len(urls)
    assert arrays["ngrams"].shape[1] <= 16
    pairs = encoder.encode_pairs([(url, url[::-1]) for url in urls])
    assert pairs["input_ids"].shape[1] <= length
    assert pairs["ngrams"].shape[0] == len(urls)
    assert pairs["ngrams"].shape[1] in range(0, 17, 2)


WORDS = tokenizer()


def test_the_ngrams_of_a_pair_are_those_of_words_that_only_one_url_has():
    encoder = UrlEncoder(WORDS, 32, Ngrams((3, 4), 512, 64))
    (row,) = encoder.encode_pairs([("/es/home-one", "/en/home-three")])["ngrams"]
    one, two = (set(ngram_ids(f" {word} ", (3, 4), 512, 64)) for word in ("one", "three"))
    half = max(len(one), len(two))
    assert len(row) == 2 * half
    assert ({*row[:half].tolist()} - {0}, {*row[half:].tolist()} - {0}) == (one, two)


def test_words_that_only_one_url_has_are_kept_apart_the_last_one_first():
    encoder = UrlEncoder(WORDS, 32, Ngrams((3, 4), 512, 3 * 2 * 8), word_ngrams=8)
    pairs = [("/es/home-one", "/en/home-three-one"), ("/a/b/c/d-e", "/f")]
    table = encoder.encode_pairs(pairs)["ngrams"].reshape(2, 2, -1, 8)
    assert table.shape[2] == 3  # of five words the last three

    def ids(word):
        return [*ngram_ids(f" {word} ", (3, 4), 512, 8), *[0] * 8][:8]

    assert not table[0, 0].any()
    assert table[0, 1].tolist() == [ids("three"), [0] * 8, [0] * 8]
    assert table[1, 0].tolist() == [ids("e"), ids("d"), ids("c")]


def test_words_take_no_more_columns_than_the_longest_row_of_a_batch():
    encoder = UrlEncoder(WORDS, 32, Ngrams((3,), 512, 2 * 5 * 4), word_ngrams=4)
    assert encoder.encode_pairs([("/one", "/two")])["ngrams"].shape == (1, 2 * 1 * 4)
    assert encoder.encode_pairs([("/one", "/one")])["ngrams"].shape == (1, 2 * 1 * 4)


def test_a_model_that_compares_reads_nothing_of_a_host_that_both_urls_have():
    encoder = UrlEncoder(WORDS, 32, compares=True)
    one, two = "https://www.site1.example/es/home", "https://www.site1.example/en/home"
    ids = encoder.pair_rows([(one, two), (one, two.replace("site1", "site2"))]).ids
    assert ids[0] == encoder.pair_rows([("/es/home", "/en/home")]).ids[0]
    assert len(ids[1]) > len(ids[0])


def test_a_model_that_compares_gets_a_row_of_features_for_every_pair():
    arrays = UrlEncoder(WORDS, 32, compares=True).encode_pairs([("/es/a", "/en/a"), ("/a", "/b")])
    assert arrays["features"].shape == (2, len(FEATURES))
    assert arrays["features"].dtype == np.float32


def test_rows_of_a_published_model_stop_where_they_are_full():
    encoder = UrlEncoder(WORDS, 9, preprocessing="transducens")
    url = "https://www.site1.example/es/home"
    assert spelt(encoder, encoder.encode([url])) == ["<s> www . site 1 . example / </s>"]
    pairs = [("x.org/es", "x/en"), (url, url), ("x", url)]
    assert spelt(encoder, encoder.encode_pairs(pairs)) == [
        "<s> x . <unk> / es </s> x </s>",
        "<s> www . site 1 . example / </s>",
        "<s> x </s> www . site 1 . </s>",
    ]


def test_runs_of_signs_reach_a_published_model_as_one_word():
    words = Tokenizer(models.WordLevel({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "/?": 4}))
    words.model.unk_token = "<unk>"
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    url = "x/?a"
    published = UrlEncoder(words, 16, preprocessing="transducens")
    assert published.rows([url]).ids == [[0, 3, 4, 3, 2]]
    assert UrlEncoder(words, 16).rows([url]).ids == [[0, 3, 3, 3, 3, 2]]


def test_nothing_is_encoded_as_nothing():
    encoder = UrlEncoder(WORDS, 32, Ngrams((3, 4), 512, 64))
    assert encoder.encode([])["input_ids"].shape == (0, 0)
    assert encoder.encode_pairs([])["ngrams"].shape[0] == 0


def test_a_tokenizer_without_the_marks_is_refused():
    with pytest.raises(ValueError, match=re.escape("no token <s>")):
        UrlEncoder(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")), 32)


def test_the_words_of_the_sample_are_known():
    encoder = UrlEncoder(WORDS, 64)
    assert "<unk>" not in " ".join(spelt(encoder, encoder.encode(URLS)))
