"""Who the crawler says it is: its name, whom to write to, and the languages it reads."""

import logging
import re
from collections.abc import Iterable

from scrapy import Request
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from bilingual_crawler.config.settings import user_agent
from bilingual_crawler.crawl.fetching.guard import is_open_host
from bilingual_crawler.languages import Languages
from bilingual_crawler.urls.hosts import host_of

logger = logging.getLogger(__name__)

ROBOT_NAME = "bilingual-crawler"
_BETWEEN_WORDS = re.compile(r"[^\w-]+")


def identity_settings(settings: BaseSettings, contact: str) -> dict[str, str]:
    """The Scrapy settings by which the crawler goes, none where the project has its own name.

    robots.txt is asked for the name without version and contact; a project that sets
    USER_AGENT is looked up there by that.
    """
    if (settings.getpriority("USER_AGENT") or 0) > SETTINGS_PRIORITIES["default"]:
        return {}
    return {"USER_AGENT": user_agent(contact), "ROBOTSTXT_USER_AGENT": ROBOT_NAME}


def robot_of(request: Request, settings: BaseSettings) -> str:
    """The name by which a site speaks to the robot that sends a request.

    That is the crawler's own, or what the project sets: for its crawls, or for one site.
    """
    usual, name = settings["USER_AGENT"], settings["ROBOTSTXT_USER_AGENT"]
    own = (request.headers.get("User-Agent") or b"").decode("latin-1")
    if own and own != usual and name in {None, "", ROBOT_NAME}:
        return own
    return str(name or usual or ROBOT_NAME)


def is_named(agent: str, robot: str) -> bool:
    """Whether a site that writes `agent` speaks to `robot`, one of whose product tokens it is.

    Case and version do not matter (RFC 9309, section 2.2.1): `Foobot/2.1` names `foobot`, and
    the robot that calls itself `Mozilla/5.0 (compatible; Foobot/1.0)`.
    """
    token = product_token(agent)
    return bool(token) and _words(token) in _words(robot)


def product_token(agent: str) -> str:
    """The name of an agent without version, wildcards and what else follows it."""
    return agent.partition("/")[0].replace("*", "").strip().lower()


def _words(name: str) -> str:
    """The words of a name between blanks, so that it holds whole words of others."""
    return f" {_BETWEEN_WORDS.sub(' ', name.lower()).strip()} "


def warn_without_contact(contact: str, seeds: Iterable[str], name: str = "") -> bool:
    """Warn, once, that the owners of the sites cannot reach anybody; whether it was needed.

    Seeds in a local network need no contact, and a User-Agent of the project's own
    (`name`) that carries a web address or an e-mail address is one.
    """
    if contact or "://" in name or "@" in name:
        return False
    for seed in seeds:
        host = host_of(seed)
        if "." in host and is_open_host(host):
            logger.warning(
                "Nobody can be reached about this crawl of %s: owners of sites block crawlers "
                "without a contact. Give a web address or an e-mail address: "
                "-s BILINGUAL_CONTACT=https://your.site/about-the-crawl",
                host[:100],
            )
            return True
    return False


def accept_language(languages: Languages) -> str:
    """The Accept-Language header for the languages of a crawl: `es, eu;q=0.9, *;q=0.5`.

    Any language is better than an error, so the header ends with all others.
    """
    first, *others = (language.iso639_1 or language.code for language in languages)
    return ", ".join((first, *(f"{other};q=0.9" for other in others), "*;q=0.5"))
