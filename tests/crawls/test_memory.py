"""What a crawl keeps in memory for each page; `benchmarks.memory` tells who keeps it."""

from collections import Counter

from benchmarks.memory import BOUNDED, Parts, sizes_by_owner
from benchmarks.pairing import documents

MOST_BYTES = 5_200
"""A fifth above what is kept now; it was 10,278 when pages and pairs were kept unpacked."""
FEWER, MORE = 400, 1_200


def kept(folder, pages):
    """The sizes of all objects, by owner, after a made site of so many pages."""
    parts = Parts(folder)
    for number, document in enumerate(documents(pages)):
        parts.take(document)
        if number % 100 == 0:
            parts.folder.journal.checkpoint(wait=True)
    parts.folder.journal.checkpoint(wait=True)
    found = sizes_by_owner(parts)
    parts.folder.close()
    return Counter({owner: size for owner, size in found.items() if owner not in BOUNDED})


def test_a_page_takes_no_more_memory_than_it_did(tmp_path):
    before, after = kept(tmp_path / "fewer", FEWER), kept(tmp_path / "more", MORE)
    grown = {owner: (after[owner] - before[owner]) / (MORE - FEWER) for owner in after}
    largest = sorted(grown.items(), key=lambda each: -each[1])[:8]
    assert sum(grown.values()) < MOST_BYTES, largest
