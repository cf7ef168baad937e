"""Several small bilingual sites on loopback addresses.

`python -m tests.support.many_sites` serves and prints them.

Site n is at 127.0.0.(n + 2), all on one port. Its articles are a tree of links, each page leads
to its translation, and some lead to pages of the next site. Every request is noted when it
arrives, so that politeness can be judged where it is felt. GET /__log__ gives all of them,
robots.txt included.
"""

import argparse
import asyncio
import contextlib
import html
import json
import select
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from demo.site.articles import article
from tests.support import processes
from tests.support.processes import HANG

ROOT = Path(__file__).parents[2]
BRANCHES = 3
LOOK = 0.01
LANGUAGES = ("es", "eu")
SELF = {"es": "Castellano", "eu": "Euskara"}


def address(site: int) -> str:
    return f"127.0.0.{site + 2}"


def paths(articles: int) -> list[str]:
    """The paths of a site with so many article pairs; all are reachable from the first."""
    return [f"/{language}/{number}" for number in range(articles) for language in LANGUAGES]


def page(site: int, sites: int, articles: int, path: str, port: int) -> bytes | None:
    """A page of a site; None if there is none."""
    _, _, rest = path.partition("/")
    language, _, name = (rest or "es/0").partition("/")
    if language not in LANGUAGES or not name.isdecimal() or int(name) >= articles:
        return None
    number = int(name)
    text = article(site * articles + number)[language]
    other = LANGUAGES[1 - LANGUAGES.index(language)]
    links = [
        f'<a href="/{language}/{each}">{html.escape(_title(site, articles, each, language))}</a>'
        for each in range(BRANCHES * number + 1, BRANCHES * number + BRANCHES + 1)
        if each < articles
    ]
    neighbour = f"http://{address((site + 1) % sites)}:{port}/{language}/{number}"
    links.append(f'<a href="{neighbour}">{neighbour}</a>')
    paragraphs = "".join(f"<p>{html.escape(each)}</p>" for each in text.paragraphs)
    return f"""<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<title>{html.escape(text.title)}</title>
<link rel="alternate" hreflang="{other}" href="/{other}/{number}"></head><body>
<nav><a href="/{other}/{number}" hreflang="{other}">{SELF[other]}</a></nav>
<main><h1>{html.escape(text.title)}</h1>{paragraphs}</main>
<ul>{"".join(f"<li>{link}</li>" for link in links)}</ul></body></html>""".encode()


def _title(site: int, articles: int, number: int, language: str) -> str:
    return article(site * articles + number)[language].title


class Asked(NamedTuple):
    """A request: when it arrived, what it was for, and what the client called itself."""

    time: float
    """When it was read: on a busy machine some time after it arrived."""
    host: str
    path: str
    who: str
    since: float
    """When the server last looked and it was not there yet."""


class Server:
    """Answers for all sites, after a while, and notes who asked for what when."""

    def __init__(self, sites: int, articles: int, latency: float) -> None:
        self.sites, self.articles, self.latency = sites, articles, latency
        self.port = 0
        self.log: list[Asked] = []
        self._looks = [time.monotonic()] * 2

    async def look(self) -> None:
        """Note again and again that the server is not held up, but looks for requests."""
        while True:
            self._looks = [self._looks[1], time.monotonic()]
            await asyncio.sleep(LOOK)

    async def open(self) -> list[asyncio.Server]:
        servers = []
        for site in range(self.sites):
            servers.append(await asyncio.start_server(self._serve, address(site), self.port))
            self.port = servers[0].sockets[0].getsockname()[1]
        return servers

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        try:
            while line := await reader.readline():
                arrived, since = time.monotonic(), self._looks[0]
                path = line.split()[1].decode()
                who = ""
                while header := (await reader.readline()).strip():
                    name, _, value = header.partition(b":")
                    if name.lower() == b"user-agent":
                        who = value.decode().strip()
                status, kind, body = await self._answer(Asked(arrived, host, path, who, since))
                head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
                writer.write(head.encode() + b"\r\n\r\n" + body)
                await writer.drain()
        except (ConnectionError, IndexError):
            pass  # whoever asked was killed
        finally:
            writer.close()

    async def _answer(self, asked: "Asked") -> tuple[str, str, bytes]:
        host, path = asked.host, asked.path
        if path == "/__log__":
            return "200 OK", "application/json", json.dumps(self.log).encode()
        self.log.append(asked)
        if self.latency:
            await asyncio.sleep(self.latency)
        if path == "/robots.txt":
            return "200 OK", "text/plain", b"User-agent: *\nAllow: /\n"
        site = int(host.rpartition(".")[2]) - 2
        body = page(site, self.sites, self.articles, path, self.port)
        if body is None:
            return "404 Not Found", "text/html", b"<html><body>Not found"
        return "200 OK", "text/html; charset=utf-8", body


@dataclass(frozen=True)
class ManySites:
    """The sites, served by another process."""

    port: int
    sites: int
    articles: int

    @property
    def seeds(self) -> list[str]:
        return [f"http://{address(site)}:{self.port}/es/0" for site in range(self.sites)]

    @property
    def urls(self) -> set[str]:
        """Every page that can be reached."""
        return {
            f"http://{address(site)}:{self.port}{path}"
            for site in range(self.sites)
            for path in paths(self.articles)
        }

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Every page and its translation."""
        return {(url, url.replace("/es/", "/eu/")) for url in self.urls if "/es/" in url}

    def log(self) -> list[Asked]:
        """All requests so far."""
        url = f"http://{address(0)}:{self.port}/__log__"
        with urllib.request.urlopen(url, timeout=HANG) as response:
            return [Asked(*each) for each in json.load(response)]

    def pages(self) -> list[Asked]:
        """Those for pages, without files about the sites."""
        return [each for each in self.log() if each.path.startswith(("/es/", "/eu/"))]


@contextlib.contextmanager
def serve_sites(sites: int, articles: int, latency: float = 0.0) -> Iterator[ManySites]:
    """Serve the sites for the length of a block."""
    command = [
        sys.executable,
        "-m",
        "tests.support.many_sites",
        str(sites),
        str(articles),
        str(latency),
    ]
    with processes.started(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        ready, _, _ = select.select([process.stdout], [], [], HANG)
        line = process.stdout.readline().strip() if ready else ""
        if not line.isdecimal():
            raise RuntimeError(f"the sites are not served: {line!r}")
        yield ManySites(int(line), sites, articles)


async def _main(sites: int, articles: int, latency: float) -> None:
    for site in range(sites):  # drawn before the clock matters
        for number in range(articles):
            article(site * articles + number)
    server = Server(sites, articles, latency)
    await server.open()
    looking = asyncio.create_task(server.look())
    print(server.port, flush=True)  # noqa: T201
    await looking


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("sites", type=int)
    parser.add_argument("articles", type=int)
    parser.add_argument("latency", type=float)
    given = parser.parse_args()
    asyncio.run(_main(given.sites, given.articles, given.latency))
