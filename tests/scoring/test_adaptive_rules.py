"""The adaptive scorer takes the answer of the rules as an input, most of all at first."""

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Link
from bilingual_crawler.scoring.adaptive.weights import WEIGHTS, ValueWeights, using
from bilingual_crawler.scoring.rules import RulesScorer
from bilingual_crawler.scoring.scorer import NothingYet
from tests.support.adaptive import PAIR, SITE, adaptive, fetch, page


@pytest.fixture(autouse=True)
def by_hand():
    with using(ValueWeights()):
        yield


def home(*links):
    return page("/", "eng", *links, depth=0)


def test_on_the_first_page_links_are_in_the_order_of_the_rules():
    links = ["/en/a", "/b", "/fr/c", "/de/d"]
    rules = RulesScorer(PAIR, NothingYet(), Config()).score(
        home(), [Link(SITE + each) for each in links]
    )
    scores = fetch(adaptive(), home(*links))
    assert sorted(links, key=scores.get) == [
        link for _, link in sorted(zip(rules, links, strict=True))
    ]


def test_a_language_that_was_misread_twice_does_not_sink_its_section():
    def value():
        scorer = adaptive()
        fetch(scorer, home("/fr/a", "/fr/b", "/fr/c"))
        for name in "ab":
            fetch(scorer, page(f"/fr/{name}", "oci"))
        return fetch(scorer, page("/en/x", "eng", "/fr/c"))["/fr/c"]

    with_rules = value()
    with using(ValueWeights(rule_at_first=0.0, rule_in_the_end=0.0)):
        assert with_rules > 3 * value()


def test_the_rules_count_less_with_every_page():
    scorer = adaptive()
    fetch(scorer, home("/fr/a"))
    evidence = scorer._site(SITE + "/").evidence
    first = evidence.rule_share
    for number in range(50):
        fetch(scorer, page(f"/en/{number}", "eng"))
    assert WEIGHTS.rule_in_the_end < evidence.rule_share < first / 2


def test_rules_that_lead_to_pages_without_translations_are_believed_less():
    scorer = adaptive()
    fetch(scorer, home("/fr/a"))
    evidence = scorer._site(SITE + "/").evidence
    other = next(n for n in range(6) if evidence.rule_value(n) == WEIGHTS.rule_other)
    for number in range(20):
        fetch(scorer, page(f"/en/{number}", "eng", f"/fr/p{number}"))
        fetch(scorer, page(f"/fr/p{number}", "fra"))
    assert evidence.rule_value(other) < 0.6 * WEIGHTS.rule_other


def test_the_factors_name_the_rule_and_multiply_to_the_score():
    scorer = adaptive()
    document = home(("/fr/a", "Français"))
    fetch(scorer, document)
    score, factors = scorer.explain(document, document.links[0])
    assert "rule" in {factor.name for factor in factors}
    product = 1.0
    for factor in factors:
        product *= factor.value
    assert product == pytest.approx(score)


def test_what_was_counted_for_the_rules_survives_a_restart():
    scorer = adaptive()
    fetch(scorer, home("/fr/a", "/fr/b"))
    fetch(scorer, page("/fr/a", "fra"))
    again = adaptive()
    again.restore(scorer.state())
    link = page("/en/x", "eng", "/fr/b")
    assert fetch(again, link) == fetch(scorer, link)


def test_other_weights_hold_in_their_block_alone():
    before = WEIGHTS.floor
    with using(ValueWeights(floor=0.5)):
        assert WEIGHTS.floor == 0.5
    assert WEIGHTS.floor == before


def test_of_links_that_are_worth_about_the_same_none_comes_before_the_one_found_first():
    scorer = adaptive()
    fetch(scorer, home("/en/a"))
    site = scorer._site(SITE + "/")
    site.memory.yield_section("site.example/up/").paired[:] = [0.55, 1.0]
    exact = ValueWeights(grain=0.0)
    with using(exact):
        precise = fetch(scorer, home("/up/1", "/down/1"))
    assert precise["/up/1"] != precise["/down/1"]
    scores = fetch(scorer, home("/up/2", "/down/2"))
    assert scores["/up/2"] == scores["/down/2"]
