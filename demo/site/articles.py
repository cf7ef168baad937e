"""Generated article pairs, so that the site can have any size.

Article n is the same in every run: its sentences, names and figures are drawn by a generator seeded
with n, once for both languages, so that the two texts are translations sentence by sentence. Index
pages form a tree with ten branches each, so any article is a few links away from the home page.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random

from demo.site.texts import Text

ARTICLES_A_PAGE = 20
BRANCHES = 10
PARAGRAPHS = 6
SENTENCES = 3
LANGUAGES = ("es", "eu")
PathMaker = Callable[[str, int], str]

_PATH = re.compile(r"/(es|eu)/articulos/(indice/)?(0|[1-9]\d{0,8})")

# Names that end in a vowel, so that the Basque case endings are the same for all.
_PLACES = (
    "Goiauzo", "Iturbide", "Lizardi", "Artadi", "Sagasti",
    "Elorri", "Basarte", "Otaola", "Arrieta", "Pagadi",
)  # fmt: skip
_THINGS = (
    ("la fuente", "iturria"),
    ("el camino", "bidea"),
    ("el frontón", "pilotalekua"),
    ("la escuela", "eskola"),
    ("el huerto comunal", "herri-baratzea"),
    ("el horno de pan", "ogi-labea"),
    ("el lavadero", "ikuztegia"),
    ("la ermita", "ermita"),
    ("el taller", "tailerra"),
    ("el granero", "aletegia"),
    ("el refugio", "aterpea"),
    ("la serrería", "zerratokia"),
)
_PEOPLE = (
    ("Ane", "Anek"),
    ("Jon", "Jonek"),
    ("Miren", "Mirenek"),
    ("Iker", "Ikerrek"),
    ("Nerea", "Nereak"),
    ("Unai", "Unaik"),
    ("Leire", "Leirek"),
    ("Aitor", "Aitorrek"),
    ("Maite", "Maitek"),
    ("Eneko", "Enekok"),
)
_SENTENCES = (
    (
        "En {year} los vecinos de {place} arreglaron {thing} en {n} días.",
        "{year}. urtean {place}ko herritarrek {n} egunetan konpondu zuten {thing}.",
    ),
    (
        "La obra costó {n} euros y se pagó entre todas las casas del barrio.",
        "Obrak {n} euro balio izan zituen, eta auzoko etxe guztien artean ordaindu zen.",
    ),
    (
        "{person} guarda todavía {n} fotografías de aquella fiesta.",
        "{person} oraindik gordetzen ditu festa hartako {n} argazki.",
    ),
    (
        "Desde {place} se tarda {n} minutos en llegar a la plaza por el sendero viejo.",
        "{place}tik {n} minutu behar dira plazara iristeko bidezidor zaharretik.",
    ),
    (
        "En invierno la nieve cubre los tejados de {place} durante {n} semanas.",
        "Neguan elurrak {n} astez estaltzen ditu {place}ko teilatuak.",
    ),
    (
        "El Ayuntamiento ha comprado {n} árboles jóvenes para plantarlos junto al río.",
        "Udalak {n} zuhaitz gazte erosi ditu ibaiaren ondoan landatzeko.",
    ),
    (
        "{person} cuenta que su abuela conocía {n} canciones de memoria.",
        "{person} kontatzen du bere amonak {n} kanta zekizkiela buruz.",
    ),
    (
        "Los pastores de {place} bajaron del monte con {n} ovejas.",
        "{place}ko artzainak {n} ardirekin jaitsi ziren menditik.",
    ),
    (
        "La lluvia de {year} se llevó el puente, pero {thing} quedó en pie.",
        "{year}. urteko euriteak zubia eraman zuen, baina {thing} zutik geratu zen.",
    ),
    (
        "Este año se han recogido {n} kilos de castañas en los bosques de {place}.",
        "Aurten {n} kilo gaztaina bildu dira {place}ko basoetan.",
    ),
    (
        "Quien quiera visitar {thing} debe pedir la llave en {place}.",
        "{thing} bisitatu nahi duenak {place}n eskatu behar du giltza.",
    ),
    (
        "A la comida de hermandad acudieron {n} personas de todo el valle.",
        "Haran osoko {n} lagun etorri ziren anaitasun bazkarira.",
    ),
    (
        "{person} enseñó a los niños a distinguir las setas buenas de las venenosas.",
        "{person} perretxiko onak eta pozoitsuak bereizten erakutsi zien haurrei.",
    ),
    (
        "El libro de cuentas de {year} dice que {thing} tenía {n} llaves.",
        "{year}. urteko kontu-liburuak dioenez, {thing} ixteko {n} giltza zeuden.",
    ),
    (
        "Las campanas de {place} sonaron {n} veces aquella noche de tormenta.",
        "{place}ko kanpaiek {n} aldiz jo zuten ekaitz gau hartan.",
    ),
    (
        "La asociación de mujeres ha reunido {n} recetas antiguas en un cuaderno.",
        "Emakumeen elkarteak {n} errezeta zahar bildu ditu koaderno batean.",
    ),
    (
        "Nadie recuerda quién construyó {thing}, aunque en la puerta se lee {year}.",
        "Inork ez du gogoan nork eraiki zuen {thing}, atean {year} irakurtzen den arren.",
    ),
    (
        "El autobús se detiene en {place} {n} veces cada semana.",
        "Autobusa astean {n} aldiz gelditzen da {place}n.",
    ),
    (
        "{person} vendió en la feria {n} quesos hechos con leche de su rebaño.",
        "{person} bere artaldearen esnearekin egindako {n} gazta saldu zituen ferian.",
    ),
    (
        "Los arqueólogos encontraron en {place} {n} monedas de plata.",
        "Arkeologoek zilarrezko {n} txanpon aurkitu zituzten {place}n.",
    ),
    (
        "Cuando hace buen tiempo se ven desde allí {n} pueblos y un trozo de mar.",
        "Eguraldi ona egiten duenean, {n} herri eta itsaso zati bat ikusten dira handik.",
    ),
    (
        "El coro ensayó durante {n} tardes antes del concierto de {place}.",
        "Abesbatzak {n} arratsaldez entseatu zuen {place}ko kontzertuaren aurretik.",
    ),
    (
        "En la biblioteca hay {n} cartas que los emigrantes escribieron hasta {year}.",
        "Liburutegian emigranteek {year}. urtera arte idatzitako {n} gutun daude.",
    ),
    (
        "{person} tardó {n} meses en tallar la puerta de madera.",
        "{person} {n} hilabete behar izan zituen egurrezko atea zizelkatzeko.",
    ),
)
_TITLES = {
    "article": ("Crónica {n}: {thing} de {place}", "{n}. kronika: {place}ko {thing}"),
    "index": ("Índice {n} de las crónicas", "Kroniken {n}. aurkibidea"),
}


@lru_cache(maxsize=4096)
def _draw(kind: str, number: int) -> dict[str, Text]:
    random, titles = _begin(kind, number)
    drawn = [
        _fill(pair, random, random.randrange(2, 98))
        for pair in random.sample(_SENTENCES, PARAGRAPHS * SENTENCES)
    ]
    images = (f"{kind}-{number}.png",)
    return {
        language: Text(
            titles[side],
            tuple(
                " ".join(pair[side] for pair in drawn[start : start + SENTENCES])
                for start in range(0, len(drawn), SENTENCES)
            ),
            images,
        )
        for side, language in enumerate(LANGUAGES)
    }


def _begin(kind: str, number: int) -> tuple[Random, tuple[str, str]]:
    """Return the generator of a page, and its titles, which are drawn first for the lists."""
    random = Random(f"{kind} {number}")  # noqa: S311 - repeatable prose, not a secret
    return random, _fill(_TITLES[kind], random, number + 1)


def _fill(pair: tuple[str, str], random: Random, figure: int) -> tuple[str, str]:
    place = random.choice(_PLACES)
    thing, person = random.choice(_THINGS), random.choice(_PEOPLE)
    year = random.randrange(1702, 2020)
    spanish, basque = (
        template.format(n=figure, place=place, year=year, thing=thing[side], person=person[side])
        for side, template in enumerate(pair)
    )
    return spanish[0].upper() + spanish[1:], basque[0].upper() + basque[1:]


def article(number: int) -> dict[str, Text]:
    """Return article `number` in both languages."""
    return _draw("article", number)


def index_page(number: int) -> dict[str, Text]:
    """Return the text above the list of an index page, in both languages."""
    return _draw("index", number)


def article_path(language: str, number: int) -> str:
    """Return the address of an article."""
    return f"/{language}/articulos/{number}"


def index_path(language: str, number: int) -> str:
    """Return the address of an index page."""
    return f"/{language}/articulos/indice/{number}"


def index_pages(articles: int) -> int:
    """Return how many index pages are needed for some number of articles."""
    return -(-articles // ARTICLES_A_PAGE)


def find(path: str, articles: int) -> tuple[str, bool, int] | None:
    """Return the language, whether it is an index page, and the number of the page at a path."""
    match = _PATH.fullmatch(path)
    if not match:
        return None
    is_index, number = bool(match[2]), int(match[3])
    end = index_pages(articles) if is_index else articles
    return (match[1], is_index, number) if number < end else None


def links_of_index(language: str, number: int, articles: int) -> Iterator[tuple[str, str]]:
    """Yield the articles of an index page, then the index pages below it."""
    side = LANGUAGES.index(language)
    first = number * ARTICLES_A_PAGE
    for listed in range(first, min(first + ARTICLES_A_PAGE, articles)):
        yield article_path(language, listed), _begin("article", listed)[1][side]
    below = number * BRANCHES + 1
    for branch in range(below, min(below + BRANCHES, index_pages(articles))):
        yield index_path(language, branch), _TITLES["index"][side].format(n=branch + 1)
