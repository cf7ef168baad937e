"""How the crawler identifies itself: its name, its contact, and the languages it wants."""

import logging
from collections.abc import Iterable

from scrapy import Request
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from bilingual_crawler.config.settings import user_agent
from bilingual_crawler.crawl.fetching.guard import is_open_host
from bilingual_crawler.documents.optouts import ROBOT_NAME, is_named, product_token
from bilingual_crawler.languages import Languages
from bilingual_crawler.urls.hosts import host_of

logger = logging.getLogger(__name__)

__all__ = ["ROBOT_NAME", "identity_settings", "is_named", "product_token", "robot_of"]


def identity_settings(settings: BaseSettings, contact: str) -> dict[str, str]:
    """Return the Scrapy settings for the crawler's name; none if the project has its own.

    In robots.txt the crawler goes by its name without version and contact; a project that sets
    USER_AGENT goes by that.
    """
    if (settings.getpriority("USER_AGENT") or 0) > SETTINGS_PRIORITIES["default"]:
        return {}
    return {"USER_AGENT": user_agent(contact), "ROBOTSTXT_USER_AGENT": ROBOT_NAME}


def robot_of(request: Request, settings: BaseSettings) -> str:
    """Return the name by which a site addresses the robot that sends a request.

    That is the crawler's own, or one that the project sets for all its crawls or for one site.
    """
    usual, name = settings["USER_AGENT"], settings["ROBOTSTXT_USER_AGENT"]
    own = (request.headers.get("User-Agent") or b"").decode("latin-1")
    if own and own != usual and name in {None, "", ROBOT_NAME}:
        return own
    return str(name or usual or ROBOT_NAME)


def warn_without_contact(contact: str, seeds: Iterable[str], name: str = "") -> bool:
    """Warn, once, that site owners cannot contact the operator; return True if it warned.

    Seeds in a local network need no contact. A project's own User-Agent (`name`) with a web or
    e-mail address is a contact.
    """
    if contact or "://" in name or "@" in name:
        return False
    for seed in seeds:
        host = host_of(seed)
        if "." in host and is_open_host(host):
            logger.warning(
                "This crawl of %s has no contact: site owners block crawlers that do not name one. "
                "Give a web address or an e-mail address: "
                "-s BILINGUAL_CONTACT=https://your.site/about-the-crawl",
                host[:100],
            )
            return True
    return False


def accept_language(languages: Languages) -> str:
    """Return the Accept-Language header for some languages: `es, eu;q=0.9, *;q=0.5`.

    Any language is better than an error, so the header ends with all others.
    """
    named = [language.iso639_1 or language.code for language in languages]
    if not named:
        return "*"
    return ", ".join((named[0], *(f"{other};q=0.9" for other in named[1:]), "*;q=0.5"))
