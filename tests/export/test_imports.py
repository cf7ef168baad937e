"""Other people's corpora: which formats are read, in which columns, and what is refused."""

import gzip
import json
from dataclasses import replace

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import export, find_exporter
from bilingual_crawler.export.imports import ImportTask, import_corpus
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, read_sentences
from tests.support.typed_commands import typed

PAIR = LanguagePair.parse("eng-fra")
ENGLISH = ("The council met on Monday.", "It opened the library.")
FRENCH = ("Le conseil s'est réuni lundi.", "Il a ouvert la bibliothèque.")
TEXTS = list(zip(ENGLISH, FRENCH, strict=True))


def imported(tmp_path, *files, langs=PAIR, **options):
    task = ImportTask(inputs=files, folder=tmp_path / "in", languages=langs, **options)
    account, languages = import_corpus(task)
    return list(read_sentences(tmp_path / "in" / SENTENCES)), account, languages


def texts(rows):
    return [(row.text1, row.text2) for row in rows]


def written(path, text):
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def table(*rows, separator="\t"):
    return "".join(separator.join(row) + "\n" for row in rows)


ROWS = [
    SentencePair("p1", 3, "https://a.example/en", "https://a.example/fr", "eng", "fra", *TEXTS[0]),
    SentencePair(
        *("p1", 4, "https://a.example/en", "https://a.example/fr", "eng", "fra", *TEXTS[1]),
        beads="1-2",
        score=0.25,
    ),
]


