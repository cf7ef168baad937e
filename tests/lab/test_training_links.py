"""From recorded sites to a link predictor: labels, weights, figures, the command."""

import json

import numpy as np
import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.documents.document import Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.training import links
from bilingual_crawler.lab.training.links import NEVER_THERE, LabelledLink, LabelledSite
from bilingual_crawler.languages import LanguagePair
from tests.support.recordings import exchange, page, redirect, to, write_warc
from tests.support.typed_commands import status_of

ARTICLES = range(1, 5)


def site_at(folder, name):
    """A small site in two languages with a switch on every page, recorded."""
    host = f"https://{name}.example.org"
    exchanges, gold = [], []
    for number in (0, *ARTICLES):
        for language, other, base in (("es", "eu", ""), ("eu", "es", "/eu")):
            path = f"/{number}" if number else "/"
            away = ("/eu" if other == "eu" else "") + path
            switch = f'<a href="{away}">{"Euskara" if other == "eu" else "Castellano"}</a> '
            menu = to(*(f"{base}/{each}" for each in ARTICLES), "/gone", "https://else.example/")
            exchanges.append(exchange(host + base + path, page(language, number, switch + menu)))
        gold.append(f"{host}{path}\t{host}/eu{path}\tspa\teus\n")
    exchanges.append(redirect(f"{host}/old", "/eu/1"))
    (folder / f"{name}.gold.tsv").write_text("".join(gold))
    return write_warc(folder / f"{name}.warc.gz", exchanges)


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    return [site_at(folder, name) for name in ("one", "two", "three", "four")]


@pytest.fixture(scope="module")
def site(sites):
    return LabelledSite(sites[0])


@pytest.mark.parametrize(
    ("target", "sought", "label"),
    [
        ("https://one.example.org/eu/1", "eus", True),  # the translation
        ("https://one.example.org/old", "eus", True),  # the same through a redirect
        ("https://one.example.org/eu/", "eus", True),  # the home page of the language
        ("https://one.example.org/eu/2", "eus", None),  # whose translation is not known
        ("https://one.example.org/gone", "eus", None),  # not recorded
        ("https://one.example.org/2", "eus", False),  # in the page's own language
        ("https://else.example/", "eus", False),  # another site
        ("https://one.example.org/eu/1", "fin", False),  # not the sought language
    ],
)
def test_a_link_is_labelled_by_where_it_leads(site, target, sought, label):
    page_url = "https://one.example.org/1"
    assert site.label(page_url, Link(target), sought) is label


def test_the_words_of_a_link_have_no_say_in_its_label(site):
    link = Link("https://one.example.org/2", "Euskara", hreflang="eu")
    assert site.label("https://one.example.org/1", link, "eus") is False


def test_pages_are_asked_for_their_languages_and_for_one_that_is_not_there(site):
    labelled = list(site.labelled())
    assert site.languages == ["eus", "spa"]
    assert not set(NEVER_THERE) & set(site.languages)
    right = [each for each in labelled if each.is_right and each.variant == 0]
    assert len(right) >= 2 * len(ARTICLES)
    foreign = [each for each in labelled if "names <foreign>" in each.features]
    assert foreign
    assert not any(each.is_right for each in foreign)


def test_each_link_is_learned_from_without_its_text_too(site):
    variants = {each.variant for each in site.labelled()}
    assert variants == {0, 1, 2}
    bare = [each for each in site.labelled() if each.variant == 2]
    assert not any("names <wanted>" in each.features for each in bare)


def test_a_site_without_known_pairs_says_what_to_write(tmp_path, sites):
    alone = tmp_path / "alone.warc.gz"
    alone.write_bytes(sites[0].read_bytes())
    with pytest.raises(ConfigurationError, match=r"alone\.gold\.tsv"):
        LabelledSite(alone)


def labelled_link(site, *features, is_right, weight=1.0):
    return LabelledLink(site, features, is_right, weight)


def test_every_site_counts_the_same():
    some = [
        labelled_link("a", "x", is_right=True),
        labelled_link("b", "x", is_right=True, weight=3.0),
        labelled_link("b", "y", is_right=False, weight=1.0),
    ]
    assert links.weights_of(some) == pytest.approx(np.array([1.5, 1.125, 0.375]))


def test_words_of_few_sites_are_not_learned():
    some = [labelled_link(site, "anchor all", is_right=True) for site in "abcd"]
    some += [labelled_link("a", "anchor one", "url <home>", is_right=True)]
    assert links.vocabulary(some) == ["anchor all", "url <home>"]


def test_recall_and_precision_are_those_of_the_links_that_pass():
    predictor = LinkPredictor(
        {"x": 1.0, "y": 0.2, "z": -1.0}, 0.0, slope=-4.0, offset=0.0, about={}
    )
    some = [
        labelled_link("a", "x", is_right=True),  # 0.98
        labelled_link("a", "y", is_right=True),  # 0.69
        labelled_link("a", "x", is_right=False),
        labelled_link("a", "z", is_right=False),  # 0.02
    ]
    figures = {each.threshold: each for each in links.measure({"a": predictor}, some)}
    assert figures[0.0][1:] == (1.0, 0.5)
    assert figures[0.5][1:] == pytest.approx((1.0, 2 / 3))
    assert figures[0.8][1:] == pytest.approx((0.5, 0.5))
    assert figures[0.8].f == pytest.approx(0.5)


def test_scrapy_train_links_makes_a_predictor_that_knows_a_switch(sites, tmp_path, capsys):
    out = tmp_path / "links.json"
    with pytest.raises(SystemExit) as end:
        execute(
            ["scrapy", "train", "links", "--input", *map(str, sites), "--out", str(out)],
            Settings(),
        )
    assert end.value.code == 0
    printed = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert printed["sites"] == "4"
    assert float(printed["f"]) > 0.9
    assert json.loads(out.read_text())["about"]["f"] == float(printed["f"])
    given = [
        Link("https://x.example.org/fi/3", "Suomi"),
        Link("https://x.example.org/4", "Nyheter"),
    ]
    pair = LanguagePair.parse("swe-fin")
    switch, article = LinkPredictor.load(str(out)).likelihoods(
        given, "https://x.example.org/3", pair, "swe"
    )
    assert switch > 0.5 > article


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "links.json"], "needs recorded sites"),
        (["--input", "a.warc.gz", "--out", "links.json"], "names 1 sites"),
        (["--input", "a", "b", "c", "d", "--out", "."], "is a folder"),
        (["--input", "a", "b", "c", "d", "--out", "links.json"], "There is no file a"),
    ],
)
def test_mistakes_are_told_in_sentences(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings()
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", "train", "links", *words], settings)
    assert said in str(status_of(end.value))
