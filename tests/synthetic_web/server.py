"""Serves the synthetic web as an HTTP proxy does: one process answers for every host.

python -m tests.synthetic_web.server --sites 100 --seed 0     prints its address and serves
"""

import argparse
import asyncio
from urllib.parse import urlsplit

from tests.synthetic_web.web import Web

ROBOTS = "User-agent: *\nAllow: /\n"


async def answer(
    web: Web, delay: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer the requests of one connection."""
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            if delay:
                await asyncio.sleep(delay)
            parts = urlsplit(line.split()[1].decode("latin-1"))
            kind, page = "text/html; charset=utf-8", web.page(parts.hostname or "", parts.path)
            if parts.path == "/robots.txt":
                kind, page = "text/plain", ROBOTS
            body = (page or "<p>Not here").encode()
            status = "404 Not Found" if page is None else "200 OK"
            head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
            writer.write(f"{head}\r\n\r\n".encode() + body)
            await writer.drain()
    except (ConnectionError, ValueError, IndexError):
        pass
    finally:
        writer.close()


async def serve(web: Web, port: int, delay: float) -> None:
    """Serve until killed; the address is printed when all is ready."""
    server = await asyncio.start_server(
        lambda reader, writer: answer(web, delay, reader, writer), "127.0.0.1", port
    )
    async with server:
        await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before an answer")
    given = parser.parse_args()
    asyncio.run(serve(Web(given.sites, given.seed), given.port, given.delay))


if __name__ == "__main__":
    main()
