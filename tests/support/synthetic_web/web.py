"""The web itself: sites, what they link to, and their pages, all made from one number.

It has the properties that back-and-forth crawling builds on. A few percent of the sites are
bilingual (English and Spanish), more of them in some topics than in others. Sites link mostly
to sites of their own topic, and often to a few large portals. Hubs are pages that list sites
of a topic: some gather places for foreigners, and half of what they list is bilingual; most
list whatever there is. What is written around a link tells a little of where it leads, with
much noise. Some sites have a language switch and are not bilingual: it leads to other
languages, or nothing but the menu is translated.
"""

import random
from dataclasses import dataclass, field
from enum import Enum
from html import escape

from tests.support.synthetic_web.texts import MENUS, NAMES, RICH, SENTENCES, TAGS, TOPICS

PAIR = ("eng", "spa")
OTHERS = ("eng", "eng", "eng", "spa", "spa", "fra", "deu")
"""Languages of sites in one language, the likelier the oftener."""
ENDINGS = {"eng": ("com", "com", "org", "net"), "spa": ("es", "es", "com", "org")}
HUB_PATHS = ("/links.html", "/directory/{topic}", "/enlaces", "/resources/links", "/guide/")
PLAIN_PATHS = ("/", "/blog/2019/05/post", "/news/item-12", "/about", "/forum/thread-7")


class Kind(Enum):
    PLAIN = "in one language"
    BILINGUAL = "in both languages"
    ELSEWHERE = "in two languages, one of them not ours"
    MENU = "only the menu is in both languages"


@dataclass
class Edge:
    """A link: where to, what it says, and what stands around it."""

    url: str
    anchor: str
    around: str


@dataclass
class Site:
    number: int
    host: str
    kind: Kind
    topic: str
    languages: tuple[str, ...]
    style: int
    """How its languages are switched."""
    link_page: str = "/"
    """The page that its links to other sites stand on."""
    is_hub: bool = False
    edges: list[Edge] = field(default_factory=list)

    @property
    def home(self) -> str:
        return f"http://{self.host}/"


