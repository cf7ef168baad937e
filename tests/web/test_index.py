"""The index follows the files of a crawl, whatever happens to them."""

import gzip
import json
import sqlite3
from io import BytesIO

import pytest

from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.corpus_view import find_pair, list_pairs, paragraphs_of, sentences_of
from bilingual_crawler.web.search.index import (
    INDEX,
    DamagedFileError,
    LinePlace,
    Sentences,
    gzip_lines,
    line_at,
    plain_lines,
    reading,
)
from bilingual_crawler.web.search.indexer import Indexer
from bilingual_crawler.web.search.search import SearchQuestion, search
from tests.support.web_folders import (
    SITE,
    TEXTS,
    document_line,
    packed,
    pair_line,
    sentence,
    write_sentences,
)

ROWS = [sentence("museo", at, *texts) for at, texts in enumerate(TEXTS)]


@pytest.fixture
def indexer(tmp_path):
    made = Indexer(tmp_path)
    yield made
    made.close()


def hits(indexer, text, **more):
    with reading(indexer.path) as connection:
        return [each.at for each in search(connection, SearchQuestion(text, **more)).hits]


def texts_of(lines):
    return [line.text for line in lines]


def test_lines_are_read_on_from_where_they_ended():
    file = BytesIO(gzip.compress(b"a\nb\n") + gzip.compress(b"c\n"))
    first, *rest = gzip_lines(file, LinePlace())
    assert texts_of(rest) == [b"b\n", b"c\n"]
    assert texts_of(gzip_lines(file, first.after)) == [b"b\n", b"c\n"]
    assert texts_of(gzip_lines(file, rest[-1].at)) == [b"c\n"]


def test_a_line_over_two_members_is_one_line():
    file = BytesIO(gzip.compress(b"a\nb") + gzip.compress(b"b\nc\n"))
    lines = list(gzip_lines(file, LinePlace()))
    assert texts_of(lines) == [b"a\n", b"bb\n", b"c\n"]
    for at, line in enumerate(lines):
        assert texts_of(gzip_lines(file, line.at)) == texts_of(lines[at:])


