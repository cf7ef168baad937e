"""What is known of a site while it is crawled."""

import json

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.reporting.site_yield import MOST_SECTIONS, SiteYield, section_of

WANTED = frozenset({"spa", "eus"})
paths = st.sampled_from([f"{lang}/{number}" for lang in ("es", "eu", "fr") for number in range(9)])
events = st.lists(
    st.tuples(st.sampled_from(["found", "page", "none", "pair", "lost"]), paths, paths),
    max_size=60,
)


def played(history):
    """Return the yield of a site after some events, in any order."""
    site = SiteYield(WANTED)
    for kind, path, other in history:
        url, second = f"https://a.org/{path}", f"https://a.org/{other}"
        if kind == "found":
            site.found(url)
        elif kind in ("page", "none"):
            site.ended(url, is_page=kind == "page")
        else:
            site.paired((url, second), 1 if kind == "pair" else -1)
    return site


def waiting(site, *sections):
    return [site.sections[section_of(f"https://a.org/{each}/1")].waiting for each in sections]


def test_urls_wait_in_their_sections_until_they_end():
    site = played([("found", "es/1", ""), ("found", "es/2", ""), ("found", "eu/1", "")])
    site.ended("https://a.org/es/1", is_page=True)
    assert waiting(site, "es", "eu") == [1, 1]
    assert (site.pages, site.waiting) == (1, 2)


def test_a_section_whose_pages_are_paired_promises_more_pairs():
    history = [("found", f"{lang}/{n}", "") for lang in ("es", "eu") for n in range(9)]
    history += [("page", f"{lang}/{n}", "") for n in range(4) for lang in ("es", "eu")]
    bare = played(history).outlook
    paired = played([*history, *(("pair", f"es/{n}", f"eu/{n}") for n in range(4))]).outlook
    assert paired.more_pairs > bare.more_pairs
    assert 2 < paired.more_pairs <= 5


def test_a_section_in_a_third_language_promises_none():
    history = [("found", "es/1", ""), ("page", "es/1", ""), ("pair", "es/1", "eu/1")]
    wanted = played([*history, *(("found", f"eu/{n}", "") for n in range(9))])
    foreign = played([*history, *(("found", f"fr/{n}", "") for n in range(9))])
    assert wanted.outlook.more_pairs > 0
    assert foreign.outlook.more_pairs == 0
    assert foreign.outlook.more_pages == wanted.outlook.more_pages


def test_a_site_of_many_sections_keeps_a_bounded_number():
    site = SiteYield(WANTED)
    for number in range(10 * MOST_SECTIONS):
        site.found(f"https://a.org/section-{number}/page")
    assert len(site.sections) == MOST_SECTIONS + 1
    assert sum(each.waiting for each in site.sections.values()) == site.waiting


@given(events)
def test_no_order_of_events_gives_negative_numbers(history):
    site = played(history)
    assert min(site.pages, site.pairs, site.waiting, 0) == 0
    assert min(site.outlook[:5]) >= 0


@given(events)
def test_a_yield_survives_json(history):
    site = played(history)
    again = SiteYield.from_dict(json.loads(json.dumps(site.to_dict())), WANTED)
    assert again.to_dict() == site.to_dict()
    assert again.outlook[:3] == site.outlook[:3]
