"""Which Chromium is used, how it is started without network access, and how it can fail.

Everything that a page in the browser requests is answered by the crawler, from what its own
downloader fetched (`visit`, `resources`). Whatever gets past that (a web socket, a prefetch, a
worker, a future feature) must not reach any server. So Chromium is started with a resolver that
knows no names and a proxy that does not exist, also for loopback: a page cannot reach the network
that the crawler runs in, and no server gets requests from the browser.
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
    "Install Chromium (sudo apt-get install chromium, or: playwright install chromium), or give "
    "its path with -s BILINGUAL_CHROMIUM=/path/to/chromium."
)
CRASH = "crash"


def check_rendering(program: str) -> None:
    """Raise ConfigurationError, before anything is fetched, if pages cannot be rendered."""
    if importlib.util.find_spec("scrapy_playwright") is None:
        raise ConfigurationError(
            "Rendering is switched on (BILINGUAL_RENDER, or render in the sites file), but "
            "scrapy-playwright is not installed: pip install 'bilingual-crawler[render]'"
        )
    if program and not (Path(program).is_file() and os.access(program, os.X_OK)):
        raise ConfigurationError(
            f"BILINGUAL_CHROMIUM={program} is not a program: give the path of Chromium, "
            "such as /usr/bin/chromium, or leave it out."
        )


def find_chromium(program: str) -> str | None:
    """Return the user's Chromium or the system's; None means Playwright's own."""
    return program or next(filter(None, map(shutil.which, NAMES)), None)


def launch_options(program: str) -> dict[str, Any]:
    """Return the options with which Playwright starts the browser.

    Chromium's sandbox stays on wherever possible; as root, Chromium does not start with it.
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


class RenderingFailedError(Exception):
    """A page that the browser could not render; the page as it was fetched is used.

    `reason` is the code that is counted, `detail` the sentence that is shown.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class StoppingError(RenderingFailedError):
    """The crawl ends before the page was rendered; the next run has to do it."""

    def __init__(self) -> None:
        super().__init__("stopping", "The crawl is ending.")


class NoBrowserError(RenderingFailedError):
    """The browser does not start."""

    def __init__(self, detail: str) -> None:
        super().__init__("no_browser", detail)
