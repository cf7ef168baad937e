"""Reaching the Redis server when a crawl starts, and whether it can be trusted with a frontier."""

import logging
import os
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.retry import Retry

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.urls.credentials import why_unreadable, without_credentials

logger = logging.getLogger(__name__)

TIMEOUT = 1.0
"""Seconds that the event loop is held up at most by a server that does not answer."""
OLDEST = 7
NAME = "BILINGUAL_FRONTIER"
PASSWORD = "REDISCLI_AUTH"  # noqa: S105 - where redis-cli looks for it too
"""The variable of the environment with the password, which an address shows to everybody."""


def connect(url: str) -> Redis:
    """A client of a server that answers; ConfigurationError says what is wrong if it does not."""
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
            f"{NAME}={shown} is not an address of Redis{why_unreadable(error, url)}:"
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
    """Refuse a server that is too old, warn of one that may forget the frontier."""
    version = str(about.get("redis_version", OLDEST))
    if int(version.partition(".")[0]) < OLDEST:
        raise ConfigurationError(
            f"Redis at {shown} is version {version}: the frontier needs {OLDEST} or newer,"
            " or Valkey."
        )
    policy = about.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        logger.warning(
            "Redis at %s throws keys away when its memory is full (maxmemory-policy %s), and with"
            " them parts of the crawl: write maxmemory-policy noeviction into its configuration",
            shown,
            policy,
        )
    if not about.get("aof_enabled", 1):
        logger.warning(
            "Redis at %s keeps the frontier in memory or in snapshots alone, so that a restart"
            " loses what is newer: write appendonly yes into its configuration",
            shown,
        )
