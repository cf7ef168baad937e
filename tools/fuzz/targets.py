"""The targets: for every reader of untrusted bytes, its examples and the errors it may raise."""

import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgpack
from scrapy.robotstxt import ProtegoRobotParser

from bilingual_crawler.alignment.cleaning import broken_rule, rules
from bilingual_crawler.alignment.overlap import anchors, words
from bilingual_crawler.alignment.splitting import sentences
from bilingual_crawler.alignment.vocabularies import Vocabularies
from bilingual_crawler.config.site_keys import compile_pattern
from bilingual_crawler.crawl.fetching import tdmrep
from bilingual_crawler.crawl.fetching.guard import is_open_host
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME
from bilingual_crawler.crawl.fetching.optouts import robots_directives
from bilingual_crawler.crawl.fetching.retry import delay_of
from bilingual_crawler.crawl.negotiation.inquiry import cookies_set
from bilingual_crawler.crawl.requests import decode, encode
from bilingual_crawler.discovery.backlinks import read_answer
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.encoding import clean
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.sitemap import read_sitemap
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.safe_text import tokens
from bilingual_crawler.export.source import Account
from bilingual_crawler.export.tmx import TmxFile
from bilingual_crawler.frontier.shared import records
from bilingual_crawler.languages import LanguagePair, language_of_tag, parse_languages
from bilingual_crawler.languages.stemming import stems_of
from bilingual_crawler.scoring.pair_features import folded
from bilingual_crawler.scoring.preprocess import PREPROCESSINGS
from bilingual_crawler.spiders.bilingual import BilingualSpider
from bilingual_crawler.store.input_files import Damage, read_json_lines
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.urls.addresses import read_address
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, normal_host, site_of
from bilingual_crawler.urls.resolver import UrlResolver
from bilingual_crawler.urls.traps import trap_of
from bilingual_crawler.web.search.query import (
    QueryError,
    anchor_of,
    fold,
    parse_pattern,
    parse_words,
)
from tools.fuzz.inputs import Grammar

PAGE = "https://www.example.org/es/museo"
LONGEST_HEADER = 65_536
SEEN_BYTES, ASKED_BYTES = 18, 10
_PROSE = "El museo de la ciudad está cerrado los lunes, y la entrada es libre para estudiantes. "


@dataclass(frozen=True)
class Target:
    """A reader, the grammar of its inputs, and the errors that it documents."""

    read: Callable[[bytes], object]
    grammar: Grammar
    errors: tuple[type[Exception], ...] = ()


@cache
def pair() -> LanguagePair:
    """Return the languages of the crawl."""
    languages = parse_languages("spa-eus")
    assert isinstance(languages, LanguagePair)
    return languages


def read_page(data: bytes) -> None:
    """Build a document as the spider does; the first byte chooses what the headers say."""
    kinds = ("text/html", "text/html; charset=utf-8", "", "text/plain", "application/xhtml+xml")
    kind = kinds[data[0] % len(kinds)] if data else ""
    document = build_document(PAGE, data, content_type=kind, hints=pair().codes)
    split_mixed(document, pair())


def read_url(data: bytes) -> None:
    """Do everything with a URL that is done before it is fetched."""
    text = _text(data)
    resolve = UrlResolver(PAGE, text)
    resolve("../otra?x=1")
    normal_host(text)
    language_of_tag(text)
    with contextlib.suppress(ValueError):
        read_address(text)
    url = UrlResolver(PAGE)(text)
    if url is None:
        return
    url_fingerprint(url)
    for preprocessing in PREPROCESSINGS.values():
        preprocessing.prepare(url).encode()
    is_open_host(host_of(url))
    site_of(host_of(url))
    trap_of(url, max_length=0, repeated_segments=3, query_parameters=8)


def read_robots(data: bytes) -> None:
    """Read a robots.txt, and check a few pages with it."""
    parser = ProtegoRobotParser(data, None)
    parser.crawl_delay(ROBOT_NAME)
    for path in ("/", "/es/museo?a=1&b=2", "/" + "a" * 900, "/" + "a/" * 400, "/%E4%BA%AC"):
        parser.allowed(f"https://www.example.org{path}", ROBOT_NAME)


def read_map(data: bytes) -> None:
    """Read a sitemap and what it declares."""
    for _ in read_sitemap(data, "https://www.example.org/sitemap.xml").claims():
        pass


def read_tmx(data: bytes) -> None:
    """Read all units of a TMX file."""
    for _ in TmxFile(_file(data), Account()).read():
        pass


