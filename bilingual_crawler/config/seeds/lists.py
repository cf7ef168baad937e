"""The lists of seeds that come with the project, one a language pair.

They are data files of this package, named by the two codes in alphabetical order, and
read in a way that also works from a zip file.
"""

from importlib.resources import files

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.addresses import read_address, read_lines

_ENDING = ".txt"


def available_pairs() -> tuple[str, ...]:
    """The pairs that have a list, as "eus-spa"."""
    names = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def project_seeds(pair: LanguagePair) -> tuple[str, ...]:
    """The project's seeds for a pair, whichever language comes first; () if there are none."""
    name = "-".join(sorted(pair.codes))
    if name not in available_pairs():
        return ()
    text = files(__package__).joinpath(name + _ENDING).read_text(encoding="utf-8")
    return tuple(read_address(address) for _, address in read_lines(text))
