"""The last layer works for its first token alone, and says the same as before."""

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
transformers = pytest.importorskip("transformers", reason="training needs transformers")

from bilingual_crawler.lab.training.compact import transformer_logits  # noqa: E402
from bilingual_crawler.lab.training.export import export, keep_first_token  # noqa: E402

ort = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[cpu]'")


class Encoder(torch.nn.Module):  # type: ignore[name-defined]
    """An XLM-R that reads its first token, or all of them."""

    def __init__(self, layers, *, mean=False):
        super().__init__()
        torch.manual_seed(layers)
        config = transformers.XLMRobertaConfig(
            vocab_size=50,
            hidden_size=24,
            num_hidden_layers=layers,
            num_attention_heads=3,
            intermediate_size=40,
            max_position_embeddings=30,
            num_labels=4,
            initializer_range=0.5,
            attn_implementation="eager",
        )
        self.model = transformers.XLMRobertaForSequenceClassification(config)
        self.mean = mean

    def forward(self, input_ids, attention_mask):
        asked = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.mean:
            return self.model.roberta(**asked).last_hidden_state.mean(dim=1)
        return self.model(**asked).logits


def rows(count, longest):
    """Token ids of different lengths, as a batch: ids of words, then padding."""
    rng = np.random.default_rng(count)
    ids = rng.integers(5, 50, (count, longest))
    ids[:, 0] = 0
    mask = np.arange(longest) < rng.integers(2, longest + 1, (count, 1))
    return {
        "input_ids": torch.from_numpy(np.where(mask, ids, 1)),
        "attention_mask": torch.from_numpy(mask.astype(np.int64)),
    }


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_graph_says_what_torch_says_and_asks_for_the_first_token_only(tmp_path, layers):
    model = Encoder(layers).eval()
    export(model, rows(2, 6), tmp_path)
    session = ort.InferenceSession(str(tmp_path / "model.fp32.onnx"))
    for count, longest in ((1, 3), (7, 20)):
        asked = rows(count, longest)
        (said,) = session.run(None, {name: each.numpy() for name, each in asked.items()})
        with torch.no_grad():
            np.testing.assert_allclose(said, model(**asked).numpy(), rtol=1e-4, atol=1e-4)
    assert first_tokens(onnx.load(str(tmp_path / "model.onnx"))) == 2


def first_tokens(model):
    return sum(node.output[0].endswith("first_token") for node in model.graph.node)


def test_an_encoder_of_which_all_tokens_are_read_is_left_as_it_is(tmp_path):
    export(Encoder(2, mean=True).eval(), rows(2, 6), tmp_path)
    graph = onnx.load(str(tmp_path / "model.fp32.onnx"))
    before = graph.SerializeToString()
    assert not keep_first_token(graph)
    assert graph.SerializeToString() == before
    assert first_tokens(graph) == 0


def test_a_graph_is_changed_once(tmp_path):
    export(Encoder(1).eval(), rows(2, 6), tmp_path)
    assert not keep_first_token(onnx.load(str(tmp_path / "model.fp32.onnx")))


@pytest.mark.parametrize("layers", [1, 2])
def test_torch_asks_for_the_first_token_only_and_learns_the_same(layers):
    model = Encoder(layers).model
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    asked = rows(6, 9)
    told, gradients = [], []
    for said in (model(**asked).logits, transformer_logits(model, *asked.values())):
        model.zero_grad()
        said.square().sum().backward()
        told.append(said.detach())
        gradients.append([each.grad.clone() for each in model.parameters()])
    torch.testing.assert_close(*told, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-3)
