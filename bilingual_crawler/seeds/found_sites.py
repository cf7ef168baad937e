"""The sites that discovery has found, as seeds: the entry pages in its sites.jsonl."""

import json
from collections.abc import Iterator
from typing import Any


def is_found_sites(text: str) -> bool:
    """Whether a list of seeds is one that discovery wrote: a JSON object a line."""
    return text.lstrip().startswith("{")


def read_found_sites(text: str) -> Iterator[tuple[int, str]]:
    """The entry pages of the sites judged bilingual, with the line of each.

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
    if site["bilingual"] != "yes":
        return []
    return [str(url) for url in dict.fromkeys(site["entry_pages"].values())]
