"""Turn a published classifier of URLs into a folder that a crawl loads: `scrapy models convert`.

What the crawl expects of every model holds afterwards: one logit that is positive for translations,
or one logit per language with ISO 639-3 codes as labels. Two outputs become their difference, and
outputs for one language (simplified and traditional Chinese) become one, both inside the graph, so
that probabilities stay those of the checkpoint.
"""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bilingual_crawler import __version__
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.lab.training.checkpoint import (
    Checkpoint,
    label_names,
    language_labels,
    read_checkpoint,
    read_tokenizer,
)
from bilingual_crawler.lab.training.export import (
    FORMAT,
    FULL_MODEL,
    MODEL,
    agreement,
    decisions,
    export,
    write_folder,
)
from bilingual_crawler.lab.training.recipe import TITLES
from bilingual_crawler.scoring.classifier import open_session
from bilingual_crawler.scoring.encode import Arrays, Rows, UrlEncoder
from bilingual_crawler.scoring.models import (
    LEAST_LENGTH,
    MOST_LENGTH,
    UNKNOWN,
    Model,
    Task,
    read_config,
)
from bilingual_crawler.scoring.preprocess import AUTHORS, PREPROCESSINGS
from bilingual_crawler.store.durable import put_in_place

LENGTH = 256
"""Tokens that the authors' programs give to their models."""
BINARY = 2
MOST_DIFFERENCE = 1e-3
"""Largest difference of a probability that tracing a model may cause."""
AT_ONCE = 8
POSITIVE = frozenset(("parallel", "positive", "translation", "yes", "true", "1"))

Logits = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionOptions:
    """What `scrapy models convert` was told; an empty value leaves the choice to the checkpoint."""

    source: str
    out: Path
    task: Task | Literal[""] = ""
    preprocessing: str = AUTHORS
    length: int = LENGTH
    tokenizer: str = ""
    labels: tuple[str, ...] = ()


