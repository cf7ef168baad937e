"""The command `scrapy languages`: teach, refine, list and show."""

import gzip
import json

import pytest

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.identifiers.choice import load_identifier
from bilingual_crawler.documents.identifiers.taught_folder import read_taught
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.pairing.pair import DocumentPair
from tests.support.taught import AGAINST, CODE, OTHER, SPANISH, TAUGHT
from tests.support.typed_commands import typed


@pytest.fixture
def scrapy(capsys):
    return lambda *words: typed(capsys, "languages", *words)


def test_a_language_is_taught_refined_and_listed(scrapy, tmp_path):
    page = "".join(f"<p>{each}</p>" for each in TAUGHT[:20])
    (tmp_path / "page.html").write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
    (tmp_path / "more.txt").write_text("\n\n".join(TAUGHT[20:30]), encoding="utf-8")
    (tmp_path / "es.txt").write_text("\n\n".join(AGAINST), encoding="utf-8")
    folder = tmp_path / "taught"
    files = (tmp_path / "page.html", tmp_path / "more.txt")
    against = f"spa={tmp_path / 'es.txt'},eng"
    status, out, _ = scrapy("teach", CODE, "--text", *files, "--against", against, "--out", folder)
    assert status == 0, out
    assert "Language qaa (qaa): wrote" in out
    assert "neighbours: spa (own text), eng" in out
    assert "of held-out text in spa, 0% is taken for it" in out
    first = read_taught(folder)[0]
    identifier = load_identifier("cld2", taught=folder)
    assert identifier.identify("\n".join(OTHER)).shares == [(CODE, 100)]

    crawl = tmp_path / "crawl"
    crawl.mkdir()
    urls = ("https://a.example/qaa", "https://a.example/es")
    pair = DocumentPair(*urls, (CODE, "spa"), (), probability=0.95)
    documents = [
        Document(url, paragraphs=[Paragraph(each, "paragraph") for each in lines], language=code)
        for url, lines, code in zip(urls, (TAUGHT[30:], SPANISH), (CODE, "spa"), strict=True)
    ]
    (crawl / "pairs.jsonl").write_text(json.dumps(pair.to_dict()) + "\n", encoding="utf-8")
    rows = "".join(json.dumps(document_to_dict(each)) + "\n" for each in documents)
    (crawl / "documents.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    status, out, err = scrapy("refine", folder, crawl)
    assert status == 0, err
    better = read_taught(folder)[0]
    assert better.characters > first.characters
    assert len(better.neighbours[0].lines) > len(first.neighbours[0].lines)

    status, out, _ = scrapy("list", folder)
    assert status == 0
    assert f"taught with {better.characters:,} characters" in out


def test_a_language_is_shown_with_what_is_known_of_it(scrapy):
    _, out, _ = scrapy("show", "Ilocano")
    assert "Ilocano (ilo)" in out
    assert "known to CLD2   no" in out
    _, out, _ = scrapy("list")
    assert "eus Basque CLD2" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what to do: teach, refine, list, show"),
        (("teach", "nah"), "name a file with a page or more"),
        (("teach", "xyzzy", "--text", "FILE"), "There is no language 'xyzzy'"),
        (("teach", "nah", "--text", "nowhere.txt"), "nowhere.txt cannot be read"),
        (("teach", "nah", "--text", "BINARY"), "has no text that can be read"),
        (("teach", "nah", "--text", "EMPTY"), "has no text that can be read"),
        (("teach", "nah", "--text", "FILE", "--against", "spa,es"), "names Spanish (spa) twice"),
        (("teach", "nah", "--text", "FILE", "--against", "nhn"), "--against nhn=FILE"),
        (("teach", "nah", "--text", "FILE", "--against", "nah=FILE"), "a neighbour of itself"),
        (("teach", "nah", "--text", "SHORT"), "a page or more is needed"),
        (("refine", "nowhere"), "name the folder of taught languages, and"),
        (("list", "nowhere"), "There is no folder nowhere"),
    ],
)
def test_what_cannot_be_done_is_told(scrapy, tmp_path, words, said):
    contents = {
        "FILE": "\n".join(TAUGHT).encode(),
        "SHORT": b"Niltze, quen tinemi?",
        "EMPTY": b"",
        "BINARY": bytes(range(256)) * 20,
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.txt").write_bytes(content)
    written = [
        word.replace(name, str(tmp_path / f"{name}.txt"))
        for word in words
        for name in [next((each for each in contents if each in word), "\0")]
    ]
    status, _, err = scrapy(*written)
    assert status
    assert said in f"{status} {err}"
