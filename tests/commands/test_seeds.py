"""`scrapy seeds`: corpora and lists in every form that is published, as seeds of a crawl."""

import gzip
import json
from importlib.util import find_spec

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.common_crawl import SCHEMA, row
from bilingual_crawler.discovery.crawl_index import MOST_URLS, CrawlIndex
from bilingual_crawler.languages import LanguagePair
from tests.support.typed_commands import typed

SITE = "https://www.example.org"


@pytest.fixture
def seeds(capsys):
    def run(*words):
        return typed(capsys, "seeds", "--langs", "spa-eus", *words)

    return run


def sentence(number, host="www.example.org", **fields):
    return {
        "pair": "p", "at": number, "url1": f"https://{host}/es/{number}",
        "url2": f"https://{host}/eu/{number}", "lang1": "spa", "lang2": "eus",
        "text1": "Uno", "text2": "Bat", "dropped": "",
    } | fields  # fmt: skip


def json_lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    rows = [sentence(1), sentence(2), sentence(3, dropped="short")]
    rows += [sentence(4, lang2="eng"), sentence(1, "small.example")]
    (folder / "sentences.jsonl.gz").write_bytes(gzip.compress(json_lines(rows).encode()))
    return folder


def test_the_folder_of_a_crawl_names_its_productive_sites(seeds, folder):
    status, out, _ = seeds("--from", folder)
    assert status == 0
    assert out.splitlines() == [
        "https://www.example.org/  # 4 pages in pairs, 2 sentence pairs",
        "https://small.example/  # 2 pages in pairs, 1 sentence pairs",
    ]


def test_sites_are_ranked_for_more_languages_than_two(capsys, folder):
    status, out, told = typed(capsys, "seeds", "--langs", "spa-eus-eng", "--from", folder)
    assert status == 0, told
    assert out.splitlines()[0] == ("https://www.example.org/  # 6 pages in pairs, 3 sentence pairs")


TMX = """<?xml version="1.0"?><tmx version="1.4"><header srclang="es"/><body>{}</body></tmx>"""
UNIT = """<tu><tuv xml:lang="es"><prop type="source-document">{}</prop><seg>Uno</seg></tuv>
<tuv xml:lang="eu"><prop type="source-document">{}</prop><seg>Bat</seg></tuv></tu>"""


def test_a_translation_memory_names_its_source_documents(seeds, tmp_path):
    file = tmp_path / "corpus.tmx.gz"
    units = UNIT.format(f"{SITE}/es/1", f"{SITE}/eu/1") + UNIT.format("", "")
    file.write_bytes(gzip.compress(TMX.format(units).encode()))
    status, out, err = seeds("--from", file)
    assert (status, out) == (0, f"{SITE}/  # 2 pages in pairs, 1 sentence pairs\n")
    assert "1 left out: the unit does not name its source documents" in err


@pytest.mark.parametrize("header", ["", "src_url\ttrg_url\tsrc_text\ttrg_text\n"])
def test_a_table_has_two_urls_per_row(seeds, tmp_path, header):
    file = tmp_path / "bitextor.tsv"
    file.write_text(
        f"{header}{SITE}/es/1 {SITE}/es/copy\t{SITE}/eu/1\tUno\tBat\t.9\n"
        f"{SITE}/es/2\t{SITE}/eu/2|{SITE}/eu/2b\tDos\tBi\t.9\n"
        "nothing\tat all\n"
    )
    status, out, err = seeds("--from", file)
    assert (status, out) == (0, f"{SITE}/  # 4 pages in pairs, 2 sentence pairs\n")
    assert "1 left out: the row does not have two URLs" in err


