"""Marks are saved as labels that training reads."""

import pytest

from bilingual_crawler.lab.labels import LabelledPair, SkippedLines, pair_rows
from bilingual_crawler.store.marks import CorpusMarks, MarkError, Marks, SentenceMarks

A, B = ("http://a/es", "http://a/eu"), ("http://b/es", "http://b/eu")


def test_marks_are_two_urls_and_a_label_a_line(tmp_path):
    marks = Marks(tmp_path)
    marks.put(*A, good=True)
    marks.put(*B, good=False)
    assert (tmp_path / "labels.tsv").read_text() == (
        "http://a/es\thttp://a/eu\t1\nhttp://b/es\thttp://b/eu\t0\n"
    )


def test_marks_are_labelled_pairs_to_the_commands_that_read_them(tmp_path):
    marks = Marks(tmp_path)
    marks.put(*A, good=True)
    marks.put(*B, good=False)
    skipped = SkippedLines()
    rows = list(pair_rows(str(marks.path), skipped))
    assert rows == [LabelledPair(*A, True), LabelledPair(*B, False)]
    assert not skipped.count


def test_a_pair_has_one_mark_the_last(tmp_path):
    marks = Marks(tmp_path)
    marks.put(*A, good=True)
    marks.put(*A, good=False)
    assert (tmp_path / "labels.tsv").read_text() == "http://a/es\thttp://a/eu\t0\n"
    marks.put(*A, good=None)
    assert (tmp_path / "labels.tsv").read_text() == ""
    assert marks.of(*A) is None


def test_marks_are_there_again_after_a_restart(tmp_path):
    Marks(tmp_path).put(*A, good=False)
    assert Marks(tmp_path).of(*A) is False
    assert Marks(tmp_path).of(*B) is None


def test_lines_of_somebody_else_are_kept(tmp_path):
    marks = Marks(tmp_path)
    marks.put(*A, good=True)
    with (tmp_path / "labels.tsv").open("a") as file:
        file.write("# a note\nhttp://b/es\thttp://b/eu\t1\n")
    assert marks.of(*B) is True
    marks.put(*A, good=None)
    assert (tmp_path / "labels.tsv").read_text() == "# a note\nhttp://b/es\thttp://b/eu\t1\n"


@pytest.mark.parametrize("url", ["http://a/\t1", "http://a/\nx", "http://a/\r", "#a"])
def test_an_address_that_would_break_the_table_is_refused(tmp_path, url):
    with pytest.raises(MarkError):
        Marks(tmp_path).put(url, "http://b/", good=True)
    assert not (tmp_path / "labels.tsv").exists()


def test_sentences_are_marked_by_their_text_on_one_line(tmp_path):
    SentenceMarks(tmp_path).put("# One\n two", "Uno\tdos", good=False)
    assert (tmp_path / "sentence_labels.tsv").read_text() == "# One two\tUno dos\t0\n"
    assert SentenceMarks(tmp_path).of("# One two", "Uno dos") is False


def test_the_marks_of_a_corpus_hold_in_either_order_of_the_pages(tmp_path):
    Marks(tmp_path).put(*A, good=False)
    marks = CorpusMarks(tmp_path)
    assert marks.of_documents(*A) is False
    assert marks.of_documents(*reversed(A)) is False
    assert marks.of_documents(*B) is None
