"""Serves the synthetic web as an HTTP proxy does: one process answers for every host.

python -m tests.support.synthetic_web.server --sites 100 --seed 0     prints its address and serves
"""

import argparse
import asyncio
import json
import math
import sys
import time
from collections import defaultdict
from urllib.parse import parse_qs, urlsplit

from bilingual_crawler.urls.hosts import host_of, site_of
from tests.support.synthetic_web.web import Web

ROBOTS = "User-agent: *\nAllow: /\n"
SEARCH_ENGINE = "backlinks.example.org"
"""The host that tells which pages link to a site: /?to=SITE."""


class Answers:
    """What the web answers: pages, robots.txt, and a search engine that knows backlinks."""

    def __init__(self, web: Web, closed: str = "") -> None:
        self._web = web
        self._closed = closed
        self._asked: list[dict[str, object]] = []
        self._answerable = math.inf
        self._released = asyncio.Condition()
        self._sources: defaultdict[str, list[str]] = defaultdict(list)
        for target, source in web.backlinks():
            self._sources[site_of(host_of(target))].append(source)

    async def hold(self, after: float) -> None:
        """Answer so many more requests and hold all others; infinity releases them."""
        async with self._released:
            self._answerable = after
            self._released.notify_all()

    async def wait_for_release(self) -> None:
        """Wait while requests are held."""
        async with self._released:
            await self._released.wait_for(lambda: self._answerable > 0)
            self._answerable -= 1

    def note(self, url: str) -> None:
        """Keep a request in the log."""
        self._asked.append({"path": url, "time": time.time()})

    def to(self, url: str) -> tuple[str, str | None]:
        """The media type and the text of an address; no text where there is nothing."""
        if url == "/__log__":
            return "application/json", json.dumps(self._asked)
        if url.startswith("/__"):
            return "text/plain", ""
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return "text/plain", ROBOTS
        if parts.hostname == SEARCH_ENGINE:
            (site,) = parse_qs(parts.query)["to"]
            results = [{"source": source} for source in self._sources[site]]
            return "application/json", json.dumps({"results": results})
        page = self._web.page(parts.hostname or "", parts.path)
        if page and parts.hostname == self._closed:
            page = page.replace("<head>", '<head><meta name="robots" content="noai">')
        return "text/html; charset=utf-8", page


async def answer(
    answers: Answers, delay: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer the requests of one connection."""
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            if delay:
                await asyncio.sleep(delay)
            url = line.split()[1].decode("latin-1")
            if url.startswith(("/__hold__", "/__release__")):
                await answers.hold(float(url.partition("=")[2] or math.inf))
            elif url != "/__log__":
                answers.note(url)
                await answers.wait_for_release()
            kind, page = answers.to(url)
            body = (page or "<p>Not here").encode()
            status = "404 Not Found" if page is None else "200 OK"
            head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
            writer.write(f"{head}\r\n\r\n".encode() + body)
            await writer.drain()
    except (ConnectionError, ValueError, LookupError):
        pass
    finally:
        writer.close()


async def serve(answers: Answers, port: int, delay: float) -> None:
    """Serve until killed; the address is printed when all is ready."""
    server = await asyncio.start_server(
        lambda reader, writer: answer(answers, delay, reader, writer), "127.0.0.1", port
    )
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.08, help="of bilingual sites")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--closed", default="", help="host whose pages opt out")
    given = parser.parse_args()
    web = Web(given.sites, given.seed, given.share)
    asyncio.run(serve(Answers(web, given.closed), given.port, given.delay))


if __name__ == "__main__":
    main()
