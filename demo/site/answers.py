"""The site's answer to an address: a pure function, with fixed pages rendered once."""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit

from demo.site import articles, endless, pages
from demo.site.links import links_of
from demo.site.render import Page, page_at, render
from demo.site.texts import read_topic

ROBOTS = b"User-agent: *\nDisallow: /privado/\nDisallow: /__log__\n"
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)
_NOT_FOUND = '<!DOCTYPE html><html lang="es"><title>404</title><p>No existe esta página.</p></html>'


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; `fails_once` asks the server for an error before the first one."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html"})
    fails_once: bool = False


def normalise(target: str) -> str:
    """Return the address without tracking parameters, its other parameters in order."""
    path, query = urlsplit(target)[2:4]
    kept = sorted(pair for pair in parse_qsl(query) if not pair[0].startswith("utm_"))
    return f"{path}?{urlencode(kept)}" if kept else path


class Site:
    """The sample site with `generated` article pairs besides its own pages."""

    def __init__(self, generated: int = 0) -> None:
        self._generated = generated
        self._fixed = dict(_fixed_pages(generated)) | dict(_other_answers())

    def answer(self, target: str) -> Answer:
        """Return the answer to the path and query of a request."""
        address = normalise(target)
        if found := self._fixed.get(address):
            return found
        if page := endless.find(address):
            return _endless_answer(page)
        if generated := articles.find(address, self._generated):
            return _html(_generated_page(*generated, self._generated))
        if address.startswith("/img/") and address.endswith(".png"):
            return Answer(_picture(address), headers={"Content-Type": "image/png"})
        return Answer(
            _NOT_FOUND.encode(), status=404, headers={"Content-Type": "text/html; charset=utf-8"}
        )


def _html(page: Page) -> Answer:
    quirk = page.quirk
    headers = {"Content-Type": f"text/html; charset={quirk.charset}", **quirk.headers}
    return Answer(render(page), headers=headers, fails_once=quirk.fails_once)


def _fixed_pages(generated: int) -> Iterator[tuple[str, Answer]]:
    titles = {
        path: read_topic(topic.name)[language].title
        for topic in pages.TOPICS
        for language, path in topic.paths.items()
    }
    rendered = {}
    for topic in pages.TOPICS:
        for language, path in topic.paths.items():
            links = links_of(path, titles)
            if generated and topic.name == "inicio" and language in articles.LANGUAGES:
                title = articles.index_page(0)[language].title
                links += ((articles.index_path(language, 0), title),)
            rendered[path] = page_at(topic, language, links)
            yield path, _html(rendered[path])
    for path, copy in pages.COPIES.items():
        if path != normalise(path):
            continue  # the site ignores tracking parameters, as all sites do
        page = replace(
            rendered[copy.original],
            printable=copy.printable,
            canonical=copy.original if copy.canonical else "",
            links=((copy.original, titles[copy.original]),) if copy.printable else (),
            quirk=pages.QUIRKS.get(path, pages.Quirk()),
        )
        yield path, _html(page)


def _other_answers() -> Iterator[tuple[str, Answer]]:
    plain = {"Content-Type": "text/plain; charset=utf-8"}
    yield "/robots.txt", Answer(ROBOTS, headers=plain)
    yield pages.PDF, Answer(_PDF, headers={"Content-Type": "application/pdf"})
    for path, location in pages.REDIRECTS.items():
        yield path, Answer(b"", status=301, headers={"Location": location})
    for path, location in pages.REFRESHES.items():
        html = (
            '<!DOCTYPE html><html lang="es"><head><title>Bienvenida</title>'
            f'<meta http-equiv="refresh" content="0; url={location}"></head>'
            f'<body><p><a href="{location}">Entrar</a></p></body></html>'
        )
        yield path, Answer(html.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def _endless_answer(page: endless.EndlessPage) -> Answer:
    return _html(
        Page(
            language="es",
            text=read_topic(page.topic)["es"],
            links=page.links,
            extra_html=page.extra_html,
        )
    )


def _generated_page(language: str, is_index: bool, number: int, generated: int) -> Page:
    path = articles.index_path if is_index else articles.article_path
    text = articles.index_page(number) if is_index else articles.article(number)
    return Page(
        language=language,
        text=text[language],
        versions={other: path(other, number) for other in articles.LANGUAGES},
        links=tuple(articles.links_of_index(language, number, generated)) if is_index else (),
    )


def _picture(address: str) -> bytes:
    """Return a valid one-colour PNG whose colour depends on its name."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    size = 16
    row = b"\0" + sha256(address.encode()).digest()[:3] * size
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(row * size))
        + chunk(b"IEND", b"")
    )
