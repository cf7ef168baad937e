"""Where crawls begin: the project's own lists of seeds, and the sites that discovery found.

The lists are data files of this package, one per language pair, named by the two codes in
alphabetical order. They are read in a way that also works from a zip file.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.addresses import read_address, read_lines

WORTH_A_CRAWL = ("yes", "candidate")
"""How discovery marks bilingual sites, and how bootstrap marks sites still to be examined."""
_ENDING = ".txt"


def available_pairs() -> tuple[str, ...]:
    """Return the pairs that have a list, as "eus-spa"."""
    names = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def project_seeds(pair: LanguagePair) -> tuple[str, ...]:
    """Return the project's seeds for a pair, in either order of its languages; () if none."""
    name = "-".join(sorted(pair.codes))
    if name not in available_pairs():
        return ()
    text = files(__package__).joinpath(name + _ENDING).read_text(encoding="utf-8")
    return tuple(read_address(address) for _, address in read_lines(text))


def is_found_sites(text: str) -> bool:
    """Return True if a list of seeds is a sites.jsonl, with one JSON object per line."""
    return text.lstrip().startswith("{")


def read_found_sites(text: str) -> Iterator[tuple[int, str]]:
    """Yield the entry pages of all sites that are or may be bilingual, with their line numbers.

    `text` is the sites.jsonl of discovery or of `scrapy bootstrap`. A ValueError names the first
    line that is not; a last line that was cut off, because the file is being written, is skipped.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            site = json.loads(line)
            entries = _entries(site)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            if number == len(lines):
                return
            raise ValueError(
                f"line {number}: this is not a site as discovery writes it to sites.jsonl; "
                "a list of seeds has one URL per line"
            ) from None
        for url in entries:
            yield number, url


def _entries(site: dict[str, Any]) -> list[str]:
    if site["bilingual"] not in WORTH_A_CRAWL:
        return []
    return [str(url) for url in dict.fromkeys(site["entry_pages"].values())]
