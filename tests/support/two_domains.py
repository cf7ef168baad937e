"""One site on two domains, one per language, whose pages say nothing of each other."""

import random

from tests.support.scoring import TEXTS

ES, EUS = "http://www.example.es", "http://www.example.eus"
PAGES = 8
LETTERS = "abdegiklmnorstuz"


def names_of(number):
    """Names and figures that only a page and its translation have."""
    chance = random.Random(number)
    people = ["".join(chance.sample(LETTERS, 7)).title() for _ in range(6)]
    return [*people, *(str(chance.randrange(1_000, 99_999)) for _ in range(6))]


def body(language, number, links=()):
    """A page about things of its own, with links to others."""
    facts = names_of(number)
    listed = "".join(f'<li><a href="{url}">{text}</a></li>' for url, text in links)
    text = "".join(
        f"<p>{TEXTS[language].format(name=f'{person} {figure}')}</p>"
        for person, figure in zip(facts[:6], facts[6:], strict=True)
    )
    title = f"<title>{facts[0]} {facts[6]}</title>"
    html = f"<!doctype html><html><head>{title}</head><body>{text}<ul>{listed}</ul></body></html>"
    return html.encode()


def path_of(language, number):
    """An address that is another one in each language."""
    if not number:
        return "/"
    word = "berria" if language == "eus" else "noticia"
    return f"/{word}-{(number * 7 + 3) % 97}{language[1]}"


def two_domains(first=ES, second=EUS, switches=(True, True)):
    """The pages by URL; `switches` says in which language two pages lead to their translations."""
    pages = {}
    for number in range(PAGES):
        for language, host, other, shown, at in (
            ("spa", first, second + path_of("eus", number), "Euskara", 0),
            ("eus", second, first + path_of("spa", number), "Español", 1),
        ):
            links = [(path_of(language, each), str(each)) for each in range(PAGES)]
            if switches[at] and number < 2:
                links.append((other, shown))
            pages[f"{host}{path_of(language, number)}"] = body(language, number, links)
    return pages


def true_pairs(first=ES, second=EUS):
    return {
        (f"{first}{path_of('spa', number)}", f"{second}{path_of('eus', number)}")
        for number in range(PAGES)
    }
