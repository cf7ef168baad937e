"""The table of the site: which topic is where in which language, and what is odd there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

LANGUAGES = ("es", "eu", "en")


@dataclass(frozen=True, slots=True)
class Topic:
    """Pages that are translations of each other, by language.

    `declared_by` names the languages whose page says so with <link rel=alternate>.
    """

    name: str
    paths: Mapping[str, str]
    declared_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    """How a page differs from what a well-made site would answer."""

    headers: Mapping[str, str] = field(default_factory=dict)
    robots: str = ""
    claims: tuple[tuple[str, str], ...] = ()
    encoding: str = "utf-8"
    charset: str = "utf-8"
    meta_charset: bool = True
    html_language: str = ""
    fails_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A second address of a page; `printable` omits the navigation."""

    original: str
    printable: bool = False
    canonical: bool = False


def in_directories(name: str, *languages: str) -> Topic:
    """Return a topic with equal slugs after the language directory."""
    return Topic(name, {language: f"/{language}/{name}" for language in languages})


def with_slugs(name: str, **paths: str) -> Topic:
    """Return a topic with translated slugs, declared by all its pages."""
    return Topic(name, paths, declared_by=tuple(paths))


def with_parameter(name: str, number: int, *languages: str) -> Topic:
    """Return a topic whose language is a query parameter."""
    return Topic(name, {language: f"/agenda?id={number}&lang={language}" for language in languages})


def with_suffix(name: str, folder: str, *languages: str) -> Topic:
    """Return a topic whose language is a suffix of the file name."""
    return Topic(name, {language: f"/{folder}/{name}_{language}.html" for language in languages})


def with_default(name: str, *others: str) -> Topic:
    """Return a topic whose Spanish page has no language token at all."""
    return Topic(
        name,
        {"es": f"/servicios/{name}"} | {other: f"/{other}/servicios/{name}" for other in others},
    )


# Pairs that a crawl must find: by URL key, or by alternates that both sides declare.
PAIRED = (
    Topic("inicio", {"es": "/", "eu": "/eu/", "en": "/en/"}),
    in_directories("ayuntamiento", *LANGUAGES),
    in_directories("museo", *LANGUAGES),
    in_directories("biblioteca", *LANGUAGES),
    in_directories("historia", *LANGUAGES),
    with_slugs("noticias", es="/es/noticias", eu="/eu/albisteak", en="/en/news"),
    with_slugs(
        "mercado",
        es="/es/noticias/mercado-de-otono",
        eu="/eu/albisteak/udazkeneko-azoka",
        en="/en/news/autumn-market",
    ),
    with_slugs("puente", es="/es/noticias/pasarela-nueva", eu="/eu/albisteak/zubi-berria"),
    with_slugs(
        "alubias",
        es="/es/recetas/alubias-negras",
        eu="/eu/errezetak/babarrun-beltzak",
        en="/en/recipes/black-beans",
    ),
    with_slugs("queso", es="/es/recetas/tarta-de-queso", eu="/eu/errezetak/gazta-tarta"),
    with_slugs(
        "hogueras",
        es="/es/fiestas/noche-de-las-hogueras",
        eu="/eu/jaiak/suen-gaua",
        en="/en/festivals/bonfire-night",
    ),
    with_parameter("agenda1", 1, *LANGUAGES),
    with_parameter("agenda2", 2, "es", "eu"),
    with_suffix("hayedo", "rutas", *LANGUAGES),
    with_suffix("cascada", "rutas", "es", "eu"),
    with_default("padron", "eu"),
    with_default("reciclaje", "eu", "en"),
)
# True translations that only one side declares: a crawl may find them, but need not.
ONE_SIDED = (
    Topic(
        "pastor",
        {"es": "/es/fiestas/dia-del-pastor", "eu": "/eu/jaiak/artzain-eguna"},
        declared_by=("es",),
    ),
)
# Pages without a translation into the other language of the pair.
SINGLE = (
    Topic("alojamiento", {"es": "/es/alojamiento"}),
    Topic("bando", {"es": "/es/bando"}),
    Topic("bando-corregido", {"es": "/es/bando-corregido"}),
    Topic("piscina", {"es": "/es/piscina"}),
    Topic("enlaces", {"es": "/es/enlaces"}),
    Topic("peregrinos", {"es": "/es/peregrinos"}),
    Topic("transporte", {"es": "/es/transporte", "en": "/en/transporte"}),
    Topic("bertsolariak", {"eu": "/eu/bertsolariak"}),
    Topic("abesbatza", {"eu": "/eu/abesbatza", "en": "/en/abesbatza"}),
    Topic("casa-cultura", {"eu": "/es/kultura-etxea"}),
    Topic("programa", {"eu": "/eu/kultura-etxea"}),
    Topic("agenda9", {"eu": "/agenda?id=9&lang=eu"}),
    Topic("visitors", {"en": "/en/visitors"}),
)
# One page of each may be kept; the other one is reserved by its owner.
RESERVED = (in_directories("poemas", "es", "eu"), in_directories("cuentos", "es", "eu"))
# Never stored, and those behind robots.txt or nofollow never requested.
NOINDEX = (Topic("mapa", {"es": "/es/mapa"}),)
ROBOTS = (with_suffix("actas", "privado", "es", "eu"),)
NOFOLLOW = (Topic("cantera", {"es": "/es/cantera"}),)

TOPICS = PAIRED + ONE_SIDED + SINGLE + RESERVED + NOINDEX + ROBOTS + NOFOLLOW

QUIRKS: Mapping[str, Quirk] = {
    "/es/alojamiento": Quirk(claims=(("eu", "/eu/bertsolariak"),)),
    "/es/kultura-etxea": Quirk(html_language="es"),
    "/agenda?id=9&lang=es": Quirk(html_language="es"),
    "/agenda?id=2&lang=eu": Quirk(fails_once=True),
    "/es/noticias/pasarela-nueva": Quirk(
        encoding="iso-8859-1", charset="iso-8859-1", meta_charset=False
    ),
    "/rutas/cascada_es.html": Quirk(encoding="iso-8859-1"),
    "/es/poemas": Quirk(headers={"tdm-reservation": "1"}),
    "/eu/cuentos": Quirk(robots="noai, noimageai"),
    "/es/mapa": Quirk(robots="noindex"),
    "/es/enlaces": Quirk(robots="nofollow"),
}

COPIES: Mapping[str, Copy] = {
    "/es/imprimir/museo": Copy(original="/es/museo", printable=True, canonical=True),
    "/es/museo?utm_source=compartir": Copy(original="/es/museo"),
    "/es/imprimir/bando": Copy(original="/es/bando", printable=True),
    "/es/bando?utm_source=boletin&utm_medium=correo": Copy(original="/es/bando"),
    "/agenda?id=9&lang=es": Copy(original="/agenda?id=9&lang=eu"),
}
NEAR_COPIES: Mapping[str, str] = {"/es/bando-corregido": "/es/bando"}

REDIRECTS: Mapping[str, str] = {"/es/": "/", "/es/piscina-municipal": "/es/piscina"}
REFRESHES: Mapping[str, str] = {"/es/bienvenida": "/es/historia"}
MISSING = "/es/pagina-perdida"
PDF = "/documentos/plano.pdf"
PICTURE = "/img/molino-rueda.png"
OFFSITE = "https://www.example.org/"

HOMES = PAIRED[0].paths
MENU = PAIRED[:6]
