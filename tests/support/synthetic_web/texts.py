"""Words and sentences of the synthetic web, written for it."""

TOPICS = {
    "travel": {"eng": "hotel beach holiday room", "spa": "hotel playa vacaciones habitación"},
    "museums": {"eng": "museum gallery exhibition art", "spa": "museo galería exposición arte"},
    "schools": {"eng": "language school course lesson", "spa": "escuela idioma curso clase"},
    "wine": {"eng": "wine cellar vineyard tasting", "spa": "vino bodega viñedo cata"},
    "cars": {"eng": "car engine garage tyre", "spa": "coche motor taller rueda"},
    "software": {
        "eng": "software computer program server",
        "spa": "programa ordenador servidor red",
    },
    "football": {"eng": "football team match league", "spa": "fútbol equipo partido liga"},
    "recipes": {"eng": "recipe kitchen soup bread", "spa": "receta cocina sopa pan"},
    "money": {"eng": "bank loan credit savings", "spa": "banco préstamo crédito ahorro"},
    "gardens": {"eng": "garden flower seed tree", "spa": "jardín flor semilla árbol"},
    "news": {"eng": "news politics weather report", "spa": "noticias política tiempo informe"},
    "music": {"eng": "music guitar concert song", "spa": "música guitarra concierto canción"},
}
RICH = ("travel", "museums", "schools", "wine")
"""Topics of which many sites are bilingual."""

SENTENCES = {
    "eng": (
        "We have been here for many years and we know everybody who lives in this street.",
        "The people who visit us usually stay longer than they had planned to.",
        "You will find all that you need to know about the {0} and the {1} on these pages.",
        "Our opening hours change in the summer, so please call before you come.",
        "Last week we were asked again why the {2} is so important to us.",
        "If you have any questions, write to us and we will answer within two days.",
        "There is always somebody at the door who can help you with the {3}.",
        "Everything that you see here was made by the people of the village themselves.",
        "Nobody remembers when the first {1} was brought to this part of the country.",
        "Children and their parents are welcome at any time of the year.",
    ),
    "spa": (
        "Llevamos aquí muchos años y conocemos a todos los vecinos que viven en esta calle.",
        "La gente que nos visita suele quedarse más tiempo del que tenía pensado.",
        "En estas páginas encontrará todo lo que hay que saber sobre {0} y sobre {1}.",
        "El horario cambia durante el verano, así que llame por favor antes de venir.",
        "La semana pasada nos preguntaron otra vez por qué nos importa tanto {2}.",
        "Si tiene alguna pregunta, escríbanos y le contestaremos en dos días.",
        "Siempre hay alguien en la puerta que le puede ayudar con {3}.",
        "Todo lo que ve aquí lo hicieron los propios vecinos del pueblo con sus manos.",
        "Nadie recuerda cuándo trajeron por primera vez {1} a esta parte del país.",
        "Los niños y sus padres son bienvenidos en cualquier época del año.",
    ),
    "fra": (
        "Nous sommes ici depuis de nombreuses années et nous connaissons tous les voisins.",
        "Les gens qui nous rendent visite restent souvent plus longtemps que prévu.",
        "Vous trouverez sur ces pages tout ce qu'il faut savoir avant de venir chez nous.",
        "Nos horaires changent pendant l'été, appelez-nous donc avant votre visite.",
        "Si vous avez des questions, écrivez-nous et nous répondrons dans les deux jours.",
        "Il y a toujours quelqu'un à la porte qui peut vous aider à trouver votre chemin.",
        "Personne ne se souvient de la première fois que cela est arrivé dans la région.",
        "Les enfants et leurs parents sont les bienvenus à toute période de l'année.",
    ),
    "deu": (
        "Wir sind seit vielen Jahren hier und kennen alle Nachbarn in dieser Straße.",
        "Die Leute, die uns besuchen, bleiben meistens länger, als sie es vorhatten.",
        "Auf diesen Seiten finden Sie alles, was Sie vor Ihrem Besuch wissen müssen.",
        "Unsere Öffnungszeiten ändern sich im Sommer, rufen Sie also bitte vorher an.",
        "Wenn Sie Fragen haben, schreiben Sie uns, und wir antworten in zwei Tagen.",
        "Es ist immer jemand an der Tür, der Ihnen weiterhelfen kann.",
        "Niemand weiß mehr, wann das zum ersten Mal in diese Gegend gekommen ist.",
        "Kinder und ihre Eltern sind zu jeder Zeit des Jahres willkommen.",
    ),
}
MENUS = {
    "eng": ("About us", "Where we are", "Contact"),
    "spa": ("Quiénes somos", "Dónde estamos", "Contacto"),
    "fra": ("Qui sommes-nous", "Où nous trouver", "Nous écrire"),
    "deu": ("Über uns", "Anfahrt", "Schreiben Sie uns"),
}
NAMES = {"eng": "English", "spa": "Español", "fra": "Français", "deu": "Deutsch"}
TAGS = {"eng": "en", "spa": "es", "fra": "fr", "deu": "de"}
