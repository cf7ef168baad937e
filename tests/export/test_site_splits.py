"""Parts of a corpus without a site in common."""

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.export.site_splits import SPLITS, TEST, TRAIN, VALIDATION, SiteSplit

SITES = st.integers(0, 30).map(lambda number: f"https://site{number}.org/es")


@given(st.lists(st.tuples(SITES, SITES), min_size=1))
def test_no_pair_has_its_sides_in_two_parts(pairs):
    split = SiteSplit.of(pairs)
    assert all(split.part_of(one) == split.part_of(two) for one, two in pairs)
    assert {each for part in SPLITS for each in split.sites(part)} == set(split.parts)


@given(st.lists(st.tuples(SITES, SITES), min_size=1), st.randoms(use_true_random=False))
def test_the_parts_do_not_depend_on_the_order(pairs, chance):
    other = list(pairs)
    chance.shuffle(other)
    assert SiteSplit.of(other).parts == SiteSplit.of(pairs).parts


@given(st.lists(st.integers(0, 99), min_size=1))
def test_something_is_left_to_train_on(numbers):
    pairs = [(f"https://s{number}.org/", f"https://s{number}.org/eu") for number in numbers]
    assert SiteSplit.of(pairs).sites(TRAIN)


def test_a_tenth_is_held_out_twice_when_sites_are_small():
    pairs = [(f"https://s{n % 100}.org/{n}", f"https://s{n % 100}.org/") for n in range(5_000)]
    split = SiteSplit.of(pairs)
    assert [len(split.sites(part)) for part in SPLITS] == [80, 10, 10]


def test_few_sites_give_their_smallest():
    sizes = {"large": 1_000, "middle": 500, "small": 300}
    pairs = [(f"https://{s}.org/{n}", f"https://{s}.org/") for s in sizes for n in range(sizes[s])]
    split = SiteSplit.of(pairs)
    assert [split.sites(part) for part in (TEST, VALIDATION, TRAIN)] == [
        ["small.org"],
        ["middle.org"],
        ["large.org"],
    ]


def test_one_site_is_for_training():
    assert SiteSplit.of([("https://a.org/", "https://b.org/")]).sites(TRAIN) == ["a.org", "b.org"]
