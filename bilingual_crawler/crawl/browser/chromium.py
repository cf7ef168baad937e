"""Which Chromium is used, and how it is started: without a network of its own.

Everything that a page in the browser asks for is answered by the crawler, from what its own
downloader fetched (`visit`, `supply`). What gets past that, whatever it is (a web socket, a
pre-fetch, a worker, a future feature), must not reach anybody. So Chromium is told that no name
leads anywhere and that everything, loopback included, goes through a proxy that does not exist:
a page cannot reach the network that the crawler runs in, and no server hears from the browser
what it did not hear from the crawler.

Why a page could not be rendered.
"""

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://nowhere.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
)
SMALL = (
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--js-flags=--max-old-space-size=512",
    "--mute-audio",
    "--no-first-run",
)
ADVICE = (
    "Install Chromium (sudo apt-get install chromium, or: playwright install chromium), or name "
    "its program with -s BILINGUAL_CHROMIUM=/path/to/chromium."
)


def check_rendering(program: str) -> None:
    """Complain, before anything is fetched, if pages cannot be rendered here."""
    if importlib.util.find_spec("scrapy_playwright") is None:
        raise ConfigurationError(
            "Pages are to be rendered (BILINGUAL_RENDER, or render in the file of sites), but "
            "scrapy-playwright is not installed: pip install 'bilingual-crawler[render]'"
        )
    if program and not (Path(program).is_file() and os.access(program, os.X_OK)):
        raise ConfigurationError(
            f"BILINGUAL_CHROMIUM={program} is not a program: name the file of Chromium, "
            "such as /usr/bin/chromium, or leave it out."
        )


def find_chromium(program: str) -> str | None:
    """The program that the user names, or the system's; None is Playwright's own."""
    return program or next(filter(None, map(shutil.which, NAMES)), None)


def launch_options(program: str) -> dict[str, Any]:
    """How Playwright starts the browser.

    Chromium's sandbox stays on wherever it can: as root it refuses to start with it.
    """
    return {
        "executable_path": find_chromium(program),
        "args": [*NO_NETWORK, *SMALL],
        "chromium_sandbox": os.geteuid() != 0,
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "timeout": 30_000,
    }


CRASH = "crash"


class RenderingFailedError(Exception):
    """A page of which the browser made nothing; the page as it was fetched stands.

    `reason` is the word that is counted, `detail` the sentence that is shown.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class StoppingError(RenderingFailedError):
    """The crawl is ending before the page was rendered; another run has to do it."""

    def __init__(self) -> None:
        super().__init__("stopping", "The crawl is ending.")


class NoBrowserError(RenderingFailedError):
    """The browser does not start."""

    def __init__(self, detail: str) -> None:
        super().__init__("no_browser", detail)
