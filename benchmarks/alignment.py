"""How good and how fast the sentence aligner is.

python -m benchmarks.alignment                      everything with data at hand
python -m benchmarks.alignment --root DIR           Debian packages unpacked there (dpkg -x)
python -m benchmarks.alignment speed                one part: quality, speed or sites

quality: precision, recall and F1 of beads with text on both sides, all their sentences right, on
    the half of real text with a known alignment that nothing was tuned on (alignment_gold.py says
    how to get it). "lengths" is plain Gale and Church, and so is "nltk" (if installed); "fitted"
    has fitted costs of omitted sentences; each further method adds to the one before.
speed: synthetic crawls of two sizes, and one pair of documents with 2,000 sentences on each side.
sites: the results on recorded sites (BILINGUAL_SHARED), to look at.
"""

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.alignment_gold import PAIRS, Case, Languages, cases
from benchmarks.recorded_pairs import SHARED, documents, gold
from bilingual_crawler.alignment.aligner import Aligner, Scored
from bilingual_crawler.alignment.costs import FIRST_PASS, GALE_CHURCH, SECOND_PASS, Bead
from bilingual_crawler.alignment.documents import PairOfTexts
from bilingual_crawler.alignment.overlap import Lexicon
from bilingual_crawler.alignment.splitting import Segment
from bilingual_crawler.alignment.two_passes import align_folder, first_pass
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.store.folder import DOCUMENTS
from bilingual_crawler.store.folder import PAIRS as PAIRS_FILE
from bilingual_crawler.store.sentence_pair import SENTENCES

MOST_DOCUMENTS = 400
PARTS = ("quality", "speed", "sites")
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to")
FLAT: dict[str, Any] = {"boundary": 0.0, "crossing": 0.0, "heading": 0.0}


class Nltk(Aligner):
    """Gale and Church as in nltk, to compare with our plain version."""

    def align(self, first: Sequence[Segment], second: Sequence[Segment]) -> list[Scored]:
        lengths = [[len(each.text) for each in side] for side in (first, second)]
        groups: list[tuple[set[int], set[int]]] = []
        for one, two in sorted(import_module("nltk.translate.gale_church").align_blocks(*lengths)):
            if not groups or (one not in groups[-1][0] and two not in groups[-1][1]):
                groups.append((set(), set()))
            groups[-1][0].add(one)
            groups[-1][1].add(two)
        return [
            Scored(Bead(min(one), max(one) + 1, min(two), max(two) + 1), 1.0) for one, two in groups
        ]


def f1(texts: list[Case], aligner: Aligner) -> tuple[float, float, float]:
    """Return precision, recall and F1 over all texts together."""
    right = found = true = 0
    for case in texts:
        beads = {each.bead for each in aligner.align(case.first, case.second)}
        paired = {bead for bead in beads if bead.is_paired}
        right += len(paired & case.gold)
        found, true = found + len(paired), true + len(case.gold)
    return right / found, right / true, 2 * right / (found + true)


def learned_from(texts: list[Case], pair: Languages) -> Lexicon | None:
    """Return the lexicon that the first pass over the texts learns, as in a crawl."""
    given = (
        PairOfTexts(case.name, case.name, pair.first, pair.second, case.first, case.second)
        for case in texts
    )
    return first_pass(given)[pair.first, pair.second].lexicon


def methods(lexicon: Lexicon | None) -> dict[str, Aligner]:
    flat1, flat2 = replace(FIRST_PASS, **FLAT), replace(SECOND_PASS, **FLAT)
    return ({"nltk": Nltk()} if find_spec("nltk") else {}) | {
        "lengths": Aligner(weights=GALE_CHURCH),
        "fitted": Aligner(weights=replace(flat1, anchors=0.0)),
        "+ anchors": Aligner(weights=flat1),
        "+ lexicon": Aligner(lexicon, weights=flat2),
        "+ paragraphs": Aligner(lexicon),
    }


def quality(root: Path) -> None:
    print("| languages | documents | beads | not 1-1 |", end="")
    print(*(f" {name} |" for name in methods(None)), " precision, recall |", sep="")
    print("|---|" + "---:|" * (4 + len(methods(None))))
    for pair in PAIRS:
        texts = cases(root, pair, "test", MOST_DOCUMENTS)
        if not texts:
            print(f"| {pair.name} | skipped: no data, see alignment_gold.py |")
            continue
        beads = [bead for case in texts for bead in case.gold]
        other = sum(bead.shape != (1, 1) for bead in beads)
        figures = [f1(texts, each) for each in methods(learned_from(texts, pair)).values()]
        shown = " | ".join(f"{figure[2]:.3f}" for figure in figures)
        precision, recall, _ = figures[-1]
        print(
            f"| {pair.name} | {len(texts)} | {len(beads):,} | {other:,} | {shown} "
            f"| {precision:.3f}, {recall:.3f} |",
            flush=True,
        )


