"""Which links come first."""

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.scorer import LinkScorer, NothingYet, make_scorer
from bilingual_crawler.urls.language_tokens import announced_languages

PAIR = LanguagePair.parse("spa-eus")
SITE = "https://www.udala.example"
PAGE = Document(f"{SITE}/es/agenda", language="spa", depth=2)


def scorer(name):
    return make_scorer(name, PAIR, NothingYet(), Config())


def score(link, document=PAGE, name="rules"):
    (only,) = scorer(name).score(document, [link])
    return only


def test_rules_put_links_in_the_order_of_their_promise():
    links = [
        Link(f"{SITE}/eu/azoka", rel="alternate", hreflang="eu"),
        Link(f"{SITE}/eu/agenda"),
        Link(f"{SITE}/eu/berriak"),
        Link(f"{SITE}/contacto-2"),
        Link(f"{SITE}/es/noticias"),
        Link(f"{SITE}/en/news"),
    ]
    scores = scorer("rules").score(PAGE, links)
    assert scores == sorted(set(scores), reverse=True)


def test_an_anchor_that_names_the_other_language_counts():
    assert score(Link(f"{SITE}/x7", anchor="Euskara")) > score(Link(f"{SITE}/x7"))
    assert score(Link(f"{SITE}/x7", image_alt="EU")) > score(Link(f"{SITE}/x7"))


def test_an_anchor_that_only_speaks_of_a_language_does_not_count():
    long = Link(f"{SITE}/x7", anchor="Cursos de euskara para adultos en verano")
    assert score(long) == score(Link(f"{SITE}/x7"))


def test_the_language_wanted_is_the_one_the_page_lacks():
    basque = Document(f"{SITE}/eu/agenda", language="eus")
    assert score(Link(f"{SITE}/es/otra"), basque) > score(Link(f"{SITE}/eu/beste"), basque)
    assert score(Link(f"{SITE}/es/otra")) < score(Link(f"{SITE}/eu/beste"))


def test_a_page_in_neither_language_wants_both():
    english = Document(f"{SITE}/en/agenda", language="eng")
    assert score(Link(f"{SITE}/es/x"), english) == score(Link(f"{SITE}/eu/x"), english)


def test_a_declared_third_language_is_worth_little():
    link = Link(f"{SITE}/x", rel="alternate", hreflang="en-GB")
    assert score(link) < score(Link(f"{SITE}/y"))


def test_breadth_first_knows_depth_only():
    links = [Link(f"{SITE}/eu/a"), Link(f"{SITE}/en/b")]
    breadth_first = scorer("breadth_first")
    assert len(set(breadth_first.score(PAGE, links))) == 1
    deeper = Document(f"{SITE}/es/b", language="spa", depth=3)
    assert breadth_first.score(deeper, links) < breadth_first.score(PAGE, links)
    assert breadth_first.score(PAGE, []) == []


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://x.example/a?lang=eu", "eus"),
        ("https://x.example/eu/a", "eus"),
        ("https://x.example/es/a?lang=eu", "eus"),
        ("https://www.x.eus/a", "eus"),
        ("https://eu.x.example/a", "eus"),
        ("https://x.example/a_es.html", "spa"),
    ],
)
def test_a_url_announces_its_language_in_its_most_trusted_part(url, language):
    assert language in announced_languages(url)


def test_a_url_may_announce_nothing():
    assert announced_languages("https://x.example/contact-7") == frozenset()
    assert announced_languages("http://[broken") == frozenset()


def test_an_unknown_scorer_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="breadth_first, pplocator"):
        scorer("no.such.Scorer")


def test_something_that_is_no_scorer_is_refused():
    with pytest.raises(ConfigurationError, match="inherits from"):
        scorer("tests.scoring.test_scoring.score")


class Backwards(LinkScorer):
    """A scorer of a user's own."""

    def score(self, document, links):
        return [float(-number) for number, _ in enumerate(links)]


def test_a_scorer_of_ones_own_is_loaded_by_its_path():
    own = scorer("tests.scoring.test_scoring.Backwards")
    assert own.score(PAGE, [Link("a"), Link("b")]) == [0.0, -1.0]


@pytest.mark.parametrize("name", ["rules", "breadth_first", "tests.scoring.test_scoring.Backwards"])
def test_an_explanation_gives_the_score_and_its_reasons(name):
    link = Link(f"{SITE}/eu/agenda")
    total, factors = scorer(name).explain(PAGE, link)
    assert total == score(link, name=name)
    assert factors
    assert all(factor.why for factor in factors)
