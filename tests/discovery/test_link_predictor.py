"""The link predictor: its arithmetic, its file, and what the shipped one thinks of links."""

from math import exp

import pytest

from bilingual_crawler.discovery.link_predictor import FILE, LinkPredictor
from bilingual_crawler.documents.document import Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair

SITE = "https://www.example.org"


def small():
    return LinkPredictor(
        weights={"anchor <wanted>": 2.0, "url <other site>": -3.0},
        bias=-0.5,
        slope=-2.0,
        offset=0.25,
        about={},
    )


def likelihood(link, *others, page=f"{SITE}/news/1", langs="swe-fin", language="swe"):
    """What the shipped predictor thinks of a link; for a pair that no training site has."""
    pair = LanguagePair.parse(langs)
    return LinkPredictor.load().likelihoods([link, *others], page, pair, language)[0]


def test_a_margin_is_the_sum_of_known_weights():
    assert small().margin(["anchor <wanted>", "url <other site>", "never seen"]) == -1.5


def test_platts_sigmoid_makes_a_probability_of_a_margin():
    assert small().probability(1.5) == pytest.approx(1 / (1 + exp(-2.0 * 1.5 + 0.25)))


def test_no_margin_is_too_large():
    assert small().probability(1e9) == pytest.approx(1)
    assert small().probability(-1e9) == pytest.approx(0)


def test_a_predictor_survives_its_file(tmp_path):
    file = tmp_path / "links.json"
    file.write_text(small().to_json())
    assert LinkPredictor.load(str(file)) == small()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weights": [], "bias": 1}', "\0"])
def test_what_is_no_predictor_is_refused_in_a_sentence(tmp_path, text):
    file = tmp_path / "links.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="is not a link predictor"):
        LinkPredictor.load(str(file))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        LinkPredictor.load(str(tmp_path / "nothing.json"))


def test_the_shipped_predictor_is_small_and_says_how_good_it_is():
    predictor = LinkPredictor.load()
    assert len(predictor.to_json()) < 1_000_000
    assert predictor.about["precision"] > 0.9
    assert predictor.about["recall"] > 0.9
    assert FILE == "link_predictor.json"


@pytest.mark.parametrize(
    "link",
    [
        Link(f"{SITE}/fi/news/1", "Suomi", "Svenska | Suomi"),
        Link(f"{SITE}/fi/", "Suomeksi"),
        Link(f"{SITE}/news/1?lang=fi", "FI", "SV FI EN"),
        Link("https://fi.example.org/news/1", "Finnish"),
        Link(f"{SITE}/fi/", image_src=f"{SITE}/img/flags/fi.png", image_alt="Suomi"),
    ],
    ids=["path", "home", "parameter", "subdomain", "flag"],
)
def test_switches_between_languages_never_seen_are_likely(link):
    assert likelihood(link) > 0.8


@pytest.mark.parametrize(
    "link",
    [
        Link(f"{SITE}/news/2", "Nya regler för bibliotek"),
        Link(f"{SITE}/en/news/1", "English", "Svenska | English"),
        Link(f"{SITE}/sv/", "Svenska"),
        Link("https://www.facebook.com/finland", "Facebook"),
        Link("https://translate.google.com/translate?tl=fi", "Suomi"),
        Link("https://www.example.fi/", "Suomi"),
        Link(f"{SITE}/about", "Om oss"),
    ],
    ids=["article", "foreign", "own", "elsewhere", "proxy", "another site", "about"],
)
def test_other_links_are_unlikely(link):
    assert likelihood(link) < 0.5