def test_half_a_member_gives_the_lines_it_has():
    whole = gzip.compress(b"".join(b"%d line\n" % at for at in range(5000)), mtime=0)
    lines = texts_of(gzip_lines(BytesIO(whole[: len(whole) // 2]), LinePlace()))
    assert 0 < len(lines) < 5000
    assert lines[-1] == b"%d line\n" % (len(lines) - 1)


def test_half_a_line_is_left_for_later():
    assert texts_of(plain_lines(BytesIO(b"a\nb"), LinePlace())) == [b"a\n"]


def test_damage_is_told_with_its_place():
    file = BytesIO(gzip.compress(b"a\n") + b"no gzip at all")
    with pytest.raises(DamagedFileError, match="from byte 22 on"):
        list(gzip_lines(file, LinePlace()))


def test_sentences_of_a_new_file_are_found(indexer, tmp_path):
    write_sentences(tmp_path, ROWS)
    assert indexer.refresh() == len(ROWS)
    assert hits(indexer, "museo") == [0]
    assert indexer.refresh() == 0


def test_appended_sentences_are_added_alone(indexer, tmp_path):
    write_sentences(tmp_path, ROWS[:2])
    indexer.refresh()
    with (tmp_path / SENTENCES).open("ab") as file:
        file.write(packed(ROWS[2:]))
    assert indexer.refresh() == 2
    assert hits(indexer, "cafe") == [2]


def test_a_replaced_file_replaces_the_sentences(indexer, tmp_path):
    write_sentences(tmp_path, ROWS)
    indexer.refresh()
    write_sentences(tmp_path, [sentence("otro", 0, "Otra cosa", "Beste bat")])
    indexer.refresh()
    assert hits(indexer, "museo") == []
    assert hits(indexer, "otra") == [0]


def test_a_file_that_is_gone_takes_its_sentences_along(indexer, tmp_path):
    write_sentences(tmp_path, ROWS)
    indexer.refresh()
    (tmp_path / SENTENCES).unlink()
    indexer.refresh()
    assert hits(indexer, "museo") == []


def test_a_half_written_file_is_searched_and_completed_later(indexer, tmp_path):
    rows = [sentence("largo", at, f"palabra{at} {at * 7919}", "hitza") for at in range(3000)]
    whole = packed(rows)
    (tmp_path / SENTENCES).write_bytes(whole[: len(whole) // 2])
    assert 0 < indexer.refresh() < 3000
    assert hits(indexer, "palabra3") == [3]
    assert hits(indexer, "palabra2999") == []
    (tmp_path / SENTENCES).write_bytes(whole)
    indexer.refresh()
    assert hits(indexer, "palabra2999") == [2999]
    assert hits(indexer, "palabra3") == [3]


def test_a_damaged_file_is_searched_up_to_the_damage_and_told(indexer, tmp_path):
    (tmp_path / SENTENCES).write_bytes(packed(ROWS) + b"garbage")
    indexer.refresh()
    assert hits(indexer, "museo") == [0]
    assert "damaged" in indexer.progress["sentences"].problem


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", "{}", '{"pair": 1}', json.dumps(ROWS[0].to_dict() | {"text1": None})],
)
def test_a_line_that_cannot_be_read_is_counted_and_skipped(indexer, tmp_path, line):
    (tmp_path / SENTENCES).write_bytes(gzip.compress(f"{line}\n".encode()) + packed(ROWS))
    indexer.refresh()
    assert indexer.progress["sentences"].bad == 1
    assert hits(indexer, "museo") == [0]


def test_half_a_surrogate_pair_harms_nothing(indexer, tmp_path):
    row = json.dumps(ROWS[0].to_dict() | {"text1": "museo \ud800"})
    (tmp_path / SENTENCES).write_bytes(gzip.compress(f"{row}\n".encode()))
    indexer.refresh()
    assert hits(indexer, "museo") == [0]


def test_an_index_of_another_version_or_damaged_is_made_anew(tmp_path):
    write_sentences(tmp_path, ROWS)
    (tmp_path / INDEX).write_bytes(b"not a database, but longer than its header " * 100)
    first = Indexer(tmp_path)
    first.refresh()
    assert hits(first, "museo") == [0]
    first.close()
    with sqlite3.connect(tmp_path / INDEX) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    second = Indexer(tmp_path)
    second.refresh()
    assert hits(second, "museo") == [0]
    second.close()


def test_a_server_that_was_stopped_goes_on_where_it_was(tmp_path):
    write_sentences(tmp_path, ROWS)
    first = Indexer(tmp_path)
    first.refresh()
    first.close()
    second = Indexer(tmp_path)
    assert second.refresh() == 0
    assert hits(second, "museo") == [0]
    second.close()


def test_a_second_server_reads_what_the_first_one_writes(indexer, tmp_path):
    second = Indexer(tmp_path)
    write_sentences(tmp_path, ROWS)
    assert not second.is_writer
    assert second.refresh() == 0
    indexer.refresh()
    assert hits(second, "museo") == [0]
    second.close()


def test_a_second_server_takes_over_when_the_first_one_ends(tmp_path):
    first, second = Indexer(tmp_path), Indexer(tmp_path)
    first.close()
    write_sentences(tmp_path, ROWS)
    assert second.refresh() == len(ROWS)
    assert hits(second, "museo") == [0]
    second.close()


def test_searches_see_the_old_corpus_while_a_new_one_is_indexed(indexer, tmp_path, monkeypatch):
    write_sentences(tmp_path, ROWS)
    indexer.refresh()
    seen = []
    insert = Sentences.insert

    def look(part, connection, lines):
        seen.append(hits(indexer, "museo"))
        return insert(part, connection, lines)

    monkeypatch.setattr(Sentences, "insert", look)
    write_sentences(tmp_path, [sentence("otro", 0, "Otra cosa", "Beste bat")])
    indexer.refresh()
    assert seen == [[0]]
    assert hits(indexer, "museo") == []


def test_a_pair_that_was_replaced_is_not_listed(indexer, tmp_path):
    old, new = (f"{SITE}/es/a", f"{SITE}/eu/a"), (f"{SITE}/es/a", f"{SITE}/eu/b")
    (tmp_path / PAIRS).write_text(pair_line(*old, score=0.6) + pair_line(*new))
    indexer.refresh()
    with reading(indexer.path) as connection:
        assert [each.url2 for each in list_pairs(connection, "found", 1, 10)] == [new[1]]


def test_doubtful_pairs_can_come_first(indexer, tmp_path):
    lines = [pair_line(f"{SITE}/es/{at}", f"{SITE}/eu/{at}", score=at / 10) for at in (9, 5, 7)]
    (tmp_path / PAIRS).write_text("".join(lines))
    indexer.refresh()
    with reading(indexer.path) as connection:
        assert [each.score for each in list_pairs(connection, "doubtful", 1, 2)] == [0.5, 0.7]


def test_the_text_of_a_document_is_read_from_its_place(indexer, tmp_path):
    urls = [f"{SITE}/es/{at}" for at in range(3)]
    lines = [document_line(url, "spa", "T", [f"Texto de {url}"]).encode() for url in urls]
    packed_lines = gzip.compress(lines[0]) + gzip.compress(lines[1] + lines[2])
    (tmp_path / DOCUMENTS).write_bytes(packed_lines)
    indexer.refresh()
    with reading(indexer.path) as connection:
        for url in urls:
            (paragraph,) = paragraphs_of(connection, tmp_path, url)
            assert paragraph.text == f"Texto de {url}"
        assert paragraphs_of(connection, tmp_path, "http://unknown.example/") == []


def test_the_text_of_a_document_whose_file_has_changed_is_not_taken_for_another(indexer, tmp_path):
    url = f"{SITE}/es/1"
    (tmp_path / DOCUMENTS).write_bytes(
        gzip.compress(document_line(url, "spa", "T", ["x"]).encode())
    )
    indexer.refresh()
    other = document_line(f"{SITE}/es/2", "spa", "T", ["y"]).encode()
    (tmp_path / DOCUMENTS).write_bytes(gzip.compress(other))
    with reading(indexer.path) as connection:
        assert paragraphs_of(connection, tmp_path, url) == []
    assert line_at(tmp_path / "missing.gz", LinePlace()) is None


def test_a_document_pair_has_its_sentences_in_order(indexer, tmp_path):
    write_sentences(tmp_path, [ROWS[0], ROWS[1], sentence("otro", 0, "x", "y"), *ROWS[2:]])
    indexer.refresh()
    with reading(indexer.path) as connection:
        pair = find_pair(connection, ROWS[0].pair)
        assert [each.text1 for each in sentences_of(connection, pair.pair, 1)] == [
            text for text, _ in TEXTS
        ]
        assert pair.score is None


def test_a_page_may_be_in_a_pair_with_each_other_language(tmp_path):
    rows = [("spa", "eus"), ("spa", "eng"), ("eus", "eng")]
    lines = [
        {"url1": f"https://x.example/{one}", "url2": f"https://x.example/{other}"}
        | {"lang1": one, "lang2": other, "score": 0.9, "evidence": []}
        for one, other in rows
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    indexer = Indexer(tmp_path)
    indexer.refresh()
    with reading(indexer.path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM pairs").fetchone()[0] == len(rows)
    indexer.close()
