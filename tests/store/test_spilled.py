"""Byte strings that are kept in a temporary file."""

import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.store.spilled import SpilledBytes

changes = st.lists(st.tuples(st.integers(0, 20), st.binary(max_size=40)), max_size=40)


@given(changes, st.integers(1, 100))
def test_it_is_a_list_wherever_its_strings_are(changes, kept):
    spilled = SpilledBytes(kept)
    plain: list[bytes] = []
    for number, value in changes:
        if number < len(plain):
            spilled[number] = plain[number] = value
        else:
            spilled.append(value)
            plain.append(value)
    assert [spilled[number] for number in range(len(spilled))] == plain


def test_few_strings_need_no_file(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    spilled = SpilledBytes()
    spilled.append(b"small")
    assert spilled[0] == b"small"


def test_what_cannot_be_written_stays_in_memory(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    spilled = SpilledBytes(kept=10)
    for number in range(20):
        spilled.append(b"%d" % number * 8)
    assert [spilled[number] for number in range(20)] == [b"%d" % n * 8 for n in range(20)]


FILLS = """
import resource
from bilingual_crawler.store.spilled import SpilledBytes
resource.setrlimit(resource.RLIMIT_FSIZE, (25, resource.RLIM_INFINITY))
spilled = SpilledBytes(kept=10)
for number in range(20):
    spilled.append(b"%d" % number * 8)
assert [spilled[n] for n in range(20)] == [b"%d" % n * 8 for n in range(20)]
"""


def test_a_disk_that_fills_up_loses_nothing():
    subprocess.run([sys.executable, "-W", "error", "-c", FILLS], check=True)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_its_file_is_closed_with_it():
    before = open_files()
    spilled = SpilledBytes(kept=1)
    spilled.append(b"written")
    assert open_files() == before + 1
    del spilled
    assert open_files() == before
