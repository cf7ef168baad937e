"""Which rows an export takes, where it goes, and what it says when it cannot."""

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import EXPORTERS, find_exporter
from bilingual_crawler.export.source import BY_USER, EMPTY, Selection
from bilingual_crawler.store.marks import Marks, SentenceMarks
from bilingual_crawler.store.sentence_pair import SENTENCES
from tests.support import processes
from tests.support.export import (
    ES,
    EU,
    document,
    exported,
    sentence,
    write_documents,
    write_sentences,
)
from tests.support.typed_commands import status_of

SOME_TEXT = Path(__file__).parents[2] / "scrapy.cfg"
FORMATS = tuple(EXPORTERS.builtin)
SENTENCE_FORMATS = [
    name
    for name in FORMATS
    if not find_exporter(name).documents and find_exporter(name).stem != "glossary"
]


@pytest.fixture
def folder(tmp_path):
    rows = [
        sentence(0, score=0.9),
        sentence(1, score=0.2),
        sentence(2, dropped="copied text"),
        sentence(3, text2="  "),
    ]
    return write_sentences(tmp_path / "crawl", rows)


@pytest.fixture
def scrapy(capsys):
    def run(*words):
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", *map(str, words)], Settings())
        printed = capsys.readouterr()
        status = status_of(end.value)
        return (status, printed.out, printed.err) if isinstance(status, int) else (1, "", status)

    return run


def positions(file):
    return [json.loads(line)["at"] for line in file.read_text("utf-8").splitlines()]


def test_only_good_rows_go_out_and_the_others_are_counted(folder):
    target, account = exported(folder, "jsonl")
    assert positions(target) == [0, 1]
    assert account.written == {"sentence pairs": 2}
    assert account.left_out == {"dropped by cleaning: copied text": 1, EMPTY: 1}


def test_dropped_rows_go_out_with_their_reason_when_asked_for(folder):
    target, _ = exported(folder, "jsonl", selection=Selection(dropped=True))
    rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert [row["dropped"] for row in rows] == ["", "", "copied text", ""]


def test_a_score_that_no_pair_can_have_leaves_an_earlier_export_as_it_is(folder, scrapy):
    target, _ = exported(folder, "tsv")
    before = target.read_bytes()
    status, _, _ = scrapy("export", folder, "--to", "tsv", "--min-score", "5")
    assert status != 0
    assert target.read_bytes() == before
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        exported(folder, "tsv", selection=Selection(min_score=5))


def test_an_export_that_would_be_empty_leaves_an_earlier_one_as_it_is(folder):
    target, _ = exported(folder, "tsv")
    before = target.read_bytes()
    with pytest.raises(ConfigurationError, match="stays as it is"):
        exported(folder, "tsv", selection=Selection(min_score=0.95))
    assert target.read_bytes() == before


def test_the_least_score_is_a_score_that_still_goes_out(folder):
    target, account = exported(folder, "jsonl", selection=Selection(min_score=0.9))
    assert positions(target) == [0]
    assert account.left_out["score below 0.9"] == 1


def test_what_a_user_rejected_never_goes_out_and_what_was_accepted_does(tmp_path):
    other = {"url1": f"{ES}2", "url2": f"{EU}2"}
    rows = [
        sentence(0),
        sentence(2, dropped="copied text"),
        sentence(5, "Otra.", "Beste.", **other),
    ]
    folder, row = write_sentences(tmp_path / "crawl", rows), rows[1]
    SentenceMarks(folder).put(row.text1, row.text2, good=True)
    target, _ = exported(folder, "jsonl")
    assert 2 in positions(target)
    SentenceMarks(folder).put(row.text1, row.text2, good=None)
    Marks(folder).put(ES, EU, good=False)
    target, account = exported(folder, "jsonl", selection=Selection(dropped=True))
    assert positions(target) == [5]
    assert account.left_out == {BY_USER: 2}


def test_an_accepted_sentence_of_rejected_documents_goes_out_once(tmp_path):
    rows = [sentence(0), sentence(1, dropped="duplicate"), sentence(2, "Otra.", "Beste bat.")]
    folder = write_sentences(tmp_path / "crawl", rows)
    Marks(folder).put(EU, ES, good=False)
    SentenceMarks(folder).put(rows[0].text1, rows[0].text2, good=True)
    target, account = exported(folder, "jsonl")
    assert positions(target) == [0]
    assert account.left_out == {"dropped by cleaning: duplicate": 1, BY_USER: 1}


@pytest.mark.parametrize("name", ["xml", "pml"])
def test_rejected_document_pairs_are_left_out_of_formats_of_documents(tmp_path, name):
    texts = [document(ES, "spa", "Uno."), document(EU, "eus", "Bat.")]
    texts += [document(f"{ES}2", "spa", "Dos."), document(f"{EU}2", "eus", "Bi.")]
    pairs = [(ES, EU), (f"{ES}2", f"{EU}2")]
    folder = write_documents(tmp_path / "crawl", texts, pairs)
    Marks(folder).put(ES, EU, good=False)
    _, account = exported(folder, name)
    assert account.left_out[BY_USER] == 1
    assert account.written["document pairs"] == 1


