"""How pairing grows: time and memory per document, on synthetic sites of two sizes.

A synthetic site has as many documents in Spanish as in Basque: a third with URLs that differ in a
language token, a third with translated slugs and language switches, and a third with neither, which
only names and numbers in the text connect. Times are CPU times of one core, for everything after
the text of a page is known (profile, candidates, weighing, matching while pages come in) and for
the matching at the end. The model of parallel URLs is left out; benchmarks.inference has its cost
per candidate.

    python -m benchmarks.pairing [SIZE ...]
"""

import argparse
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from bilingual_crawler.commands.base import look_for_cycles_less
from bilingual_crawler.documents.document import Document, Image, Link, Paragraph
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import page_of

SIZES = (10_000, 100_000)
SITE = "https://www.made.example"
PAIR = LanguagePair.parse("spa-eus")
SYLLABLES = {
    "spa": ("ca", "mi", "no", "que", "los", "ter"),
    "eus": ("tz", "eko", "ari", "gar", "txo", "ba"),
}
NAMES = 20_000


def words(language: str, seed: int = 5) -> list[str]:
    chance = random.Random(f"{language}{seed}")
    return [
        "".join(chance.choices(SYLLABLES[language], k=chance.randint(2, 4))) for _ in range(8_000)
    ]


def address(language: str, number: int) -> str:
    code = {"spa": "es", "eus": "eu"}[language]
    if number % 3 == 0:
        return f"{SITE}/{code}/page-{number}"
    if number % 3 == 1:
        return f"{SITE}/{code}/{random.Random(f'{code}{number}').getrandbits(40):x}"
    shuffled = number * {"es": 7, "eu": 11}[code] % 104_729
    return f"{SITE}/{code}/{VOCABULARY[language][number % 7_919]}-{shuffled}"


def document(language: str, number: int) -> Document:
    chance, plan = random.Random(f"{language}{number}"), random.Random(number)
    vocabulary = VOCABULARY[language]
    paragraphs = [Paragraph(" ".join(chance.choices(vocabulary[:300], k=4)), "title")]
    for _ in range(plan.randint(3, 12)):
        length = plan.randint(8, 60)
        ranks = (min(len(vocabulary) - 1, int(chance.paretovariate(0.7))) for _ in range(length))
        told = [vocabulary[rank] for rank in ranks]
        told += [f"Name{plan.randrange(NAMES)}", str(plan.randrange(100_000))]
        paragraphs.append(Paragraph(" ".join(told) + "."))
    other = "eus" if language == "spa" else "spa"
    links = [Link(address(other, number), {"eus": "Euskara", "spa": "Español"}[other])]
    return Document(
        address(language, number),
        language=language,
        paragraphs=paragraphs,
        images=[Image(f"{SITE}/img/logo.png"), Image(f"{SITE}/img/{number}.jpg")]
        if number % 5 == 0
        else [],
        links=links if number % 3 == 1 else [],
        size=8_000,
    )


def documents(size: int) -> Iterator[Document]:
    order = [(language, number) for number in range(size // 2) for language in ("spa", "eus")]
    random.Random(1).shuffle(order)
    for language, number in order:
        yield document(language, number)


VOCABULARY = {language: words(language) for language in SYLLABLES}


def measure(size: int) -> None:
    look_for_cycles_less()  # as every command does
    matcher, adding = Matcher(PAIR), 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for each in documents(size):
        start = time.process_time()
        matcher.add(page_of(each))
        adding += time.process_time() - start
    start = time.process_time()
    matcher.finish()
    settling = time.process_time() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    true = {(address("spa", number), address("eus", number)) for number in range(size // 2)}
    found = {(pair.first, pair.second) for pair in matcher.pairs}
    print(
        f"| {size:,} | {1e3 * adding / size:.2f} | {1e3 * settling / size:.2f} | {memory:,.0f} | "
        f"{len(found & true) / len(true):.3f} | {len(found & true) / max(1, len(found)):.3f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--one", action="store_true", help="measure in this very process")
    options = parser.parse_args()
    if options.one:
        measure(options.sizes[0])
        return
    print("| documents | ms a document while they come | ms at the end | MB | recall | precision |")
    print("|---:|---:|---:|---:|---:|---:|", flush=True)
    for size in options.sizes:
        command = [sys.executable, "-m", "benchmarks.pairing", "--one", str(size)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
