"""The answers of the URL models, kept with a simulated site: a model is asked once per question."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bilingual_crawler.config.settings import Config
from bilingual_crawler.lab.simulation.web import SimulatedWeb
from bilingual_crawler.scoring.shared_models import missing_runtime, parallel_urls, url2lang

MOST_ANSWERS = 2_000_000


class RememberedAnswers:
    """Lends the models what they have said about a site, and keeps what they say next."""

    def __init__(self, web: SimulatedWeb) -> None:
        self._web = web

    @contextmanager
    def used(self, config: Config) -> Iterator[None]:
        """Let the models of a crawl answer from memory, in the block."""
        if missing_runtime():
            yield
            return
        models: list[Any] = [url2lang(config), parallel_urls(config)]
        for model in models:
            key = "answers", model.task, model.digest
            model.recall(self._web.recall(key) or {}, MOST_ANSWERS)
        try:
            yield
        finally:
            for model in models:
                key = "answers", model.task, model.digest
                known = model.answers
                if len(known) != len(self._web.recall(key) or {}):
                    self._web.remember(key, known)
