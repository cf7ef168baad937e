"""How fast a list of URLs is grouped into congruence classes, and how many there are.

python -m benchmarks.congruence [URLS] [FILE]

FILE (one URL per line, gzipped or not) is measured instead of made-up URLs.
"""

import gzip
import random
import resource
import sys
import time
from collections.abc import Iterator

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.congruence import Congruence

URLS = 850_000  # as many as in Almeida's experiment: 850,406
WORDS = [
    *("news", "about", "contact", "press", "archive", "2004", "2011", "events", "report", "annual"),
    *("products", "node", "docs", "history", "research", "policy", "health", "pages", "stories"),
]
PATTERNS = [
    "http://www.{site}/{lang}/{a}/{b}/{n}.html",
    "http://{site}/{a}/{b}-{n}_{l}.htm",
    "https://{lang}.{site}/{a}/{b}/{c}-{n}",
    "http://{site}/{a}/{b}.php?id={n}&lang={lang}",
    "http://www.{site}/{a}/index_{lang}.php?page={n}",
    "https://www.{site}/{region}/{a}/{b}/{c}/{n}/",
    "http://{site}/{a}/{n}/{b}.asp",
    "http://www.{site}/{a}.nsf/{lang}/{b}-{c}-{n}/pages/{n}.htm",
]


def made_urls(count: int) -> Iterator[str]:
    """Yield URLs in the styles of real sites, half of them with a partner in the other language."""
    choice = random.Random(0)
    made = 0
    while made < count:
        parts = {
            "site": f"site{choice.randrange(2_000)}.{choice.choice(['org', 'com', 'ca', 'eu'])}",
            "a": choice.choice(WORDS),
            "b": choice.choice(WORDS),
            "c": choice.choice(WORDS),
            "n": choice.randrange(10_000_000),
        }
        pattern = choice.choice(PATTERNS)
        languages = ["en", "fr"] if choice.random() < 0.5 else [choice.choice(["en", "fr", "de"])]
        for language in languages:
            region = f"{language}-{'ca' if language != 'de' else 'de'}"
            yield pattern.format(**parts, lang=language, l=language[0], region=region)
            made += 1


def read_urls(path: str) -> list[str]:
    open_file = gzip.open if path.endswith(".gz") else open
    with open_file(path, "rt", errors="replace") as lines:
        return [line.strip() for line in lines]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else URLS
    urls = read_urls(sys.argv[2])[:count] if len(sys.argv) > 2 else list(made_urls(count))[:count]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    congruence = Congruence(LanguagePair.parse("eng-fra"))
    for url in urls:
        congruence.add(url)
    gathered = time.process_time()
    pairs = sum(1 for _ in congruence.pairs())
    paired = time.process_time()
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    blocks = sum(1 for _ in congruence.classes())
    print(f"{len(urls):,} URLs, {blocks:,} blocks of two or more, {pairs:,} pairs")
    seconds = gathered - started
    print(f"into classes: {seconds:.2f} s of one core, {len(urls) / seconds:,.0f} URLs/s")
    print(f"into pairs:   {paired - gathered:.2f} s more")
    print(f"{memory:.0f} MB more than the URLs themselves")


if __name__ == "__main__":
    main()
