"""Which links belong to the crawl."""

import pytest

from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.scope import Scope

SEEDS = ("https://www.udala.example.es/es/", "http://127.0.0.1:8000/")


def scope(follow="site", sites=None, **limits):
    return Scope(SEEDS, sites or Sites(), follow=follow, **{"max_length": 100} | limits)


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("https://www.udala.example.es/eu/", None),
        ("https://eu.example.es/berriak", None),
        ("http://127.0.0.1:8000/es/", None),
        ("https://other.es/", "offsite"),
        ("https://example.es.evil.com/", "offsite"),
        ("https://www.udala.example.es/acta.pdf", "not_html_ending"),
        ("https://www.udala.example.es/acta.PDF?x=1", "not_html_ending"),
        ("https://www.udala.example.es/" + "a" * 100, "url_too_long"),
        ("https://www.udala.example.es/a/b/a/b/a/b/a/b", "repeated_segments"),
        ("https:///no-host", "bad_url"),
    ],
)
def test_a_link_is_admitted_or_refused_with_a_word(url, refusal):
    assert scope().refusal(url, 1) == refusal


def test_following_hosts_only_leaves_out_their_neighbours():
    assert scope("host").refusal("https://eu.example.es/", 1) == "offsite"
    assert scope("host").refusal("https://www.udala.example.es/eu", 1) is None


def test_an_admitted_host_is_part_of_the_crawl_but_not_its_domain():
    ours = scope()
    ours.admit_host("eu.udala.eus")
    assert ours.refusal("https://eu.udala.eus/a", 1) is None
    assert ours.refusal("https://www.udala.eus/a", 1) == "offsite"


def test_neighbours_on_a_hosting_service_are_other_sites():
    ours = Scope(("https://somebody.github.io/",), Sites())
    assert ours.refusal("https://somebody.github.io/eu/", 1) is None
    assert ours.refusal("https://nobody.github.io/", 1) == "offsite"


def test_depth_is_limited_for_all_or_for_a_site(tmp_path):
    assert scope(depth_limit=2).refusal(SEEDS[0] + "a", 3) == "too_deep"
    file = tmp_path / "sites.toml"
    file.write_text('["example.es"]\ndepth = 5\nexclude = ["/print/"]\n')
    sites = Sites.from_file(file)
    assert scope(sites=sites, depth_limit=2).refusal(SEEDS[0] + "a", 5) is None
    assert scope(sites=sites, depth_limit=2).refusal(SEEDS[0] + "a", 6) == "too_deep"
    assert scope(sites=sites).refusal(SEEDS[0] + "print/a", 1) == "excluded"
