"""What became of the rows of an export or import, to be told at the end."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bilingual_crawler.store.json_lines import Damage


@dataclass(slots=True)
class Account:
    """Rows written, rows left out and why, and what had to be changed in their text."""

    written: Counter[str] = field(default_factory=Counter)
    """How many of what: "sentence pairs", "documents", "document pairs"."""
    left_out: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    damage: Damage = field(default_factory=Damage)

    def to_dict(self) -> dict[str, Any]:
        """The account as JSON holds it."""
        return {
            "written": dict(self.written),
            "left_out": dict(self.left_out),
            "changed": dict(self.changed),
            "damaged_lines": self.damage.lines,
        }
