"""A page as HTML: header, menu, language switcher, main text, footer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape

from demo.site import pages
from demo.site.texts import Text, read_topic

_ENDONYMS = {"es": "Español", "eu": "Euskara", "en": "English"}
_MENU_LABELS = {
    "es": ("Inicio", "Ayuntamiento", "Museo", "Biblioteca", "Historia", "Noticias"),
    "eu": ("Hasiera", "Udala", "Museoa", "Liburutegia", "Historia", "Albisteak"),
    "en": ("Home", "Town hall", "Museum", "Library", "History", "News"),
}
_FOOTERS = {
    "es": ("Ayuntamiento de Harizlarre, plaza de los Fueros, 1", "Escríbanos", "Subir"),
    "eu": ("Harizlarreko Udala, Foru plaza, 1", "Idatzi guri", "Gora"),
    "en": ("Harizlarre town hall, Fueros square, 1", "Write to us", "Back to top"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything that decides how a page looks."""

    language: str
    text: Text
    versions: Mapping[str, str] = field(default_factory=dict)
    alternates: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    extra_html: str = ""
    canonical: str = ""
    printable: bool = False
    quirk: pages.Quirk = field(default_factory=pages.Quirk)


def render(page: Page) -> bytes:
    """Return the page in the encoding it is sent in."""
    body = _main(page) if page.printable else f"{_header(page)}{_main(page)}{_footer(page)}"
    language = page.quirk.html_language or page.language
    html = (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n{_head(page)}</head>\n'
        f'<body id="arriba">\n{body}</body>\n</html>\n'
    )
    return html.encode(page.quirk.encoding, "xmlcharrefreplace")


def _head(page: Page) -> str:
    quirk = page.quirk
    lines = [f'<meta charset="{quirk.charset}">'] if quirk.meta_charset else []
    lines.append(f"<title>{escape(page.text.title)} - Harizlarre</title>")
    if quirk.robots:
        lines.append(f'<meta name="robots" content="{quirk.robots}">')
    if page.canonical:
        lines.append(f'<link rel="canonical" href="{escape(page.canonical)}">')
    lines += [
        f'<link rel="alternate" hreflang="{language}" href="{escape(path)}">'
        for language, path in (*page.alternates, *quirk.claims)
    ]
    return "".join(line + "\n" for line in lines)


def _header(page: Page) -> str:
    # A page without a translation switches to the home page, as most sites do.
    versions = {**pages.HOMES, **page.versions}
    switcher = [
        (path, _ENDONYMS[language])
        for language, path in versions.items()
        if language != page.language
    ]
    menu = zip(
        (topic.paths[page.language] for topic in pages.MENU),
        _MENU_LABELS[page.language],
        strict=True,
    )
    home = pages.HOMES[page.language]
    return (
        f'<header>\n<a href="{home}"><img src="/img/escudo.png" alt="Harizlarre"></a>\n'
        f"<nav>{_list(menu)}</nav>\n{_list(switcher)}</header>\n"
    )


def _main(page: Page) -> str:
    text = page.text
    images = "".join(
        f'<img src="/img/{image}" alt="{escape(text.title)}">\n' for image in text.images
    )
    paragraphs = "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in text.paragraphs)
    links = _list(page.links) if page.links else ""
    return (
        f'<main id="contenido">\n<h1>{escape(text.title)}</h1>\n'
        f"{images}{paragraphs}{page.extra_html}{links}</main>\n"
    )


def _footer(page: Page) -> str:
    address, write, top = _FOOTERS[page.language]
    return (
        f"<footer>\n<p>{address}</p>\n"
        f'<p><a href="mailto:udala@harizlarre.example">{write}</a> '
        f'<a href="#arriba">{top}</a></p>\n</footer>\n'
    )


def _list(links: Iterable[tuple[str, str]]) -> str:
    items = "".join(
        f'<li><a href="{escape(href)}">{escape(label)}</a></li>' for href, label in links
    )
    return f"<ul>{items}</ul>\n"


def page_at(topic: pages.Topic, language: str, links: tuple[tuple[str, str], ...]) -> Page:
    """Return the page of a topic in one language, with what it declares about the others."""
    path = topic.paths[language]
    alternates: tuple[tuple[str, str], ...] = ()
    if language in topic.declared_by:
        alternates = (*topic.paths.items(), ("x-default", topic.paths["es"]))
    return Page(
        language=language,
        text=read_topic(topic.name)[language],
        versions=topic.paths,
        alternates=alternates,
        links=links,
        quirk=pages.QUIRKS.get(path, pages.Quirk()),
    )
