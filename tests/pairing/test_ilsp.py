"""The detectors of ILSP-FC: rare images in common, structure alike."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.pairing.ilsp import (
    SiteImages,
    bandwidth,
    depth,
    frequency_limit,
    judge_images,
    judge_structure,
    may_be_pair,
    site_images,
    structure_features,
)
from bilingual_crawler.pairing.profile import Profile, fingerprint, members
from bilingual_crawler.pairing.small_models import shipped
from tests.support.pairing import packed, page, pages

ALL_RARE = SiteImages({}, 2)
LIKE = {"words": 100, "paragraphs": 10}


def images_of(*names):
    return {"images": packed(*names), **LIKE}


def test_the_fingerprint_is_that_of_the_paper():
    paragraphs = [
        Paragraph("t" * 28, "title"),
        Paragraph("p" * 145),
        Paragraph("l" * 9, "listitem"),
        Paragraph("h" * 48, "heading"),
        Paragraph("p" * 740, topic=["infortunio sul lavoro"]),
    ]
    assert fingerprint(paragraphs) == (-2, 28, 145, -4, 9, -3, 48, -5, 740)


@pytest.mark.parametrize(
    ("url", "levels"),
    [
        ("http://domain.org/d1/d2/d3/page.html", 4),
        ("http://domain.org", 0),
        ("http://domain.org/", 0),
        ("http://domain.org/es/", 1),
        ("http://domain.org//a//b?c=/d", 2),
        ("http://[broken", 0),
    ],
)
def test_depth_counts_the_parts_of_the_path(url, levels):
    assert depth(url) == levels


def test_pages_more_than_a_level_apart_are_no_pair():
    assert may_be_pair(page("/a", "spa"), page("/eu/a", "eus"))
    assert not may_be_pair(page("/a", "spa"), page("/eu/b/a", "eus"))


def test_pages_in_one_language_are_no_pair():
    assert not may_be_pair(page("/a", "spa"), page("/b", "spa"))


def test_the_bandwidth_is_that_of_bowman_and_azzalini():
    histogram = {1: 1, 2: 2, 4: 2, 9: 1}  # median 3, absolute deviations 1, 1, 1, 1, 2, 6
    assert bandwidth(histogram) == pytest.approx(1 / 0.6745 * (4 / (3 * 6)) ** 0.2)


def test_where_most_images_are_equally_frequent_the_mean_deviation_stands_for_the_median():
    assert bandwidth({2: 9, 5: 1}) == pytest.approx(0.3 * (math.pi / 2) ** 0.5 * (4 / 30) ** 0.2)
    assert bandwidth({2: 9}) == 1.0


def test_the_limit_is_the_minimum_after_the_first_lobe():
    histogram = {1: 20, 2: 60, 3: 20, 30: 5, 31: 9, 32: 5}
    limit = frequency_limit(histogram, 1_000)
    assert 3 <= limit < 30
    width = bandwidth(histogram)

    def density(x):
        return sum(n * math.exp(-0.5 * ((x - f) / width) ** 2) for f, n in histogram.items())

    assert all(density(x + 1) < density(x) for x in range(2, limit))
    assert density(limit + 1) >= density(limit)


def test_an_image_on_more_than_a_tenth_of_the_pages_is_common():
    assert frequency_limit({3: 10, 4: 12, 5: 11}, 40) == 4


def test_an_image_on_two_pages_is_rare_however_small_the_site():
    assert frequency_limit({2: 5}, 4) == 2
    assert frequency_limit({}, 4) == 2


def test_a_hundred_thousand_images_are_counted_by_their_frequencies():
    frequencies = {image: 1 + image % 7 + (image % 1_000 == 0) * 900 for image in range(100_000)}
    assert 7 <= site_images(frequencies, 5_000).limit < 900


@given(st.dictionaries(st.integers(1, 10_000), st.integers(0, 10_000)), st.integers(0, 10_000))
def test_every_histogram_has_a_limit_between_two_and_a_tenth_of_the_pages(histogram, count):
    assert 2 <= frequency_limit(histogram, count) <= max(2, count / 10)


def test_pages_with_the_same_rare_images_are_a_pair():
    found = judge_images(
        page(**images_of("a", "b")), page("/eu/a", "eus", **images_of("a", "b")), ALL_RARE
    )
    assert found.score == 1.0
    assert found.why == "2 of 2 rare images of the site are on both"


def test_common_images_are_no_evidence():
    site = SiteImages(dict.fromkeys(members(packed("logo")), 50), 2)
    one, other = page(**images_of("logo")), page("/eu/a", "eus", **images_of("logo"))
    assert judge_images(one, other, site) is None


@pytest.mark.parametrize(
    ("shared", "others", "accepted"), [("ab", "cd", True), ("a", "bc", False), ("", "ab", False)]
)
def test_half_of_the_images_must_be_shared(shared, others, accepted):
    one = page(**images_of(*shared, *others[::2]))
    other = page("/eu/a", "eus", **images_of(*shared, *others[1::2]))
    assert (judge_images(one, other, ALL_RARE).score >= 0.5) is accepted


@pytest.mark.parametrize("size", [{"words": 49, "paragraphs": 10}, {"words": 100, "paragraphs": 4}])
def test_texts_of_different_sizes_are_no_pair_by_images(size):
    one = page(**images_of("a"))
    other = page("/eu/a", "eus", images=packed("a"), **size)
    assert judge_images(one, other, ALL_RARE).score < 0.5


def test_structure_features_of_a_case_computed_by_hand():
    one = Profile(paragraphs=4, fingerprint=(-2, 30, 100, 9))
    other = Profile(paragraphs=3, fingerprint=(-2, 33, 400))  # 9 is gone, 400 instead of 100
    assert structure_features(one, other) == (0.75, 0.75, 0.5)


def test_pages_built_alike_are_a_pair_and_others_are_not():
    marks = (-2, 28, 145, -4, 9, -3, 48, 740, -4, 200, -4, 50)
    longer = tuple(each if each < 0 else each + each // 10 for each in marks)
    other = (500, 2, 77, -3, 12, 3_000, 4, -3, 1, 18, 600, 90)
    machine = shipped().structure
    first = page(fingerprint=marks, **LIKE)
    assert (
        judge_structure(first, page("/eu/a", "eus", fingerprint=longer, **LIKE), machine).score
        >= 0.5
    )
    assert (
        judge_structure(first, page("/eu/a", "eus", fingerprint=other, **LIKE), machine).score < 0.5
    )


@settings(max_examples=60)
@given(pages, pages, st.integers(0, 5))
def test_no_pages_are_too_strange_to_be_judged(one, other, limit):
    site = SiteImages(dict.fromkeys(members(one.profile.images), 3), limit)
    for found in (judge_images(one, other, site), judge_structure(one, other, shipped().structure)):
        assert found is None or 0.0 <= found.score <= 1.0