class PublishedModel(nn.Module):
    """A checkpoint with the outputs that a crawl expects."""

    def __init__(
        self, transformer: nn.Module, *, positive: int | None, columns: Sequence[Sequence[int]]
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.positive = positive
        widest = max(map(len, columns), default=1)
        outputs = sum(map(len, columns))
        padded = [[*each, *[outputs] * (widest - len(each))] for each in columns]
        self.merges = widest > 1
        self.register_buffer("columns", torch.tensor(padded or [[0]]), persistent=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return one logit per pair, or one per language."""
        logits: Tensor = self.transformer(input_ids=input_ids, attention_mask=attention_mask).logits
        if self.positive is not None:
            yes, no = self.positive, 1 - self.positive
            return logits[:, yes : yes + 1] - logits[:, no : no + 1]
        if not self.merges:
            return logits
        nothing = torch.full_like(logits[:, :1], -1e9)
        columns = cast("Tensor", self.columns)
        several = torch.cat([logits, nothing], dim=1)[:, columns.flatten()]
        several = several.reshape(-1, *columns.shape)
        highest = several.amax(dim=2, keepdim=True)
        return (highest + (several - highest).exp().sum(dim=2, keepdim=True).log()).squeeze(2)


class _Outputs(NamedTuple):
    """The outputs of a checkpoint as a crawl sees them."""

    task: Task
    labels: list[str]
    columns: list[list[int]]
    positive: int | None
    remarks: list[str]


class _Conversion(NamedTuple):
    """A checkpoint, and what becomes of it."""

    checkpoint: Checkpoint
    outputs: _Outputs
    encoder: UrlEncoder
    model: PublishedModel


def convert(options: ConversionOptions, tell: Callable[[str], None]) -> dict[str, float]:
    """Convert a checkpoint; return how far the new graphs agree with it.

    The folder appears when it is complete, and not at all if something is wrong.
    """
    if options.out.exists():
        raise ConfigurationError(
            f"{options.out} exists already.", "Remove it, or choose another folder with --out."
        )
    tell("Reading the checkpoint")
    checkpoint = read_checkpoint(options.source)
    outputs = _outputs(checkpoint, options)
    encoder = _encoder(checkpoint, options)
    model = PublishedModel(checkpoint.model, positive=outputs.positive, columns=outputs.columns)
    made = _Conversion(checkpoint, outputs, encoder, model.eval())
    with writing(options.out):
        options.out.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{options.out.name}.", dir=options.out.parent))
    try:
        with writing(options.out):
            figures = _written(place, made, tell)
            place.chmod(0o755)
            put_in_place(place, options.out)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return figures


def _outputs(checkpoint: Checkpoint, options: ConversionOptions) -> _Outputs:
    """Return what the outputs of a checkpoint mean."""
    many, named = checkpoint.outputs, "id2lang" in checkpoint.config or bool(options.labels)
    guessed: Task = "url2lang" if many > BINARY or (named and many > 1) else "parallel"
    task = options.task or guessed
    if task == "parallel":
        if many > BINARY:
            raise ConfigurationError(
                f"{checkpoint.name} has {many} outputs; a model of pairs has one or two.",
                "Convert it with --task url2lang.",
            )
        if many == 1:
            return _Outputs("parallel", [], [], None, ["one output: the logit of parallel"])
        positive = _positive(checkpoint)
        remark = f"two outputs: output {positive} minus output {1 - positive} is the logit"
        return _Outputs("parallel", [], [], positive, [remark])
    if many == 1:
        raise ConfigurationError(
            f"{checkpoint.name} has one output; a model of languages has one per language.",
            "Convert it with --task parallel.",
        )
    names = label_names(checkpoint, options.labels)
    codes = list(language_labels(names))
    labels = list(dict.fromkeys(codes))
    columns = [[at for at, code in enumerate(codes) if code == label] for label in labels]
    return _Outputs("url2lang", labels, columns, None, _remarks(names, codes))


def _positive(checkpoint: Checkpoint) -> int:
    """Return which of two outputs means translations: the second, unless the first says so."""
    names = checkpoint.config.get("id2label")
    first = names.get("0") if isinstance(names, dict) else None
    return 0 if isinstance(first, str) and first.strip().lower() in POSITIVE - {"1"} else 1


def _remarks(names: Sequence[str], codes: Sequence[str]) -> list[str]:
    known = len({code for code in codes if code != UNKNOWN})
    remarks = [f"{known} languages" + (" and unknown" if UNKNOWN in codes else ", none unknown")]
    renamed = [f"{name} is {code}" for name, code in zip(names, codes, strict=True) if name != code]
    if renamed:
        remarks.append(f"renamed: {', '.join(renamed)}")
    merged = [code for code, count in Counter(codes).items() if count > 1]
    if merged:
        remarks.append(f"outputs that became one: {', '.join(merged)}")
    return remarks


def _encoder(checkpoint: Checkpoint, options: ConversionOptions) -> UrlEncoder:
    positions = checkpoint.model.config.max_position_embeddings
    most = min(MOST_LENGTH, positions - 2)  # XLM-R counts positions from two
    if not LEAST_LENGTH <= options.length <= most:
        raise ConfigurationError(
            f"--length {options.length} does not fit {checkpoint.name}: write"
            f" {LEAST_LENGTH} to {most}."
        )
    if options.preprocessing not in PREPROCESSINGS:
        raise ConfigurationError(
            f"There is no preprocessing {options.preprocessing}: write"
            f" {' or '.join(PREPROCESSINGS)}."
        )
    tokenizer = read_tokenizer(checkpoint, options.tokenizer)
    try:
        encoder = UrlEncoder(tokenizer, options.length, preprocessing=options.preprocessing)
    except ValueError as error:
        raise ConfigurationError(f"{checkpoint.name} cannot be converted: {error}.") from error
    if encoder.padding != checkpoint.model.config.pad_token_id:
        raise ConfigurationError(
            f"The tokenizer pads with token {encoder.padding}, but {checkpoint.name} with"
            f" {checkpoint.model.config.pad_token_id}: it belongs to another model."
        )
    return encoder


def _written(place: Path, made: _Conversion, tell: Callable[[str], None]) -> dict[str, float]:
    tell("Writing the graphs")
    example = made.encoder.encode(["https://example.org/a", "https://example.org/a/longer/one"])
    export(made.model, {name: torch.from_numpy(array) for name, array in example.items()}, place)
    tell("Comparing the graphs with the checkpoint")
    config: dict[str, Any] = {
        "task": made.outputs.task,
        **({"labels": made.outputs.labels} if made.outputs.labels else {}),
        "max_length": made.encoder.max_length,
        "base": made.checkpoint.name,
        "preprocessing": made.encoder.preprocessing,
    }
    check = _check(place, made, config)
    card = _card(made, check, (place / MODEL).stat().st_size)
    write_folder(place, made.encoder.tokenizer, {**config, "figures": check.figures}, card)
    return check.figures


class _Check(NamedTuple):
    """What a comparison of the graphs with the checkpoint found."""

    asked: int
    figures: dict[str, float]
    rights: dict[str, float]
    """The share of correct answers by preprocessing."""


def _check(place: Path, made: _Conversion, config: Mapping[str, Any]) -> _Check:
    checked = read_config(json.dumps({"format": FORMAT, **config}).encode(), made.outputs.task)
    questions, right = _sample(made.outputs)
    published = {name: _published(made, name, questions) for name in PREPROCESSINGS}
    used = published[made.encoder.preprocessing]
    figures: dict[str, float] = {}
    for key, name in (("fp32", FULL_MODEL), ("int8", MODEL)):
        graph = Model(str(place), checked, made.encoder, (place / name).read_bytes())
        session = open_session(graph, "cpu", torch.get_num_threads())
        found = _answers(partial(_graph, session), made.encoder, questions)
        figures[f"agreement_{key}"] = round(agreement(used, found), 4)
        figures[f"difference_{key}"] = float(f"{_difference(used, found):.2g}")
    if figures["difference_fp32"] > MOST_DIFFERENCE:
        raise ConfigurationError(
            f"The graph does not answer as {made.checkpoint.name} does: probabilities differ by up"
            f" to {figures['difference_fp32']:.2g}. Please report this; nothing was written."
        )
    rights = {name: float((decisions(each) == right).mean()) for name, each in published.items()}
    figures["sample_accuracy"] = round(rights[made.encoder.preprocessing], 4)
    return _Check(len(questions), figures, rights)


def _published(made: _Conversion, preprocessing: str, questions: Sequence[Any]) -> Logits:
    """Return the checkpoint's answers to URLs that are split in one way or another."""
    encoder = UrlEncoder(
        made.encoder.tokenizer, made.encoder.max_length, preprocessing=preprocessing
    )
    return _answers(partial(_torch, made.model), encoder, questions)


def _torch(model: nn.Module, arrays: Arrays) -> Logits:
    with torch.no_grad():
        found = model(**{name: torch.from_numpy(array) for name, array in arrays.items()})
    return cast("Logits", found.numpy())


def _graph(session: Any, arrays: Arrays) -> Logits:
    (logits,) = session.run(["logits"], arrays)
    return cast("Logits", logits)


def _answers(
    run: Callable[[Arrays], Logits], encoder: UrlEncoder, questions: Sequence[Any]
) -> Logits:
    encode = encoder.rows if isinstance(questions[0], str) else encoder.pair_rows
    rows: Rows = encode(questions)
    parts = (
        range(at, min(at + AT_ONCE, len(questions))) for at in range(0, len(questions), AT_ONCE)
    )
    return np.concatenate([run(encoder.pad(rows.take(part))) for part in parts])


def _difference(one: Logits, other: Logits) -> float:
    """Return by how much the probabilities of two models differ at most."""
    return float(np.abs(_probabilities(one) - _probabilities(other)).max())


def _probabilities(logits: Logits) -> NDArray[np.float64]:
    wide = logits.astype(np.float64)
    if wide.shape[1] == 1:
        return 1 / (1 + np.exp(-wide))
    exponents = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))


