"""Maps of integers that take a fifth of the memory of a dictionary.

A dictionary of a hundred thousand integers takes about 100 bytes per entry: the entry itself, and
an object each for key and value. A crawl has several such integers per page, so they are kept in
plain arrays here: 12 bytes per entry, in a table that is at most 70% full.
"""

import secrets
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

FIRST_SIZE = 8
FULLEST = 0.7
GROWTH = 1.5

_MASK = (1 << 64) - 1
_HALF = 32
_FACTOR = secrets.randbits(64) | 1
"""Random, so that no website can choose keys that all hash to one slot."""


class CompactMap:
    """Maps 64-bit keys to 32-bit values, both unsigned; 0 is the value of a missing key.

    A hash table with open addressing and linear probing: a key is in its own slot or in the next
    one that was free. The last slot is always free, so that every search ends.
    """

    __slots__ = ("_keys", "_room", "_size", "_used", "_values")

    def __init__(self) -> None:
        self._used = 0
        self._set_size(FIRST_SIZE, FIRST_SIZE + 1)

    def _set_size(self, size: int, places: int) -> None:
        self._size = size
        self._room = int(FULLEST * size)
        self._keys = array("Q", bytes(8 * places))
        self._values = array("I", bytes(4 * places))

    def __len__(self) -> int:
        return self._used

    def __iter__(self) -> Iterator[int]:
        """Return every key, in no order."""
        return (key for key, value in zip(self._keys, self._values, strict=True) if value)

    def __contains__(self, key: int) -> bool:
        return self._values[self._place(key)] > 0

    def get(self, key: int) -> int:
        """Return the value of a key, or 0."""
        return self._values[self._place(key)]

    def get_all(self, keys: Iterable[int]) -> list[int]:
        """Return the values of some keys, four times as fast as one by one."""
        slots, values, size = self._keys, self._values, self._size
        found: list[int] = []
        for key in keys:
            at = ((key * _FACTOR & _MASK) >> _HALF) * size >> _HALF
            while (value := values[at]) and slots[at] != key:
                at += 1
            found.append(value)
        return found

    def count_up(self, keys: Iterable[int]) -> None:
        """Add one to the value of each of some keys."""
        for key in keys:
            at = self._place(key)
            if self._values[at]:
                self._values[at] += 1
            else:
                self._insert(at, key, 1)

    def __setitem__(self, key: int, value: int) -> None:
        """Set the value of a key, which must not be 0."""
        at = self._place(key)
        if self._values[at]:
            self._values[at] = value
        else:
            self._insert(at, key, value)

    def setdefault(self, key: int, value: int) -> int:
        """Set the value of a key that has none and return 0, or return the value that it has."""
        at = self._place(key)
        known = self._values[at]
        if not known:
            self._insert(at, key, value)
        return known

    def _insert(self, at: int, key: int, value: int) -> None:
        self._keys[at] = key
        self._values[at] = value
        self._used += 1
        if at + 1 == len(self._values):
            self._keys.append(0)
            self._values.append(0)
        if self._used > self._room:
            self._grow()

    def _place(self, key: int) -> int:
        """Return the slot of a key, or the one that it would get."""
        keys, values = self._keys, self._values
        at = ((key * _FACTOR & _MASK) >> _HALF) * self._size >> _HALF
        while values[at] and keys[at] != key:
            at += 1
        return at

    def _grow(self) -> None:
        """Move everything to a larger table, at the speed of numpy.

        In the order of their slots, each key gets its own or the one after the previous key.
        """
        used = np.frombuffer(self._values, np.uint32) > 0
        keys = np.frombuffer(self._keys, np.uint64)[used]
        values = np.frombuffer(self._values, np.uint32)[used]
        size = int(GROWTH * self._size)
        homes = ((keys * np.uint64(_FACTOR)) >> np.uint64(_HALF)) * np.uint64(size)
        homes >>= np.uint64(_HALF)
        order = np.argsort(homes, kind="stable")
        numbers = np.arange(len(order))
        places = np.maximum.accumulate(homes[order].astype(np.int64) - numbers) + numbers
        self._set_size(size, max(size, int(places[-1]) + 1) + 1)
        np.frombuffer(self._keys, np.uint64)[places] = keys[order]
        np.frombuffer(self._values, np.uint32)[places] = values[order]


class Postings:
    """The numbers of each key, in the order in which they were added; all are below 2^31.

    A key with a single number, as most are, takes no more than its entry in the map. The numbers
    of other keys are in rows after their count, in one array for all keys, and move to a row of
    twice the size when theirs is full. A key with more than `most` numbers is useless: it is
    given up and has none.
    """

    __slots__ = ("_free", "_map", "_most", "_rows")

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._map = CompactMap()
        self._rows = array("I", (0, 0))
        self._free: dict[int, list[int]] = {}
        """The unused rows of each size."""

    def add(self, key: int, number: int) -> None:
        """Add a number to a key."""
        value = self._map.setdefault(key, number << 1 | 1)
        if not value:
            return
        if value & 1:
            self._map[key] = self._new_row((value >> 1, number)) << 1
        elif value != _GIVEN_UP:
            self._lengthen(key, value >> 1, number)

    def _lengthen(self, key: int, row: int, number: int) -> None:
        count = self._rows[row]
        if self._most is not None and count >= self._most:
            self._release(row)
            self._map[key] = _GIVEN_UP
        elif count & (count - 1):  # not a power of two: there is room
            self._rows[row + count + 1] = number
            self._rows[row] = count + 1
        else:
            numbers = (*self._numbers(row), number)
            self._release(row)
            self._map[key] = self._new_row(numbers) << 1

    def get(self, key: int) -> Sequence[int]:
        """Return the numbers of a key."""
        value = self._map.get(key)
        if not value or value == _GIVEN_UP:
            return ()
        return (value >> 1,) if value & 1 else self._numbers(value >> 1)

    def get_all(self, keys: Iterable[int]) -> list[Sequence[int]]:
        """Return the numbers of each of some keys, without those that have none."""
        rows = self._rows
        return [
            (value >> 1,) if value & 1 else rows[(row := value >> 1) + 1 : row + 1 + rows[row]]
            for value in self._map.get_all(keys)
            if value and value != _GIVEN_UP
        ]

    def count(self, key: int) -> int:
        """Return how many numbers a key has."""
        value = self._map.get(key)
        if not value or value == _GIVEN_UP:
            return 0
        return 1 if value & 1 else self._rows[value >> 1]

    def _numbers(self, row: int) -> Sequence[int]:
        return self._rows[row + 1 : row + 1 + self._rows[row]]

    def _new_row(self, numbers: tuple[int, ...]) -> int:
        size = _size_for(len(numbers))
        free = self._free.get(size)
        if free:
            row = free.pop()
        else:
            row = len(self._rows)
            self._rows.frombytes(bytes(self._rows.itemsize * (size + 1)))
        self._rows[row : row + 1 + len(numbers)] = array("I", (len(numbers), *numbers))
        return row

    def _release(self, row: int) -> None:
        self._free.setdefault(_size_for(self._rows[row]), []).append(row)


_GIVEN_UP = 1 << 1
"""A value that would lead to row 1, which no key has."""


def _size_for(count: int) -> int:
    """Return the smallest power of two that is not less than `count`."""
    return 1 << (count - 1).bit_length()


def unsigned(number: int) -> int:
    """Turn a signed 64-bit number, such as a fingerprint or a hash, into a key."""
    return number & _MASK