def read_lines(data: bytes) -> None:
    """Read all objects of a file of JSON lines."""
    for _ in read_json_lines(_file(data), Damage()):
        pass


def read_texts(data: bytes) -> None:
    """Do with crawled text what alignment, topics and the search page do."""
    text = clean(_text(data))
    fold(text)
    folded(text)
    stems_of("spa").of(text)
    for sentence in sentences(text, "spa"):
        anchors(sentence)
        words(sentence)
        row = SentencePair("1", 0, PAGE, PAGE, "spa", "eus", sentence, _PROSE)
        broken_rule(row, rules(1.0, Vocabularies("spa", "eus")))
    for _ in tokens(text):
        pass


def read_tdmrep(data: bytes) -> None:
    """Read a tdmrep.json, and check a few pages with it."""
    rules = tdmrep.read_rules(data)
    for path in ("/", "/es/museo?a=1", "/" + "a" * 900, "/" + "ab/" * 300):
        tdmrep.is_reserved(f"https://www.example.org{path}", rules)


def read_record(data: bytes) -> None:
    """Read a record that workers keep in Redis; our own scripts return complete rows."""
    seen, asked = len(data) // SEEN_BYTES, len(data) // ASKED_BYTES
    with contextlib.suppress(ValueError):
        list(records.read_seen(data[: seen * SEEN_BYTES]))
    with contextlib.suppress(ValueError):
        list(records.read_asked([1] * asked, data[: asked * ASKED_BYTES]))
    with contextlib.suppress(ValueError):
        records.unpack_failed(data)
    records.unpack_body(data, "www.example.org")


def read_request(data: bytes) -> None:
    """Read a request that was stored, and store it again."""
    request = decode(PAGE, data, _spider())
    with contextlib.suppress(ValueError, TypeError):
        encode(request, _spider())


def read_pattern(data: bytes) -> None:
    """Read a regular expression of the search page or of sites.toml, and search with it."""
    text = data.decode("utf-8", "replace")
    with contextlib.suppress(QueryError):
        parse_words(text).spans(_PROSE)
    with contextlib.suppress(ValueError):
        compile_pattern(text)
    anchor_of(text)
    pattern = parse_pattern(text)
    pattern.spans(_PROSE)
    pattern.matches(_PROSE * 3)


def read_headers(data: bytes) -> None:
    """Read the response headers that the crawler uses."""
    delay = delay_of(1, 1.0, data or None, 1.7e9)
    assert 0 <= delay <= 1e5, delay  # noqa: PLR2004 - about a day
    robots_directives([data])
    cookies_set([data], "eus", by_switch=True)
    text = data.decode("latin-1")
    language_of_tag(text)
    build_document(PAGE, b"<p>a", content_type=text, headers_language=text)


def read_backlinks(data: bytes) -> None:
    """Read the response of a backlink service."""
    read_answer("https://links.example/?u={url}#results.url", data, 100)


