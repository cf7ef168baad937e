"""Exports of a small and a large corpus: rows per second and peak memory of each format.

The corpus is synthetic, the same in every run: 12 words per sentence on average, 50 sentence pairs
per document pair, and documents of 50 paragraphs. A row is a sentence pair; for xml and pml, which
are made of documents, it is a pair of paragraphs. Each measurement runs in its own process; its
time is the CPU time of that process, so that a busy machine does not change it much, and its memory
is the peak, including the interpreter.

    python -m benchmarks.export                     the table of docs/experiments/benchmarks.md
    python -m benchmarks.export --sizes 1000 10000
    python -m benchmarks.export --formats tmx import
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.export.exporters import EXPORTERS, export, find_exporter, place_of
from bilingual_crawler.export.tmx import import_tmx
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id

SENTENCES_PER_DOCUMENT = 50
SIZES = (10_000, 1_000_000)
IMPORT = "import"
"""Importing the exported TMX again."""


def texts(seed: int) -> Iterator[str]:
    choice = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyzáéñç"
    words = ["".join(choice.choices(letters, k=choice.randint(2, 11))) for _ in range(20_000)]
    while True:
        sentence = " ".join(choice.choices(words, k=choice.randint(4, 20)))
        yield f"{sentence.capitalize()}."


def sentences(size: int) -> Iterator[SentencePair]:
    first, second = texts(1), texts(2)
    for number in range(size):
        page, at = divmod(number, SENTENCES_PER_DOCUMENT)
        url1, url2 = urls(page)
        yield SentencePair(
            pair_id(url1, url2), at, url1, url2, "spa", "eus", next(first), next(second), score=0.9
        )


def urls(page: int) -> tuple[str, str]:
    return (
        f"https://www.example.org/es/noticias/{page}",
        f"https://www.example.org/eu/albisteak/{page}",
    )


def make(folder: Path, size: int) -> None:
    folder.mkdir()
    with gzip.open(folder / SENTENCES, "wt", compresslevel=1) as lines:
        for row in sentences(size):
            lines.write(json.dumps(row.to_dict(), ensure_ascii=False) + "\n")
    first, second = texts(1), texts(2)
    with (
        gzip.open(folder / DOCUMENTS, "wt", compresslevel=1) as documents,
        (folder / PAIRS).open("w") as pairs,
    ):
        for page in range(size // SENTENCES_PER_DOCUMENT):
            url1, url2 = urls(page)
            for url, language, text in ((url1, "spa", first), (url2, "eus", second)):
                paragraphs = [Paragraph(next(text)) for _ in range(SENTENCES_PER_DOCUMENT)]
                document = Document(url=url, language=language, paragraphs=paragraphs)
                documents.write(json.dumps(document_to_dict(document), ensure_ascii=False) + "\n")
            pair = {"url1": url1, "url2": url2, "lang1": "spa", "lang2": "eus", "score": 0.9}
            pairs.write(json.dumps(pair) + "\n")


def measure(folder: Path, name: str) -> None:
    """Run one export and print its seconds, memory and bytes."""
    start = time.process_time()
    if name == IMPORT:
        target = folder / "imported"
        import_tmx(place_of(folder, find_exporter("tmx"), None), target)
    else:
        form = find_exporter(name)
        target = place_of(folder, form, None)
        export(folder, form, target)
    seconds = time.process_time() - start
    memory = peak_memory()
    files = target.rglob("*") if target.is_dir() else [target]
    size = sum(file.stat().st_size for file in files if file.is_file())
    print(json.dumps({"seconds": seconds, "memory": memory, "size": size / 1e6}))


def peak_memory() -> float:
    """Return the peak in MB; not ru_maxrss, which a process inherits from its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    return int(status["VmHWM"].removesuffix("kB")) / 1024


def in_a_process(folder: Path, name: str) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.export", "--measure", str(folder), name]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    return dict(json.loads(run.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--formats", nargs="+", choices=[*EXPORTERS.builtin, IMPORT])
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(Path(options.measure[0]), options.measure[1])
        return
    print("| format | rows | CPU seconds | rows a CPU second | peak memory, MB | output, MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "crawl"
            make(folder, size)
            for name in options.formats or [*EXPORTERS.builtin, IMPORT]:
                found = in_a_process(folder, name)
                rate = size / found["seconds"]
                print(
                    f"| {name} | {size:,} | {found['seconds']:.1f} | {rate:,.0f} "
                    f"| {found['memory']:.0f} | {found['size']:,.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
