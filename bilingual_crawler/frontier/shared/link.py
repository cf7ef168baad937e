"""The connection to the Redis server: opening it, running scripts, and waiting if it is down.

A server that does not answer must not block the event loop. After one attempt that took a second
it is only pinged, with a short timeout and growing pauses, until it answers. The caller keeps
its changes and sends them again, which every script allows.
"""

import logging
import os
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import (
    ConnectionError as NoConnection,
)
from redis.exceptions import TimeoutError as TooSlow
from redis.retry import Retry

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.urls.credentials import why_unreadable, without_credentials

logger = logging.getLogger(__name__)

TIMEOUT = 1.0
"""Maximum seconds for which a server that does not answer blocks the event loop."""
OLDEST = 7
NAME = "BILINGUAL_FRONTIER"
PASSWORD = "REDISCLI_AUTH"  # noqa: S105 - where redis-cli looks for it too
"""The environment variable for the password, which everyone could read in an address."""
SCRIPTS = ("join", "write", "pop", "renew", "release", "load", "ask")
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 2.0
PING_SECONDS = 0.2
AWAY = (NoConnection, TooSlow, OutOfMemoryError, ReadOnlyError)
AWAY_WORDS = ("MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN")
"""Errors of a server that cannot write now but may do so later."""


def connect(url: str) -> Redis:
    """Return a client of a server that answers, or raise a ConfigurationError with the reason."""
    shown = without_credentials(url)
    try:
        client: Redis = Redis.from_url(
            url,
            password=os.environ.get(PASSWORD) or None,  # the address's own comes first
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
        about: dict[str, Any] = client.info()
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{NAME}={shown} is not a Redis address{why_unreadable(error, url)}:"
            " write redis://HOST:6379/0, with %2F for / and %40 for @ in a password."
        ) from None
    except AuthenticationError as error:
        raise ConfigurationError(
            f"Redis at {shown} does not let us in ({error}): write the password into the"
            f" address, -s {NAME}=redis://:PASSWORD@HOST:6379/0, or into {PASSWORD} of the"
            " environment."
        ) from None
    except (RedisError, OSError) as error:
        raise ConfigurationError(
            f"There is no Redis at {shown}{why_unreadable(error, url)}: start one"
            f" (redis-server --appendonly yes), or write its address, -s {NAME}=redis://HOST:6379/0."
        ) from None
    _check(about, shown)
    return client


def _check(about: dict[str, Any], shown: str) -> None:
    """Refuse a server that is too old; warn of one that may lose the frontier."""
    version = str(about.get("redis_version", OLDEST))
    if int(version.partition(".")[0]) < OLDEST:
        raise ConfigurationError(
            f"Redis at {shown} is version {version}: the frontier needs {OLDEST} or newer,"
            " or Valkey."
        )
    policy = about.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        logger.warning(
            "Redis at %s drops keys when its memory is full (maxmemory-policy %s), and parts of"
            " the crawl with them: write maxmemory-policy noeviction into its configuration",
            shown,
            policy,
        )
    if not about.get("aof_enabled", 1):
        logger.warning(
            "Redis at %s keeps the frontier only in memory or snapshots, so a restart loses the"
            " latest changes: write appendonly yes into its configuration",
            shown,
        )


class AwayError(Exception):
    """The server does not answer; it is tried again after a pause."""


class Call(NamedTuple):
    """A script and its arguments."""

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
        """True if the last attempt to reach the server failed."""
        return self._pause > 0

    @property
    def again_at(self) -> float:
        """The time of the next attempt to reach the server."""
        return self._again_at

    def key(self, name: str, of: str | None = None) -> str:
        """Return the name of a key; `common.lua` lists them."""
        return self._keys + (name if of is None else f"{name}:{of}")

    def run(self, script: str, *arguments: bytes | str | float) -> Any:
        """Run one script; raise AwayError if the server cannot be reached."""
        return self.run_all([Call(script, arguments)])[0]

    def run_all(self, calls: Sequence[Call]) -> list[Any]:
        """Run several scripts in one round trip, in order."""
        answers: list[Any] = self.ask(lambda: self._run_all(calls))
        return answers

    def ask(self, question: Callable[[], Any]) -> Any:
        """Call `question`, which talks to the server; raise AwayError if that cannot be reached."""
        if self.is_away and self.clock() < self._again_at:
            raise AwayError
        try:
            if self.is_away:
                self._ping()
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
            logger.info("Redis is back: the crawl continues")
        return answer

    def _ping(self) -> None:
        """Ping the server with a short timeout."""
        pool = self.client.connection_pool
        connection = pool.connection_class(
            **pool.connection_kwargs
            | {"socket_timeout": PING_SECONDS, "socket_connect_timeout": PING_SECONDS}
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
                "Redis does not answer (%s): the crawl waits for it, and nothing is lost",
                error,
            )
        self._pause = min(max(FIRST_PAUSE, 2 * self._pause), LONGEST_PAUSE)
        self._again_at = self.clock() + self._pause


def key_prefix(prefix: str) -> str:
    """Return the prefix of all keys; the braces keep them on one node of a cluster."""
    return f"{{{prefix}}}:"


def _texts() -> dict[str, str]:
    folder = files("bilingual_crawler.frontier.shared") / "scripts"
    common = (folder / "common.lua").read_text("utf-8")
    return {name: common + (folder / f"{name}.lua").read_text("utf-8") for name in SCRIPTS}
