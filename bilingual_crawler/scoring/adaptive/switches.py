"""Which links lead to the other language: by the language they name, or by what they did before.

A link that says "Euskara", "EU" or shows the file `eu.png` names a language
(`documents/switches.py`). What says neither ("Other language", a globe) is found out: a slot, that
is the words or the image of a link, that has led from one language to the other again and again
is a switch as well.
"""

from bilingual_crawler.documents.document import Link

LONGEST_SLOT = 60
MOST_SLOTS = 2_000
LEAST_CROSSINGS = 2
SURE = 0.6


class Switches:
    """What is known of the links of one site that change the language."""

    def __init__(self) -> None:
        self.slots: dict[str, list[int]] = {}

    def crosses(self, slot: str) -> float:
        """How often a slot led from one language of the pair to the other; 0 if too seldom."""
        crossed, followed = self.slots.get(slot, (0, 0))
        return crossed / followed if crossed >= LEAST_CROSSINGS else 0.0

    def learn(self, slot: str, *, crossed: bool) -> None:
        """Note where a link led to."""
        known = self.slots.get(slot)
        if known is None:
            if not slot or len(self.slots) >= MOST_SLOTS:
                return
            known = self.slots[slot] = [0, 0]
        known[0] += crossed
        known[1] += 1


def slot_of(link: Link) -> str:
    """What a link looks like on every page where it stands."""
    return (link.anchor or link.image_alt or link.image_src)[:LONGEST_SLOT]
