"""A small harbour site in two languages, half of which is about a topic."""

from dataclasses import dataclass, field

from tests.support.scoring import HandMade

TOPIC = """weight\tterm\tsubdomain\tlanguage
3\tpuerto\tmar\tspa
5\tbarco de pesca\tpesca\tspa
3\tlonja\tpesca\tspa
3\tportu\titsasoa\teus
5\tarrantzontzi\tarrantza\teus
"""
HARBOUR = {
    "spa": "Los barcos de pesca vuelven cada tarde al puerto de {name} con la captura del día, y en"
    " la lonja esperan ya los compradores que han venido de toda la comarca.",
    "eus": "Arrantzontziak arratsaldero itzultzen dira {name} herriko portura eguneko harrapaketa"
    " guztiarekin, eta eskualde osotik etorritako erosleak zain egoten dira.",
}
TOWN = {
    "spa": "La universidad comenzará el nuevo curso en septiembre y los estudiantes de {name}"
    " tendrán abierto el plazo de inscripción hasta finales de julio.",
    "eus": "Euskal Herriko unibertsitateak ikasturte berria hasiko du irailean, eta {name} herriko"
    " ikasleek izena emateko epea zabalik izango dute uztailaren amaierara arte.",
}


@dataclass
class Page:
    """A page with a text that is about the harbour or not, and links with words around them."""

    language: str
    text: str
    links: dict[str, str] = field(default_factory=dict)
    other: str = ""
    """Its translation."""

    def html(self, path):
        name = path.strip("/").replace("/", " ").title() or "Inicio"
        codes = {"spa": "es", "eus": "eu"}
        other = {"spa": "eus", "eus": "spa"}[self.language]
        head = self.other and (
            f'<link rel="alternate" hreflang="{codes[other]}" href="{self.other}">'
        )
        links = "".join(f'<p><a href="{url}">{words}</a></p>' for url, words in self.links.items())
        text = self.text.format(name=name)
        return (
            f'<!doctype html><html lang="{codes[self.language]}"><head><title>{name}</title>{head}'
            f"</head><body><h1>{name}</h1><p>{text}</p><p>{name}: {text}</p>{links}</body></html>"
        ).encode()


PAGES = {
    "/": Page(
        "spa",
        TOWN["spa"],
        {"/es/curso": "el curso", "/es/faro": "sobre el lugar", "/es/puerto": "el puerto"},
    ),
    "/es/puerto": Page("spa", HARBOUR["spa"], other="/eu/portua"),
    "/eu/portua": Page("eus", HARBOUR["eus"], other="/es/puerto"),
    "/es/faro": Page("spa", HARBOUR["spa"], other="/eu/itsasargia"),
    "/eu/itsasargia": Page("eus", TOWN["eus"], other="/es/faro"),
    "/es/curso": Page("spa", TOWN["spa"], {"/es/lonja": "más"}, other="/eu/ikasturtea"),
    "/eu/ikasturtea": Page("eus", TOWN["eus"], other="/es/curso"),
    "/es/lonja": Page("spa", HARBOUR["spa"]),
}
ON_TOPIC = {"/es/puerto", "/eu/portua", "/es/faro", "/es/lonja"}
KEPT = ON_TOPIC | {"/eu/itsasargia"}
"""The pages on topic, and the translations of such pages."""
PAIRED = {("/es/puerto", "/eu/portua"), ("/es/faro", "/eu/itsasargia")}


def harbour_site():
    """Return a server of the site, as a context manager."""
    return HandMade(PAGES)
