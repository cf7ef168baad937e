"""Items that stand in another order on the other side: a list that is sorted by its language.

Dynamic programming keeps the order of both texts, so it leaves such items alone or pairs them with
the wrong ones, at a low score. Those are compared with one another wherever they are. Two of them
are paired if each is by far the other's best, and if they share most of what they could.
"""

from collections.abc import Sequence

import numpy as np

from bilingual_crawler.alignment.costs import Bead
from bilingual_crawler.alignment.overlap import Floats, Lexicon, anchor_overlap, lexicon_overlap
from bilingual_crawler.alignment.splitting import Segment

LOOSE = 0.3
"""Beads with a lower score are taken apart."""
LEAST_LIKENESS = 0.7
LEAST_LEAD = 0.25
"""How much less any other sentence may share."""
LEAST_KNOWN = 6.0
"""The weight of the words that the lexicon must know of each side: two rare ones."""
MOST_COMPARED = 250_000
"""Comparisons per document; with more candidates nothing is recovered."""


def crossing_beads(
    first: Sequence[Segment],
    second: Sequence[Segment],
    found: Sequence[tuple[Bead, float]],
    lexicon: Lexicon,
) -> list[tuple[Bead, float]]:
    """Return one-to-one beads of sentences that the path left alone, wherever they are.

    The score is the share of what both have in common.
    """
    loose = [bead for bead, score in found if score < LOOSE]
    free1 = [at for bead in loose for at in range(bead.start1, bead.end1)]
    free2 = [at for bead in loose for at in range(bead.start2, bead.end2)]
    if not free1 or not free2 or len(free1) * len(free2) > MOST_COMPARED:
        return []
    texts1, texts2 = [first[at].text for at in free1], [second[at].text for at in free2]
    known = lexicon_overlap(texts1, texts2, lexicon)
    everything = slice(None)
    total = known.total1[:, None] + known.total2[None, :]
    shared = 2 * known.shared(everything, everything)
    enough = (known.total1[:, None] >= LEAST_KNOWN) & (known.total2[None, :] >= LEAST_KNOWN)
    alike = np.where(enough, np.clip(shared / np.maximum(total, 1e-9), 0.0, 1.0), 0.0)
    anchors = anchor_overlap(texts1, texts2)
    both = anchors.total1[:, None] + anchors.total2[None, :]
    missed = both - 2 * anchors.shared(everything, everything)
    alike[missed > 0.5 * np.maximum(both, 1e-9)] = 0.0
    return [
        (Bead(free1[one], free1[one] + 1, free2[two], free2[two] + 1), round(value, 4))
        for one, two, value in _best(alike)
        if first[free1[one]].is_heading == second[free2[two]].is_heading
    ]


def _best(alike: Floats) -> list[tuple[int, int, float]]:
    """Return the places where a value leads its row and its column by far."""
    found = []
    for one, two in enumerate(alike.argmax(axis=1)):
        value = float(alike[one, two])
        if value < LEAST_LIKENESS or alike[:, two].argmax() != one:
            continue
        others = (
            np.delete(alike[one], two).max(initial=0.0),
            np.delete(alike[:, two], one).max(initial=0.0),
        )
        if value - max(others) >= LEAST_LEAD:
            found.append((one, int(two), value))
    return found
