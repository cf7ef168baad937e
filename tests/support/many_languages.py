"""A site in three languages, where Basque pages and Spanish ones never name each other."""

from tests.support.fetching import HTML, NOT_FOUND, Site
from tests.support.scoring import TEXTS
from tests.support.two_domains import names_of

ARTICLES = 6
TAGS = {"spa": "es", "eus": "eu", "eng": "en"}


def path_of(language, number):
    """An address that says nothing of the language; the home page is in English."""
    if number == 0 and language == "eng":
        return "/"
    return f"/p/{(number * 3 + list(TAGS).index(language)) * 7919 % 997:03d}"


def named_by(language):
    """The languages whose versions a page declares: all name the English one, and it names all."""
    return tuple(TAGS) if language == "eng" else (language, "eng")


def page(language, number):
    declared = "".join(
        f'<link rel="alternate" hreflang="{TAGS[each]}" href="{path_of(each, number)}">'
        for each in named_by(language)
    )
    facts = names_of(number)
    text = "".join(
        f"<p>{TEXTS[language].format(name=f'{person} {figure}')}</p>"
        for person, figure in zip(facts[:3], facts[6:9], strict=True)
    )
    links = "".join(
        f'<li><a href="{path_of(language, each)}">{each}</a></li>' for each in range(ARTICLES)
    )
    head = f"<head><title>{facts[0]} {facts[6]}</title>{declared}</head>"
    html = f"<!doctype html><html>{head}<body>{text}<ul>{links}</ul></body></html>"
    return html.encode()


def pages():
    """The pages by path."""
    return {path_of(code, at): page(code, at) for code in TAGS for at in range(ARTICLES)}


def many_languages():
    answers = {path: (200, HTML, body) for path, body in pages().items()}
    return Site({"/favicon.ico": NOT_FOUND} | answers)


def true_versions(url):
    """The versions of each page, in the order in which the crawl names the languages."""
    return [{code: url + path_of(code, number) for code in TAGS} for number in range(ARTICLES)]
