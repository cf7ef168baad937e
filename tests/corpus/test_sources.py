"""What others fetched, read as documents: WARC files of several makers, directories, crawls."""

import gzip
import json
import os
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from bilingual_crawler.corpus.pages import Pages
from bilingual_crawler.corpus.sources.inputs import FolderRules, InputKind, documents_from, kind_of
from bilingual_crawler.corpus.sources.reading import Alias, SourceReading
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.site import without_alternates
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.warc import Records
from bilingual_crawler.store.warc_reader import read_records
from tests.support.recordings import (
    SITE,
    claims,
    exchange,
    packed_whole,
    page,
    redirect,
    write_warc,
)

PAIR = LanguagePair.parse("spa-eus")
WGET = (
    b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: <%b>\r\nContent-Type: %b\r\n"
    b"Content-Length: %d\r\n\r\n%b\r\n\r\n"
)
HTTP = b"application/http;msgtype=response"


def read(path, **options):
    """The URLs of the documents, the aliases, and the skips."""
    reading = SourceReading(PAIR, **options)
    found = list(documents_from(str(path), reading))
    aliases = [each for each in found if isinstance(each, Alias)]
    return [each for each in found if not isinstance(each, Alias)], aliases, reading.skips


def urls(path):
    return [document.url.removeprefix(SITE) for document in read(path)[0]]


def records(*exchanges):
    made = Records({"software": "test"})
    return [made.of(each) for each in exchanges]


def pages(count):
    return [exchange(f"{SITE}/{n}", page("es", n)) for n in range(count)]


def test_our_own_recording_is_read_with_its_redirects(tmp_path):
    path = write_warc(tmp_path / "a.warc.gz", [*pages(2), redirect(f"{SITE}/old", "/1")])
    documents, aliases, skips = read(path)
    assert [each.url for each in documents] == [f"{SITE}/0", f"{SITE}/1"]
    assert documents[0].language == "spa"
    assert aliases == [Alias(f"{SITE}/old", f"{SITE}/1")]
    assert not skips.counts


@pytest.mark.parametrize("pack", [gzip.decompress, packed_whole], ids=["plain", "packed whole"])
def test_a_file_that_is_packed_otherwise_is_read_too(tmp_path, pack):
    path = write_warc(tmp_path / "a.warc", pages(5), pack)
    assert urls(path) == ["/0", "/1", "/2", "/3", "/4"]


def test_what_wget_writes_is_read(tmp_path):
    packed = gzip.compress(page("es", 1))
    http = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    )
    log = b"metadata://gnu.org/software/wget/warc/wget.log"
    body = b"".join(
        WGET % (kind, url, media, len(block), block)
        for kind, url, media, block in (
            (b"request", f"{SITE}/a".encode(), b"application/http;msgtype=request", b"GET /a"),
            (b"response", f"{SITE}/a".encode(), HTTP, http),
            (b"metadata", b"metadata://gnu.org/x", b"text/plain", b"manifest"),
            (b"resource", log, b"text/plain", b"a log"),
        )
    )
    path = tmp_path / "wget.warc"
    path.write_bytes(body)
    (document,), _, skips = read(path)
    assert (document.url, document.language) == (f"{SITE}/a", "spa")
    assert not skips.counts, "requests, logs and the like are nothing to tell of"


def heritrix(path, *made):
    """A file in the style of Heritrix, by warcio: (type, URL, status or media type, body, more)."""
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        writer.write_record(writer.create_warcinfo_record("x.warc.gz", {"software": "Heritrix"}))
        for kind, url, what, body, more in made:
            http = None
            fields = dict(more)
            if isinstance(what, str) and what[0].isdigit():
                headers = [("Content-Type", "text/html; charset=utf-8")]
                http = StatusAndHeaders(what, headers, protocol="HTTP/1.1")
            elif what:
                fields["Content-Type"] = what
            writer.write_record(
                writer.create_warc_record(
                    url,
                    kind,
                    BytesIO(body),
                    length=len(body),
                    http_headers=http,
                    warc_headers_dict=fields,
                )
            )
    return path


def test_what_heritrix_writes_is_read(tmp_path):
    again = {
        "WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
        "WARC-Refers-To-Target-URI": f"{SITE}/a",
        "WARC-Refers-To-Date": "2024-01-01T00:00:00Z",
    }
    path = heritrix(
        tmp_path / "h.warc.gz",
        ("response", "dns:www.example.org", "text/dns", b"20240101\nwww.example.org. 1 IN A", {}),
        ("response", f"{SITE}/a", "200 OK", page("eu", 1), {}),
        ("response", f"{SITE}/gone", "404 Not Found", b"<p>no", {}),
        ("metadata", f"{SITE}/a", "application/warc-fields", b"fetchTimeMs: 7", {}),
        ("revisit", f"{SITE}/b", "200 OK", b"", again),
        ("response", f"{SITE}/cut", "200 OK", page("eu", 2), {"WARC-Truncated": "length"}),
    )
    documents, aliases, skips = read(path)
    assert [(each.url, each.language) for each in documents] == [(f"{SITE}/a", "eus")]
    assert aliases == [Alias(f"{SITE}/b", f"{SITE}/a")]
    assert skips.counts == {"status 404": 1, "truncated record": 1}
    assert skips.examples["truncated record"] == [f"{SITE}/cut"]


