"""The command `scrapy topic`, and other commands on a crawl for one language."""

import json

import pytest
from lxml import etree
from scrapy.cmdline import execute
from scrapy.settings import Settings

from tests.support.export import document, write_documents
from tests.support.scoring import crawl_site
from tests.support.topic import PAGES, TOPIC, harbour_site
from tests.support.typed_commands import status_of
from tests.support.web_server import running


@pytest.fixture
def scrapy(capsys):
    """Run a command of the package; its status and what it printed."""

    def run(*words):
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", *map(str, words)], settings)
        printed = capsys.readouterr()
        status = status_of(end.value)
        return (status, printed.out, printed.err) if isinstance(status, int) else (1, "", status)

    return run


@pytest.fixture
def topic(tmp_path):
    file = tmp_path / "topic.tsv"
    file.write_text(TOPIC)
    return file


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    for path, page in PAGES.items():
        (folder / f"{path.strip('/').replace('/', '-') or 'index'}.html").write_bytes(
            page.html(path)
        )
    return folder


def test_a_page_is_explained_term_by_term(scrapy, topic, pages):
    file = pages / "es-lonja.html"
    status, out, err = scrapy("topic", topic, file, "--langs", "spa-eus")
    assert status == 0
    verdict, *terms = out.splitlines()
    assert verdict == (
        f"{file.as_uri()} (spa): on topic, score 64 (more than 12 wanted),"
        " different terms in the text 3 (more than 1 wanted)"
    )
    assert terms == [
        "        48  lonja: weight 3, 1 in title (times 10), 6 in text",
        "        10  barco de pesca: weight 5, 2 in text",
        "         6  puerto: weight 3, 2 in text",
        "  pesca 91%, mar 9%",
    ]
    assert err == "1 of 1 pages are on topic\n"


def test_all_pages_of_a_folder_are_judged_and_others_counted(scrapy, topic, pages):
    status, out, err = scrapy("topic", topic, pages, "--langs", "spa", "--json")
    assert status == 0
    found = {each["url"].rsplit("/", 1)[1]: each for each in map(json.loads, out.splitlines())}
    assert {name for name, each in found.items() if each["on_topic"]} == {
        *("es-faro.html", "es-lonja.html", "es-puerto.html"),
    }
    assert found["index.html"]["score"] == 0
    assert err == "3 of 5 pages are on topic\n3 skipped: in another language\n"


def test_the_settings_decide_what_is_enough(scrapy, topic, pages):
    page = pages / "es-lonja.html"
    _, out, err = scrapy("topic", topic, page, "--langs", "spa", "-s", "BILINGUAL_TOPIC_TERMS=3")
    assert "off topic" in out
    assert err.startswith("0 of 1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["{topic}"], "name the topic file"),
        (["{topic}", "{pages}"], "name the languages"),
        (["{topic}", "{pages}", "--verbose"], "unknown option"),
        (["{topic}", "{pages}", "--langs", "spanisch"], "did you mean Spanish (spa)"),
        (["{pages}/none.tsv", "{pages}", "--langs", "spa"], "cannot be read"),
        (["{topic}", "https://x.example/", "--langs", "spa"], "scrapy fetch --nolog"),
        (["{topic}", "{pages}/none", "--langs", "spa"], "There is no file or directory"),
    ],
)
def test_mistakes_are_told_in_a_sentence(scrapy, topic, pages, words, told):
    status, out, err = scrapy("topic", *(word.format(topic=topic, pages=pages) for word in words))
    assert status != 0
    assert told in f"{out}{err}"
    assert "Traceback" not in f"{out}{err}"


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The folder of a crawl of one language."""
    output = tmp_path_factory.mktemp("crawl") / "one"
    with harbour_site() as site:
        crawl_site(site, output, None, {"langs": "spa"})
    return output


@pytest.mark.parametrize("words", [["align"], ["export", "--to", "tmx"], ["export", "--to", "pml"]])
def test_what_needs_pairs_says_that_there_are_none(scrapy, alone, words):
    status, _, err = scrapy(words[0], alone, *words[1:])
    assert status == 1
    assert "is a crawl for one language (spa), with documents but no pairs" in err


def test_documents_of_one_language_are_exported(scrapy, alone, tmp_path):
    status, out, _ = scrapy("export", alone, "--to", "xml", "--out", tmp_path / "xml")
    assert status == 0
    assert "documents written" in out
    files = list((tmp_path / "xml" / "documents").iterdir())
    assert {file.name[:4] for file in files} == {"spa-"}
    assert all(etree.parse(file).getroot() is not None for file in files)


def test_links_of_a_crawl_of_one_language_are_explained(scrapy, alone, topic):
    source = "https://x.example/es/"
    words = ["--from", source, "--crawl", alone, "--topic", topic, "--anchor", "la lonja", "--json"]
    status, out, _ = scrapy("score", f"{source}lonja", *words)
    assert status == 0
    scores = json.loads(out)["scores"]
    assert "a crawl of Spanish alone" in scores["adaptive"]["error"]
    assert scores["ilsp"]["score"] == 3.0
    assert [factor["name"] for factor in scores["rules"]["factors"]] == ["rule", "topic"]


def test_the_web_page_of_one_language_is_about_documents(alone):
    with running(alone) as server:
        crawl, corpus = server.ask("/crawl").text, server.ask("/").text
    assert "Documents per 100 pages" in crawl
    assert "documents over pages" in crawl
    assert "Pairs" not in crawl
    assert "This is a crawl of one language" in corpus
    assert "scrapy align" not in corpus


def test_a_folder_without_a_report_is_left_to_whoever_reads_it(scrapy, tmp_path):
    folder = write_documents(tmp_path / "made", [document("https://x.example/", "spa", "Hola")])
    status, _, err = scrapy("export", folder, "--to", "tmx")
    assert status == 1
    assert "There is no sentences.jsonl.gz" in err