INDEX = "url,fetch_status,content_languages\n" + "".join(
    f'"{SITE}/{code}/{number}",200,"{code},eng"\n'
    for code, count in (("spa", 5), ("eus", 2))
    for number in range(count)
)
CDXJ = "".join(
    f'org,example)/{code} 2026 {{"url": "{SITE}/{code}/{number}", "languages": "{code},eng"}}\n'
    for code, count in (("spa", 5), ("eus", 2))
    for number in range(count)
)
PLAIN = "".join(
    f"{code}\t{SITE}/{code}/{number}\n"
    for code, count in (("es", 5), ("eu", 2))
    for number in range(count)
)


@pytest.mark.parametrize("text", [INDEX, CDXJ, PLAIN])
def test_a_list_of_urls_with_languages_may_have_any_form(seeds, tmp_path, text):
    file = tmp_path / "list"
    file.write_text(text)
    status, out, _ = seeds("--urls", file)
    assert (status, out) == (0, f"{SITE}/  # 2 pages in eus, 5 pages in spa\n")


def test_the_language_of_a_plain_list_is_said_before_its_name(seeds, tmp_path):
    basque, spanish = tmp_path / "basque.md", tmp_path / "spanish.md"
    basque.write_text(f"* [Albisteak]({SITE}/eu/), <https://other.example/>\n")
    spanish.write_text(f"* {SITE}/es/.\n")
    status, out, _ = seeds("--urls", f"eus={basque}", f"es={spanish}", "--json")
    assert status == 0
    assert json.loads(out) == {
        "site": "example.org", "home": f"{SITE}/", "pages": 0, "sentences": 0,
        "languages": {"eus": 1, "spa": 1},
    }  # fmt: skip


def test_given_sites_are_left_out_and_the_rest_is_cut_at_the_limit(seeds, folder, tmp_path):
    known = tmp_path / "known.tsv"
    known.write_text(f"{SITE}/anything\tspa\n")
    status, out, err = seeds("--from", folder, "--leave-out", known)
    assert (status, out.split()[0]) == (0, "https://small.example/")
    assert "4 left out: on a site that is left out" in err
    _, out, _ = seeds("--from", folder, "--limit", 1)
    assert len(out.splitlines()) == 1


def test_a_file_is_written_whole_and_the_next_step_named(seeds, folder, tmp_path):
    file = tmp_path / "seeds.txt"
    status, out, err = seeds("--from", folder, "--out", file)
    assert (status, out) == (0, "")
    assert file.read_text().startswith(f"{SITE}/")
    assert f"scrapy crawl bilingual -a langs=spa-eus -a seeds_file={file}" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name a corpus (--from CORPUS), a list of URLs"),
        (["--from", "nowhere"], "There is no corpus nowhere"),
        (["--urls", "nowhere"], "There is no list nowhere."),
        (["--from", "empty.tsv"], "No site has text in Spanish and Basque there"),
    ],
)
def test_a_mistake_is_explained(seeds, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.tsv").write_text("one\ttwo\n")
    status, out, err = seeds(*words)
    assert status != 0
    assert sentence in f"{status}{out}{err}"


def test_an_earlier_list_survives_if_nothing_is_found(seeds, tmp_path):
    table, file = tmp_path / "empty.tsv", tmp_path / "seeds.txt"
    table.write_text("one\ttwo\n")
    file.write_text("https://old.example/\n")
    status, _, _ = seeds("--from", table, "--out", file)
    assert status != 0
    assert file.read_text() == "https://old.example/\n"


needs_duckdb = pytest.mark.skipif(find_spec("duckdb") is None, reason="extra archive")


def columnar_index(folder, captures):
    """An index with the columns of cc-index-table: URL, languages and status of each capture."""
    place = folder / "crawl=CC-MAIN-2026-40" / "subset=warc"
    place.mkdir(parents=True)
    rows = [row(*capture) for capture in captures]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), place / "part-0.parquet")
    return folder


