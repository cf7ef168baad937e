"""The order in which each scorer fetches a small site, and what each looks at."""

import logging
import sys

import pytest

from bilingual_crawler.config.settings import SCORERS, Config
from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.documents.document import Document, Link, Relevance, TermHits
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair, parse_parallel
from bilingual_crawler.scoring import shared_models
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.rules import TO_THE_OTHER_LANGUAGE
from bilingual_crawler.scoring.scorer import REFUSED, NothingYet, make_scorer
from bilingual_crawler.scoring.smart import UNLIKELY
from bilingual_crawler.topics import Topic
from tests.support.scoring import HandMade, Page, crawl_site
from tests.support.tiny_models import parallel_model, url2lang_model

PAIR = LanguagePair.parse("spa-eus")
HOST = "https://udala.example"
SITE = {
    "/": Page("spa", ["/en/news", "/es/agenda", "/contacto", "/eu/agenda"]),
    "/en/news": Page("eng", ["/es/lejos"]),
    "/es/agenda": Page("spa", ["/eu/agenda", "/es/par/uno"]),
    "/contacto": Page("spa", ["/eu/par/uno"]),
    "/eu/agenda": Page("eus", ["/es/agenda"]),
    "/es/par/uno": Page("spa"),
    "/eu/par/uno": Page("eus", ["/es/hondo"]),
    "/es/lejos": Page("spa"),
    "/es/hondo": Page("spa"),
}
LEVEL_2 = ["/", "/en/news", "/es/agenda", "/contacto", "/eu/agenda"]
ORDERS = {
    "breadth_first": [*LEVEL_2, "/es/lejos", "/es/par/uno", "/eu/par/uno", "/es/hondo"],
    "language": [*LEVEL_2, "/es/par/uno", "/eu/par/uno", "/es/hondo"],
    "pplocator": [*LEVEL_2, "/eu/par/uno", "/es/par/uno"],
    "rules": [
        *("/", "/eu/agenda", "/es/agenda", "/contacto", "/eu/par/uno"),
        *("/es/hondo", "/es/par/uno", "/en/news", "/es/lejos"),
    ],
    "ilsp": [
        *("/", "/eu/agenda", "/es/agenda", "/en/news", "/contacto", "/eu/par/uno"),
        *("/es/hondo", "/es/par/uno", "/es/lejos"),
    ],
}


def scorer(name, pair=PAIR, **settings):
    return make_scorer(name, pair, NothingYet(), Config(**settings))


@pytest.mark.parametrize("name", ORDERS)
def test_a_scorer_has_its_order(name, tmp_path):
    with HandMade(SITE) as site:
        assert crawl_site(site, tmp_path / "out", name).asked == ORDERS[name]


def test_smart_goes_for_translations_and_leaves_other_languages_alone(tmp_path):
    with HandMade(SITE) as site:
        asked = crawl_site(site, tmp_path / "out", "smart").asked
    assert asked[:3] == ["/", "/eu/agenda", "/es/agenda"]
    assert "/es/lejos" not in asked
    assert set(asked) == SITE.keys() - {"/es/lejos"}


@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_explains_itself(name):
    page = Document(f"{HOST}/es/agenda", language="spa", depth=1)
    link = Link(f"{HOST}/eu/agenda", anchor="Euskara")
    judge = scorer(name)
    total, factors = judge.explain(page, link)
    assert [total] == pytest.approx(judge.score(page, [link]))
    assert factors
    assert all(factor.name and factor.why for factor in factors)
    assert judge.score(page, []) == []


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    url2lang_model(folder / "url2lang")
    parallel_model(folder / "parallel")
    return str(folder)


URLS = [f"http://www.site1.example/{code}/{page}?id=1" for code in ("es", "fr") for page in "ax"]
SPANISH_PAGE = Document("http://www.site1.example/es/home?id=1", language="spa")
FRENCH = "http://www.site1.example/fr/home?id=1"


def test_smart_is_the_product_of_both_probabilities(models):
    urls = [FRENCH, *URLS]
    scores = scorer("smart", LanguagePair.parse("spa-fra"), models=models).score(
        SPANISH_PAGE, [Link(url) for url in urls]
    )
    language = Url2Lang(f"{models}/url2lang").probability_of(urls, "fra")
    parallel = ParallelUrls(f"{models}/parallel").probabilities(
        [(SPANISH_PAGE.url, url) for url in urls]
    )
    products = [float(each) for each in language * parallel]
    assert [each for each in scores if each > UNLIKELY] == pytest.approx(
        [each for each in products if each > UNLIKELY]
    )
    assert scores[0] == max(scores) > 0.9


def test_smart_ranks_unlikely_translations_by_whether_they_are_in_one_of_the_languages(models):
    smart = scorer("smart", LanguagePair.parse("spa-fra"), models=models)
    links = [Link(f"http://www.site1.example/{code}/other?id=7") for code in ("de", "es", "fr")]
    german, spanish, french = smart.score(SPANISH_PAGE, links)
    assert german < spanish < french <= UNLIKELY


