"""The pages of the concordance over HTTP: what they show, their files, and what is refused."""

import csv
import io
import json
import re

import pytest

pytest.importorskip("duckdb", reason="pip install 'bilingual-crawler[concordance]'")

from bilingual_crawler.pairing.lexicon import TranslationLexicon, lexicon_file
from bilingual_crawler.web.downloads import safe_cell
from tests.support.lexicon import PROVEN
from tests.support.web_folders import ATTACK, sentence, small_crawl, write_sentences
from tests.support.web_server import running

ROWS = [
    ("El perro duerme.", "Txakurra lo dago."),
    ("Un perro viejo.", "Txakur zaharra."),
    ("El gato duerme.", "Katua lo dago."),
    ("=1+1 perro", "@cmd perro"),
    (f"perro {ATTACK}", "<b>txakur</b>"),
]


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    folder = small_crawl(tmp_path_factory.mktemp("words"), aligned=False)
    write_sentences(folder, [sentence("museo", at, *texts) for at, texts in enumerate(ROWS)])
    together, seen = {("perro", "txakur"): 5.0}, ({"perro": 5.0}, {"txakur": 5.0})
    lexicon = TranslationLexicon(("spa", "eus"), together, seen, PROVEN, 3)
    lexicon.write(folder / lexicon_file("spa-eus"))
    (folder / "lexicon.damaged.tsv.gz").write_bytes(b"\x1f\x8bnothing")
    with running(folder) as server:
        server.site.concordance.refresh()
        yield server


def test_a_hit_is_in_the_middle_and_its_translation_is_marked(web):
    page = web.ask("/concordance?q=viejo").text
    row = re.search(r"<tr dir=\"auto\">.*?</tr>", page, re.DOTALL)[0]
    assert re.findall(r"<bdi>(.*?)</bdi>", row)[:3] == ["Un perro ", "viejo", "."]
    assert "<mark>Txakur</mark> zaharra" in web.ask("/concordance?q=perro").text
    assert re.search(r'href="/pair/\w+\?page=1#s1"', row)


@pytest.mark.parametrize(
    "path",
    [
        "/concordance", "/concordance?q=perro", "/concordance?q=%27%22%3E%3Cscript%3E",
        "/concordance?q=perro&level=nothing&side=9&n=7&sort=x&score=nan&since=x&page=-1",
        "/concordance?q=perro&score=1e999&until=9999-99-99&site=%00&kind=%27",
        "/concordance?q=%25&level=lemma", "/concordance?q=*", "/concordance?q=per*%5C%25_",
        "/words/frequencies?begin=%25", "/words/frequencies?level=lemma&page=99999",
        "/words/n-grams?grams=99&q=perro", "/words/collocations?q=perro&left=99&right=x",
        "/words/translations?q=perro", "/words/translations",
    ],
)  # fmt: skip
def test_whatever_is_asked_is_answered_and_nothing_crawled_is_markup(web, path):
    answer = web.ask(path)
    assert answer.status == 200
    assert "<script>window" not in answer.text
    assert "<b>txakur" not in answer.text
    assert '"><script>' not in answer.text


def test_a_list_that_is_not_there_is_told(web):
    assert web.ask("/words/nothing").status == 404


def test_a_page_after_the_last_names_the_last(web):
    assert "There is no page 7" in web.ask("/concordance?q=perro&page=7").text
    assert "There is no page 7" in web.ask("/words/frequencies?page=7").text


def test_the_same_url_gives_files(web):
    answer = web.ask("/concordance?q=perro&format=json")
    found = json.loads(answer.text)
    assert found["hits"] == len(found["rows"]) == 4
    assert found["rows"][1]["translation"] == "Txakur"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="concordance.json"'
    rows = list(csv.reader(io.StringIO(web.ask("/words/translations?q=perro&format=csv").text)))
    assert rows[0][:3] == ["word", "forms", "together"]
    assert rows[1][0] == "txakur"
    tsv = web.ask("/words/frequencies?format=tsv").text.splitlines()
    assert "perro\t4" in [line.rpartition("\t")[0].rpartition("\t")[0] for line in tsv]
    assert web.ask("/concordance?q=*&format=csv").status == 400


def test_no_cell_of_a_spreadsheet_begins_like_a_formula(web):
    for kind, dialect in (("csv", "excel"), ("tsv", "excel-tab")):
        text = web.ask(f"/concordance?q=perro&format={kind}").text
        cells = [cell for row in csv.reader(io.StringIO(text), dialect) for cell in row]
        assert "'@cmd perro" in cells
        assert not [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell]
    assert safe_cell(" =1") == "' =1"
    assert safe_cell("a\tb\nc") == "a b c"
    assert safe_cell(-1.5) == -1.5


def test_a_folder_without_sentence_pairs_says_so(tmp_path):
    with running(small_crawl(tmp_path, aligned=False)) as server:
        page = server.ask("/concordance?q=x").text
        assert f"scrapy align {tmp_path}" in page
        assert "aria-invalid" not in page
        assert server.ask("/words/frequencies?format=csv").status == 400
