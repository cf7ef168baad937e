"""The same recorded sites crawled by others: GNU wget, Scrapy itself, trafilatura.

Each site is served over HTTP on loopback, by a proxy that knows only this site, and crawled by each
peer as its users would: `wget --mirror`, a Scrapy spider that follows every link, in Scrapy's
default order and depth first, and trafilatura's focused crawler. What counts is the order in which
each page is first requested (repeated requests do not count against a peer); our scorers are
replayed beside them. hreflang links are stripped by default, so that all see the same links.

    python -m benchmarks.peers [FOLDER] [--sites a,b] [--scorers adaptive] [--plot OUT.png]
        [--orders DIR]

A peer takes minutes per site: with --orders its downloads are kept, and the peer is not run again.
"""

import argparse
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.peer_crawlers import PEERS, SECONDS, available, run_peer
from benchmarks.recorded_pairs import SHARED
from benchmarks.replay_sites import jobs_for, markdown
from bilingual_crawler.config.settings import SCORERS
from bilingual_crawler.lab.replay import curve
from bilingual_crawler.lab.replay.measure import BREADTH_FIRST, ORACLE, Measured, figures_of
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.report import plot_curves, replay_with_bar
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.store.warc_reader import OK, RecordedResponse
from bilingual_crawler.urls.hosts import host_of

EQUIV = re.compile(rb"http-equiv(?=\s*=\s*[\"']?refresh)", re.IGNORECASE)
MANY = 20
"""How many times the pages of a site a peer may request: most of its requests fail."""


class SiteServer(ThreadingHTTPServer):
    """Answers from a recording, with http for https, and logs the pages in order."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, site: RecordedSite, url: str) -> None:
        super().__init__(("127.0.0.1", 0), SiteHandler)
        self.site = site
        parts = urlsplit(url)
        self.root = f"{parts.scheme}://{parts.netloc}"
        self.host = host_of(url)
        self.order: list[str] = []
        self.lock = threading.Lock()
        self._answers: dict[str, RecordedResponse | None] | None = None

    def remember(self) -> None:
        """Keep answers in memory from now on, so that serving costs little."""
        self._answers = {}

    def answer(self, url: str) -> RecordedResponse | None:
        """Return the recorded answer as the peers see it."""
        if self._answers is not None and url in self._answers:
            return self._answers[url]
        answer = self.site.answer(url)
        if answer is not None:
            answer = answer._replace(body=self.body_of(url, answer))
        if self._answers is not None:
            self._answers[url] = answer
        return answer

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: peers drop connections when they finish."""

    def body_of(self, url: str, answer: RecordedResponse) -> bytes:
        """Return a page as the peers see it, without refreshes to pages that were not recorded."""
        refresh = self.site.refresh_of(url, answer)
        body = self.plain(answer.body)
        if refresh is not None and refresh not in self.site.recording:
            body = EQUIV.sub(b"data-equiv", body)
        return body

    def plain(self, text: bytes) -> bytes:
        """Return text with links to the site without TLS, which would need a certificate."""
        name = self.host.encode()
        return text.replace(b"https://" + name, b"http://" + name)


class SiteHandler(BaseHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        url = self.server.root + path
        answer = None
        if not parts.hostname or parts.hostname == self.server.host:
            answer = self.server.answer(url)
        body = b"" if answer is None else answer.body
        status = 404 if answer is None else answer.status
        self.send_response(status)
        for name, value in () if answer is None else answer.headers:
            self.send_header(name.decode("latin-1"), self.server.plain(value).decode("latin-1"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            if status == OK and path != "/robots.txt":
                with self.server.lock:
                    self.server.order.append(self.server.site.recording.name_of(url))
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is inherited
        """Print nothing."""


@contextmanager
def served(site: RecordedSite, url: str) -> Iterator[SiteServer]:
    server = SiteServer(site, url)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def crawl_of(peer: str, result: Measured, site: RecordedSite) -> list[str]:
    """Return the pages that a peer fetches, each once, in its order."""
    url = result.seeds[0]
    with served(site, url) as server:
        start = server.plain(url.encode()).decode()
        ended = run_peer(peer, server.server_port, start, MANY * result.pages)
    order = list(dict.fromkeys(server.order))
    print(
        f"{result.site}: {peer} fetched {len(order)} pages,"
        f" {len(server.order) - len(order)} times one again"
        + ("" if ended else f", and was stopped after {SECONDS} s"),
        flush=True,
    )
    return order


def order_of(peer: str, result: Measured, site: RecordedSite, kept: Path | None) -> list[str]:
    """Do the same as `crawl_of`, with results kept in a folder between runs."""
    if kept is None:
        return crawl_of(peer, result, site)
    stripped = ".stripped" if result.strip else ""
    path = kept / f"{result.site}{stripped}.{peer}.txt"
    if not path.exists():
        order = crawl_of(peer, result, site)
        kept.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{url}\n" for url in order))
    return path.read_text().splitlines()


def with_peers(
    result: Measured, warc: Path, peers: Sequence[str], kept: Path | None = None
) -> Measured:
    """Return a replay with the curves of the peers beside ours."""
    site = RecordedSite(Recording(warc), (), strip=result.strip)
    crawled = {peer: order_of(peer, result, site, kept) for peer in peers}
    orders = result.orders | crawled
    curves = {name: curve.yield_curve(order, result.gold) for name, order in orders.items()}
    least, most = (result.scorers[name]["auc"] for name in (BREADTH_FIRST, ORACLE))
    scorers = dict(result.scorers)
    for peer in peers:
        figures = figures_of(curves[peer], result.pairs, result.pages)
        scorers[peer] = figures | {"gain": curve.gain(figures["auc"], least, most)}
    return replace(result, orders=orders, curves=curves, scorers=scorers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--sites", default="", help="some of the sites")
    parser.add_argument("--scorers", default=next(iter(SCORERS)), help="ours beside them")
    parser.add_argument(
        "--with-alternates", action="store_true", help="let those who can follow hreflang links"
    )
    parser.add_argument("--plot", type=Path, help="their curves and ours: OUT.png")
    parser.add_argument("--orders", type=Path, help="keep what the peers fetched in a folder")
    options = parser.parse_args()
    peers = available()
    for missing in set(PEERS) - set(peers):
        print(f"{missing} is not installed, and left out")
    scorers = list(dict.fromkeys([BREADTH_FIRST, *options.scorers.split(",")]))
    names = [name for name in options.sites.split(",") if name]
    jobs = jobs_for(options.folder, scorers, 1, names, strip=not options.with_alternates)
    results, problems = replay_with_bar(jobs, 2, 0)
    for problem in problems:
        print(problem)
    warcs = {job.warc.name.removesuffix(".warc.gz"): job.warc for job in jobs}
    results = [with_peers(each, warcs[each.site], peers, options.orders) for each in results]
    print(markdown(results, [*scorers, *peers]))
    if options.plot:
        plot_curves(results, options.plot)


if __name__ == "__main__":
    main()
