"""Two pages in numbers: how similar they are in URL, claims, structure and content.

The combined model learns from these numbers. Those of one detector can be hidden together. A number
about which nothing is known (no images on either page) is 0, and its `no_...` is 1.
"""

from collections import Counter
from math import log, log1p, log2
from typing import Final, NamedTuple

from rapidfuzz.distance import Indel, Levenshtein

from bilingual_crawler.pairing.claims import MutualClaims
from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.profile import Profile, members

KINDS = ("vocabulary", "numbers", "images", "links")


class SiteStatistics:
    """On how many pages of a site each thing occurs: what all pages share is no evidence."""

    def __init__(self) -> None:
        self.pages = 0
        self._counts: dict[str, Counter[int]] = {kind: Counter() for kind in KINDS}

    def add(self, profile: Profile) -> None:
        """Count the things of one more page."""
        self.pages += 1
        for kind in KINDS:
            self._counts[kind].update(members(getattr(profile, kind)))

    def counts(self, kind: str) -> Counter[int]:
        """Return the number of pages with each thing of a kind."""
        return self._counts[kind]

    def weight_of(self, kind: str, things: frozenset[int]) -> float:
        """Return the total weight of some things: the sum of the logarithms of how rare each is."""
        counts, logs = self._counts[kind], _logs_to(self.pages)
        return log(self.pages + 1) * len(things) - sum([logs[counts[thing]] for thing in things])


_LOGS = [0.0, 0.0]
"""The logarithms of whole numbers; 0 for 0, because a thing that is not counted is on one page."""


def _logs_to(largest: int) -> list[float]:
    """Return the logarithms of all whole numbers up to one."""
    while len(_LOGS) <= largest:
        _LOGS.append(log(len(_LOGS)))
    return _LOGS


SINGLE_OUT: Final = 1.2
"""The log(1 + n) of claimants below which a switch leads to a page of its own."""
LONGEST_COMPARED = 400
SMALL_WORDS, SMALL_TEXT = 5, 20
"""Added to lengths, so that the ratio of two short texts means little."""

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "url_key": ("same_key", "fit", "worse_fit", "same_key_fit"),
    "url_similarity": ("key_alike", "last_same", "last_alike", "depths", "digits", "no_digits"),
    "url_model": ("url_model", "no_url_model"),
    "switches": ("switches", "claimants", "targets", "single", "single_alike"),
    "lengths": ("words", "words_squared", "characters", "paragraphs", "shortness"),
    "structure": ("exact", "fingerprints", "shapes"),
    "images": ("images", "images_weighed", "no_images"),
    "links": ("links", "links_weighed", "no_links"),
    "numbers": ("numbers", "numbers_weighed", "no_numbers"),
    "words": ("shared_words", "words_weighed", "words_contained", "no_words"),
    "punctuation": ("punctuation", "no_punctuation"),
}
"""The numbers, by detector."""
NUMBERS: Final = tuple(number for numbers in GROUPS.values() for number in numbers)
RIVALS: Final = ("likeness", "lead", "other_lead", "led", "other_led", "least_lead")
"""How much more similar two pages are than each is to its best other candidate."""
FEATURES: Final = (*NUMBERS, *RIVALS)
_AT = {name: at for at, name in enumerate(FEATURES)}
_LIKENESS: Final = {
    "numbers_weighed": 1.0,
    "words_weighed": 2.0,
    "images_weighed": 1.0,
    "links_weighed": 1.0,
    "shapes": 1.0,
    "key_alike": 1.0,
    "url_model": 1.0,
    "worse_fit": 1.0,
}
_LIKE_AT = tuple((_AT[name], weight) for name, weight in _LIKENESS.items())
_CHARACTERS_AT = _AT["characters"]
SAME_LENGTH = 0.5


class PreparedPage(NamedTuple):
    """A page made ready for several comparisons."""

    known: KnownPage
    things: dict[str, frozenset[int]]
    """Its words, numbers, images and links."""
    weights: dict[str, float]
    """The total weight of each."""
    shape: list[int]


def prepare(known: KnownPage, weights: dict[str, float]) -> PreparedPage:
    """Unpack what is compared; `weights` are those of the page's things, by kind."""
    profile = known.page.profile
    things = {kind: members(getattr(profile, kind)) for kind in KINDS}
    return PreparedPage(known, things, weights, _shape(profile.fingerprint))


def weights_of(profile: Profile, statistics: SiteStatistics) -> dict[str, float]:
    """Return the weights of the things on a page, as its site stands now."""
    return {kind: statistics.weight_of(kind, members(getattr(profile, kind))) for kind in KINDS}


def compare(
    first: PreparedPage,
    second: PreparedPage,
    switches: MutualClaims,
    statistics: SiteStatistics,
    model: float | None = None,
) -> list[float]:
    """Return all `NUMBERS` of two pages; `model` is what the model of parallel URLs says."""
    one, other = first.known.page.profile, second.known.page.profile
    both = first, second, statistics
    shapes = _alike(first.shape, second.shape)
    return [
        *_url_numbers(first.known, second.known),
        *_optional(model),
        *_switch_numbers(switches, shapes),
        *_length_numbers(one, other),
        1 - _alike(one.fingerprint[:LONGEST_COMPARED], other.fingerprint[:LONGEST_COMPARED]),
        _ratio(len(one.fingerprint), len(other.fingerprint)),
        shapes,
        *_shared("images", *both),
        *_shared("links", *both),
        *_shared("numbers", *both),
        *_words(*both),
        *_optional(
            Indel.normalized_similarity(one.punctuation, other.punctuation)
            if one.punctuation or other.punctuation
            else None
        ),
    ]