class Web:
    """`sites` sites, made from `seed`; the same numbers always give the same web.

    `share` of the sites of rich topics are bilingual, an eighth of that elsewhere.
    """

    def __init__(self, sites: int, seed: int = 0, share: float = 0.08) -> None:
        self._seed = seed
        self._share = share
        self._rng = random.Random(f"web {seed}")
        self.sites = [self._site(number) for number in range(sites)]
        self.by_host = {site.host: site for site in self.sites}
        self._by_topic = {
            topic: [site for site in self.sites if site.topic == topic] for topic in TOPICS
        }
        self._portals = self._rng.sample(self.sites, max(3, sites // 200))
        self._hubs = [site for site in self.sites if site.is_hub]
        for site in self.sites:
            self._link(site)

    @property
    def bilingual(self) -> set[str]:
        """The hosts that a search should find."""
        return {site.host for site in self.sites if site.kind is Kind.BILINGUAL}

    def seeds(self, number: int) -> list[str]:
        """Where a search begins: sites of the rich topics, as somebody would list them."""
        rng = random.Random(f"seeds {self._seed}")
        rich = [site.home for site in self.sites if site.topic in RICH and not site.is_hub]
        return rng.sample(rich, number)

    def backlinks(self, share: float = 0.5) -> list[tuple[str, str]]:
        """What a search engine would know: target and source of a share of all links."""
        rng = random.Random(f"backlinks {self._seed}")
        links = [
            (edge.url, f"http://{site.host}{site.link_page}")
            for site in self.sites
            for edge in site.edges
        ]
        return [link for link in links if rng.random() < share]

    def page(self, host: str, path: str) -> str | None:
        """The HTML of a page; None where there is none."""
        site = self.by_host.get(host)
        if site is None:
            return None
        return _page(site, path)

    def _site(self, number: int) -> Site:
        rng = self._rng
        topic = rng.choice(list(TOPICS))
        is_hub = rng.random() < 0.08
        kind = self._kind(topic) if not is_hub else Kind.PLAIN
        if kind is Kind.PLAIN:
            languages: tuple[str, ...] = (rng.choice(OTHERS),)
        elif kind is Kind.ELSEWHERE:
            languages = (rng.choice(PAIR), rng.choice(("fra", "deu")))
        else:
            languages = tuple(rng.sample(PAIR, 2))
        word = rng.choice(TOPICS[topic].get(languages[0], TOPICS[topic]["eng"]).split())
        plain = word.translate(str.maketrans("áéíóúñ", "aeioun"))
        ending = rng.choice(ENDINGS.get(languages[0], ("com", "org")))
        if kind is Kind.BILINGUAL and rng.random() < 0.3:
            ending = "es"
        paths = HUB_PATHS if is_hub else PLAIN_PATHS
        return Site(
            number=number,
            host=f"{plain}{number}.{ending}",
            kind=kind,
            topic=topic,
            languages=languages,
            style=rng.randrange(3),
            link_page=rng.choice(paths).format(topic=topic) if rng.random() < 0.8 else "/",
            is_hub=is_hub,
        )

    def _kind(self, topic: str) -> Kind:
        chance = self._rng.random()
        bilingual = self._share if topic in RICH else self._share / 8
        if chance < bilingual:
            return Kind.BILINGUAL
        if chance < bilingual + 0.05:
            return Kind.ELSEWHERE
        return Kind.MENU if chance < bilingual + 0.06 else Kind.PLAIN

    def _link(self, site: Site) -> None:
        rng = self._rng
        near = self._by_topic[site.topic]
        for_foreigners = site.is_hub and site.topic in RICH and rng.random() < 0.4
        targets: list[Site] = []
        if site.is_hub:
            targets += rng.sample(near, min(len(near), rng.randint(10, 30)))
            if for_foreigners:
                wanted = [each for each in near if each.kind is Kind.BILINGUAL]
                targets += rng.sample(wanted, min(len(wanted), rng.randint(5, 15)))
        else:
            targets += rng.sample(near, min(len(near), rng.randint(1, 5)))
            targets += rng.sample(self.sites, rng.randint(0, 3))
            targets += rng.sample(self._portals, rng.randint(0, 2))
            if self._hubs and rng.random() < 0.3:
                targets.append(rng.choice(self._hubs))
        others = {each.number: each for each in targets if each is not site}
        site.edges = [self._edge(site, each, for_foreigners) for each in others.values()]

    def _edge(self, site: Site, target: Site, for_foreigners: bool) -> Edge:
        rng = self._rng
        language = site.languages[0]
        words = TOPICS[target.topic].get(language, TOPICS[target.topic]["eng"]).split()
        anchor = f"{rng.choice(words)} {target.host.partition('.')[0]}"
        around = [rng.choice(words), rng.choice(SENTENCES[language]).split(".")[0].format(*words)]
        hints = {"eng": "English and Spanish spoken", "spa": "se habla inglés y español"}
        says = 0.5 if for_foreigners else 0.15
        if (target.kind is Kind.BILINGUAL and rng.random() < says) or rng.random() < 0.02:
            around.append(hints.get(language, "international"))
        where = target.link_page if target.is_hub and rng.random() < 0.5 else "/"
        return Edge(f"http://{target.host}{where}", anchor, ", ".join(around))


def _page(site: Site, path: str) -> str | None:
    """A page of a site: the first language at the root, the second under its tag."""
    first, *rest = site.languages
    tag, _, name = path.lstrip("/").partition("/")
    if rest and tag == TAGS[rest[0]]:
        shown, menu = (first, rest[0]) if site.kind is Kind.MENU else (rest[0], rest[0])
        return _html(site, shown, menu, name or "home", "/")
    if path in ("/", site.link_page) or path.startswith("/page"):
        other = f"/{TAGS[rest[0]]}/" if rest else ""
        links = path == site.link_page or (path == "/" and not site.is_hub)
        return _html(site, first, first, path.strip("/") or "home", other, links=links)
    return None


def _html(site: Site, shown: str, menu: str, name: str, other: str, *, links: bool = False) -> str:
    words = TOPICS[site.topic].get(shown, TOPICS[site.topic]["eng"]).split()
    rng = random.Random(f"{site.host} {name} {shown}")
    body = [rng.sample(SENTENCES[shown], 4) for _ in range(3)]
    paragraphs = "".join(f"<p>{' '.join(each).format(*words)}</p>" for each in body)
    base = "/" if menu == site.languages[0] else f"/{TAGS[menu]}/"
    items = "".join(
        f'<li><a href="{base}page{number}">{text}</a>' for number, text in enumerate(MENUS[menu])
    )
    edges = ""
    if links:
        edges = "".join(
            f'<li>{escape(edge.around)}: <a href="{edge.url}">{escape(edge.anchor)}</a></li>'
            for edge in site.edges
        )
    head, switch = _switch(site, menu, other) if other else ("", "")
    return (
        f'<!doctype html><html lang="{TAGS[shown]}"><head><meta charset="utf-8">'
        f"<title>{words[0]} {site.number}</title>{head}</head><body>"
        f"<nav><ul>{items}</ul>{switch}</nav><main><h1>{words[0]} {name}</h1>{paragraphs}</main>"
        f"<ul>{edges}</ul></body></html>"
    )


def _switch(site: Site, menu: str, other: str) -> tuple[str, str]:
    """How a page leads to its other language: a name, a flag, or a declaration too."""
    wanted = next(language for language in site.languages if language != menu)
    name, tag = NAMES[wanted], TAGS[wanted]
    if site.style == 0:
        return "", f'<a href="{other}">{name}</a>'
    if site.style == 1:
        return "", f'<a href="{other}"><img src="/flags/{tag}.png" alt="{name}"></a>'
    link = f'<link rel="alternate" hreflang="{tag}" href="{other}">'
    return link, f'<a href="{other}" hreflang="{tag}">{tag.upper()}</a>'