@pytest.mark.parametrize("name", ["tmx", "moses", "cwb", "xml", "pml"])
def test_formats_without_a_place_for_the_reason_refuse_dropped_rows(folder, name):
    with pytest.raises(ConfigurationError, match="--dropped with --to tsv, jsonl or parquet"):
        exported(folder, name, selection=Selection(dropped=True))


@pytest.mark.parametrize("name", SENTENCE_FORMATS)
def test_without_sentences_the_user_is_told_to_align(tmp_path, name):
    with pytest.raises(ConfigurationError, match=f"run scrapy align {tmp_path} first"):
        exported(tmp_path, name)
    assert not list((tmp_path / "export").iterdir())


@pytest.mark.parametrize("name", ["xml", "pml"])
def test_without_documents_the_user_is_told_to_crawl(tmp_path, name):
    with pytest.raises(ConfigurationError, match=f"crawl into it with -a output={tmp_path} first"):
        exported(tmp_path, name)


@pytest.mark.parametrize("name", ["moses", "cwb"])
def test_a_file_a_language_needs_a_row(tmp_path, name):
    with pytest.raises(ConfigurationError, match="No sentence pair is left"):
        exported(write_sentences(tmp_path / "crawl", []), name)


@pytest.mark.parametrize("name", ["tmx", "tsv", "jsonl", "parquet"])
def test_an_empty_corpus_is_a_sound_file(tmp_path, name):
    target, account = exported(write_sentences(tmp_path / "crawl", []), name)
    assert target.exists()
    assert not account.written


def test_an_unknown_format_is_told_with_all_that_there_are():
    with pytest.raises(ConfigurationError, match=r"names tmz, but there is no exporter.*tmx"):
        find_exporter("tmz")


DAMAGED = [
    b"{",
    b"[]",
    b'{"pair": "x"}',
    b"\xff\xfe",
    json.dumps(sentence().to_dict() | {"lang1": "../../etc"}).encode(),
    json.dumps(sentence().to_dict() | {"lang1": "eus"}).encode(),
    json.dumps(sentence().to_dict() | {"score": float("nan")}).encode(),
    json.dumps(sentence().to_dict() | {"at": "0"}).encode(),
    json.dumps(sentence().to_dict() | {"text1": None}).encode(),
    json.dumps(sentence().to_dict() | {"new": 1}).encode(),
    b"[" * 100_000,
]