def likeness(numbers: list[float]) -> float:
    """Return the overall similarity of two pages, only for comparing candidates of one page."""
    same_length = max(0.0, 1 - 2 * numbers[_CHARACTERS_AT])
    return SAME_LENGTH * same_length + sum([weight * numbers[at] for at, weight in _LIKE_AT])


def rivalry(alike: float, rival: float, other_rival: float) -> tuple[float, ...]:
    """Return the `RIVALS` of two pages: likeness, compared with the best other candidates."""
    lead, other_lead = alike - rival, alike - other_rival
    return alike, lead, other_lead, max(0.0, lead), max(0.0, other_lead), min(lead, other_lead)


def hidden(detectors: frozenset[str]) -> list[int]:
    """Return the indexes of the numbers to hide if only these detectors are asked."""
    return [_AT[n] for group, numbers in GROUPS.items() if group not in detectors for n in numbers]


def hide(numbers: list[float], places: list[int]) -> None:
    """Clear numbers, as if nothing were known about them."""
    for at in places:
        numbers[at] = 1.0 if FEATURES[at].startswith("no_") else 0.0


def _url_numbers(first: KnownPage, second: KnownPage) -> tuple[float, ...]:
    key, other_key = first.key.key, second.key.key
    same = float(key == other_key)
    fit = first.fit + second.fit
    return (
        same,
        fit,
        min(first.fit, second.fit),
        same * fit,
        Levenshtein.normalized_similarity(key, other_key),
        float(first.last == second.last),
        Levenshtein.normalized_similarity(first.last, second.last),
        abs(key.count("/") - other_key.count("/")),
        *_optional(
            Indel.normalized_similarity(first.digits, second.digits)
            if first.digits or second.digits
            else None
        ),
    )


def _switch_numbers(said: MutualClaims, shapes: float) -> tuple[float, ...]:
    claimants = log1p(said.claimants)
    single = said.sides * (claimants < SINGLE_OUT)
    return said.sides, claimants, log1p(said.targets), single, single * shapes


def _length_numbers(one: Profile, other: Profile) -> tuple[float, ...]:
    words = abs(log((one.words + SMALL_WORDS) / (other.words + SMALL_WORDS)))
    characters = abs(log((one.characters + SMALL_TEXT) / (other.characters + SMALL_TEXT)))
    paragraphs = _ratio(one.paragraphs, other.paragraphs)
    return words, words * words, characters, paragraphs, log1p(min(one.words, other.words))


def _shared(
    kind: str, first: PreparedPage, second: PreparedPage, statistics: SiteStatistics
) -> tuple[float, float, float]:
    """Return the share of things that are on both pages, plain and weighted."""
    one, other = first.things[kind], second.things[kind]
    if not one and not other:
        return 0.0, 0.0, 1.0
    if one.isdisjoint(other):
        return 0.0, 0.0, 0.0
    both = one & other
    weight = statistics.weight_of(kind, both)
    total = first.weights[kind] + second.weights[kind] - weight
    return len(both) / (len(one) + len(other) - len(both)), _share(weight, total), 0.0


def _words(
    first: PreparedPage, second: PreparedPage, statistics: SiteStatistics
) -> tuple[float, ...]:
    one, other = first.things["vocabulary"], second.things["vocabulary"]
    if not one or not other:
        return 0.0, 0.0, 0.0, 1.0
    if one.isdisjoint(other):
        return 0.0, 0.0, 0.0, 0.0
    both = one & other
    weight = statistics.weight_of("vocabulary", both)
    mine, theirs = first.weights["vocabulary"], second.weights["vocabulary"]
    return (
        len(both) / min(len(one), len(other)),
        _share(weight, mine + theirs - weight),
        _share(weight, min(mine, theirs)),
        0.0,
    )


def _share(weight: float, total: float) -> float:
    """Return a part of a whole, which may have been weighed when the site was smaller."""
    return min(1.0, weight / total) if total > 0 else 0.0


def _optional(value: float | None) -> tuple[float, float]:
    return (0.0, 1.0) if value is None else (value, 0.0)


def _shape(fingerprint: tuple[int, ...]) -> list[int]:
    """Return a fingerprint whose lengths are as coarse as translation leaves them."""
    return [
        each if each < 0 else min(12, int(log2(each + 1)))
        for each in fingerprint[:LONGEST_COMPARED]
    ]


def _alike(one: list[int] | tuple[int, ...], other: list[int] | tuple[int, ...]) -> float:
    return Levenshtein.normalized_similarity(one, other)


def _ratio(one: int, other: int) -> float:
    return (min(one, other) + 1) / (max(one, other) + 1)
