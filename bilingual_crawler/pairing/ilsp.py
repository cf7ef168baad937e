"""The pair detectors of ILSP-FC (Papavassiliou et al. 2013): shared images, then structure.

Pages in the same language and pages more than one level apart are no pair. Of the others, those
with nearly the same *critical* images are: images that are rare on the site, where "rare" ends at
the minimum after the first lobe of the density of image frequencies. More pairs are found by
structure, with a support vector machine over three features.

The paper takes the edit distance between the fingerprints as they are. Hardly any paragraph is as
long as its translation, so lengths are rounded to powers of two first.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from rapidfuzz.distance import Levenshtein

from bilingual_crawler.pairing.pair import Evidence, PairingPage
from bilingual_crawler.pairing.profile import Hashes, Profile, jaccard, members, passing, ratio
from bilingual_crawler.pairing.small_models import PolynomialMachine

MOST_LEVELS_APART = 1
MOST_PAGES_WITH_IMAGE = 0.1
"""The share of a site's pages beyond which an image is common, whatever the density says."""
LEAST_PAGES_WITH_IMAGE = 2
"""An image on a page and on its translation is on two pages."""
LEAST_PARAGRAPHS = 0.5
LEAST_TOKENS = 0.5
LEAST_IMAGES = 0.5
"""Minimums: ratio of paragraphs, ratio of tokens, Jaccard similarity of images."""
NORMAL_MEDIAN = 0.6745
NORMAL_MEAN = math.sqrt(2 / math.pi)
"""Median and mean of the absolute deviations for a standard deviation of 1."""
WIDEST = 6.0
"""Bandwidths beyond which the normal kernel counts as 0."""

StructureFeatures = tuple[float, float, float]


class SiteImages(NamedTuple):
    """The images of a site: on how many pages each occurs, and which are rare."""

    frequencies: Mapping[int, int]
    limit: int

    def critical(self, images: Hashes) -> frozenset[int]:
        """Return the images of a page that are rare on the site; unknown ones count as rare."""
        known, limit = self.frequencies, self.limit
        return frozenset(image for image in members(images) if known.get(image, 1) <= limit)


def site_images(frequencies: Mapping[int, int], pages: int) -> SiteImages:
    """Return the images of a site with this many pages."""
    return SiteImages(frequencies, frequency_limit(Counter(frequencies.values()), pages))


def frequency_limit(histogram: Mapping[int, int], pages: int) -> int:
    """Return the most pages that a critical image may be on.

    `histogram` maps a frequency to the number of images with it. An image on two pages is critical
    even where a tenth of the site is less than that.
    """
    share = max(LEAST_PAGES_WITH_IMAGE, math.floor(MOST_PAGES_WITH_IMAGE * pages))
    counted = {frequency: images for frequency, images in histogram.items() if images > 0}
    if not counted:
        return share
    return min(share, max(LEAST_PAGES_WITH_IMAGE, _end_of_first_lobe(counted, share)))


def bandwidth(histogram: Mapping[int, int]) -> float:
    """Return the width of the kernel as in Bowman and Azzalini (1997), 1 where nothing deviates.

    The median of the deviations is 0 where more than half of the images have one frequency, as on a
    site in two languages that shows most images twice; then their mean is used.
    """
    count = sum(histogram.values())
    middle = _median(histogram)
    deviations: Counter[float] = Counter()
    for frequency, images in histogram.items():
        deviations[abs(frequency - middle)] += images
    mean = sum(size * images for size, images in deviations.items()) / count
    deviation = _median(deviations) / NORMAL_MEDIAN or mean / NORMAL_MEAN
    return deviation * (4 / (3 * count)) ** 0.2 if deviation else 1.0


