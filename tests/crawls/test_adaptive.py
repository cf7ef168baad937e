"""The adaptive scorer in crawls by the whole engine: sites that end early."""

import pytest

from tests.support.scoring import HandMade, Page, crawl_site

PAGES = 30
LONELY = {
    "/": Page("spa", [f"/articulo/{number}" for number in range(PAGES)]),
    **{f"/articulo/{number}": Page("spa") for number in range(PAGES)},
}
PAIRED = {
    "/": Page("spa", [f"/es/{number}" for number in range(10)]),
    **{f"/es/{number}": Page("spa", [f"/eu/{number}"]) for number in range(10)},
    **{f"/eu/{number}": Page("eus", [f"/es/{number}"]) for number in range(10)},
}
ENDS = {"BILINGUAL_SITE_YIELD": 0.1, "BILINGUAL_SITE_YIELD_PAGES": 4}


def test_a_site_without_pairs_ends_early_and_stays_ended_after_a_restart(tmp_path):
    with HandMade(LONELY) as site:
        first = crawl_site(site, tmp_path / "out", "adaptive", **ENDS)
        again = crawl_site(site, tmp_path / "out", "adaptive", **ENDS)
        reopened = crawl_site(site, tmp_path / "out", "adaptive")
    assert 4 < len(first.asked) < PAGES / 2
    assert first["sites/ended"] == 1
    assert again.asked == []
    assert len(first.asked) + len(reopened.asked) == len(LONELY)


@pytest.mark.parametrize(("pages", "settings"), [(LONELY, {}), (PAIRED, ENDS)])
def test_a_site_is_fetched_to_its_end_if_it_yields_pairs_or_nothing_was_asked(
    tmp_path, pages, settings
):
    with HandMade(pages) as site:
        whole = crawl_site(site, tmp_path / "out", "adaptive", **settings)
    assert sorted(whole.asked) == sorted(pages)
    assert whole["sites/ended"] == 0
