"""Pairs that are none: each sampler, their mix, and the links of real pages."""

import random
import re

from bilingual_crawler.lab.labels import LabelledPair
from bilingual_crawler.lab.training.augment import made_pairs
from bilingual_crawler.lab.training.negatives import (
    DEFAULT_MIX,
    DomainUrls,
    genuine_negatives,
    jaccard_match,
    monolingual,
    random_match,
    sibling_match,
    synthetic_negatives,
    tail,
    token_removal,
    with_negatives,
)


def a_pair(n, host="http://a.org"):
    return LabelledPair(
        f"{host}/en/page-{n}/x", f"{host}/fr/feuille-{n}/x", True, "eng", "fra", "a.org"
    )


def a_site(count=20):
    return DomainUrls([a_pair(n) for n in range(count)])


def test_random_match_never_gives_the_translation():
    site, rng = a_site(20), random.Random(0)
    for pair in site.pairs * 5:
        made = random_match(pair, site, rng)
        assert made.first == pair.first
        assert made.second != pair.second
        assert not made.parallel
        assert made.second in site.urls["fra"]


def test_a_site_of_one_pair_has_no_random_match():
    site = a_site(1)
    assert random_match(site.pairs[0], site, random.Random(0)) is None


def test_a_sibling_is_another_page_of_the_same_directory():
    names = ("news/a", "news/b/", "news/c?x=1", "shop/d", "news/old/e")
    pairs = [
        LabelledPair(f"http://a.org/en/{name}", f"http://a.org/fr/{name}", True, "eng", "fra")
        for name in names
    ]
    site, rng = DomainUrls(pairs), random.Random(0)
    found = {sibling_match(pairs[0], site, rng).second for _ in range(50)}
    assert found == {"http://a.org/fr/news/b/", "http://a.org/fr/news/c?x=1"}
    assert sibling_match(pairs[3], site, rng) is None


def test_the_likest_url_is_taken():
    pairs = [
        LabelledPair(
            f"http://a.org/en/{name}", f"http://a.org/fr/{name}", True, "eng", "fra", "a.org"
        )
        for name in ("big/red/house", "big/red/mouse", "other")
    ]
    made = jaccard_match(pairs[0], DomainUrls(pairs), random.Random(0))
    assert made.second == "http://a.org/fr/big/red/mouse"


def test_the_likest_url_of_a_large_site_is_found_through_its_rare_words():
    site = a_site(1000)
    made = jaccard_match(site.pairs[7], site, random.Random(0))
    assert made.second != site.pairs[7].second
    assert made.second.startswith("http://a.org/fr/feuille-")


def test_pairs_through_a_third_language_are_pairs():
    site = DomainUrls(
        [
            LabelledPair("http://a.org/en", "http://a.org/fr", True, "eng", "fra", "a.org"),
            LabelledPair("http://a.org/fr", "http://a.org/de", True, "fra", "deu", "a.org"),
        ]
    )
    assert site.parallel("http://a.org/en", "http://a.org/de")


def test_token_removal_never_touches_scheme_host_or_port():
    pair = a_pair(1, "https://user@www.a.org:8080")
    for seed in range(50):
        made = token_removal(pair, DomainUrls([pair]), random.Random(seed))
        assert made.first.startswith("https://user@www.a.org:8080/")
        assert made.second.startswith("https://user@www.a.org:8080/")


def test_token_removal_of_language_tokens_alone_is_no_negative():
    pair = LabelledPair("http://a.org/en/", "http://a.org/fr/", True, "eng", "fra", "a.org")
    assert token_removal(pair, DomainUrls([pair]), random.Random(0)) is None


def test_what_is_left_of_translated_slugs_disagrees_in_what_they_had_in_common():
    pair = LabelledPair(
        "http://a.org/en/news/release-42.html", "http://a.org/fr/presse/communique-42.html",
        True, "eng", "fra", "a.org",
    )  # fmt: skip
    harmless = {"en", "fr", "html"}
    for seed in range(300):
        made = token_removal(pair, DomainUrls([pair]), random.Random(seed))
        if made is not None:
            lost = [
                set(words(whole)) - set(words(left)) - harmless
                for whole, left in zip(pair[:2], made[:2], strict=True)
            ]
            assert ("42" in lost[0]) != ("42" in lost[1]) or (not lost[0]) != (not lost[1])


def words(url):
    return re.findall("[a-z0-9]+", url.partition("a.org")[2])


def test_a_monolingual_start_is_one_url_twice():
    started = {monolingual(a_pair(1), random.Random(seed)) for seed in range(20)}
    one, two = a_pair(1)[:2]
    assert {(*each[:2], *each[3:5]) for each in started} == {
        (one, one, "eng", "eng"),
        (two, two, "fra", "fra"),
    }


def test_the_default_mix_has_the_five_kinds():
    assert [(each.sampler, each.alone) for each in DEFAULT_MIX] == [
        (random_match, False),
        (random_match, True),
        (jaccard_match, False),
        (jaccard_match, True),
        (token_removal, False),
    ]


def test_negatives_are_the_same_for_the_same_seed_and_others_for_another():
    first, again, other = (list(synthetic_negatives(a_site(), seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_no_negative_is_a_known_pair_or_one_url_twice():
    site = a_site(50)
    for made in synthetic_negatives(site):
        assert made.first != made.second
        assert not site.parallel(made.first, made.second)


def test_links_of_a_page_that_links_to_its_translation_are_negatives():
    site = DomainUrls([a_pair(1), a_pair(2)])
    one, two = a_pair(1), a_pair(2)
    links = {one.first: [one.second, two.first, "http://a.org/de"], two.first: [one.first]}
    languages = {one.second: "fra", two.first: "eng", one.first: "eng", "http://a.org/de": "deu"}
    found = list(genuine_negatives(site, links, languages))
    assert [(each.first, each.second) for each in found] == [(one.first, two.first)]


def test_made_negatives_count_for_the_language_pair_of_their_pair():
    rows = [a_pair(n) for n in range(5)]
    german = LabelledPair(
        "http://a.org/en/page-1/x", "http://a.org/de/blatt-1/x", True, "eng", "deu", "a.org"
    )
    unknown = LabelledPair("http://b.org/en/1", "http://b.org/fr/1", True)
    listed = LabelledPair("http://a.org/en/1", "http://a.org/fr/2", False, "eng", "fra", "a.org")
    found = list(with_negatives([*rows, german, unknown, listed]))
    assert [row for row, _ in found if row.parallel] == [*rows, german, unknown]
    assert (listed, "eng-fra") in found
    assert (unknown, "") in found
    made = {languages for row, languages in found if row.first_language == row.second_language}
    assert made == {"", "eng-fra", "deu-eng"}  # "" is the pair of unknown languages
    site = DomainUrls([*rows, german])
    assert not any(site.parallel(*row[:2]) for row, _ in found if not row.parallel)


def test_the_tail_is_what_may_be_changed():
    assert tail("https://a.org:80/b?c") == "/b?c"
    assert tail("a.org/b") == "a.org/b"


def test_made_pairs_stay_on_one_site_and_are_told_from_their_neighbours():
    sites = {f"s{n}.org": [f"http://s{n}.org/a/{k}" for k in range(5)] for n in range(5)}
    pairs, others = made_pairs(sites, 200, random.Random(3))
    assert len(pairs) == 200
    assert all(first != second for first, second in pairs + others)
    assert not set(pairs) & set(others)
