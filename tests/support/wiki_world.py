"""A small Wikipedia in two languages: as dump files of either layout, and behind an API."""

import bz2
import gzip
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

REDIRECT = "Balet"


@dataclass
class Edition:
    """One language: which pages and categories stand in a category, links, what is special."""

    subcategories: dict = field(default_factory=dict)
    members: dict = field(default_factory=dict)
    translations: dict = field(default_factory=dict)
    links: dict = field(default_factory=dict)
    hidden: tuple = ()
    disambiguations: tuple = ()

    @property
    def categories(self):
        below = [each for all_below in self.subcategories.values() for each in all_below]
        return list(dict.fromkeys([*self.members, *self.subcategories, *below]))

    @property
    def articles(self):
        inside = [each for all_inside in self.members.values() for each in all_inside]
        return list(dict.fromkeys([*inside, *self.links]))


EN = Edition(
    subcategories={
        "Ballet": ["Ballet technique", "Ballet companies", "Ballet stubs", "Ballet by hand"],
        "Ballet technique": ["Turns in ballet", "Ballet"],  # a cycle
        "Turns in ballet": ["Fast turns"],
    },
    members={
        "Ballet": ["Ballet", "Choreography", "List of ballets", "Pointe shoe", REDIRECT],
        "Ballet technique": ["Barre (ballet)", "Pas de deux", "Choreography"],
        "Turns in ballet": ["Pirouette", "Tour en l'air"],
        "Fast turns": ["Too deep"],
        "Ballet companies": ["Royal Ballet", "ABT", "Swan (disambiguation)", "Arabesque"],
        "Ballet stubs": ["Stub"],
        "Ballet by hand": ["Hidden"],
        "Chess": ["Castling"],
    },
    translations={
        "Ballet": "Ballet",
        "Choreography": "Coreografía",
        "Barre (ballet)": "Barra (ballet)",
        "Pas de deux": "Paso a dos",
        "Pirouette": "Pirueta",
        "Royal Ballet": "Royal Ballet",
        "Castling": "Enroque",
    },
    links={
        "Ballet": ["https://example.org/en/ballet", "https://doi.org/10.1/x", "mailto:a@b.example"],
        "Choreography": ["https://example.org/en/steps", "http://example.org/score.pdf"],
        "Pirouette": ["http://turns.example.com:8080/p?x=1&y='2'", "http://once.example.com/"],
        "Royal Ballet": ["https://company.example.net/about"],
        "Castling": ["https://chess.example.org/"],
        "Arabesque": ["https://disambiguation.example.org/"],
    },
    hidden=("Ballet by hand",),
    disambiguations=("Arabesque",),
)
ES = Edition(
    members={"Danza clásica": ["Ballet"]},
    links={
        "Ballet": [
            "https://example.org/es/ballet",
            "https://web.archive.org/web/20100101000000/http://danza.example.es/libro",
        ],
        "Pirueta": ["http://turns.example.com/es"],
        "Coreografía": [],
        "Enroque": ["https://chess.example.org/es"],
    },
)
WORLD = {"en": EN, "es": ES}


# Dump files


def quoted(value):
    if value is None or isinstance(value, int | float):
        return b"NULL" if value is None else str(value).encode()
    raw = value if isinstance(value, bytes) else value.encode()
    for one, other in ((b"\\", b"\\\\"), (b"'", b"\\'"), (b'"', b'\\"'), (b"\n", b"\\n")):
        raw = raw.replace(one, other)
    return b"'" + raw + b"'"


def sql(table, columns, rows, a_statement=2):
    """A table as mysqldump writes it, a few rows to the statement."""
    defined = "".join(f"  `{name}` varbinary(255) NOT NULL DEFAULT '',\n" for name in columns)
    text = (
        f"-- MySQL dump 10.19\n/*!40101 SET NAMES binary */;\nDROP TABLE IF EXISTS `{table}`;\n"
        f"CREATE TABLE `{table}` (\n{defined}  PRIMARY KEY (`{columns[0]}`),\n"
        f"  KEY `{table}_x` (`{columns[-1]}`)\n) ENGINE=InnoDB DEFAULT CHARSET=binary;\n\n"
        f"/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n"
    ).encode()
    rows = list(rows)
    for start in range(0, len(rows), a_statement):
        some = [
            b"(" + b",".join(map(quoted, row)) + b")" for row in rows[start : start + a_statement]
        ]
        text += f"INSERT INTO `{table}` VALUES ".encode() + b",".join(some) + b";\n"
    return text + f"/*!40000 ALTER TABLE `{table}` ENABLE KEYS */;\n".encode()


