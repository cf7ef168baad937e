"""What an HTTP API answers when it is asked for backlinks: addresses somewhere in JSON."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from bilingual_crawler.config.seeds import read_address

DEEPEST = 20


def question(template: str, url: str, site: str) -> str:
    """The address to ask for the backlinks of a page; the path behind # is ours."""
    address = template.partition("#")[0]
    return address.format(url=quote(url, safe=""), site=quote(site, safe=""))


def read_answer(template: str, body: bytes, most: int) -> list[str]:
    """The addresses in an answer, at the path behind # of the template; bad ones left out.

    Raises ValueError for what is no JSON. A path names keys with dots between them; lists on
    the way are gone through.
    """
    path = [step for step in template.partition("#")[2].split(".") if step]
    try:
        answer = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    found: dict[str, None] = {}
    for text in _values(answer, path, 0):
        try:
            found[read_address(text.strip())] = None
        except ValueError:
            continue
        if len(found) == most:
            break
    return list(found)


def _values(data: Any, path: list[str], depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(data, list):
        for each in data:
            yield from _values(each, path, depth + 1)
    elif path and isinstance(data, dict):
        yield from _values(data.get(path[0]), path[1:], depth + 1)
    elif not path and isinstance(data, str):
        yield data