def _text(data: bytes) -> str:
    """Return text that may contain lone surrogates, as JSON and JavaScript allow."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


def _file(data: bytes) -> Path:
    file = _folder() / f"input-{os.getpid()}"
    file.write_bytes(data)
    return file


@cache
def _spider() -> BilingualSpider:
    return BilingualSpider()


def _packed(random: Random, size: int) -> bytes:
    """Return MessagePack that claims to be longer or deeper than it is."""
    kind = random.randrange(5)
    if kind == 0:
        return b"\x91" * size
    if kind == 1:
        return random.choice((b"\xdd", b"\xdf", b"\xc6", b"\xdb", b"\xc9")) + b"\xff\xff\xff\xff"
    if kind == 2:  # noqa: PLR2004 - the third of five
        return bytes(msgpack.packb({"meta": _value(random, 4), "headers": _value(random, 3)}))
    fields = ("_class", "callback", "errback", "url", "method", "body", "cookies", "priority")
    return bytes(msgpack.packb({random.choice(fields): _value(random, 3)}))


def _value(random: Random, depth: int) -> Any:
    plain = (
        None,
        True,
        -1,
        1 << 63,
        1e308,
        float("nan"),
        "",
        "parse",
        b"\xff",
        "a" * 1000,
        "__x__",
    )
    if depth == 0 or random.random() < 0.4:  # noqa: PLR2004 - two of five
        return random.choice(plain)
    if random.random() < 0.5:  # noqa: PLR2004 - half of them
        return [_value(random, depth - 1) for _ in range(random.randrange(4))]
    keys = ("depth", "redirect_urls", "proxy", "bilingual_claimed_by", "download_timeout", 1, b"k")
    return {random.choice(keys): _value(random, depth - 1) for _ in range(random.randrange(4))}


def _bomb(random: Random, size: int) -> bytes:
    """Return entities that each hold ten of the one before."""
    depth = min(12, max(2, size // 100))
    defined = "".join(
        f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, depth)
    )
    root = random.choice(("tmx", "urlset", "html"))
    text = f'<!DOCTYPE {root} [<!ENTITY e0 "x">{defined}]><{root}>&e{depth - 1};</{root}>'
    return text.encode()


def _junk(random: Random, size: int) -> bytes:
    """Very many elements that are no translation units."""
    junk = random.choice((b"<x/>", b"<tuv><seg>a</seg></tuv>", b"<!--a-->", b"<?a?>", b"<x>a</x>b"))
    begin, end = random.choice(((b"", b""), (b"<tu>", b"</tu>"), (b"<x><x>", b"</x></x>")))
    return b"<tmx><body>" + begin + junk * (size // len(junk)) + end + b"</body></tmx>"


def _repeats(random: Random, size: int) -> bytes:
    """Return nested repeats with large and small numbers."""
    pattern = random.choice(("a", ".", r"\w", "[ab]", "(?:a|b)", r"\X", "(a)", r"\p{L}"))
    for _ in range(min(40, max(1, size // 7))):
        repeat = random.choice(("+", "*", "?", "{9}", "{99}", "{9999999}", "{2,}", "{,9}", "+?"))
        pattern = f"({random.choice(('', '?:', '?=', '?<=', '?i:', '?>'))}{pattern}){repeat}"
    return pattern.encode()[:300]


HTML = f"""<!doctype html><html lang="es"><head><meta charset="utf-8"><title>Museo | Ciudad</title>
<meta name="robots" content="noai, nofollow"><meta name="description" content="Un museo">
<link rel="canonical" href="/es/museo"><base href="/es/"><link rel="alternate" hreflang="eu"
href="/eu/museoa"></head><body><nav><a href="/eu/museoa" hreflang="eu" rel="nofollow">Euskara</a>
<select><option value="/eu/">EU</option></select></nav><main><h1>Museo</h1><p>{_PROSE * 3}</p>
<ul><li>{_PROSE}</li></ul><table><tr><td>{_PROSE}</td></tr></table><img src="a.png" alt="Museo">
<p lang="eu">Hiriko museoa astelehenetan itxita dago, eta sarrera doakoa da ikasleentzat.</p>
<script>location.href = "/eu/"</script><pre>a  b</pre></main></body></html>""".encode()
URLS = (
    b"https://www.example.org/es/noticias/2024/05/01/museo.html?lang=es&id=12#top",
    b"//user:password@EXAMPLE.org:8080/%C3%A1rbol;jsessionid=0123456789ABCDEF/../a",
    b"http://[2001:db8::1]:80/a",
    b"http://xn--rbol-0qa.example/",
    b"../../a/b/../c?x=1&x=2&x=3",
    b"javascript:alert(1)",
    "http://árbol.example/京都?q=ñ".encode(),
)
ROBOTS = b"""User-agent: *
Disallow: /private/*/x$
Allow: /private/public
Crawl-delay: 2.5
Sitemap: https://www.example.org/sitemap.xml
User-agent: bilingual-crawler
Request-rate: 1/5 0600-0845
Disallow: /es/*?id=
"""
SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?><urlset
xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>
<loc>https://www.example.org/es/1</loc><xhtml:link rel="alternate" hreflang="eu"
href="https://www.example.org/eu/1"/><lastmod>2024-01-01</lastmod></url></urlset>"""
INDEX = b"""<sitemapindex><sitemap><loc>https://www.example.org/a.xml</loc></sitemap>
</sitemapindex>"""
TMX = b"""<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header
srclang="es" datatype="plaintext"/><body><tu tuid="1"><prop type="score">0.9</prop><tuv
xml:lang="es"><prop type="url">https://a.example/</prop><seg>El <hi>museo</hi><ph>x</ph>.</seg>
</tuv><tuv xml:lang="eu"><seg>Museoa.</seg></tuv></tu></body></tmx>"""
LINES = b"""{"url1": "https://a.example/", "text1": "El museo", "score": 0.9, "beads": [1, 1]}
{"text": "\\ud83d\\ude00", "half": "\\ud800", "n": null, "deep": {"a": [[[1e5]]]}}
"""
TDMREP = b"""[{"location": "/es/*", "tdm-reservation": 1, "tdm-policy": "https://a.example/"},
{"location": "/eu/*/x$", "tdm-reservation": 0}, {"location": "*", "tdm-reservation": "1"}]"""
REQUEST = bytes(
    msgpack.packb(
        {
            "meta": {"depth": 3, "redirect_urls": ["https://a.example/"], "dont_retry": True},
            "headers": {b"Accept-Language": [b"eu"]},
            "callback": "parse",
            "priority": 1,
        }
    )
)
BODY = records.pack_body(PAGE, "www.example.org", REQUEST)

