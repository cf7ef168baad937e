"""How the URLs of translations differ, and what that predicts."""

import pytest

from bilingual_crawler.scoring.adaptive.transforms import (
    MOST_RULES,
    Transforms,
    apply,
    difference,
)

HOST = "https://site.example"

SCHEMES = {
    "token swap": ("/en/{}/x", "/fr/{}/x"),
    "inserted directory": ("/{}/x", "/fr/{}/x"),
    "removed directory": ("/en/{}/x", "/{}/x"),
    "translated directory": ("/fish/{}", "/es/peces/{}"),
    "parameter": ("/d/{}?v=1", "/d/{}?v=2"),
    "parameter among others": ("/d?id={}&l=7&m=1", "/d?id={}&l=9&m=1"),
    "file name": ("/{}_en.html", "/{}_fr.html"),
    "file ending": ("/{}.html.en", "/{}.html.fr"),
}


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_a_scheme_is_learned_from_two_pairs(scheme):
    source, target = (HOST + each for each in scheme)
    transforms = Transforms()
    for slug in ("a1b2", "c3d4"):
        transforms.learn(source.format(slug), target.format(slug))
    predicted = transforms.predict(source.format("zz99"))
    assert [each.url for each in predicted] == [target.format("zz99")]


def test_another_host_is_a_scheme_too():
    transforms = Transforms()
    for slug in "ab":
        transforms.learn(f"https://en.site.example/{slug}", f"https://fr.site.example/{slug}")
    (prediction,) = transforms.predict("https://en.site.example/c")
    assert prediction.url == "https://fr.site.example/c"


def test_one_pair_alone_predicts_nothing():
    transforms = Transforms()
    transforms.learn(HOST + "/en/a", HOST + "/fr/a")
    assert transforms.predict(HOST + "/en/b") == []


def test_a_rule_that_was_wrong_is_trusted_less():
    transforms = Transforms()
    for slug in "abcd":
        transforms.learn(f"{HOST}/en/{slug}", f"{HOST}/fr/{slug}")
    (before,) = transforms.predict(HOST + "/en/x")
    for slug in "efgh":
        transforms.learn(f"{HOST}/en/{slug}", f"{HOST}/ailleurs/{slug}{slug}")
    after = next(each for each in transforms.predict(HOST + "/en/x") if "/fr/" in each.url)
    assert after.trust < before.trust


def test_urls_that_have_nothing_in_common_make_no_rule():
    long = "/".join("abcdefgh")
    assert difference(HOST + "/" + long, HOST + "/" + long.upper()) is None
    assert difference(HOST + "/a", HOST + "/a") is None


def test_a_rule_says_nothing_of_urls_it_does_not_fit():
    rule = difference(HOST + "/d/a?v=1", HOST + "/d/a?v=2")
    assert apply(rule, ["/", "d", "/", "1"]) is None


def test_the_table_of_rules_has_a_largest_size():
    transforms = Transforms()
    for number in range(3 * MOST_RULES):
        transforms.learn(f"{HOST}/{number}/a", f"{HOST}/x{number}/a")
    assert len(transforms.rules) <= MOST_RULES