SAMPLE = {
    "deu": ("de", "ueber-uns/kontakt", "nachrichten/2024/neue-wohnungen-in-der-stadt"),
    "eng": ("en", "about-us/contact", "news/2024/new-flats-in-the-city"),
    "eus": ("eu", "guri-buruz/harremanetarako", "albisteak/2024/etxebizitza-berriak-hirian"),
    "fin": ("fi", "tietoa-meista/yhteystiedot", "uutiset/2024/uusia-asuntoja-kaupungissa"),
    "fra": ("fr", "a-propos/nous-contacter", "actualites/2024/nouveaux-logements-en-ville"),
    "pol": ("pl", "o-nas/kontakt", "aktualnosci/2024/nowe-mieszkania-w-miescie"),
    "rus": ("ru", "o-nas/kontakty", "%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8/2024"),
    "spa": ("es", "quienes-somos/contacto", "noticias/2024/nuevas-viviendas-en-la-ciudad"),
}
"""Words of addresses by language: a code, a page about a site, and a report."""


def _sample(outputs: _Outputs) -> tuple[list[Any], NDArray[np.int64]]:
    """Return addresses, or pairs of them, with the class that each belongs to.

    They are made up. They show whether two graphs agree and whether URLs are split as a checkpoint
    expects, not how good it is.
    """
    if outputs.task == "parallel":
        return _sample_pairs()
    languages = [each for each in SAMPLE if each in outputs.labels]
    if not languages:
        addresses = [url for code in SAMPLE for url in _addresses(code)]
        return addresses, np.full(len(addresses), -1)
    urls = [(url, outputs.labels.index(code)) for code in languages for url in _addresses(code)]
    return [url for url, _ in urls], np.array([label for _, label in urls])