@needs_duckdb
def test_an_index_of_common_crawl_ranks_sites_by_the_pairs_to_be_expected(seeds, tmp_path):
    captures = []
    for number in range(30):
        captures += [
            (f"https://www.translated.org/es/{number}", "spa"),
            (f"https://www.translated.org/eu/{number}", "eus,spa"),
            (f"https://board.org/t/{number}", "spa"),
            (f"https://board.org/u/{number}x", "eus"),
            (f"https://board.org/v/{number}", "eus"),
            (f"https://copies.org/es/{number}", "spa"),
            (f"https://copies.org/eu/{number}", "spa"),
            (f"https://gone.org/es/{number}", "spa", 404),
            (f"https://gone.org/eu/{number}", "eus", 404),
            (f"https://left.org/es/{number}", "spa"),
            (f"https://left.org/eu/{number}", "eus"),
            (f"https://english.org/{number}", "eng,spa,eus"),
            (f"https://unknown.org/{number}", None),
        ]
    left_out = tmp_path / "left.txt"
    left_out.write_text("https://left.org/es/\n")
    folder = columnar_index(tmp_path / "index", captures)
    status, out, _ = seeds("--common-crawl", folder, "--leave-out", left_out, "--json")
    assert status == 0
    assert [json.loads(line) for line in out.splitlines()] == [
        {
            "site": "translated.org",
            "home": "https://www.translated.org/",
            "expected_pairs": 30.0,
            "path_pairs": 30,
            "patterns": {"es/eu": 30},
            "languages": {"spa": 30, "eus": 30},
        },
        {
            "site": "board.org",
            "home": "https://board.org/",
            "expected_pairs": 3.0,
            "path_pairs": 0,
            "patterns": {},
            "languages": {"spa": 30, "eus": 60},
        },
    ]
    status, out, _ = seeds("--common-crawl", folder, "--limit", "1")
    assert out == (
        "https://left.org/  # 30 pairs by path, es/eu, 30 pages in spa, 30 pages in eus\n"
    )


@needs_duckdb
def test_of_a_large_site_a_sample_is_compared(tmp_path):
    sides = {"es": "spa", "eu": "eus"}
    captures = [
        (f"https://large.org/{code}/page-{number}", name)
        for number in range(3 * MOST_URLS)
        for code, name in sides.items()
    ]
    index = CrawlIndex(str(columnar_index(tmp_path, captures)), threads=1)
    (site,) = index.sites(LanguagePair.parse("spa-eus"), 5)
    assert site.step > 1
    assert site.matched < MOST_URLS
    assert site.path_pairs == pytest.approx(3 * MOST_URLS, rel=0.2)


@needs_duckdb
def test_addresses_that_would_break_the_list_are_left_out_and_damage_is_explained(seeds, tmp_path):
    captures = [(f"https://a.org\nhttps://evil.org/{code}/1", code) for code in ("spa", "eus")]
    captures += [("https://b.org/es/1", "spa"), ("https://b.org/eu/1", "eus")]
    folder = columnar_index(tmp_path / "index", captures)
    _, out, _ = seeds("--common-crawl", folder)
    assert [line.split()[0] for line in out.splitlines()] == ["https://b.org/"]
    (part,) = folder.rglob("*.parquet")
    content = part.read_bytes()
    part.write_bytes(content[:4] + b"\xff" * 400 + content[404:])
    status, _, err = seeds("--common-crawl", folder)
    assert "The index is damaged" in f"{status}{err}"


@needs_duckdb
def test_a_table_that_is_no_index_is_refused(seeds, tmp_path):
    pq.write_table(pa.table({"url": ["https://a.org/"]}), tmp_path / "a.parquet")
    status, _, err = seeds("--common-crawl", tmp_path / "a.parquet")
    assert "lacks the column content_languages" in f"{status}{err}"
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    status, _, err = seeds("--common-crawl", tmp_path / "a.parquet")
    assert "cannot be read" in f"{status}{err}"
    status, _, err = seeds("--common-crawl", tmp_path / "none")
    assert "There is no index" in f"{status}{err}"
