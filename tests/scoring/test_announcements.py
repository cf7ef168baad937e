"""What URLs announce, by place."""

import pytest

from bilingual_crawler.scoring.announcements import PLACES, read_url
from bilingual_crawler.scoring.encode import MOST_ANNOUNCED, Announced, Ngrams, UrlEncoder
from bilingual_crawler.scoring.models import find_model


def announced(url):
    return {(PLACES[place], language) for place, language in read_url(url).announced}


@pytest.mark.parametrize(
    ("url", "place", "language"),
    [
        ("https://a.com/p?lang=eu", "language parameter", "eus"),
        ("https://a.com/p?x=eu", "other parameter", "eus"),
        ("https://a.com/eu/p/q", "first directory", "eus"),
        ("https://a.com/eu", "first directory", "eus"),
        ("https://a.com/x/eu/q", "directory", "eus"),
        ("https://a.com/x/eu", "last part", "eus"),
        ("https://a.com/x/eu.html", "name before the ending", "eus"),
        ("https://a.com/index.sv", "ending", "swe"),
        ("https://a.com/news-07.it.html", "after a dot", "ita"),
        ("https://a.com/charter_cs.pdf", "after an underscore", "ces"),
        ("https://a.com/charter-cs", "after a hyphen", "ces"),
        ("https://a.com/cs_charter.html", "beginning of the last part", "ces"),
        ("https://a.com/site-fi/x", "part of a directory", "fin"),
        ("https://cs.a.com/", "first label", "ces"),
        ("https://www.cs.a.com/", "first label", "ces"),
        ("https://docs.cs.a.com/", "other label", "ces"),
        ("https://wiki-cs.a.com/", "part of a label", "ces"),
        ("https://a.it/", "top-level domain", "ita"),
        ("https://a.com.br/", "country of the domain", "por"),
        ("https://a.se/", "first country of the domain", "swe"),
        ("https://a.co.uk/", "country of the domain", "eng"),
        ("https://a.com/se/x", "country as first directory", "swe"),
        ("https://a.com/x/kr/y", "country as directory", "kor"),
        ("https://se.a.org/x", "country as label", "swe"),
        ("https://a.com/cs-cz/", "code with a country", "ces"),
        ("https://a.com/pt_BR/", "code with a country", "por"),
        ("https://a.com/deutsch/", "name of a language", "deu"),
        ("https://a.com/%65%75/p", "first directory", "eus"),
        ("https://a.es/eu/p", "rule", "eus"),
    ],
)
def test_a_language_is_found_where_it_is_announced(url, place, language):
    assert (place, language) in announced(url)


@pytest.mark.parametrize(
    "url", ["https://a.com/kitchen/lamps.html", "https://a.com/", "http://[bad", "", "mailto:x"]
)
def test_nothing_is_announced_where_nothing_is(url):
    assert announced(url) == set()


def test_host_and_path_keep_the_signs_around_them():
    read = read_url("https://www.de.example.org/Über/uns?a=1")
    assert (read.host, read.path) == ("//de.example.org/", "//x/Über/uns?a=1")
    assert read_url("https://example.org").path == "//x/"


def test_words_are_whole_parts_with_their_place():
    read = read_url("https://shop.example.co.uk/En/kitchen-lamps/?Page=2")
    assert {"/en", "first /en", "/kitchen-lamps", "lamps", "?page=2"} <= set(read.words)
    assert {".uk", "..co.uk", "shop.", "example"} <= set(read.host_words)
    assert "plain .uk" not in read.host_words
    assert "plain .uk" in read_url("https://example.co.uk/lamps").host_words


def test_an_encoder_numbers_the_announcements_of_its_labels():
    place = PLACES.index("first directory")
    tokenizer = str(find_model("url2lang").joinpath("tokenizer.json"))
    taken = Announced(Ngrams((2, 3), 64, 16), 32, ("eng", "eus", "unknown"))
    encoder = UrlEncoder(tokenizer, 32, Ngrams((2, 3), 64, 16), announced=taken)
    arrays = encoder.encode(["https://a.com/eu/x", "https://a.com/fi/x"])
    rule = PLACES.index("rule")
    assert set(arrays["announced"][0].tolist()) == {place * 3 + 2, rule * 3 + 2}
    assert not arrays["announced"][1].any()  # Finnish is none of the labels
    assert arrays["words"].max() < 32
    assert arrays["host"].max() < 64


def test_a_url_full_of_codes_is_cut():
    codes = "/".join(["en", "eu", "fr", "de", "es", "it", "fi", "sv"] * 50)
    taken = Announced(Ngrams((2,), 64, 8), 32, ("deu", "eng", "eus", "fin", "fra", "ita", "spa"))
    tokenizer = str(find_model("url2lang").joinpath("tokenizer.json"))
    encoder = UrlEncoder(tokenizer, 32, Ngrams((2,), 64, 8), announced=taken)
    arrays = encoder.encode([f"https://a.com/{codes}?{'&'.join(f'a{n}=en' for n in range(90))}"])
    assert arrays["announced"].shape[1] <= MOST_ANNOUNCED
