"""What the trainings share that leave one model in one file: what they need, how it is written."""

from pathlib import Path

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.durable import replacing


def check_training(out: str, example: str) -> None:
    """Refuse what no model can be written to, and a machine that cannot train one."""
    if Path(out).is_dir():
        raise ConfigurationError(f"{out} is a folder: write --out {out}/{example}.")
    try:
        import sklearn  # noqa: F401 - only to see that it is there
    except ImportError:
        raise ConfigurationError(
            "Training needs scikit-learn, which is not installed.",
            "Install it with pip install 'bilingual-crawler[train,cpu]'.",
        ) from None


def write_model(out: str, text: str) -> None:
    """Write a model, in a folder that is made if it must be."""
    path = Path(out)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as fresh:
            fresh.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from error
