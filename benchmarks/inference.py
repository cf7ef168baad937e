"""What the URL models cost on one core, beside a model of the shape of XLM-R base.

The base model has random weights and a small vocabulary, which does not change its cost. It reads
the same tokens, and is quantised in the way that is fastest for it (dynamically). Times are CPU
times.

    python -m benchmarks.inference                     the project's own models
    python -m benchmarks.inference FOLDER...           other model folders
    python -m benchmarks.inference --layers 2 --width 128 FOLDER     beside another shape
"""

import argparse
import gzip
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.encode import UrlEncoder
from bilingual_crawler.scoring.models import CONFIG, GRAPH, TASKS, TOKENIZER, find_model
from bilingual_crawler.scoring.pair_features import pair_features, url_parts
from bilingual_crawler.scoring.preprocess import ngram_table, prepare
from bilingual_crawler.urls.language_tokens import announced_languages

URLS, BASE_URLS, LINKS_PER_PAGE, RUNS = 3000, 128, 50, 3
SIZES, BUCKETS, MOST = (2, 3, 4, 5), 32768, 96
SYLLABLES = "ba co di fe gu la me ni po ru sa te vo xi za".split()  # noqa: SIM905


def urls() -> list[str]:
    """Return real URLs if there are any, or else made-up ones of the same length."""
    choice = random.Random(0)
    file = SHARED / "data" / "urls_strong.tsv.gz"
    if file.is_file():
        with gzip.open(file, "rt") as lines:
            next(lines)
            return choice.sample([line.partition("\t")[0] for line in lines], URLS)

    def word() -> str:
        return "".join(choice.choices(SYLLABLES, k=choice.randint(1, 4)))

    return [
        f"https://www.{word()}{word()}.org/{choice.choice(['es', 'eu', 'en'])}/{word()}/"
        f"{'-'.join(word() for _ in range(choice.randint(1, 7)))}-{number}.html"
        for number in range(URLS)
    ]


def microseconds(ask: Callable[[Sequence[Any]], Any], items: Sequence[Any], at_once: int) -> float:
    """Return the CPU time per item that is not cached, the best of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        url_parts.cache_clear()
        announced_languages.cache_clear()
        start = time.process_time()
        for begin in range(0, len(items), at_once):
            ask(items[begin : begin + at_once])
        best = min(best, time.process_time() - start)
    return 1e6 * best / len(items)


def pairs_of(items: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs like a page and its links: alphabetical neighbours, mostly of one site."""
    near = sorted(items)
    return [(near[number - number % LINKS_PER_PAGE], url) for number, url in enumerate(near)]


def open_folder(folder: Any) -> Url2Lang | ParallelUrls:
    task = json.loads(folder.joinpath(CONFIG).read_bytes())["task"]
    return (Url2Lang if task == "url2lang" else ParallelUrls)(folder, remembered=0)


def report(folder: Any, sample: list[str], count: int) -> float:
    """Print a line about a model; return its microseconds per link."""
    model = open_folder(folder)
    items: list[Any] = pairs_of(sample) if model.task == "parallel" else list(sample)
    items = items[:count]
    cost = microseconds(model.probabilities, items, LINKS_PER_PAGE)
    probe = items[:LINKS_PER_PAGE]
    together = np.asarray(model.probabilities(probe))
    alone = np.concatenate([np.asarray(model.probabilities([item])) for item in probe])
    size = sum(len(each.read_bytes()) for each in folder.iterdir() if "fp32" not in each.name)
    print(
        f"{model.task:10} {model.where[-40:]:40} {size / 1e6:7.1f} {1e6 / cost:10,.0f} "
        f"{cost / 1e3:8.3f} {np.abs(together - alone).max():10.1e}",
        flush=True,
    )
    return cost


def tokenizer_for(sample: list[str]) -> Tokenizer:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.train_from_iterator(
        map(prepare, sample),
        trainers.UnigramTrainer(
            vocab_size=8000,
            special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
            unk_token="<unk>",
            show_progress=False,
        ),
    )
    return made


def make_shape(folder: Path, tokenizer: Tokenizer, like: dict[str, Any], shape: Any) -> Path:
    """Write a folder with an int8 XLM-R of some shape and random weights."""
    import torch  # noqa: PLC0415 - only this line of the table needs it
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification  # noqa: PLC0415

    from bilingual_crawler.lab.training.export import export  # noqa: PLC0415

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = XLMRobertaForSequenceClassification(
                XLMRobertaConfig(
                    vocab_size=tokenizer.get_vocab_size(),
                    hidden_size=shape.width,
                    num_hidden_layers=shape.layers,
                    num_attention_heads=shape.width // 64,
                    intermediate_size=4 * shape.width,
                    max_position_embeddings=514,
                    num_labels=len(like.get("labels") or [0]),
                )
            )

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).logits

    encoder = UrlEncoder(tokenizer, like["max_length"])
    example = encoder.encode(["https://example.org/a", "https://example.org/a/longer/one"])
    export(Logits(), {name: torch.from_numpy(each) for name, each in example.items()}, folder)
    full = folder / "model.fp32.onnx"
    quantize_dynamic(full, folder / GRAPH, weight_type=QuantType.QInt8, per_channel=True)
    full.unlink()
    tokenizer.save(str(folder / TOKENIZER))
    plain = {**like, "format": 1, "ngrams": None, "word_ngrams": 0}
    plain |= {"features": None, "places": None}
    (folder / CONFIG).write_text(json.dumps(plain))
    return folder


def preparation(sample: list[str], tokenizer: Tokenizer) -> None:
    encoder = UrlEncoder(tokenizer, 32)
    steps = {
        "prepare": lambda part: [prepare(url) for url in part],
        "prepare and encode": encoder.encode,
        "encode as pairs with a page": lambda part: encoder.encode_pairs(pairs_of(part)),
        "compare with a page": lambda part: pair_features(pairs_of(part)),
        "hashed n-grams": lambda part: ngram_table(part, SIZES, BUCKETS, MOST),
    }
    for name, step in steps.items():
        print(f"{name:30} {microseconds(step, sample, LINKS_PER_PAGE):8.1f} us a URL", flush=True)


def own_models() -> list[Any]:
    found = []
    for task in TASKS:
        try:
            found.append(find_model(task))
        except ConfigurationError as error:
            print(error.problems[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    shape = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sample = urls()
    tokenizer = tokenizer_for(sample)
    preparation(sample, tokenizer)
    folders = shape.folders or own_models()
    print(
        f"\n{'task':10} {'model':40} {'MB':>7} {'links/s':>10} {'ms':>8} {'batch diff':>10}",
        flush=True,
    )
    costs = {}
    for folder in folders:
        like = json.loads(folder.joinpath(CONFIG).read_bytes())
        own = Tokenizer.from_buffer(folder.joinpath(TOKENIZER).read_bytes())
        costs[folder] = report(folder, sample, URLS)
        with tempfile.TemporaryDirectory() as place:
            name = Path(place, f"xlm-r-{shape.layers}x{shape.width}")
            base = report(make_shape(name, own, like, shape), sample, BASE_URLS)
        print(f"{'':10} {base / costs[folder]:.1f} times as fast", flush=True)
    print(f"\nall models together: {sum(costs.values()) / 1e3:.3f} ms a new link")


if __name__ == "__main__":
    main()
