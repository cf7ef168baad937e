"""Sources of backlinks: how they are named, what they answer, what they do with bad files."""

import gzip

import pytest
from scrapy.utils.test import get_crawler

from bilingual_crawler.config.discovery import SourceSpec, read_sources
from bilingual_crawler.crawl.discovery.backlinks import make_provider
from bilingual_crawler.discovery.backlinks import (
    BacklinkProvider,
    LinkFile,
    WebGraph,
    question,
    read_answer,
    valid_addresses,
)
from bilingual_crawler.errors import ConfigurationError
from tests.support.plugin import install

OWN = SourceSpec("own")


def test_our_own_links_are_always_among_the_sources():
    assert read_sources("") == read_sources("own") == read_sources(None) == (OWN,)


def test_sources_are_named_with_commas_between_them(tmp_path):
    file = tmp_path / "a,b.tsv"
    file.write_text("")
    api = "https://api.example.org/?to={url}&fields=a,b#results.source"
    assert read_sources(f"links:{file}, webgraph:{tmp_path},http:{api}") == (
        OWN,
        SourceSpec("links", str(file)),
        SourceSpec("webgraph", str(tmp_path)),
        SourceSpec("http", api),
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("google", "must be own, webgraph:FOLDER"),
        ("links:/no/such/file", "which does not exist"),
        ("webgraph:/no/such/folder", "which does not exist"),
        ("http:api.example.org?to={url}", "whole address"),
        ("http:https://api.example.org/", "needs {url} or {site}"),
        ("http:https://api.example.org/{page}", "no other field"),
        ("python:links", "must be package.module.Class, not links"),
    ],
)
def test_a_source_that_cannot_be_asked_is_refused_at_the_start(value, told):
    with pytest.raises(ValueError, match=told.replace("{", r"\{")):
        read_sources(value)


LINES = """\
https://www.museo.org/\thttp://hub.net/links
http://museo.org/visita\thttp://other.net/
no address\t
gallery.org\thub.net
https://www.museo.org/es\thttp://third.net/
"""


@pytest.mark.parametrize("name", ["links.tsv", "links.tsv.gz"])
def test_a_file_of_links_answers_by_site_and_passes_over_bad_lines(tmp_path, name, caplog):
    path = tmp_path / name
    data = LINES.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    links = LinkFile(path)
    assert set(links.sources_of("museo.org", 10)) == {
        "http://hub.net/links",
        "http://other.net/",
        "http://third.net/",
    }
    assert links.sources_of("gallery.org", 10) == ["https://hub.net/"]
    assert len(links.sources_of("museo.org", 2)) == 2
    assert links.sources_of("unknown.org", 10) == []
    assert "1 lines" in caplog.text
    links.close()


def test_the_index_of_a_file_is_made_once_and_again_when_the_file_changes(tmp_path):
    path = tmp_path / "links.tsv"
    path.write_text("a.org\tb.org\n")
    LinkFile(path).close()
    index = tmp_path / "links.tsv.backlinks.sqlite"
    made = index.stat().st_mtime_ns
    LinkFile(path).close()
    assert index.stat().st_mtime_ns == made
    path.write_text("a.org\tb.org\na.org\tc.org\n")
    changed = LinkFile(path)
    assert changed.sources_of("a.org", 10) == ["https://b.org/", "https://c.org/"]
    changed.close()


def test_a_cut_file_is_refused_and_leaves_no_index(tmp_path):
    path = tmp_path / "links.tsv.gz"
    path.write_bytes(gzip.compress(LINES.encode() * 100)[:-20])
    with pytest.raises(ConfigurationError, match="cannot be made"):
        LinkFile(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def write_graph(folder):
    vertices = ["0\tcom.hub", "1\torg.museo", "2\torg.museo.www", "3\torg.museoa", "4\tnet.blog"]
    edges = ["0\t1", "4\t2", "0\t2", "4\t3", "x\ty"]
    for name, lines in {"host-vertices.txt.gz": vertices, "host-edges.txt.gz": edges}.items():
        (folder / name).write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))


def test_a_web_graph_answers_for_all_hosts_of_a_site_and_no_other(tmp_path):
    write_graph(tmp_path)
    graph = WebGraph(tmp_path)
    assert set(graph.sources_of("museo.org", 10)) == {"https://hub.com/", "https://blog.net/"}
    assert graph.sources_of("museoa.org", 10) == ["https://blog.net/"]
    assert graph.sources_of("hub.com", 10) == []
    graph.close()


def test_a_folder_without_a_graph_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="vertices"):
        WebGraph(tmp_path)


API = "https://api.example.org/?to={url}&of={site}#results.pages.url"


def test_a_question_to_an_api_has_the_page_and_the_site_in_it():
    asked = question(API, "http://a.org/x?y=1", "a.org")
    assert asked == "https://api.example.org/?to=http%3A%2F%2Fa.org%2Fx%3Fy%3D1&of=a.org"


def test_the_answer_of_an_api_is_read_at_its_path():
    body = (
        b'{"results": [{"pages": [{"url": "http://b.org/"}, {"url": "no address"}]},'
        b' {"pages": {"url": "c.org"}}, {"pages": 3}, null]}'
    )
    assert read_answer(API, body, 10) == ["http://b.org/", "https://c.org/"]
    assert read_answer(API, body, 1) == ["http://b.org/"]


def test_an_answer_may_be_a_plain_list():
    assert read_answer("https://a.example/{url}", b'["b.org", 1, ["c.org"]]', 9) == [
        "https://b.org/",
        "https://c.org/",
    ]


@pytest.mark.parametrize("body", [b"<html>", b"", b"[" * 100_000, b"\xff\xfe"])
def test_an_answer_that_is_no_json_is_told(body):
    with pytest.raises(ValueError, match=r"Expecting|nested|decode"):
        read_answer(API, body, 10)


class Blog(BacklinkProvider):
    def sources_of(self, site, most):
        return [f"http://blog.net/{site}"]


class Needy(BacklinkProvider):
    def __init__(self, key):
        self.key = key

    def sources_of(self, site, most):
        return []


def provider(name):
    spec = SourceSpec("python", f"{__name__}.{name}")
    return make_provider(spec, get_crawler(), 0)


def test_a_class_of_the_user_may_be_an_installed_one(tmp_path, monkeypatch):
    source = f"from {__name__} import Blog\n"
    install(tmp_path, monkeypatch, "blog_pack", source, backlinks="blog = blog_pack:Blog")
    assert read_sources("python:blog") == (OWN, SourceSpec("python", "blog"))
    made = make_provider(SourceSpec("python", "blog"), get_crawler(), 0)
    made.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nothing", "no attribute 'Nothing'"),
        ("OWN", "not a backlink provider: make it a class"),
        ("Needy", "cannot be made without arguments: TypeError"),
    ],
)
def test_a_class_that_is_no_source_is_refused(name, message):
    with pytest.raises(ConfigurationError, match=message):
        provider(name)


def test_what_a_source_answers_is_checked_and_cut():
    said = ["http://blog.net/a", "no address", " c.org", "http://blog.net/a", "d.org"]
    assert valid_addresses(said, 2) == ["http://blog.net/a", "https://c.org/"]
