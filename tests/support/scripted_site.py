"""A site whose pages are made by scripts: empty elements that fill, languages that are toggled."""

import json

from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.fetching import HTML, NOT_FOUND, Site

SCRIPT = {"Content-Type": "text/javascript; charset=utf-8"}
JSON = {"Content-Type": "application/json; charset=utf-8"}
TEXT = {"Content-Type": "text/plain"}
ROBOTS = b"User-agent: *\nDisallow: /secret/\n"

FILL = """
async function fill(code) {
    const texts = await (await fetch('/texts/' + code + '.json')).json();
    document.documentElement.lang = code;
    document.getElementById('app').innerHTML =
        '<h1>' + texts[0] + '</h1>' + texts.slice(1).map((text) => '<p>' + text + '</p>').join('');
}
"""
BUNDLE = FILL + "fill('es');"
SHELL = (
    '<!doctype html><html lang="es"><head><title>{title}</title><link rel="stylesheet" '
    'href="/style.css">{head}</head><body><div id="app">{body}</div>'
    '<noscript>You need to enable JavaScript.</noscript><script src="/{script}"></script>'
    "</body></html>"
)


def shell(title="Plaza", script="bundle.js", body="", head=""):
    """A page that is empty until its script has run."""
    return SHELL.format(title=title, script=script, body=body, head=head)


def prose(texts):
    return "".join(f"<p>{text}</p>" for text in texts)


def toggled(script, controls='<button data-lang="eu">EU</button>', texts=SPANISH):
    """A page with all its text, whose language changes by script."""
    return (
        f'<!doctype html><html lang="es"><head><title>Plaza</title></head><body><nav>{controls}'
        f'</nav><div id="app">{prose(texts)}</div><script>{script}</script></body></html>'
    )


IN_PLACE = FILL + "document.querySelector('button').onclick = () => fill('eu');"
BY_ADDRESS = "document.querySelector('button').onclick = () => { location.href = '/eu/plaza'; };"
BY_HISTORY = FILL + (
    "document.querySelector('button').onclick = () =>"
    " { history.pushState({}, '', '/eu/pushed'); fill('eu'); };"
)
BY_COOKIE = (
    "document.querySelector('button').onclick = () =>"
    " { document.cookie = 'lang=eu; path=/'; location.reload(); };"
)
BY_STORAGE = FILL + (
    "if (localStorage.lang === 'eu') fill('eu');"
    "document.querySelector('button').onclick = () =>"
    " { localStorage.lang = 'eu'; location.reload(); };"
)
BY_CHOICE = FILL + (
    "document.querySelector('select').onchange = (event) => fill(event.target.value);"
)
CHOICE = (
    '<select aria-label="Language"><option value="es">ES</option>'
    '<option value="eu">EU</option></select>'
)


def by_cookie(handler):
    """The page in the language that a cookie names."""
    wanted = "lang=eu" in (handler.headers.get("Cookie") or "")
    return 200, HTML, toggled(BY_COOKIE, texts=BASQUE if wanted else SPANISH).encode()


def html(text):
    return 200, HTML, text.encode()


def answers(**pages):
    """The answers of the site; `pages` are more of them, by path without the first slash."""
    return {
        "/robots.txt": (200, TEXT, ROBOTS),
        "/favicon.ico": NOT_FOUND,
        "/bundle.js": (200, SCRIPT, BUNDLE.encode()),
        "/texts/es.json": (200, JSON, json.dumps(["Plaza", *SPANISH]).encode()),
        "/texts/eu.json": (200, JSON, json.dumps(["Enparantza", *BASQUE]).encode()),
        "/cookie": by_cookie,
        "/closed.json": (200, JSON | {"X-Robots-Tag": "noai"}, b"[]"),
    } | {f"/{path}": html(text) for path, text in pages.items()}


def site(**pages):
    return Site(answers(**pages))