def _end_of_first_lobe(histogram: Mapping[int, int], last: int) -> int:
    """Return the frequency at the minimum after the density's first maximum; at most `last`."""
    width = bandwidth(histogram)
    frequencies = sorted(histogram)

    def density(position: int) -> float:
        begin = bisect_left(frequencies, position - WIDEST * width)
        end = bisect_right(frequencies, position + WIDEST * width)
        return sum(
            histogram[each] * math.exp(-0.5 * ((position - each) / width) ** 2)
            for each in frequencies[begin:end]
        )

    densities = ((position, density(position)) for position in range(frequencies[0], last + 2))
    falling = False
    for (position, here), (_, following) in pairwise(densities):
        if falling and following >= here:
            return position
        falling = following < here
    return last


def _median(histogram: Mapping[float, int] | Mapping[int, int]) -> float:
    count = sum(histogram.values())
    places = ((count - 1) // 2, count // 2)
    found: list[float] = []
    passed = 0
    for value, times in sorted(histogram.items()):
        passed += times
        found.extend([value] * sum(passed - times <= place < passed for place in places))
    return sum(found) / len(places)


def depth(url: str) -> int:
    """Return how deep a page lies on its site: 4 for http://domain.org/d1/d2/d3/page.html."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return 0
    return sum(1 for part in path.split("/") if part)


def may_be_pair(first: PairingPage, second: PairingPage) -> bool:
    """Return True if two pages pass the gate of ILSP-FC: two languages, at most one level apart."""
    apart = abs(depth(first.url) - depth(second.url))
    return first.language != second.language and apart <= MOST_LEVELS_APART


def judge_images(first: PairingPage, second: PairingPage, site: SiteImages) -> Evidence | None:
    """Return evidence of shared rare images; None where neither page shows any."""
    images, others = site.critical(first.profile.images), site.critical(second.profile.images)
    if not images and not others:
        return None
    if not may_be_pair(first, second):
        return Evidence("images", 0.0, "the pages are more than one level apart")
    shared = len(images & others)
    score = min(
        passing(jaccard(images, others), LEAST_IMAGES),
        _sizes_passing(first.profile, second.profile),
    )
    total = len(images | others)
    return Evidence("images", score, f"{shared} of {total} rare images of the site are on both")


def judge_structure(
    first: PairingPage, second: PairingPage, machine: PolynomialMachine
) -> Evidence | None:
    """Return evidence of a similar structure; None where one page has no text."""
    one, other = first.profile, second.profile
    if not one.fingerprint or not other.fingerprint:
        return None
    if not may_be_pair(first, second):
        return Evidence("structure", 0.0, "the pages are more than one level apart")
    sizes = _sizes_passing(one, other)
    if sizes < 0.5:  # noqa: PLR2004 - `passing` promises it
        return Evidence("structure", sizes, "the texts are of different sizes")
    features = structure_features(one, other)
    same = 1.0 - features[2]
    return Evidence(
        "structure",
        min(sizes, machine.score(features)),
        f"{same:.0%} of kinds and lengths of paragraphs in the same order",
    )


def structure_features(one: Profile, other: Profile) -> StructureFeatures:
    """Return ratio of fingerprint lengths, ratio of paragraphs, and relative edit distance."""
    first, second = _letters(one.fingerprint), _letters(other.fingerprint)
    return (
        ratio(len(first), len(second)),
        ratio(one.paragraphs, other.paragraphs),
        Levenshtein.normalized_distance(first, second),
    )


def sizes_agree(one: Profile, other: Profile) -> bool:
    """Return True if paragraphs and tokens have the ratios that every pair of ILSP-FC needs."""
    return _sizes_passing(one, other) >= 0.5  # noqa: PLR2004 - `passing` promises it


def _sizes_passing(one: Profile, other: Profile) -> float:
    return min(
        passing(ratio(one.paragraphs, other.paragraphs), LEAST_PARAGRAPHS),
        passing(ratio(one.words, other.words), LEAST_TOKENS),
    )


@lru_cache(maxsize=1 << 12)
def _letters(fingerprint: tuple[int, ...]) -> str:
    """Return one letter per number: kinds as they are, lengths rounded to powers of two."""
    return "".join(
        chr(min(-number, 31)) if number < 0 else chr(32 + round(math.log2(number + 1)))
        for number in fingerprint
    )
