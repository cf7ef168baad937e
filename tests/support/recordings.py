"""Recorded sites for tests: small ones, written with the crawler's own WARC records."""

import gzip

from bilingual_crawler.store.warc import Exchange, Records

SITE = "https://www.example.org"
HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)
PROSE = {
    "es": (
        "El ayuntamiento ha abierto esta semana el expediente número {} sobre la biblioteca.",
        "Los vecinos del barrio pidieron hace {} meses que la plaza tuviera árboles y bancos.",
        "Según el informe, la obra costará {} mil euros y terminará antes del otoño.",
    ),
    "eu": (
        "Udalak aste honetan ireki du liburutegiari buruzko {} zenbakiko espedientea.",
        "Auzoko bizilagunek duela {} hilabete eskatu zuten plazak zuhaitzak eta bankuak izatea.",
        "Txostenaren arabera, obrak {} mila euro balioko du eta udazkena baino lehen amaituko da.",
    ),
}
ARTICLES = 6
NOTICES = 10


def exchange(url, body=b"", *, status=200, headers=HTML):
    return Exchange(url=url, arrived=1_700_000_000.0, status=status, headers=headers, body=body)


def redirect(url, target):
    return exchange(url, status=301, headers=((b"Location", target.encode()),))


def write_warc(path, exchanges, pack=lambda members: members):
    """A WARC file; `pack` may change how the records are packed."""
    records = Records({"software": "test"})
    path.write_bytes(pack(b"".join(map(records.of, exchanges))))
    return path


def packed_whole(members):
    return gzip.compress(gzip.decompress(members))


def page(language, number, links="", head=""):
    sentences = "".join(f"<p>{each.format(number)}</p>" for each in PROSE[language])
    title = f"<title>{language} {number}</title>"
    body = f"<html lang={language}><head>{title}{head}</head><body>{links}{sentences}</body></html>"
    return body.encode()


def to(*paths):
    return "".join(f'<a href="{path}">{path}</a> ' for path in paths)


def slug(language, number):
    """An address that tells nothing of the language, nor of the translation."""
    return f"/p/{(number * 2 + (language == 'eu')) * 7919 % 997:03d}"


def claims(number):
    return "".join(
        f'<link rel="alternate" hreflang="{code}" href="{SITE}{slug(code, number)}">'
        for code in ("es", "eu")
    )


def opaque_site():
    """Articles in two languages under numbers, and notices in Spanish alone that come first.

    Each article says where its translation is in a <link>, and nowhere else: no page links
    to a Basque article but the Basque list, which the last notice leads to.
    """
    notices = [f"/aviso/{number}" for number in range(NOTICES)]
    articles = [slug("es", number) for number in range(ARTICLES)]
    yield exchange(f"{SITE}/", page("es", 1000, to(*notices, *articles, "/viejo", "/nada")))
    for number, path in enumerate(notices):
        following = notices[number + 1 :] or ["/zerrenda"]
        yield exchange(SITE + path, page("es", 500 + number, to("/", *following[:1])))
    basque = [slug("eu", number) for number in range(ARTICLES)]
    yield exchange(f"{SITE}/zerrenda", page("eu", 1000, to("/", *basque)))
    for number in range(ARTICLES):
        for language in ("es", "eu"):
            yield exchange(
                SITE + slug(language, number), page(language, number, to("/"), claims(number))
            )
    yield redirect(f"{SITE}/viejo", articles[0])
    yield exchange(f"{SITE}/escondida", page("es", 2000))


def opaque_gold():
    lines = [
        f"{SITE}{slug('eu', number)}\t{SITE}{slug('es', number)}\teus\tspa"
        for number in range(ARTICLES)
    ]
    return "".join(f"{line}\n" for line in [*lines, f"{SITE}/\t{SITE}/en/\tspa\teng"])
