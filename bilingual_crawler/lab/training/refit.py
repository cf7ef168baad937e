"""Fit the judge of a finished `url2lang` model anew, and leave its readers as they are.

Readers take far longer to train than the judge. A model of `--everything` has learned from all
sites but those left to its judge. So these can be dealt into folds, each of which is answered for
by readers and a judge that have not seen it. In the graph, only the weights of the judge change.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.labels import LabelledUrl, SkippedLines
from bilingual_crawler.lab.training.cross_validation import (
    FIGURES,
    MEASURED_CAP,
    NAMES,
    TABLE,
    Answer,
    figures,
    fold_of,
    rule_of,
    table,
)
from bilingual_crawler.lab.training.examples import Examples
from bilingual_crawler.lab.training.export import MODEL, decisions, run_graph, write_folder
from bilingual_crawler.lab.training.language_judge import LanguageJudge, fit
from bilingual_crawler.lab.training.recipe import (
    TrainingOptions,
    figures_of_unseen_sites,
    model_card,
)
from bilingual_crawler.lab.training.url2lang import (
    FOR_JUDGE,
    JUDGED,
    JUDGED_CAP,
    by_share,
    described_judged,
    figures_of,
    for_judge,
    judged_weights,
    measuring,
    numbered,
    read_rows,
    thinned,
    with_any_code,
)
from bilingual_crawler.scoring.models import CONFIG, load_model

BATCH = 256
CARD = "README.md"
FIRST_OF_JUDGE = "/judge/Clip"
LAST_READER = -1
"""The linear model is the last of the readers."""
WAYS = NAMES | {"linear": "the linear model among the readers, alone"}
_FACT = re.compile(r"^- (.+?): (.+)$", re.MULTILINE)
_EPOCH = re.compile(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


class FinishedModel:
    """A model whose readers are asked, and whose judge can be replaced."""

    def __init__(self, folder: Path) -> None:
        model = load_model(folder, "url2lang")
        self.folder, self.encoder, self.labels = folder, model.encoder, list(model.config.labels)
        self.graph = onnx.load_from_string(model.graph)
        self._nodes = {node.name: node for node in self.graph.graph.node}
        if FIRST_OF_JUDGE not in self._nodes or model.config.announced is None:
            raise ConfigurationError(
                f"The model in {folder} has no judge that could be fitted anew.",
                "Name a compact url2lang model that this version has trained.",
            )
        self._read = self._nodes[FIRST_OF_JUDGE].input[0]

    def readings(self, examples: Examples) -> Tensor:
        """Return what every reader says of every row, in half precision."""
        graph = onnx.ModelProto()
        graph.CopyFrom(self.graph)
        graph.graph.output.append(onnx.ValueInfoProto(name=self._read))
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        session = ort.InferenceSession(
            graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        wanted = {each.name for each in session.get_inputs()}
        found: Tensor | None = None
        for inputs, _, rows in examples.batches(np.arange(len(examples)), BATCH):
            feed = {name: values.numpy() for name, values in inputs.items() if name in wanted}
            (read,) = session.run([self._read], feed)
            if found is None:
                found = torch.zeros(len(examples), *read.shape[1:], dtype=torch.half)
            found[torch.from_numpy(rows)] = torch.from_numpy(read).half()
        assert found is not None
        return found

    def replace_judge(self, judge: LanguageJudge) -> None:
        """Put the weights of another judge into the graph."""
        constants = {each.name: each for each in self.graph.graph.initializer}
        for name, values in judge.state_dict().items():
            part, _, kind = name.partition(".")
            matrix = kind == "weight"
            place = self._nodes[f"/judge/{part}/MatMul"].input[1] if matrix else f"judge.{name}"
            array = (values.T if matrix else values).contiguous().numpy()
            constants[place].CopyFrom(numpy_helper.from_array(array, place))


def refit(options: TrainingOptions, tell: Callable[[str], None]) -> dict[str, float]:
    """Fit the judge to all sites that the readers have not seen; write the model, return figures.

    What the card says of the readers is kept.
    """
    assert options.readers is not None
    model = FinishedModel(options.readers)
    judged = thinned(_left(options), JUDGED_CAP, options.seed)
    tell("Asking the readers")
    unseen = for_judge(model.encoder, judged, model.labels, options.seed)
    model.replace_judge(_fitted(model, unseen, model.readings(unseen), options))
    options.out.mkdir(parents=True, exist_ok=True)
    onnx.save(model.graph, str(options.out / MODEL))
    dev = measuring(model.encoder, judged, numbered(model.labels))
    reached = figures_of(run_graph(options.out / MODEL, dev), dev)
    config: dict[str, Any] = json.loads((options.readers / CONFIG).read_text("utf-8"))
    before = config["figures"]
    config["figures"] = figures_of_unseen_sites(options)
    config["figures"] |= {name: before[name] for name in before if name.startswith("agreement")}
    config["figures"] |= {f"dev_{name}": round(value, 4) for name, value in reached.items()}
    card = _card(options, (options.readers / CARD).read_text("utf-8"), judged, config["figures"])
    write_folder(options.out, model.encoder.tokenizer, config, card)
    found: dict[str, float] = config["figures"]
    return found


def cross_validate_judge(options: TrainingOptions, folds: int, tell: Callable[[str], None]) -> str:
    """Deal the sites that the readers have not seen into folds; write and return the table.

    Neither the readers nor the judge that answers for a site have seen it.
    """
    assert options.readers is not None
    model = FinishedModel(options.readers)
    judged = thinned(_left(options), JUDGED_CAP, options.seed)
    made = with_any_code(judged, model.labels, options.seed)
    rows = [*judged, *made]
    trusted = [row for row in judged if row.weight == 1]
    measured = {row.url for row in thinned(trusted, MEASURED_CAP, options.seed)}
    tell("Asking the readers")
    every = measuring(model.encoder, rows, numbered(model.labels))
    read = model.readings(every)
    place = np.array([fold_of(row.domain, folds) for row in rows])
    real = np.arange(len(rows)) < len(judged)
    asked = real & np.array([row.url in measured for row in rows])
    answers: list[Answer] = []
    for fold in range(folds):
        tell(f"Fold {fold + 1} of {folds}")
        others, here = np.flatnonzero(place != fold), np.flatnonzero((place == fold) & asked)
        learned = _some(every, others)
        learned.weights = judged_weights(
            [rows[number] for number in others if real[number]],
            [rows[number] for number in others if not real[number]],
        )
        judge = _fitted(model, learned, read[others], options)
        said = decisions(_answers(judge, read[here], _some(every, here)))
        linear = decisions(read[here, LAST_READER].float().numpy())
        for number, one, two in zip(here.tolist(), linear.tolist(), said.tolist(), strict=True):
            row = rows[number]
            named = (rule_of(row.url), model.labels[one], model.labels[two])
            answers.append(Answer(row.language, row.domain, *named))
    text = table(answers, folds, WAYS)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / TABLE).write_text(text, encoding="utf-8")
    (options.out / FIGURES).write_text(json.dumps(figures(answers), indent=1), encoding="utf-8")
    return text


def _left(options: TrainingOptions) -> list[LabelledUrl]:
    """Return the rows of the sites that a model of --everything leaves to its judge."""
    left, _ = by_share(read_rows(options, SkippedLines()), JUDGED)
    if not left:
        raise ConfigurationError(
            "The tables have no site that the readers have not seen.",
            "Give the tables that the model was trained on, or larger ones.",
        )
    return left


def _fitted(
    model: FinishedModel, learned: Examples, read: Tensor, options: TrainingOptions
) -> LanguageJudge:
    torch.manual_seed(options.seed)
    judge = LanguageJudge(len(model.labels), read.shape[1])
    fit(judge, read, learned, seed=options.seed)
    return judge


def _some(examples: Examples, rows: NDArray[np.int64]) -> Examples:
    arrays = {name: values[rows] for name, values in examples.variants[0].items()}
    return Examples([arrays], examples.targets[rows])


def _answers(judge: LanguageJudge, read: Tensor, asked: Examples) -> NDArray[np.float32]:
    announced = torch.from_numpy(asked.variants[0]["announced"].astype(np.int64))
    with torch.no_grad():
        parts = [
            judge(some.float(), said)
            for some, said in zip(read.split(BATCH), announced.split(BATCH), strict=True)
        ]
    return np.asarray(torch.cat(parts).numpy())


def _card(
    options: TrainingOptions,
    old: str,
    judged: Sequence[LabelledUrl],
    found: Mapping[str, float],
) -> str:
    """Return the card of the new model: of the old one's facts and epochs, with new figures."""
    facts = dict(_FACT.findall(old))
    facts[FOR_JUDGE] = described_judged(judged) + "; fitted anew when the readers were finished"
    history = [
        {"epoch": float(epoch), "loss": float(loss), "dev_macro_f1": float(score)}
        for epoch, loss, score in _EPOCH.findall(old)
    ]
    return model_card("url2lang", options, facts, found, history)
