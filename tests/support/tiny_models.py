"""Model folders whose weights are set by hand, so that what they must answer is known.

The language model adds a number for each token that names a language. The pair model
adds up random vectors of the first URL's tokens, takes those of the second away, and
finds translations where nothing but language tokens is left over. The sentence model knows
words by what they mean.
"""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

import bilingual_crawler
from bilingual_crawler.scoring.preprocess import ngram_table, prepare

PACKAGE = Path(bilingual_crawler.__file__).parent
LABELS = ["eng", "fra", "spa", "unknown"]
WORDS = {"en": "eng", "fr": "fra", "es": "spa"}
NGRAMS = {"sizes": [3, 4], "buckets": 512, "most": 64}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
SURE, SLIGHT = 6.0, 1.0

URLS = [
    f"https://www.site{number}.example/{code}/{page}?id={number}"
    for number in range(4)
    for code in WORDS
    for page in ("home", "about_us", "news-2024/today.html", "caf%C3%A9", "x")
]


def ngram_ids(url, sizes, buckets, most):
    """The hashed character n-grams of one URL: distinct numbers from 1 to `buckets` - 1."""
    (row,) = ngram_table([url], sizes, buckets, most)
    return [int(number) for number in row if number]


def tokenizer():
    made = Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordLevelTrainer(special_tokens=SPECIAL, show_progress=False)
    made.train_from_iterator(map(prepare, URLS), trainer)
    return made


def url2lang_model(folder, *, ngrams=None):
    """`/es/` is Spanish; with n-grams, so is a word with "ción" in it."""
    words = tokenizer()
    weights = np.zeros((words.get_vocab_size(), len(LABELS)), dtype=np.float32)
    weights[words.token_to_id("<s>"), LABELS.index("unknown")] = SLIGHT
    for word, label in WORDS.items():
        weights[words.token_to_id(word), LABELS.index(label)] = SURE
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["each"]),
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["column"]),
        helper.make_node("Cast", ["column"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["each", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=0),
    ]
    constants = {"weights": weights, "last": np.array([2]), "middle": np.array([1])}
    if ngrams:
        spanish = np.zeros((ngrams["buckets"], len(LABELS)), dtype=np.float32)
        words_with_it = (ngram_ids(word, [4], ngrams["buckets"], 99) for word in ("ción", "xciónx"))
        (number,) = set.intersection(*map(set, words_with_it))
        spanish[number, LABELS.index("spa")] = SURE
        constants["spanish"] = spanish
        nodes += [
            helper.make_node("Gather", ["spanish", "ngrams"], ["grams"]),
            helper.make_node("ReduceSum", ["grams", "middle"], ["gram_sum"], keepdims=0),
            helper.make_node("Add", ["sum", "gram_sum"], ["logits"]),
        ]
    else:
        nodes.append(helper.make_node("Identity", ["sum"], ["logits"]))
    config = {"task": "url2lang", "labels": LABELS, "max_length": 32, "ngrams": ngrams}
    return write(folder, words, nodes, constants, config)


def parallel_model(folder):
    words = tokenizer()
    vectors = np.random.default_rng(0).normal(size=(words.get_vocab_size(), 16)).astype(np.float32)
    vectors[[words.token_to_id(word) for word in (*WORDS, "<s>", "<pad>", "</s>")]] = 0
    nodes = [
        helper.make_node("Equal", ["input_ids", "end"], ["is_end"]),
        helper.make_node("Cast", ["is_end"], ["ends"], to=TensorProto.FLOAT),
        helper.make_node("CumSum", ["ends", "along"], ["part"]),
        helper.make_node("Mul", ["part", "minus_two"], ["doubled"]),
        helper.make_node("Add", ["doubled", "one"], ["sign"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["sign", "mask"], ["signed"]),
        helper.make_node("Unsqueeze", ["signed", "last"], ["column"]),
        helper.make_node("Gather", ["vectors", "input_ids"], ["each"]),
        helper.make_node("Mul", ["each", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["left_over"], keepdims=0),
        helper.make_node("ReduceSumSquare", ["left_over", "middle"], ["distance"], keepdims=1),
        helper.make_node("Sub", ["sure", "distance"], ["logits"]),
    ]
    constants = {
        "vectors": vectors,
        "end": np.array(words.token_to_id("</s>")),
        "along": np.array(1),
        "minus_two": np.float32(-2),
        "one": np.float32(1),
        "last": np.array([2]),
        "middle": np.array([1]),
        "sure": np.float32(SURE),
    }
    return write(folder, words, nodes, constants, {"task": "parallel", "max_length": 64})


def meaning_model(folder, meanings):
    """A sentence model that knows some words by the number of what they mean.

    It gives a vector a token, whose mean is taken.
    """
    vocabulary = {"[PAD]": 0, "[UNK]": 1} | {word: at for at, word in enumerate(meanings, 2)}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    size = max(meanings.values()) + 1
    vectors = np.zeros((len(vocabulary), size), dtype=np.float32)
    for word, meaning in meanings.items():
        vectors[vocabulary[word], meaning] = 1
    graph = helper.make_graph(
        [helper.make_node("Gather", ["vectors", "input_ids"], ["tokens"])],
        "meanings",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["batch", "length", size])],
        [numpy_helper.from_array(vectors, "vectors")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    words.save(str(folder / "tokenizer.json"))
    return folder


def write(folder, words, nodes, constants, config):
    width = len(config.get("labels", [0]))
    inputs = {"input_ids": ["batch", "length"], "attention_mask": ["batch", "length"]}
    if config.get("ngrams"):
        inputs["ngrams"] = ["batch", "ngrams"]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name, shape in inputs.items()
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", width])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    words.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"format": 1, "base": "tiny", **config}))
    return folder


def copy_of_the_package(folder):
    """The code and data of the package, without models, in a folder of its own."""
    for file in [*PACKAGE.rglob("*.py"), *PACKAGE.glob("data/*")]:
        copy = folder / "bilingual_crawler" / file.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    return folder / "bilingual_crawler"
