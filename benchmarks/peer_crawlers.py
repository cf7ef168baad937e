"""Other crawlers, started as their users start them, with a recorded site behind a proxy.

python -m benchmarks.peer_crawlers scrapy|scrapy_depth_first|trafilatura PORT URL PAGES
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SECONDS = 600
PEERS = ("wget", "scrapy", "scrapy_depth_first", "trafilatura")


def available() -> list[str]:
    """Return the peers that are installed."""
    found = [peer for peer in PEERS if peer not in {"wget", "trafilatura"}]
    if shutil.which("wget"):
        found.insert(0, "wget")
    try:
        import trafilatura.spider  # noqa: F401, PLC0415 - only to see if it is installed
    except ImportError:
        return found
    return [*found, "trafilatura"]


def run_peer(name: str, port: int, url: str, pages: int) -> bool:
    """Crawl `url` through the proxy on `port`; return True if the peer finished."""
    own = [sys.executable, "-m", "benchmarks.peer_crawlers", name, str(port), url, str(pages)]
    mirror = ["wget", "--mirror", "--no-verbose", "--tries=1", "--max-redirect=5", url]
    proxies = {"http_proxy": f"http://127.0.0.1:{port}"} if name != "trafilatura" else {}
    with tempfile.TemporaryDirectory() as folder, suppress(subprocess.TimeoutExpired):
        subprocess.run(
            mirror if name == "wget" else own,
            cwd=folder,
            env=os.environ | proxies | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,  # wget counts every 404 as a failure
        )
        return True
    return False


def crawl_with_scrapy(url: str, settings: dict[str, Any]) -> None:
    """Follow every link of the site, with the spider of the tutorial."""
    from scrapy import Spider  # noqa: PLC0415 - not for wget
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415 - not for wget
    from scrapy.linkextractors import LinkExtractor  # noqa: PLC0415 - not for wget

    from bilingual_crawler.urls.hosts import host_of  # noqa: PLC0415 - not for wget

    class EveryLink(Spider):
        name = "every_link"
        start_urls = [url]  # noqa: RUF012 - as in the tutorial
        links = LinkExtractor(allow_domains=[host_of(url)])

        def parse(self, response: Any) -> Any:
            yield from response.follow_all(self.links.extract_links(response))

    usual = {"LOG_ENABLED": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
    process = CrawlerProcess(usual | settings)
    process.crawl(EveryLink)
    process.start()


def crawl_with_trafilatura(url: str, port: int, pages: int) -> None:
    """Run its focused crawler, with every connection redirected to the recorded site."""
    from copy import deepcopy  # noqa: PLC0415 - for this peer alone

    import urllib3.util.connection as connections  # noqa: PLC0415 - for this peer alone
    from trafilatura.settings import DEFAULT_CONFIG  # noqa: PLC0415 - for this peer alone
    from trafilatura.spider import focused_crawler  # noqa: PLC0415 - for this peer alone

    connect: Any = connections.create_connection
    connections.create_connection = lambda _address, *given, **named: connect(
        ("127.0.0.1", port), *given, **named
    )
    config = deepcopy(DEFAULT_CONFIG)
    config["DEFAULT"]["SLEEP_TIME"] = "0"
    config["DEFAULT"]["SSRF_PROTECTION"] = "off"
    focused_crawler(url, max_seen_urls=pages, config=config)


def main() -> None:
    name, port, url, pages = sys.argv[1:]
    if name == "trafilatura":
        crawl_with_trafilatura(url, int(port), int(pages))
    elif name == "scrapy_depth_first":
        crawl_with_scrapy(url, {"DEPTH_PRIORITY": -1, "CONCURRENT_REQUESTS": 1})
    else:
        crawl_with_scrapy(url, {})


if __name__ == "__main__":
    main()