@pytest.mark.parametrize("line", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_line_is_counted_and_the_next_one_is_read(tmp_path, line):
    sound = json.dumps(sentence(7).to_dict()).encode()
    (tmp_path / SENTENCES).write_bytes(gzip.compress(line + b"\n" + sound + b"\n"))
    target, account = exported(tmp_path, "jsonl")
    assert positions(target) == [7]
    assert account.damage.lines == 1
    assert account.damage.first.startswith(f"{SENTENCES}, line 1: not ")


def test_a_file_that_is_cut_off_gives_what_is_before_the_cut(tmp_path):
    lines = "".join(
        json.dumps(sentence(at, os.urandom(30).hex()).to_dict()) + "\n" for at in range(999)
    )
    packed = gzip.compress(lines.encode())
    (tmp_path / SENTENCES).write_bytes(packed[: len(packed) // 2])
    target, account = exported(tmp_path, "jsonl")
    found = positions(target)
    assert 100 < len(found) < 900
    assert found == list(range(len(found)))
    assert account.damage.lines == 1
    assert "cut off" in account.damage.first


@pytest.mark.parametrize("name", SENTENCE_FORMATS)
def test_half_characters_do_not_stop_any_format(tmp_path, name):
    folder = write_sentences(tmp_path / "crawl", [sentence(0, "half \ud800 character")])
    target, account = exported(folder, name)
    several = {"multilingual-tmx": {"units in 2 languages": 1}, "multiparallel": {}}
    assert account.written == several.get(name, {"sentence pairs": 1})
    if name == "jsonl":
        assert "half \ufffd character" in target.read_text("utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_an_older_export_stays_until_the_new_one_is_complete(tmp_path, name):
    folder = write_sentences(tmp_path / "crawl", [sentence()])
    write_documents(folder, [document(ES, "spa", "Hola"), document(EU, "eus", "Kaixo")], [(ES, EU)])
    target, _ = exported(folder, name)

    def state():
        files = [target] if target.is_file() else sorted(target.rglob("*"))
        return {file: file.read_bytes() for file in files if file.is_file()}

    def stop(_share):
        raise KeyboardInterrupt

    before = state()
    write_sentences(folder, [sentence(at, "otro") for at in range(1000)])
    write_documents(folder, [document(f"{ES}{n}", "spa", "Otra") for n in range(1000)], [(ES, EU)])
    with pytest.raises(KeyboardInterrupt):
        exported(folder, name, watch=stop)
    assert state() == before
    assert {target, *target.parent.glob("*.DATASHEET.md")} == set(target.parent.iterdir())


def test_a_new_export_takes_the_place_of_the_older_one(tmp_path):
    folder = write_sentences(tmp_path / "crawl", [sentence(0, "uno")])
    exported(folder, "moses")
    write_sentences(folder, [sentence(0, "dos")])
    target, _ = exported(folder, "moses")
    assert (target / "corpus.spa").read_text() == "dos\n"
    assert list(target.parent.iterdir()) == [target]


def killed_process():
    """The number of a process that is no more."""
    process = processes.start([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_export_left_is_cleared_away(folder):
    pid = killed_process()
    place = folder / "export"
    (place / f".part-{pid}-moses").mkdir(parents=True)
    (place / f".part-{pid}-moses" / "corpus.spa").write_text("half")
    (place / f".part-{os.getppid()}-moses").mkdir()
    target, _ = exported(folder, "moses")
    assert {each.name for each in place.iterdir()} == {"moses", f".part-{os.getppid()}-moses"}
    assert target.is_dir()


def test_a_folder_that_a_kill_left_aside_is_put_back(folder):
    target, _ = exported(folder, "moses")
    target.rename(target.with_name(f".old-{killed_process()}-moses"))
    write_sentences(folder, [])
    with pytest.raises(ConfigurationError, match="No sentence pair is left"):
        exported(folder, "moses")
    assert (target / "corpus.spa").is_file()
    assert list(target.parent.iterdir()) == [target]


def test_a_folder_that_is_no_export_is_never_replaced(folder, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigurationError, match="is not an export"):
        exported(folder, "moses", mine)
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_the_files_of_the_crawl_are_never_replaced(folder):
    with pytest.raises(ConfigurationError, match="belongs to the crawl"):
        exported(folder, "jsonl", folder / SENTENCES)


def test_a_folder_may_be_named_for_a_file(folder, tmp_path):
    target, _ = exported(folder, "tsv", tmp_path)
    assert target == tmp_path / "sentences.tsv"
    assert target.is_file()


def test_missing_folders_are_made(folder, tmp_path):
    target, _ = exported(folder, "tsv", tmp_path / "a" / "b.tsv")
    assert target.is_file()


def test_a_place_that_cannot_be_written_is_told(folder, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"x\.tsv cannot be written: "):
        exported(folder, "tsv", tmp_path / "file" / "x.tsv")


def test_a_name_in_gz_is_packed(folder, tmp_path):
    target, _ = exported(folder, "tsv", tmp_path / "all.tsv.gz")
    with gzip.open(target, "rt") as lines:
        assert next(lines).startswith("src_url\t")


def test_the_share_that_was_read_grows_to_one(tmp_path):
    folder = write_sentences(tmp_path / "crawl", [sentence(at) for at in range(3000)])
    told: list[float] = []
    exported(folder, "tsv", watch=told.append)
    assert len(told) == 4
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize("name", ["tmx", "moses"])
def test_memory_does_not_grow_with_the_corpus(tmp_path, name):
    peaks = []
    for size in (500, 4000):
        rows = (sentence(at, f"{at} " * 50) for at in range(size))
        folder = write_sentences(tmp_path / str(size), rows)
        tracemalloc.start()
        exported(folder, name)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 500_000


def test_the_command_tells_what_became_of_the_rows(scrapy, folder):
    status, out, _ = scrapy("export", folder, "--to", "tsv", "--min-score", "0.5")
    assert status == 0
    assert f"1 sentence pairs written to {folder}/export/sentences.tsv" in out
    assert "1 left out: dropped by cleaning: copied text" in out
    assert "1 left out: score below 0.5" in out


@pytest.mark.parametrize(
    ("words", "sentence_told"),
    [
        (["--to", "tmz"], "names tmz, but there is no exporter"),
        ([], "choose a format"),
        (["--to", "tsv", "--wat"], "unknown option --wat"),
        (["--to", "tsv", "--min-score", "nan"], "not a score: write a number from 0 to 1"),
        (["--to", "tsv", "--min-score", "5"], "not a score: write a number from 0 to 1"),
        (["--to", "pml", "--min-score", "1"], "--min-score is for sentence pairs"),
        (["--to", "tsv", "--topic", SOME_TEXT], "--topic is for --to xml"),
    ],
)
def test_mistakes_are_told_in_a_sentence(scrapy, folder, words, sentence_told):
    status, out, err = scrapy("export", folder, *words)
    assert status != 0
    assert sentence_told in out + err
    assert "Traceback" not in out + err


def test_a_folder_that_is_not_there_is_told(scrapy, tmp_path):
    status, _, err = scrapy("export", tmp_path / "nowhere", "--to", "tsv")
    assert status == 1
    assert "There is no folder" in err


def test_other_commands_do_not_wait_for_the_formats():
    code = (
        "import sys; from bilingual_crawler.commands import export, importing; "
        "print({'pyarrow', 'lxml', 'rich', 'bilingual_crawler.corpus'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(eval(run.stdout)) <= {"lxml"}  # Scrapy's own import
