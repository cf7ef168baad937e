"""Compact maps of numbers, against dictionaries."""

import tracemalloc
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.store.compact import CompactMap, Postings, unsigned

keys = st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1))


@given(st.lists(st.tuples(keys, st.integers(1, 2**32 - 1)), max_size=300), st.lists(keys))
def test_a_map_knows_what_a_dictionary_knows(items, others):
    found, model = CompactMap(), {}
    for key, value in items:
        found[key] = value
        model[key] = value
    assert len(found) == len(model)
    assert sorted(found) == sorted(model)
    for key in (*model, *others):
        assert found.get(key) == model.get(key, 0)
        assert (key in found) == (key in model)


def test_a_map_grows_with_keys_in_a_row_and_with_keys_far_apart():
    found = CompactMap()
    wanted = {
        key: at + 1
        for at, key in enumerate(key for n in range(20_000) for key in (n, n << 40, ~n & 2**64 - 1))
    }
    for key, value in wanted.items():
        found[key] = value
    assert len(found) == len(wanted)
    assert all(found.get(key) == value for key, value in wanted.items())


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2**31 - 1)), max_size=300),
    st.none() | st.integers(2, 9),
)
def test_postings_keep_the_order_and_give_up_what_too_many_have(items, most):
    found, model = Postings(most), defaultdict(list)
    for key, number in items:
        found.add(key, number)
        model[key].append(number)
    for key in range(14):
        numbers = model[key] if most is None or len(model[key]) <= most else []
        assert list(found.get(key)) == numbers
        assert found.count(key) == len(numbers)


@pytest.mark.parametrize("number", [0, 5, -5, 2**63 - 1, -(2**63)])
def test_signed_numbers_are_different_keys(number):
    assert 0 <= unsigned(number) < 2**64
    assert unsigned(number) != unsigned(number + 1 if number < 0 else number - 1)


def test_a_map_takes_a_third_of_the_memory_of_a_dictionary():
    count = 20_000
    tracemalloc.start()
    try:
        found = CompactMap()
        for at in range(count):
            found[at * 1_000_003 + 2**40] = at + 1
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 35 * count
