"""The rule of SBFC that reads ISO codes in URLs, as in the paper and as we have it.

The paper compares codes with parameter values, directory names, public suffix and subdomain. Ours
also reads names of languages, and codes in the names of files.

    python -m benchmarks.iso_rules urls_strong.tsv.gz
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from bilingual_crawler.lab.evaluation.classification import announced_language
from bilingual_crawler.lab.evaluation.metrics import scores, well_covered
from bilingual_crawler.lab.labels import LabelledUrl, read_urls
from bilingual_crawler.languages import all_languages
from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.urls.hosts import split_host

MOST_PER_SITE = 10
LEAST_URLS, LEAST_SITES = 15, 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both rules side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, nargs="+", help="tables of URLs with languages")
    rows = list(capped(read_urls(parser.parse_args(arguments).tables)))
    only = well_covered(rows, LEAST_URLS, LEAST_SITES)
    gold = [row.language for row in rows]
    print(f"{len(rows):,} URLs, {len(only)} languages")
    for name, rule in (("as in the paper", paper_rule), ("ours", announced_language)):
        found = scores(gold, [rule(row.url) for row in rows], only)
        print(f"{name}: macro F1 {found.macro_f1:.3f}, accuracy {found.accuracy:.3f}")


def capped(rows: Iterable[LabelledUrl]) -> Iterator[LabelledUrl]:
    """Yield at most ten URLs per site and language."""
    count: Counter[tuple[str, str]] = Counter()
    for row in rows:
        count[row.domain, row.language] += 1
        if count[row.domain, row.language] <= MOST_PER_SITE:
            yield row


def paper_rule(url: str) -> str:
    """Return the language that the first ISO code in a URL means."""
    codes = _iso_codes()
    return next((codes[part] for part in _parts(url) if part in codes), UNKNOWN)


def _parts(url: str) -> Iterator[str]:
    split = urlsplit(url)
    yield from (value.lower() for _, value in parse_qsl(split.query))
    yield from unquote(split.path).lower().strip("/").split("/")[:-1]
    host = split_host(split.hostname or "")
    yield host.suffix
    yield from host.subdomain.split(".")


@cache
def _iso_codes() -> dict[str, str]:
    """Return the ISO 639-1 and 639-2 codes that mean one language alone."""
    meanings = defaultdict(set)
    for language in all_languages():
        for code in (language.iso639_1, *language.iso639_2):
            if code:
                meanings[code].add(language.code)
    return {code: next(iter(each)) for code, each in meanings.items() if len(each) == 1}


if __name__ == "__main__":
    main()
