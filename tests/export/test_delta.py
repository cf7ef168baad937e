"""The differences between two crawls of the same sites."""

import csv
import json

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.delta import DOCUMENTS, GONE, NEW
from bilingual_crawler.export.exporters import export, find_exporter
from bilingual_crawler.export.source import Selection
from tests.support.export import document, exported, sentence, write_documents, write_sentences

URLS = [(f"https://example.org/es/{n}", f"https://example.org/eu/{n}") for n in range(5)]
SPANISH, BASQUE = ["El museo abre.", "Cierra a las ocho."], ["Museoa irekita.", "Zortzietan ixten."]


def crawl(folder, numbers, rows=(), **changed):
    """A crawl of these document pairs; `changed` has other paragraphs for some, as es1 or eu2."""
    pages = []
    for number in numbers:
        one, two = URLS[number]
        pages.append(document(one, "spa", *changed.get(f"es{number}", SPANISH)))
        pages.append(document(two, "eus", *changed.get(f"eu{number}", BASQUE)))
    write_documents(folder, pages, [URLS[number] for number in numbers])
    return write_sentences(folder, rows)


def delta(before, now):
    target, account = exported(now, "delta", selection=Selection(since=before))
    with (target / DOCUMENTS).open(encoding="utf-8", newline="") as lines:
        return target, list(csv.DictReader(lines, delimiter="\t")), account


def ats(file):
    return [json.loads(line)["at"] for line in file.read_text("utf-8").splitlines()]


def test_new_and_gone_document_pairs_are_listed_and_the_same_ones_are_not(tmp_path):
    before = crawl(tmp_path / "before", [0, 1, 2])
    _, found, account = delta(before, crawl(tmp_path / "now", [1, 2, 3, 4]))
    assert [(each["status"], each["url1"]) for each in found] == [
        ("new", URLS[3][0]),
        ("new", URLS[4][0]),
        ("gone", URLS[0][0]),
    ]
    assert account.written == {"new document pairs": 2, "gone document pairs": 1}


def test_a_side_that_did_not_follow_a_change_may_be_out_of_date(tmp_path):
    before = crawl(tmp_path / "before", [0, 1, 2, 3])
    now = crawl(
        tmp_path / "now",
        [0, 1, 2, 3],
        es0=[SPANISH[0], "Cierra a las nueve."],
        eu1=[BASQUE[0]],
        es2=["Otro."],
        eu2=["Beste bat."],
    )
    _, found, _ = delta(before, now)
    told = [(each["url1"][-1], each["changed1"], each["changed2"], each["out_of_date"])
            for each in found]  # fmt: skip
    assert told == [("0", "0.5", "0.0", "2"), ("1", "0.0", "0.3333", "1"), ("2", "1.0", "1.0", "")]
    assert {each["status"] for each in found} == {"changed"}


def test_spacing_and_boilerplate_are_no_change(tmp_path):
    before = crawl(tmp_path / "before", [0])
    now = crawl(tmp_path / "now", [0], es0=["El  museo\nabre.", SPANISH[1]])
    assert delta(before, now)[1] == []


def test_sentence_pairs_that_only_one_crawl_has_are_written(tmp_path):
    rows = [sentence(at, f"Frase {at}.") for at in range(5)]
    before = crawl(tmp_path / "before", [0], rows[:3])
    target, _, account = delta(before, crawl(tmp_path / "now", [0], rows[1:]))
    assert (ats(target / NEW), ats(target / GONE)) == ([3, 4], [0])
    assert account.written == {"new sentence pairs": 2, "gone sentence pairs": 1}


def test_a_pair_that_cleaning_drops_now_is_gone(tmp_path):
    before = crawl(tmp_path / "before", [0], [sentence(0)])
    now = crawl(tmp_path / "now", [0], [sentence(0, dropped="copied")])
    assert ats(delta(before, now)[0] / GONE) == [0]


def test_the_same_crawl_gives_nothing(tmp_path):
    folder = crawl(tmp_path / "crawl", [0, 1], [sentence(0)])
    target, found, account = delta(folder, folder)
    assert found == []
    assert not account.written
    assert (target / NEW).read_text() == (target / GONE).read_text() == ""


def test_an_earlier_crawl_is_needed_and_only_here(tmp_path):
    folder = crawl(tmp_path / "crawl", [0], [sentence(0)])
    with pytest.raises(ConfigurationError, match="--since DIR"):
        export(folder, find_exporter("delta"), tmp_path / "out")
    with pytest.raises(ConfigurationError, match="--since is for --to delta"):
        exported(folder, "tsv", selection=Selection(since=folder))