def made_texts(seed: int, count: int) -> tuple[list[str], list[str]]:
    """Return sentences of made-up words and their word-by-word translation; some are left out."""
    chance = random.Random(seed)
    first, second = [], []
    for _ in range(count):
        words = [int(chance.paretovariate(0.7)) % 5_000 for _ in range(chance.randint(4, 24))]
        if chance.random() > 0.03:
            first.append(" ".join(f"{_spelt(word)}" for word in words).capitalize() + ".")
        if chance.random() > 0.03:
            second.append(" ".join(f"{_spelt(word * 7 + 3)}" for word in words).capitalize() + ".")
    return first, second


def _spelt(number: int) -> str:
    word = ""
    while number or not word:
        number, at = divmod(number, len(SYLLABLES))
        word += SYLLABLES[at]
    return word


def write_folder(folder: Path, pairs: Iterable[tuple[Document, Document]]) -> None:
    """Write a crawl folder with these document pairs."""
    with (
        gzip.open(folder / DOCUMENTS, "wt", encoding="utf-8", compresslevel=1) as texts,
        (folder / PAIRS_FILE).open("w", encoding="utf-8") as lines,
    ):
        for pair in pairs:
            for document in pair:
                texts.write(json.dumps(document_to_dict(document), ensure_ascii=False) + "\n")
            named = {f"url{at}": each.url for at, each in enumerate(pair, 1)}
            named |= {f"lang{at}": each.language or "" for at, each in enumerate(pair, 1)}
            lines.write(json.dumps(named) + "\n")


def made_pairs(count: int) -> Iterable[tuple[Document, Document]]:
    for number in range(count):
        sides = zip(("spa", "eus"), made_texts(number, 40), strict=True)
        first, second = (
            Document(
                f"https://example.org/{language}/{number}",
                language,
                paragraphs=[
                    Paragraph(" ".join(texts[at : at + 4])) for at in range(0, len(texts), 4)
                ],
            )
            for language, texts in sides
        )
        yield first, second


def align_made(count: int) -> None:
    """Align a synthetic crawl in this process, to measure its memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(folder, made_pairs(count))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start, processor = time.perf_counter(), time.process_time()
        counts = align_folder(folder, folder / SENTENCES)
        seconds, busy = time.perf_counter() - start, time.process_time() - processor
        sentences = counts.sentences1 + counts.sentences2
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"| {count:,} | {sentences:,} | {seconds:.1f} | {sentences / seconds:,.0f} "
            f"| {sentences / busy:,.0f} | {before // 1024} | {after // 1024} |",
            flush=True,
        )


def speed() -> None:
    print("| document pairs | sentences | seconds | sentences/s | a CPU second | MB before | MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for count in (500, 2_000):
        subprocess.run([sys.executable, "-m", "benchmarks.alignment", f"made={count}"], check=True)
    first, second = (
        [Segment(text, number // 4) for number, text in enumerate(texts)]
        for texts in made_texts(0, 2_000)
    )
    for name, weights in {"lengths": GALE_CHURCH, "first pass": FIRST_PASS}.items():
        start = time.perf_counter()
        Aligner(weights=weights).align(first, second)
        seconds = time.perf_counter() - start
        print(f"{len(first):,} x {len(second):,} sentences, {name}: {seconds:.2f} s", flush=True)


def sites(folder: Path) -> None:
    if not folder.is_dir():
        print("skipped: no recorded sites; name their folder in BILINGUAL_SHARED")
        return
    print("| site | languages | document pairs | sentences | pairs | kept | dropped |")
    print("|---|---|---:|---:|---:|---:|---|")
    for warc in sorted(folder.glob("*.warc.gz")):
        name = warc.name.removesuffix(".warc.gz")
        (pair, urls), *_ = gold(warc.with_name(f"{name}.gold.tsv"))
        pages = {each.url: each for each in documents(warc) if each.language in pair.codes}
        found = [(pages[one], pages[two]) for one, two in sorted(urls) if {one, two} <= {*pages}]
        with tempfile.TemporaryDirectory() as place:
            write_folder(Path(place), found)
            counts = align_folder(Path(place), Path(place) / SENTENCES)
        dropped = ", ".join(f"{rule} {times}" for rule, times in counts.dropped.most_common())
        print(
            f"| {name} | {pair} | {counts.document_pairs} "
            f"| {counts.sentences1:,} + {counts.sentences2:,} "
            f"| {counts.sentence_pairs:,} | {counts.kept:,} | {dropped} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", default=PARTS, help=", ".join(PARTS))
    parser.add_argument("--root", type=Path, default=Path("/"), help="where the packages are")
    options = parser.parse_args()
    for part in options.parts:
        if part.startswith("made="):
            align_made(int(part.removeprefix("made=")))
            continue
        print(f"\n{part}\n")
        if part == "quality":
            quality(options.root)
        elif part == "speed":
            speed()
        else:
            sites(SHARED / "sites")


if __name__ == "__main__":
    main()
