"""The line to the Redis server: scripts, one round trip at a time, and what to do without it.

A server that does not answer must not hold up the event loop: after one attempt that took a
second it is only knocked at, shortly and with pauses that grow, until it opens. The caller
keeps what it wanted to say and says it again, which every script allows.
"""

import logging
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import (
    ConnectionError as NoConnection,
)
from redis.exceptions import (
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as TooSlow

logger = logging.getLogger(__name__)

SCRIPTS = ("join", "write", "pop", "renew", "release", "load", "ask")
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 2.0
KNOCK_SECONDS = 0.2
AWAY = (NoConnection, TooSlow, OutOfMemoryError, ReadOnlyError)
AWAY_WORDS = ("MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN")
"""Answers of a server that cannot write now and may do so later."""


class AwayError(Exception):
    """The server does not answer now; it is asked again after a pause."""


class Call(NamedTuple):
    """A script and what it is given."""

    script: str
    arguments: Sequence[bytes | str | float]


class RedisScripts:
    """Runs scripts under one prefix of keys, for one worker.

    `virtual` is a clock that replaces the server's own, for tests.
    """

    def __init__(
        self,
        client: Redis,
        prefix: str,
        worker: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        virtual: bool = False,
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.worker = worker
        self.token = ""
        self.clock = clock
        self._virtual = virtual
        self._keys = key_prefix(prefix)
        self._texts = _texts()
        self._scripts = {name: client.register_script(text) for name, text in self._texts.items()}
        self._again_at = float("-inf")
        self._pause = 0.0

    @property
    def is_away(self) -> bool:
        """Whether the last attempt to reach the server failed."""
        return self._pause > 0

    @property
    def again_at(self) -> float:
        """When the server may be asked next."""
        return self._again_at

    def key(self, name: str, of: str | None = None) -> str:
        """The name of a key, as `common.lua` lists them."""
        return self._keys + (name if of is None else f"{name}:{of}")

    def run(self, script: str, *arguments: bytes | str | float) -> Any:
        """Run one script; AwayError if the server cannot be reached."""
        return self.run_all([Call(script, arguments)])[0]

    def run_all(self, calls: Sequence[Call]) -> list[Any]:
        """Run several scripts in one round trip, in order."""
        answers: list[Any] = self.ask(lambda: self._run_all(calls))
        return answers

    def ask(self, question: Callable[[], Any]) -> Any:
        """Have a question answered by the server, or raise AwayError."""
        if self.is_away and self.clock() < self._again_at:
            raise AwayError
        try:
            if self.is_away:
                self._knock()
            answer = question()
        except AWAY as error:
            self._note_failure(error)
            raise AwayError from error
        except ResponseError as error:
            if not str(error).startswith(AWAY_WORDS):
                raise
            self._note_failure(error)
            raise AwayError from error
        if self.is_away:
            self._pause = 0.0
            logger.info("Redis is back: the crawl goes on")
        return answer

    def _knock(self) -> None:
        """See whether the server answers, with less patience than a crawl that goes well."""
        pool = self.client.connection_pool
        connection = pool.connection_class(
            **pool.connection_kwargs
            | {"socket_timeout": KNOCK_SECONDS, "socket_connect_timeout": KNOCK_SECONDS}
        )
        try:
            connection.connect()
            connection.send_command("PING")
            connection.read_response()
        finally:
            connection.disconnect()

    def _run_all(self, calls: Sequence[Call]) -> list[Any]:
        answers = self._send(calls)
        if any(isinstance(answer, NoScriptError) for answer in answers):
            for text in self._texts.values():  # the server was restarted
                self.client.script_load(text)
            answers = self._send(calls)
        for answer in answers:
            if isinstance(answer, RedisError):
                raise answer
        return answers

    def _send(self, calls: Sequence[Call]) -> list[Any]:
        now = repr(self.clock()) if self._virtual else ""
        pipeline = self.client.pipeline(transaction=False)
        for script, arguments in calls:
            sha = self._scripts[script].sha
            pipeline.evalsha(sha, 1, self._keys, self.worker, self.token, now, *arguments)
        answers: list[Any] = pipeline.execute(raise_on_error=False)
        return answers

    def _note_failure(self, error: Exception) -> None:
        if not self.is_away:
            logger.warning(
                "Redis does not answer (%s): nothing is fetched until it does, and nothing is lost",
                error,
            )
        self._pause = min(max(FIRST_PAUSE, 2 * self._pause), LONGEST_PAUSE)
        self._again_at = self.clock() + self._pause


def key_prefix(prefix: str) -> str:
    """The beginning of all keys; the braces keep them on one node of a cluster."""
    return f"{{{prefix}}}:"


def _texts() -> dict[str, str]:
    folder = files("bilingual_crawler.frontier.shared") / "scripts"
    common = (folder / "common.lua").read_text("utf-8")
    return {name: common + (folder / f"{name}.lua").read_text("utf-8") for name in SCRIPTS}
