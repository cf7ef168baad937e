"""How much memory fine-tuning needs per URL of its tables, streamed and encoded beforehand.

Tables of made URLs are prepared for a tiny base, and batches of the largest epoch are drawn, each
size in its own process. The growth of the process from one size to the other, divided by the
additional URLs, is the cost of a URL.

    python -m benchmarks.training_memory                           200,000 and 2,000,000 URLs
    python -m benchmarks.training_memory --urls 50000 500000
"""

import argparse
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

from bilingual_crawler.lab.labels import read_urls
from bilingual_crawler.lab.training.examples import Examples, encode_urls
from bilingual_crawler.lab.training.fine_tuning import prepare_url2lang
from bilingual_crawler.lab.training.recipe import TrainingOptions

SIZES = (200_000, 2_000_000)
URLS_PER_DOMAIN = 20
LANGUAGES = ("eng", "fra", "deu", "spa", "fin", "eus", "isl", "mlt")
BATCHES = 100
TOKENIZER = Path(__file__).parents[1] / "models" / "url2lang" / "tokenizer.json"


def write_table(path: Path, count: int) -> None:
    """Write URLs of about 75 letters, a few per domain and language."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnoprstuv", k=6)) for _ in range(20_000)]
    with path.open("w") as lines:
        lines.write("url\tlang\tdomain\n")
        for number in range(count):
            domain = (
                f"{words[number // URLS_PER_DOMAIN % len(words)]}{number // URLS_PER_DOMAIN}.org"
            )
            slug = "-".join(rng.choices(words, k=5))
            language = LANGUAGES[number % len(LANGUAGES)]
            lines.write(f"https://www.{domain}/{slug}/{number}\t{language}\t{domain}\n")


def write_base(folder: Path) -> None:
    """Save a tiny model with the layout of XLM-R and a real tokenizer."""
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.save(str(folder / "tokenizer.json"))
    config = XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=130,
    )
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)


def measure(count: int, *, encoded: bool) -> dict[str, float]:
    """Prepare a table of a size and draw batches; return how far the process grew."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_base(folder)
        write_table(table := folder / "urls.tsv", count)
        options = TrainingOptions(data=(table,), out=folder / "out", base=name, cap=count)
        before, start = _peak(), time.perf_counter()
        prepared = prepare_url2lang(options)
        train = prepared.train
        if encoded:
            rows = [row for row in read_urls([table]) if row.domain]
            arrays = encode_urls(prepared.encoder, [row.url for row in rows])
            train = Examples([arrays], np.zeros(len(rows), dtype=np.int64))
        ready = time.perf_counter()
        order = train.order(100, seed=0, size=0, fold=1_000_000)
        for _ in itertools.islice(train.batches(order, 32, np.random.default_rng(0)), BATCHES):
            pass
        return {
            "urls": len(train),
            "mb": (_peak() - before) / 1024,
            "seconds": ready - start,
            "ms_per_batch": 1000 * (time.perf_counter() - ready) / BATCHES,
        }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Measure each size in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--urls", nargs=2, type=int, default=SIZES)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(int(options.one[0]), encoded=options.one[1] == "encoded")))
        return
    print("| | learned from | MB more | seconds to prepare | ms per batch |")
    print("|---|---|---|---|---|")
    for how in ("streamed", "encoded"):
        found = []
        for count in options.urls:
            run = subprocess.run(
                [sys.executable, "-m", "benchmarks.training_memory", "--one", str(count), how],
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | {"TRANSFORMERS_VERBOSITY": "error", "OMP_NUM_THREADS": "1"},
            )
            found.append(one := json.loads(run.stdout.splitlines()[-1]))
            print(
                f"| {how} | {one['urls']:,} | {one['mb']:,.0f} | {one['seconds']:.0f} | "
                f"{one['ms_per_batch']:.1f} |",
                flush=True,
            )
        less, more = found
        cost = 1024 * 1024 * (more["mb"] - less["mb"]) / (more["urls"] - less["urls"])
        print(f"\n{how}: {cost:,.0f} bytes per URL\n", flush=True)


if __name__ == "__main__":
    main()
