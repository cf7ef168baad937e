"""The URL models, opened once per process and shared by crawls, scorers and language pairs.

numpy, tokenizers and onnxruntime come with an extra, so they are not imported before a scorer that
uses a model is made.
"""

import logging
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from bilingual_crawler.config.settings import Config
from bilingual_crawler.errors import ConfigurationError

if TYPE_CHECKING:
    from bilingual_crawler.pairing.resources import UrlModel
    from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang

logger = logging.getLogger(__name__)

RUNTIME = ("onnxruntime", "tokenizers")
INSTEAD = "Or rank links without a model: -a scorer=rules (BILINGUAL_SCORER=rules)."


def missing_runtime() -> str:
    """Return the first missing package that the URL models need; "" if none is missing."""
    return next((name for name in RUNTIME if find_spec(name) is None), "")


def url2lang(config: Config) -> "Url2Lang":
    """Return the model that predicts a page's language from its URL."""
    return cast("Url2Lang", _asked_for("url2lang", config))


def parallel_urls(config: Config) -> "ParallelUrls":
    """Return the model that predicts whether two URLs lead to translations of each other."""
    return cast("ParallelUrls", _asked_for("parallel", config))


def parallel_urls_if_there(config: Config) -> "UrlModel | None":
    """Return the same model for pairing; None if it is missing, which is logged."""
    try:
        model = parallel_urls(config)
    except ConfigurationError as error:
        logger.info("Pairs are found without the model of parallel URLs: %s", error.problems[0])
        return None
    return lambda pairs: model.probabilities(pairs).tolist()


def _asked_for(task: str, config: Config) -> Any:
    try:
        return _open(task, config.models, config.model_provider, config.model_threads)
    except ConfigurationError as error:
        raise ConfigurationError(*error.problems, INSTEAD) from error


@cache
def _open(task: str, folder: str, provider: str, threads: int) -> Any:
    try:
        from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang  # noqa: PLC0415
        from bilingual_crawler.scoring.models import find_model  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            f"The scorer asks the URL models, and they need {error.name}, which is not installed.",
            "Install it with pip install 'bilingual-crawler[cpu]', or [gpu] for CUDA.",
        ) from error
    if task == "url2lang":
        place = find_model("url2lang", folder and f"{folder}/url2lang")
        return Url2Lang(place, provider=provider, threads=threads)
    place = find_model("parallel", folder and f"{folder}/parallel")
    return ParallelUrls(place, provider=provider, threads=threads)
