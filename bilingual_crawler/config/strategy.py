"""The strategies of Barbosa's comparison: which links are followed, and in what order."""

from typing import NamedTuple


class Strategy(NamedTuple):
    """What tells the strategies apart."""

    back_and_forth: bool
    """Search the bipartite graph of hubs and sites alone; else follow every link to a site."""
    learns: bool
    """Rank links by classifiers, once these have learned; else first come, first served."""


STRATEGIES = {
    "forward": Strategy(back_and_forth=False, learns=False),
    "focused": Strategy(back_and_forth=False, learns=True),
    "back-forward": Strategy(back_and_forth=True, learns=False),
    "classifier": Strategy(back_and_forth=True, learns=True),
}