def test_the_texts_of_common_crawl_are_read(tmp_path):
    text = page("es", 1).decode().replace("<p>", "\n").replace("</p>", "\n")
    path = heritrix(
        tmp_path / "cc.warc.wet.gz",
        ("conversion", f"{SITE}/a", "text/plain", text.encode(), {}),
    )
    (document,), _, _ = read(path)
    assert (document.url, document.language) == (f"{SITE}/a", "spa")


def test_a_scratched_record_costs_itself_alone(tmp_path):
    made = records(*pages(6))
    made[2] = made[2][:100] + b"\0" * 40 + made[2][140:]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(made))
    documents, _, skips = read(path)
    assert [each.url[-1] for each in documents] == ["0", "1", "3", "4", "5"]
    assert skips.counts == {"damaged record": 1}


def test_rubbish_between_records_is_passed_over(tmp_path):
    made = list(map(gzip.decompress, records(*pages(4))))
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(made[:2]) + b"rubbish\r\n" * 50 + b"".join(made[2:]))
    documents, _, skips = read(path)
    assert [each.url[-1] for each in documents] == ["0", "1", "2", "3"]
    assert skips.counts["damaged record"] == 1


def test_a_file_that_was_cut_off_loses_its_last_page(tmp_path):
    made = b"".join(map(gzip.decompress, records(*pages(3))))
    last = made.rindex(b"WARC-Type: response")
    path = tmp_path / "a.warc"
    path.write_bytes(made[: last + 700])
    documents, _, skips = read(path)
    assert [each.url[-1] for each in documents] == ["0", "1"]
    assert skips.counts == {"damaged record": 1}


def test_reading_ends_however_often_a_file_is_damaged(tmp_path):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"\x1f\x8b\x08\0\0" * 3000)
    told: list[int] = []
    assert list(read_records(path, told.append)) == []
    assert told == [0]


WHOLE = b"".join(records(*pages(4), redirect(f"{SITE}/old", "/1")))


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    st.sampled_from([WHOLE, gzip.decompress(WHOLE)]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 99), st.binary(max_size=30)), max_size=6),
)
@example(gzip.decompress(WHOLE), [(0.890625, 35, b"")])
def test_whatever_happens_to_the_bytes_reading_ends(tmp_path, whole, damages):
    for where, removed, added in damages:
        place = int(where * len(whole))
        whole = whole[:place] + added + whole[place + removed :]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(whole)
    documents = []
    with suppress(ConfigurationError):  # nothing may be left of the file
        documents, _, _ = read(path)
    assert len(documents) <= 5  # four pages, and a redirect whose status may be what is damaged


def test_pages_without_their_claims_are_wanted(tmp_path):
    path = write_warc(tmp_path / "a.warc.gz", [exchange(f"{SITE}/", page("es", 1, "", claims(1)))])
    assert read(path)[0][0].alternates
    assert not read(path, change=without_alternates)[0][0].alternates


