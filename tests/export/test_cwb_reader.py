"""Corpora of the Corpus Workbench come back as they went, and hostile ones do no harm."""

import gzip
import json
from dataclasses import replace

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.cwb_reader import NOT_IN_ORDER
from bilingual_crawler.export.exporters import export, find_exporter
from bilingual_crawler.export.imports import ImportTask, import_corpus
from bilingual_crawler.export.source import Selection
from bilingual_crawler.export.taggers import UNDEFINED, Tagger
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair
from tests.support.export import HARD, exported, sentence, write_sentences

SPACED = [
    *HARD,
    sentence(5, "a\u00a0b \u2003 c\tend", "one" + " " * 200 + "two", score=0.123456789),
    sentence(
        0, "¿Qué?", "Zer?", pair="other", url1="https://x.example/1", url2="https://x.example/2"
    ),
]


def imported(folder, *inputs):
    account, _ = import_corpus(ImportTask(inputs=inputs, folder=folder))
    with gzip.open(folder / SENTENCES, "rt", encoding="utf-8") as lines:
        return [SentencePair.from_dict(json.loads(line)) for line in lines], account


class Upper(Tagger):
    columns = ("shout", "pos")

    def knows(self, language):
        return language == "spa"

    def tag(self, words, language):
        return [(word.upper(), "" if word.isalpha() else "no\tword") for word in words]


def test_tmx_to_cwb_to_tmx_is_a_round_trip(tmp_path):
    """What one TMX says, the other says: everything but the date of the file."""
    first = tmp_path / "first.tmx"
    crawl = write_sentences(tmp_path / "crawl", SPACED[:5] + SPACED[6:])
    export(crawl, find_exporter("tmx"), first)
    imported(tmp_path / "memory", first)
    export(tmp_path / "memory", find_exporter("cwb"), tmp_path / "cwb")
    imported(tmp_path / "again", tmp_path / "cwb")
    export(tmp_path / "again", find_exporter("tmx"), tmp_path / "second.tmx")
    one, other = (
        path.read_text("utf-8").split("<body>")[1] for path in (first, tmp_path / "second.tmx")
    )
    assert one == other


def test_texts_come_back_with_their_white_space_and_only_long_runs_are_shortened(tmp_path):
    target, account = exported(write_sentences(tmp_path / "crawl", SPACED), "cwb")
    rows, _ = imported(tmp_path / "again", target)
    wanted = [each if each.at != 5 else replace(each, text2="one two") for each in SPACED]
    assert rows == wanted
    assert account.changed["long runs of white space made one space"] == 1


def test_a_tagger_adds_columns_for_the_languages_that_it_knows(tmp_path):
    crawl = write_sentences(tmp_path / "crawl", [sentence(0)])
    chosen = Selection(tagger=f"{__name__}.Upper")
    export(crawl, find_exporter("cwb"), tmp_path / "cwb", selection=chosen)
    lines = (tmp_path / "cwb" / "spa.vrt").read_text("utf-8").splitlines()
    assert f"museo\tMUSEO\t{UNDEFINED}\t_" in lines
    assert ".\t.\tno word\t-" in lines
    assert "irekitzen\t_" in (tmp_path / "cwb" / "eus.vrt").read_text("utf-8").splitlines()
    registry = tmp_path / "cwb" / "registry"
    assert (
        "ATTRIBUTE word\nATTRIBUTE shout\nATTRIBUTE pos\nATTRIBUTE after\n"
        in (registry / "crawl_spa").read_text()
    )
    assert "shout" not in (registry / "crawl_eus").read_text()
    assert "-P shout -P pos -P after" in (tmp_path / "cwb" / "encode.sh").read_text()
    assert imported(tmp_path / "again", tmp_path / "cwb")[0] == [sentence(0)]


def test_lemmas_are_a_column_where_simplemma_has_the_language(tmp_path):
    crawl = write_sentences(tmp_path / "crawl", [sentence(0, "Los museos abren.")])
    export(crawl, find_exporter("cwb"), tmp_path / "cwb", selection=Selection(tagger="lemma"))
    lines = (tmp_path / "cwb" / "spa.vrt").read_text("utf-8").splitlines()
    assert {"museos\tmuseo\t_", "abren\tabrir\t-"} <= set(lines)
    assert "ATTRIBUTE lemma" not in (tmp_path / "cwb" / "registry" / "crawl_eus").read_text()


class Short(Tagger):
    columns = ("pos",)

    def tag(self, words, language):
        return [("X",)] * (len(words) - 1)


class Taken(Tagger):
    columns = ("word", "After")

    def tag(self, words, language):
        return []


@pytest.mark.parametrize(("name", "said"), [("Short", "must return one row"), ("Taken", "columns")])
def test_a_tagger_that_would_break_the_lines_is_refused(tmp_path, name, said):
    crawl = write_sentences(tmp_path / "crawl", [sentence(0)])
    with pytest.raises(ConfigurationError, match=said):
        export(
            crawl,
            find_exporter("cwb"),
            tmp_path / "cwb",
            selection=Selection(tagger=f"{__name__}.{name}"),
        )


def test_a_corpus_of_other_tools_is_read_with_sentences_joined(tmp_path):
    corpus = tmp_path / "corpus"
    (corpus / "registry").mkdir(parents=True)
    for name, tag in (("one", "en"), ("two", "fr")):
        text = f'##:: language = "{tag}"\nATTRIBUTE word\nATTRIBUTE pos\n'
        (corpus / "registry" / name).write_text(text)
    (corpus / "one.vrt").write_text(
        '<text id="t">\n<s>\nA\tD\ncat\tN\n</s>\n<s>\nsat\tV\n</s>\n</text>\n'
    )
    (corpus / "fra.vrt").write_text("<s>\nUn\tD\nchat\tN\n&lt;assis&gt;\tV\n</s>\n")
    (corpus / "sentences.align").write_text("ONE\ts\tTWO\ts\n0\t2\t0\t2\t2:1\t9\n")
    (row,), _ = imported(tmp_path / "out", corpus)
    assert (row.pair, row.text1.split(), row.text2.split()) == (
        "t",
        ["A", "cat", "sat"],
        ["Un", "chat", "<assis>"],
    )


def test_a_hostile_alignment_is_counted_and_left_out(tmp_path):
    target, _ = exported(write_sentences(tmp_path / "crawl", [sentence(0), sentence(1)]), "cwb")
    heading, first, second = (target / "sentences.align").read_text().splitlines()
    lines = [
        heading,
        first,
        first,
        "9\t3\t0\t1",
        "x",
        "",
        "0\t99999999999999\t0\t1",
        second,
        "900\t901\t900\t901",
    ]
    (target / "sentences.align").write_text("\n".join(lines) + "\n")
    rows, account = imported(tmp_path / "again", target)
    assert [row.at for row in rows] == [0, 1]
    assert account.left_out[NOT_IN_ORDER] == 4
    assert account.damage.lines == 2


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("sentences.align", "../../etc/passwd s X s\n", "names of both corpora"),
        ("registry/crawl_spa", "ATTRIBUTE word\n", "must name the language"),
        ("registry/crawl_spa", '##:: language = "es"\nATTRIBUTE lemma\n', "ATTRIBUTE word first"),
    ],
)
def test_a_faulty_corpus_is_refused_with_its_file(tmp_path, file, text, said):
    target, _ = exported(write_sentences(tmp_path / "crawl", [sentence(0)]), "cwb")
    (target / file).write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        imported(tmp_path / "again", target)