@pytest.fixture
def aligned(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    lines = "".join(json.dumps(row.to_dict()) + "\n" for row in ROWS)
    written(folder / SENTENCES, lines)
    return folder


@pytest.mark.parametrize("name", ["tsv", "jsonl", "parquet"])
def test_our_own_exports_come_back_unchanged(tmp_path, aligned, name):
    file = tmp_path / f"corpus.{name}"
    export(aligned, find_exporter(name), file)
    rows, account, languages = imported(tmp_path, file, langs=None)
    assert rows == ROWS
    assert (account.written["sentence pairs"], str(languages)) == (2, "eng-fra")


def test_a_moses_export_comes_back_with_its_ids(tmp_path, aligned):
    export(aligned, find_exporter("moses"), tmp_path / "moses")
    rows, _, languages = imported(tmp_path, tmp_path / "moses", langs=None)
    assert [(row.pair, row.at, row.url1, row.score) for row in rows] == [
        (row.pair, row.at, row.url1, row.score) for row in ROWS
    ]
    assert (texts(rows), str(languages)) == (TEXTS, "eng-fra")


@pytest.mark.parametrize("name", ["texts.tsv", "texts.tsv.gz", "texts", "texts.txt.gz"])
def test_two_columns_are_the_texts(tmp_path, name):
    rows, _, _ = imported(tmp_path, written(tmp_path / name, table(*TEXTS)))
    assert texts(rows) == TEXTS
    assert [row.at for row in rows] == [0, 1]


def test_urls_and_scores_are_seen_in_tables_without_a_header(tmp_path):
    lines = [("https://a.example/en", "https://a.example/fr", *each, "0.5") for each in TEXTS]
    rows, _, _ = imported(tmp_path, written(tmp_path / "bitextor.tsv", table(*lines)))
    assert texts(rows) == TEXTS
    assert {(row.url1, row.score) for row in rows} == {("https://a.example/en", 0.5)}
    assert len({row.pair for row in rows}) == 1


def test_a_header_names_the_columns(tmp_path):
    lines = [("id", "tgt", "src", "bicleaner-ai-score")]
    lines += [("7", french, english, "0.75") for english, french in TEXTS]
    rows, _, _ = imported(tmp_path, written(tmp_path / "a.tsv", table(*lines)))
    assert (texts(rows), {row.score for row in rows}) == (TEXTS, {0.75})


def test_the_user_names_the_columns(tmp_path):
    file = written(tmp_path / "a.tsv", table(*(("x", b, a, "y") for a, b in TEXTS)))
    rows, _, _ = imported(tmp_path, file, columns=("-", "text2", "text1", "-"))
    assert texts(rows) == TEXTS


def test_a_csv_file_may_quote(tmp_path):
    text = 'en,fr\n"One, and ""two""",Un et deux\n"Two\nlines",Deux lignes\n'
    rows, _, languages = imported(tmp_path, written(tmp_path / "a.csv", text), langs=None)
    assert texts(rows) == [('One, and "two"', "Un et deux"), ("Two\nlines", "Deux lignes")]
    assert str(languages) == "eng-fra"


@pytest.mark.parametrize(
    "shape",
    [
        lambda one, other: {"translation": {"en": one, "fr": other}},
        lambda one, other: {"id": 1, "en": one, "fr": other},
        lambda one, other: {"source": one, "target": other, "src_lang": "en", "tgt_lang": "fr"},
        lambda one, other: {"text1": other, "text2": one, "lang1": "fra", "lang2": "eng"},
    ],
)
def test_json_objects_of_many_shapes_are_read(tmp_path, shape):
    lines = "".join(json.dumps(shape(*each)) + "\n" for each in TEXTS)
    rows, _, _ = imported(tmp_path, written(tmp_path / "a.jsonl", lines))
    assert texts(rows) == TEXTS


def test_the_order_of_languages_is_the_one_asked_for(tmp_path, aligned):
    lines = [replace(row, licence1="CC0", sentence2=3).to_dict() for row in ROWS]
    written(aligned / SENTENCES, "".join(json.dumps(line) + "\n" for line in lines))
    rows, _, _ = imported(tmp_path, aligned, langs=LanguagePair.parse("fra-eng"))
    assert texts(rows) == [(french, english) for english, french in TEXTS]
    assert (rows[1].url1, rows[1].beads) == ("https://a.example/fr", "2-1")
    assert (rows[1].licence2, rows[1].sentence1) == ("CC0", 3)


def test_two_texts_belong_together_by_their_names(tmp_path):
    one = written(tmp_path / "corpus.fr", "\n".join(FRENCH) + "\n")
    other = written(tmp_path / "corpus.en.gz", "\n".join(ENGLISH) + "\n")
    rows, _, languages = imported(tmp_path, one, other)
    assert (texts(rows), str(languages)) == (TEXTS, "eng-fra")


def test_texts_of_different_length_are_refused(tmp_path):
    one = written(tmp_path / "corpus.en", "One.\nTwo.\n")
    other = written(tmp_path / "corpus.fr", "Un.\n")
    with pytest.raises(ConfigurationError, match=r"corpus\.en has more lines than"):
        imported(tmp_path, one, other)
    assert not (tmp_path / "in" / SENTENCES).exists()


def test_rows_that_cannot_be_read_are_counted_and_the_first_is_named(tmp_path):
    lines = [("src", "trg", "score"), ("only one",), ("A b.", "C d.", "high"), (*TEXTS[0], "0.5")]
    lines += [("", "Nothing.", "1"), (*TEXTS[1], "nan")]
    rows, account, _ = imported(tmp_path, written(tmp_path / "a.tsv", table(*lines)))
    assert texts(rows) == TEXTS[:1]
    assert account.damage.lines == 3
    assert account.damage.first == "a.tsv, line 2: too few columns"
    assert account.left_out == {"one side has no text": 1}


@pytest.mark.parametrize(
    ("name", "text", "langs", "message"),
    [
        ("a.tsv", table(*TEXTS), None, "write --langs"),
        ("a.tsv", "one\n", PAIR, "--columns"),
        ("a.txt", "one\n", PAIR, "none of the formats"),
        ("a.jsonl", '{"a": 1}\n', PAIR, "1 damaged rows, first a.jsonl, line 1: no two texts"),
        ("a.parquet", "PAR1", PAIR, "not a valid Parquet file"),
        ("a.tsv", "", PAIR, "it is empty"),
    ],
)
def test_what_cannot_be_imported_is_explained(tmp_path, name, text, langs, message):
    with pytest.raises(ConfigurationError) as found:
        imported(tmp_path, written(tmp_path / name, text), langs=langs)
    assert message in str(found.value)


def test_a_truncated_file_replaces_nothing(tmp_path):
    imported(tmp_path, written(tmp_path / "a.tsv", table(*TEXTS)))
    whole = gzip.compress(table(*(TEXTS * 500)).encode())
    (tmp_path / "b.tsv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigurationError, match="ends too early"):
        imported(tmp_path, tmp_path / "b.tsv.gz")
    assert texts(read_sentences(tmp_path / "in" / SENTENCES)) == TEXTS


def test_cleaning_names_the_rule_that_a_pair_breaks(tmp_path):
    lines = [*TEXTS, TEXTS[0], ("12", "12"), (ENGLISH[0], ENGLISH[0])]
    file = written(tmp_path / "a.tsv", table(*lines))
    rows, _, _ = imported(tmp_path, file, clean=True)
    assert texts(rows) == lines
    assert [bool(row.dropped) for row in rows] == [False, False, True, True, True]
    assert rows[2].dropped == "duplicate"
    plain, _, _ = imported(tmp_path, file)
    assert not any(row.dropped for row in plain)


def test_several_corpora_become_one_and_imports_are_merged(tmp_path, capsys, aligned):
    first = written(tmp_path / "a.tsv", table(TEXTS[0]))
    second = written(tmp_path / "b.tsv", table(TEXTS[1]))
    for name, file in (("one", first), ("two", second)):
        words = ("import", file, "--langs", "eng-fra", "--out", tmp_path / name)
        assert typed(capsys, *words)[0] == 0
    folders = tmp_path / "one", tmp_path / "two"
    status, printed, _ = typed(capsys, "merge", *folders, "--into", tmp_path / "all", "--json")
    assert (status, json.loads(printed)["written"]) == (0, {"sentence pairs": 2})
    assert texts(read_sentences(tmp_path / "all" / SENTENCES)) == TEXTS
    status, _, _ = typed(capsys, "import", *folders, aligned, "--out", tmp_path / "more")
    assert status == 0
    assert len(list(read_sentences(tmp_path / "more" / SENTENCES))) == 4
    status, printed, _ = typed(capsys, "export", tmp_path / "all", "--to", "jsonl")
    assert "2 sentence pairs written" in printed
