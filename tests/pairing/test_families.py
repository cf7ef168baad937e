"""Sites on several domains: which belong together, and what that brings to their pages."""

import pytest

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.families import MOST_NAMED, MOST_SHARING, SiteFamilies
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.urls.hosts import host_of, site_of
from tests.support.lexicon import lexicon_of, words
from tests.support.two_domains import path_of, true_pairs, two_domains

PAIR = LanguagePair.parse("spa-eus")
SHOP, OTHER = "https://www.denda.example", "https://www.besterik.example"


def families(others=3, chosen=()):
    return SiteFamilies(PAIR, others, chosen)


def page(url, language, *targets):
    other = PAIR.other(language).code
    return PairingPage(url, language, switches=tuple((target, other) for target in targets))


def joined(known, *pages):
    """The families that pages make, each added under its own site."""
    return [tuple(each) for one in pages for each in known.add(one, site_of(host_of(one.url)))]


def spanish(number=0, target="https://www.zubia.eus/"):
    return page(f"https://www.puente.es/{number}", "spa", target)


def basque(number=0, target="https://www.puente.es/"):
    return page(f"https://www.zubia.eus/{number}", "eus", target)


def test_two_sites_whose_pages_lead_to_each_other_are_one_family():
    known = families()
    assert joined(known, spanish(1), spanish(2), basque(1)) == []
    assert joined(known, basque(2)) == [("zubia.eus", "puente.es")]
    assert known.family_of("zubia.eus") == known.family_of("puente.es") == "puente.es"


def test_links_in_one_direction_are_not_enough():
    assert joined(families(), *map(spanish, range(50))) == []


def test_one_page_of_each_is_enough_if_the_names_share_a_brand():
    one = page("https://www.zubia.es/", "spa", "https://www.zubia.eus/")
    assert joined(families(), one, basque(1, "https://www.zubia.es/")) == [
        ("zubia.eus", "zubia.es")
    ]


def test_a_name_alone_is_not_enough():
    known = families()
    assert (
        joined(known, page("https://www.zubia.es/", "spa"), page("https://zubia.eus/", "eus")) == []
    )
    assert list(known.settle()) == []


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://www.zubia.es/", "https://www.zubia.eus/", True),
        ("https://zubia-es.com/", "https://zubia-eu.com/", True),
        ("https://museo-zubia.es/", "https://zubia-museoa.eus/", True),
        ("https://www.puente.es/", "https://www.zubia.eus/", False),
        ("https://abc.es/", "https://abc.eus/", False),
    ],
)
def test_seeds_are_one_family_if_their_names_share_a_brand(first, second, same):
    known = families(chosen=(first, second))
    made = joined(known, page(first, "spa"), page(second, "eus"))
    assert bool(made) is same


def test_a_word_that_many_seeds_share_is_no_brand():
    seeds = [f"https://azoka-{name}.example/" for name in "bcdfghjk"[: MOST_SHARING + 1]]
    known = families(chosen=seeds)
    assert joined(known, *(page(each, "spa") for each in seeds)) == []


def test_seeds_are_one_family_if_their_names_translate_each_other():
    name, translation = words([7], "spa")[0], words([7], "eus")[0]
    seeds = f"https://{name}.es/", f"https://{translation}.eus/"
    known = families(chosen=seeds)
    joined(known, page(seeds[0], "spa"), page(seeds[1], "eus"))
    assert list(known.settle()) == []
    known.use_words(lexicon_of(range(20)))
    assert [set(each) for each in known.settle()] == [{f"{name}.es", f"{translation}.eus"}]


def test_a_family_has_few_members():
    known = families(
        others=1, chosen=[f"https://zubia.{ending}/" for ending in ("es", "eus", "com")]
    )
    pages = [page(f"https://zubia.{ending}/", "spa") for ending in ("es", "eus", "com")]
    assert len(joined(known, *pages)) == 1


def test_a_site_that_names_thousands_is_not_remembered_with_all_of_them():
    known = families()
    for number in range(3 * MOST_NAMED):
        joined(known, spanish(number, f"https://host{number}.example/"))
    assert len(known._named["puente.es"]) == MOST_NAMED


def test_with_0_other_domains_nothing_is_joined():
    known = families(others=0, chosen=("https://zubia.es", "https://zubia.eus"))
    assert joined(known, spanish(1), spanish(2), basque(1), basque(2)) == []
    assert list(known.settle()) == []


def matched(pages, **aids):
    matcher = Matcher(PAIR, aids=PairingAids(**({"chosen_sites": ()} | aids)))
    for url, body in pages.items():
        matcher.add(page_of(build_document(url, body, hints=PAIR.codes)))
    return matcher


def found(matcher):
    return {(pair.first, pair.second) for pair in matcher.pairs}


def test_pages_of_two_domains_that_link_to_each_other_are_paired_by_content():
    matcher = matched(two_domains())
    matcher.finish()
    assert found(matcher) == true_pairs()


def test_they_are_paired_before_the_crawl_ends():
    assert len(found(matched(two_domains()))) >= len(true_pairs()) - 1


def test_two_seeds_of_one_brand_are_paired_without_any_link():
    pages = two_domains(switches=(False, False))
    matcher = matched(pages, chosen_sites=("http://www.example.es/", "http://www.example.eus/"))
    matcher.finish()
    assert found(matcher) == true_pairs()


@pytest.mark.parametrize(
    ("switches", "aids"),
    [((True, False), {}), ((False, True), {}), ((True, True), {"cross_domain": 0})],
)
def test_without_links_in_both_directions_or_with_the_setting_off_they_stay_apart(switches, aids):
    pages = two_domains("http://www.puente.es", "http://www.zubia.eus", switches)
    matcher = matched(pages, **aids)
    matcher.finish()
    tied = {
        ("http://www.puente.es" + path_of("spa", n), "http://www.zubia.eus" + path_of("eus", n))
        for n in range(2)
    }
    assert found(matcher) <= tied


def test_the_pairs_are_the_same_whichever_domain_comes_first():
    pages = two_domains()
    for order in (sorted(pages), sorted(pages, reverse=True)):
        matcher = matched({url: pages[url] for url in order})
        matcher.finish()
        assert found(matcher) == true_pairs()


def test_subdomains_of_one_domain_are_one_site():
    hosts = "http://numerique.example.ca", "http://digital.example.ca"
    matcher = matched(two_domains(*hosts, switches=(False, False)))
    matcher.finish()
    assert found(matcher) == true_pairs(*hosts)