def _addresses(language: str) -> list[str]:
    code, about, report = SAMPLE[language]
    return [
        f"https://www.example.org/{code}/{about}",
        f"https://{code}.example.org/{report}.html",
        f"https://www.example.com/{report}?lang={code}&id=1729#top",
        f"http://shop.example.{code}/index.php?option=com_content&view={about.replace('/', '_')}",
        f"https://www.example.net/{about}/",
    ]


def _sample_pairs() -> tuple[list[tuple[str, str]], NDArray[np.int64]]:
    first, *others = [_addresses(language) for language in SAMPLE]
    pairs, right = [], []
    for number, other in enumerate(others):
        for at, url in enumerate(first):
            shift = (at + number) % 2
            pairs.append((url, other[(at + shift) % len(other)]))
            right.append(1 - shift)
    return pairs, np.array(right)


def _card(made: _Conversion, check: _Check, size: int) -> str:
    """Return the model card, in Markdown."""
    checkpoint, outputs, encoder, _ = made
    asked = "pairs" if outputs.task == "parallel" else "URLs"
    agreements = (
        f"| {key} | {check.figures[f'agreement_{key}']:.1%} "
        f"| {check.figures[f'difference_{key}']:.2g} |"
        for key in ("fp32", "int8")
    )
    shares = (
        f"| {name}{' (used)' if name == encoder.preprocessing else ''} | {share:.0%} |"
        for name, share in check.rights.items()
    )
    remarks = "\n".join(f"- {remark}" for remark in outputs.remarks)
    return f"""# {TITLES[outputs.task]}

Task `{outputs.task}`, converted from `{checkpoint.name}` by bilingual-crawler {__version__}.
The weights are those of the checkpoint; nothing was trained. Its own card says what it was trained
on and how good it is. License of the checkpoint: {checkpoint.license or "see its own card"}.
`{MODEL}` ({size / 1e6:,.1f} MB, int8) is the graph that crawls run; `{FULL_MODEL}` has the weights
as they were.

## Inputs and outputs

- preprocessing: {encoder.preprocessing}
- length: {encoder.max_length} tokens
{remarks}

## Check

{check.asked} made-up {asked}, answered by the checkpoint in torch and by the two graphs:

| graph | same decision | largest difference of a probability |
|---|---|---|
{chr(10).join(agreements)}

How many of them the checkpoint answers correctly, by the way in which URLs are split. The sample is
too small to say how good the model is. If another line is clearly better, convert again with
`--preprocessing`:

| preprocessing | correct |
|---|---|
{chr(10).join(shares)}
"""