def test_smart_wants_the_language_that_the_page_lacks(models):
    smart = scorer("smart", LanguagePair.parse("spa-fra"), models=models)
    french_page = Document(FRENCH, language="fra")
    (back,) = smart.score(french_page, [Link(SPANISH_PAGE.url)])
    (same,) = smart.score(french_page, [Link(FRENCH)])
    assert back > 0.9
    assert same <= UNLIKELY


@pytest.mark.parametrize("langs", ["spa-fra-eng", "eng-*", "all"])
def test_smart_wants_any_language_that_the_page_lacks(models, langs):
    smart = scorer("smart", parse_parallel(langs), models=models)
    english = Document("https://site.example/en/a", language="eng")
    links = [Link(FRENCH), Link(SPANISH_PAGE.url), Link("http://www.site1.example/en/home?id=1")]
    factors = [smart.explain(english, link)[1][0] for link in links]
    assert min(factors[0].value, factors[1].value) > factors[2].value
    assert all(smart.score(english, links))


def test_a_language_the_model_does_not_know_is_told_by_tokens(models, caplog):
    with caplog.at_level(logging.WARNING):
        smart = scorer("smart", PAIR, models=models)
    assert "does not know Basque (eus)" in caplog.text
    page = Document("http://www.site1.example/es/home?id=1", language="spa")
    urls = [f"http://www.site1.example/{code}/home?id=1" for code in ("eu", "xx7", "de")]
    (_, basque), (_, unsaid), (_, german) = (smart.explain(page, Link(url)) for url in urls)
    assert basque[0].value > unsaid[0].value > german[0].value
    assert "tokens" in basque[0].why


def test_models_are_opened_once_a_process(models):
    config = Config(models=models)
    assert shared_models.url2lang(config) is shared_models.url2lang(Config(models=models))


def test_smart_without_its_models_says_what_to_do(tmp_path):
    with pytest.raises(ConfigurationError, match="scorer=rules"):
        scorer("smart", models=str(tmp_path))


def test_smart_without_numpy_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "bilingual_crawler.scoring.classifier", None)
    shared_models._open.cache_clear()
    with pytest.raises(ConfigurationError, match=r"pip install 'bilingual-crawler\[cpu\]'"):
        scorer("smart")


def test_pplocator_follows_the_last_level_only_to_likely_pairs():
    locator = scorer("pplocator")
    page = Document(f"{HOST}/es/agenda", language="spa", depth=1)
    links = [Link(f"{HOST}/{path}") for path in ("es/par/uno", "eu/par/uno", "en/par/uno", "x/y")]
    first, second, third, unknown = locator.score(page, links)
    assert first == second > REFUSED
    assert third == unknown == REFUSED


def test_pplocator_takes_unknown_urls_where_a_language_has_no_tokens():
    locator = scorer("pplocator")
    page = Document("http://centro.example/ccmq", language="spa", depth=1)
    links = [Link(f"http://centro.example/{path}.htm") for path in ("ccmq", "ccmq_eu", "x")]
    assert [score > REFUSED for score in locator.score(page, links)] == [True, True, False]


def test_pplocator_has_as_many_levels_as_are_set():
    page = Document(f"{HOST}/es/agenda", language="spa", depth=1)
    link = Link(f"{HOST}/contacto")
    assert scorer("pplocator").score(page, [link]) == [REFUSED]
    assert scorer("pplocator", pplocator_levels=4).score(page, [link]) > [0.0]
    assert scorer("pplocator", pplocator_levels=2).score(page, [link]) == [REFUSED]


def test_what_pplocator_knows_survives():
    page = Document(f"{HOST}/es/agenda", language="spa", depth=1)
    before = scorer("pplocator")
    assert before.score(page, [Link(f"{HOST}/es/par/uno")]) == [REFUSED]
    after = scorer("pplocator")
    after.restore(before.state())
    assert after.score(page, [Link(f"{HOST}/eu/par/uno")]) > [0.0]
    (called_back,) = after.proposals()
    assert (called_back.url, called_back.linked) == (f"{HOST}/es/par/uno", True)
    assert after.proposals() == []


def test_ilsp_adds_what_the_topic_says():
    ilsp = scorer("ilsp")
    ilsp.topic = Topic([Term("puerto", 10.0)])
    links = [Link(f"{HOST}/a", context="el puerto"), Link(f"{HOST}/b"), Link(f"{HOST}/eu/c")]
    hits = TermHits("puerto", 0.5, text=12)
    page = Document(f"{HOST}/es", language="spa", links=links, topic=Relevance(True, (hits,)))
    assert ilsp.score(page, links) == [12.0, 2.0, 10 * TO_THE_OTHER_LANGUAGE + 2.0]