def test_a_directory_is_a_site_of_files(tmp_path):
    for name, body in {
        "es/a.html": page("es", 1, '<a href="../eu/a.html">Euskara</a>'),
        "eu/a.html": page("eu", 1),
        "notas.txt": b"Los vecinos del barrio pidieron que la plaza tuviera bancos.\n\n" * 3,
        "index": b"<!DOCTYPE html>" + page("eu", 3),
        ".git/config": b"x",
        ".hidden.html": page("es", 4),
        "logo.png": b"\x89PNG",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(body)
    with (tmp_path / "huge.html").open("wb") as huge:
        huge.truncate(20_000_000)
    os.mkfifo(tmp_path / "pipe.html")
    documents, _, skips = read(tmp_path)
    names = [each.url.removeprefix(tmp_path.as_uri()) for each in documents]
    assert names == ["/index", "/notas.txt", "/es/a.html", "/eu/a.html"]
    assert [each.language for each in documents] == ["eus", "spa", "spa", "eus"]
    assert documents[2].links[0].url == (tmp_path / "eu" / "a.html").as_uri()
    assert skips.counts == {
        "hidden": 2, "not a type that is read": 1, "too large": 1, "not a file": 1,
    }  # fmt: skip


def test_a_directory_of_warc_files_is_read_too(tmp_path):
    write_warc(tmp_path / "a.warc.gz", pages(2))
    assert urls(tmp_path) == ["/0", "/1"]


def test_files_refer_to_files_and_pages_of_the_web_do_not(tmp_path):
    link = b'<p><a href="file:///etc/passwd">x</a> <a href="b.html">y</a></p>'
    (tmp_path / "a.html").write_bytes(page("es", 1, link.decode()))
    (document,), _, _ = read(tmp_path)
    assert (tmp_path / "b.html").as_uri() in [each.url for each in document.links]
    warc = write_warc(tmp_path / "a.warc.gz", [exchange(f"{SITE}/", page("es", 1, link.decode()))])
    (document,), _, _ = read(warc)
    assert [each.url for each in document.links] == [f"{SITE}/b.html"]


FOUR = "same=2,level=1,parent=2,across=1/2"


@pytest.mark.parametrize(
    ("rule", "first", "second", "allowed"),
    [
        ("same=2", "a/b", "a/b", True),
        ("same=2", "a/b/c", "a/b/c", False),
        ("level=1", "m/a", "m/b", True),
        ("level=1", "m/a/b", "m/c/d", False),
        ("parent=2", "d", "d/a/b", True),
        ("parent=2", "d", "d/a/b/c", False),
        ("across=1/2", "d/a", "d/b/c", True),
        ("across=1/2", "d/a", "d/b/c/e", False),
        ("across=1/2", "d/a/f", "d/b/c/e", False),
        ("level=1", "a", "a", False),
        (FOUR, "a", "b", True),
    ],
)
def test_the_rules_for_folders_are_those_of_the_paper(rule, first, second, allowed):
    rules = FolderRules.parse(rule)
    root = "/corpus"
    one, other = (f"file://{root}/{folder}/x.html" for folder in (first, second))
    assert rules.allow(one, other, (root,)) is allowed
    assert rules.allow(other, one, (root,)) is allowed


@pytest.mark.parametrize("text", ["same", "same=x", "near=1", "across=1", "level=-1", ""])
def test_a_rule_that_is_none_is_refused_with_an_example(text):
    with pytest.raises(ConfigurationError, match="same=2, level=1"):
        FolderRules.parse(text)


def crawl_folder(tmp_path):
    path = write_warc(tmp_path / "a.warc.gz", pages(2))
    lines = [json.dumps(document_to_dict(each)) for each in read(path)[0]]
    folder = tmp_path / "crawl"
    folder.mkdir()
    with gzip.open(folder / "documents.jsonl.gz", "wt") as file:
        file.write("\n".join([lines[0], '{"url": "half', lines[1]]) + "\n")
    return folder


def test_the_documents_of_a_crawl_are_read_back(tmp_path):
    folder = crawl_folder(tmp_path)
    for source in (folder, folder / "documents.jsonl.gz"):
        documents, _, skips = read(source)
        assert [each.url for each in documents] == [f"{SITE}/0", f"{SITE}/1"]
        assert documents[1].text
        assert skips.counts == {"not a document of a crawl": 1}


def test_the_redirects_of_a_crawl_are_known(tmp_path):
    folder = crawl_folder(tmp_path)
    journal = Journal(folder / "crawl.sqlite")
    Pages(journal).add_alias(f"{SITE}/old", f"{SITE}/1")
    journal.close()
    assert read(folder)[1] == [Alias(f"{SITE}/old", f"{SITE}/1")]
    (folder / "crawl.sqlite").write_bytes(b"no database at all" * 99)
    _, aliases, skips = read(folder)
    assert not aliases
    assert skips.counts["the redirects of the crawl cannot be read"] == 1


def test_a_crawl_that_is_being_written_is_read_as_far_as_it_goes(tmp_path):
    file = crawl_folder(tmp_path) / "documents.jsonl.gz"
    file.write_bytes(file.read_bytes() + gzip.compress(b"{}")[:9])
    documents, _, skips = read(file)
    assert len(documents) == 2
    assert skips.counts["cut off or damaged"] == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("https://a.org/\nhttps://a.org/b\n", InputKind.URLS),
        ("\n\nhttps://a.org/\teng\n", InputKind.URLS),
        ("\ufeffhttps://a.org/\n", InputKind.URLS),
        ("a.html\tb.html\n", InputKind.FILES),
        ("https://a.org/es\thttps://a.org/eu\n", InputKind.URL_PAIRS),
        ('{"url": "x"}\n', InputKind.CRAWL),
        ("WARC/1.0\r\n", InputKind.WARC),
    ],
)
def test_an_input_is_told_by_its_first_line(tmp_path, text, kind):
    for name, pack in (("list", bytes), ("list.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack(text.encode()))
        assert kind_of(str(tmp_path / name)) is kind


@pytest.mark.parametrize("content", [b"", b"hello world\n", b"\0\1\2", b"\x1f\x8bxx"])
def test_what_is_no_input_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "thing"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="thing"):
        kind_of(str(path))


def test_a_missing_input_is_named():
    with pytest.raises(ConfigurationError, match=r"no file or directory nix\.warc"):
        kind_of("nix.warc")


@pytest.mark.parametrize("content", [b"", b"no warc\n" * 99, b"\0" * 5000])
def test_a_file_that_only_calls_itself_a_warc_is_refused(tmp_path, content):
    path = tmp_path / "a.warc"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="has no records"):
        read(path)