def reversed_host(url):
    """An address as `externallinks` has it since MediaWiki 1.41: reversed host, and path."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    name, colon, port = host.partition(":")
    return f"{scheme}://{'.'.join(reversed(name.split('.')))}.{colon}{port}", slash + path


def tables(edition, layout):
    """The tables of an edition; `layout` is "old" (before 1.41) or "new" (since 1.45)."""
    names = [(0, each) for each in edition.articles] + [(14, each) for each in edition.categories]
    page_of = {each: number for number, each in enumerate(names, 100)}
    target_of = {each: number for number, each in enumerate(edition.categories, 9000)}
    stored = {key: key[1].replace(" ", "_") for key in page_of}
    yield (
        "page",
        ("page_id", "page_namespace", "page_title", "page_is_redirect", "page_random"),
        [(n, key[0], stored[key], int(key[1] == REDIRECT), 0.5) for key, n in page_of.items()],
    )
    inside = [
        (page_of[space, child], kind, parent)
        for space, kind, graph in (
            (0, "page", edition.members),
            (14, "subcat", edition.subcategories),
        )
        for parent, children in graph.items()
        for child in children
    ]
    noise = b"\xff\x00sort'key\\"
    if layout == "old":
        columns = ("cl_from", "cl_to", "cl_sortkey", "cl_timestamp", "cl_collation", "cl_type")
        yield (
            "categorylinks",
            columns,
            [(n, to.replace(" ", "_"), noise, "2020-01-01", "uca", kind) for n, kind, to in inside],
        )
    else:
        yield (
            "categorylinks",
            ("cl_from", "cl_sortkey", "cl_timestamp", "cl_type", "cl_collation_id", "cl_target_id"),
            [(n, noise, "2026-01-01", kind, 1, target_of[to]) for n, kind, to in inside],
        )
        targets = [(n, 14, each.replace(" ", "_")) for each, n in target_of.items()]
        yield "linktarget", ("lt_id", "lt_namespace", "lt_title"), [(1, 10, "Ballet"), *targets]
    links = [(page_of[0, title], url) for title, urls in edition.links.items() for url in urls]
    if layout == "old":
        yield (
            "externallinks",
            ("el_id", "el_from", "el_to", "el_index"),
            [(at, page, url, noise) for at, (page, url) in enumerate(links)],
        )
    else:
        yield (
            "externallinks",
            ("el_id", "el_from", "el_to_domain_index", "el_to_path"),
            [(at, page, *reversed_host(url)) for at, (page, url) in enumerate(links)],
        )
    yield (
        "langlinks",
        ("ll_from", "ll_lang", "ll_title"),
        [(page_of[0, a], "de", a.upper()) for a in edition.translations]
        + [(page_of[0, a], "es", b) for a, b in edition.translations.items()],
    )
    yield (
        "page_props",
        ("pp_page", "pp_propname", "pp_value", "pp_sortkey"),
        [(page_of[14, each], "hiddencat", "", None) for each in edition.hidden]
        + [(page_of[0, each], "disambiguation", "", None) for each in edition.disambiguations],
    )


def write_dumps(folder, layout="new", leave_out=()):
    """All files of both editions."""
    for code, edition in WORLD.items():
        for name, columns, rows in tables(edition, layout):
            if name not in leave_out:
                file = folder / f"{code}wiki-20260101-{name}.sql.gz"
                file.write_bytes(gzip.compress(sql(name, columns, rows)))
    return folder


def write_pages(folder):
    """The text of all articles, links in it, as pages-articles.xml.bz2 of both editions."""
    for code, edition in WORLD.items():
        pages = "".join(
            f"<page><title>{escape(title)}</title><ns>0</ns><id>1</id><revision><text>"
            f"{escape(' '.join(f'[{url} text]' for url in edition.links.get(title, [])))}"
            "</text></revision></page>"
            for title in edition.articles
        )
        text = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{pages}</mediawiki>'
        file = folder / f"{code}wiki-20260101-pages-articles.xml.bz2"
        file.write_bytes(bz2.compress(text.encode()))
    return folder


# The API


class _Api(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server.wiki
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked = {name: values[0] for name, values in parse_qs(body).items()}
        server.asked.append((self.path, asked, self.headers["User-Agent"]))
        if server.troubles:
            status, headers, answer = server.troubles.pop(0)
        else:
            status, headers, answer = 200, {}, server.answer(self.path.split("/")[1], asked)
        raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        if "gzip" in self.headers.get("Accept-Encoding", "") and status == 200:
            raw, headers = gzip.compress(raw), {**headers, "Content-Encoding": "gzip"}
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(raw))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_args):
        pass


class _Server(ThreadingHTTPServer):
    wiki: "WikiServer"


class WikiServer:
    """Answers in MediaWiki's format, two things at a time; `troubles` come first."""

    def __init__(self, troubles=()):
        self.troubles = list(troubles)
        self.asked = []
        self._server = _Server(("127.0.0.1", 0), _Api)
        self._server.wiki = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/{{lang}}/w/api.php"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_args):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, code, asked):
        edition = WORLD[code]
        if asked.get("list") == "categorymembers":
            return self._members(edition, asked)
        if asked.get("list") == "search":
            like = [each for each in edition.categories if asked["srsearch"][:4] in each]
            return {"query": {"search": [{"ns": 14, "title": f"Category:{e}"} for e in like]}}
        titles = asked["titles"].split("|")
        assert len(titles) <= 50, "the API takes no more"
        if asked["prop"] == "categoryinfo":
            return {"query": {"pages": [self._category(edition, title) for title in titles]}}
        return self._articles(edition, titles, asked)

    @staticmethod
    def _members(edition, asked):
        category = asked["cmtitle"].removeprefix("Category:")
        found = [{"ns": 0, "title": each} for each in edition.members.get(category, [])]
        if "subcat" in asked["cmtype"]:
            below = edition.subcategories.get(category, [])
            found += [{"ns": 14, "title": f"Category:{each}"} for each in below]
        start = int(asked.get("cmcontinue", "0"))
        answer: dict[str, Any] = {"query": {"categorymembers": found[start : start + 2]}}
        if start + 2 < len(found):
            answer["continue"] = {"cmcontinue": str(start + 2), "continue": "-||"}
        return answer

    @staticmethod
    def _category(edition, title):
        name = title.removeprefix("Category:")
        name = name[0].upper() + name[1:]
        if name not in edition.categories:
            return {"ns": 14, "title": title, "missing": True}
        info = {"size": 1} | ({"hidden": True} if name in edition.hidden else {})
        return {"ns": 14, "title": f"Category:{name}", "categoryinfo": info}

    @staticmethod
    def _articles(edition, titles, asked):
        start = int(asked.get("elcontinue", "0"))
        links = [
            (title, url) for title in titles if title in edition.articles
            for url in edition.links.get(title, [])
        ]  # fmt: skip
        pages = []
        for title in titles:
            page = {"ns": 0, "title": title}
            if title not in edition.articles:
                page["missing"] = True
            if title == REDIRECT:
                page["redirect"] = True
            if start == 0 and "lllang" in asked and title in edition.translations:
                page["langlinks"] = [{"lang": "es", "title": edition.translations[title]}]
            if title in edition.disambiguations:
                page["pageprops"] = {"disambiguation": ""}
            some = [{"url": url} for owner, url in links[start : start + 2] if owner == title]
            pages.append(page | ({"extlinks": some} if some else {}))
        answer: dict[str, Any] = {"query": {"pages": pages}}
        if start + 2 < len(links):
            answer["continue"] = {"elcontinue": str(start + 2), "continue": "||"}
        return answer
