"""The links beyond the menu: they lead to every page and every trap."""

from collections.abc import Mapping

from demo.site import endless, pages

Anchor = tuple[str, str]


def _paths(language: str, *names: str) -> tuple[str, ...]:
    """Return the addresses of topics in a language, in the order of `names`."""
    topics = {topic.name: topic for topic in pages.TOPICS}
    return tuple(topics[name].paths[language] for name in names)


# Only the noindex page leads to the routes, only the page in English to the pilgrims, only the
# nofollow page to the quarry, and only the 301 to the pool.
ENTRANCES: Mapping[str, tuple[str, ...]] = {
    "/": (
        *_paths("es", "agenda1", "agenda2", "padron", "reciclaje"),
        *_paths("es", "alojamiento", "transporte", "mapa"),
        *pages.REDIRECTS,
        *pages.REFRESHES,
        endless.first_session(),
        endless.CALENDAR,
        pages.OFFSITE,
    ),
    "/eu/": _paths("eu", "agenda1", "agenda2", "padron", "reciclaje", "bertsolariak", "abesbatza"),
    "/en/": _paths("en", "agenda1", "reciclaje", "visitors", "transporte", "abesbatza"),
    "/es/ayuntamiento": (
        *_paths("es", "bando", "bando-corregido", "enlaces", "actas"),
        pages.MISSING,
        pages.PDF,
    ),
    "/eu/ayuntamiento": _paths("eu", "actas"),
    "/es/museo": ("/es/imprimir/museo", "/es/museo?utm_source=compartir", pages.PICTURE),
    "/es/biblioteca": (*_paths("es", "poemas", "cuentos"), "/es/kultura-etxea"),
    "/eu/biblioteca": (*_paths("eu", "poemas", "cuentos"), "/eu/kultura-etxea"),
    "/es/noticias": (
        *_paths("es", "mercado", "puente", "alubias", "queso", "hogueras", "pastor"),
        "/es/bando?utm_source=boletin&utm_medium=correo",
    ),
    "/eu/albisteak": _paths("eu", "mercado", "puente", "alubias", "queso", "hogueras", "pastor"),
    "/en/news": _paths("en", "mercado", "alubias", "hogueras"),
    "/es/bando": ("/es/imprimir/bando",),
    "/agenda?id=1&lang=es": ("/agenda?id=9&lang=es",),
    "/agenda?id=1&lang=eu": ("/agenda?id=9&lang=eu",),
    "/es/mapa": (*_paths("es", "hayedo", "cascada"), endless.MAZE),
    "/es/enlaces": _paths("es", "cantera"),
    "/en/visitors": _paths("es", "peregrinos"),
}

_LABELS: Mapping[str, str] = {
    "/es/": "Portada en castellano",
    "/es/piscina-municipal": "Piscina municipal",
    "/es/bienvenida": "Bienvenida",
    "/es/imprimir/museo": "Imprimir",
    "/es/imprimir/bando": "Imprimir",
    "/es/museo?utm_source=compartir": "Compartir",
    endless.first_session(): "Buzón de sugerencias",
    endless.CALENDAR: "Calendario del frontón",
    endless.MAZE: "El laberinto",
    pages.MISSING: "Actas de 1998",
    pages.OFFSITE: "Otros valles",
    pages.PDF: "Plano del pueblo (PDF)",
    pages.PICTURE: "Fotografía de la rueda",
}


def links_of(path: str, titles: Mapping[str, str]) -> tuple[Anchor, ...]:
    """Return the links inside a page: address and anchor, which is the title of its target."""
    return tuple(
        (target, _LABELS.get(target) or titles[pages.COPIES[target].original])
        if target not in titles
        else (target, titles[target])
        for target in ENTRANCES.get(path, ())
    )
