"""Sites as seeds: the entry pages in the sites.jsonl of discovery or of `scrapy bootstrap`."""

import json
from collections.abc import Iterator
from typing import Any

WORTH_A_CRAWL = ("yes", "candidate")
"""What discovery says of a site it has judged, and bootstrap of one that nobody has looked at."""


def is_found_sites(text: str) -> bool:
    """Whether a list of seeds is one of sites: a JSON object a line."""
    return text.lstrip().startswith("{")


def read_found_sites(text: str) -> Iterator[tuple[int, str]]:
    """The entry pages of sites that are bilingual, or may be, with the line of each.

    ValueError tells which line is not one of discovery's; a last line that was cut short, as
    in a file that is being written, is passed over.
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
                f"line {number}: this is no site as discovery writes them to sites.jsonl; "
                "a list of seeds has one URL a line"
            ) from None
        for url in entries:
            yield number, url


def _entries(site: dict[str, Any]) -> list[str]:
    if site["bilingual"] not in WORTH_A_CRAWL:
        return []
    return [str(url) for url in dict.fromkeys(site["entry_pages"].values())]
