"""Fine-tune a pretrained XLM-R (or any encoder with the same special tokens) on URLs."""

from pathlib import Path
from typing import Any, cast

from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from bilingual_crawler.errors import ConfigurationError

ADVICE = (
    "Write a model name of the Hugging Face hub, such as xlm-roberta-base, where there is a "
    "network; or the folder of a downloaded one, with its tokenizer.json; or compact."
)


class PretrainedModel(nn.Module):
    """A sequence classifier of transformers with the interface of the compact model."""

    def __init__(self, base: str, outputs: int, *, fresh_layers: int = 1) -> None:
        super().__init__()
        try:
            self.transformer: Any = AutoModelForSequenceClassification.from_pretrained(
                base,
                num_labels=outputs,
                attn_implementation="eager",
                ignore_mismatched_sizes=True,
            )
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"Cannot load the base model {base!r}: {str(error).splitlines()[0]}", ADVICE
            ) from None
        reinitialise_top(self.transformer, fresh_layers)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the logits of a batch."""
        return cast(
            "Tensor", self.transformer(input_ids=input_ids, attention_mask=attention_mask).logits
        )


def reinitialise_top(model: Any, layers: int) -> None:
    """Reset the top layers, which know only the pretraining task (SBFC resets one)."""
    encoder = list(model.base_model.encoder.layer)
    if layers > len(encoder):
        raise ConfigurationError(
            f"The base model has {len(encoder)} layers, of which {layers} cannot be reset.",
            f"Write --reinit with a number from 0 to {len(encoder)}.",
        )
    for layer in encoder[len(encoder) - layers :]:
        for module in layer.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, model.config.initializer_range)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.LayerNorm):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)


def tokenizer_of(base: str) -> Tokenizer:
    """Return the fast tokenizer of a pretrained model as a `tokenizers` object."""
    own = Path(base) / "tokenizer.json"
    if own.is_file():
        return Tokenizer.from_file(str(own))
    try:
        return cast("Tokenizer", AutoTokenizer.from_pretrained(base).backend_tokenizer)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"Cannot load the tokenizer of {base!r}: {str(error).splitlines()[0]}",
            ADVICE,
        ) from None