TARGETS: dict[str, Target] = {
    "pages": Target(
        read_page,
        Grammar(
            (HTML, b"\xff\xfe" + HTML.decode().encode("utf-16-le"), _PROSE.encode() * 20),
            (
                b"<svg>",
                b"<template>",
                b"<frameset>",
                b"<plaintext>",
                b"<![CDATA[",
                b"<meta charset=",
                b"utf-7",
                b"iso-2022-jp",
                b"hreflang",
                b" style='display:none'",
                b"<br>",
                b"<option>",
            ),
        ),
    ),
    "urls": Target(
        read_url,
        Grammar(URLS, (b"//", b"@", b"..", b"%", b"http:", b"[", b"xn--"), largest=20_000),
    ),
    "robots": Target(
        read_robots,
        Grammar((ROBOTS,), (b"User-agent: *\n", b"Disallow: ", b"Allow: /*", b"*$", b"Sitemap:")),
    ),
    "sitemaps": Target(
        read_map,
        Grammar(
            (SITEMAP, INDEX, b"https://www.example.org/es/1\nhttps://www.example.org/es/2\n"),
            (b"<url>", b"<loc>", b"</loc>", b"<!DOCTYPE a [", b"<?xml encoding='utf-16'?>"),
            (_bomb,),
            zipped=True,
        ),
    ),
    "tmx": Target(
        read_tmx,
        Grammar(
            (TMX,),
            (b"<tu>", b"<tuv>", b"<seg>", b"<hi>", b"&e1;", b"xml:lang='eu'", b"<!DOCTYPE tmx ["),
            (_bomb, _junk),
            zipped=True,
        ),
        (ConfigurationError,),
    ),
    "jsonl": Target(
        read_lines,
        Grammar((LINES,), (b"\\u0000", b"\\udc00", b"null", b'{"', b"\n", b"1e400"), zipped=True),
        (ConfigurationError,),
    ),
    "texts": Target(
        read_texts,
        Grammar(
            (_PROSE.encode() * 5, "Ñandú a@b.example 1.234,5 京都... Él".encode()),
            (b"@", b"www.", b"...", b"<p>", b": x; }", "\u0301\u0323".encode()),
            largest=60_000,
        ),
    ),
    "tdmrep": Target(
        read_tdmrep,
        Grammar((TDMREP,), (b'"location"', b"null", b"{}", b"\\ud800", b"*", b"$", b"%zz")),
        (ValueError,),
    ),
    "records": Target(
        read_record,
        Grammar((BODY, b"\0" * 18, b"\0\x01" * 9), attacks=(_packed,), largest=20_000),
        (ValueError,),
    ),
    "requests": Target(
        read_request,
        Grammar((REQUEST, b"\x80"), attacks=(_packed, _packed), largest=20_000),
        (ValueError,),
    ),
    "patterns": Target(
        read_pattern,
        Grammar(
            (rb"\bmuse(o|um)s?\b", rb"\d{4}-\d{2}", rb"(?i)[a-z]+(?=\s)", rb'"el museo" -ent* x'),
            (b"(?:", b")+", b"{9}", b"{1,}", b"(?R)", b"(?1)", b"[^", b"\\p{L}", b"{e<=2}", b"|"),
            (_repeats, _repeats),
            largest=310,
        ),
        (QueryError,),
    ),
    "headers": Target(
        read_headers,
        Grammar(
            (
                b"120",
                b"Wed, 21 Oct 2026 07:28:00 GMT",
                b"otherbot: noindex, nofollow, noai",
                b"lang=eu; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
                b"eu-ES, es;q=0.5",
                b"text/html; charset=utf-8",
            ),
            (b"GMT", b"+9999", b"-0000", b"99999", b"Feb 30", b"0000", b": ", b"max-snippet:"),
            largest=LONGEST_HEADER,
        ),
    ),
    "backlinks": Target(
        read_backlinks,
        Grammar(
            (b'{"results": [{"url": "https://a.example/"}, {"url": 1}]}',),
            (b"results", b"[]", b"null"),
        ),
        (ValueError,),
    ),
}
