"""Lexicons: what they hold, how they are added up, and what is read from files of others."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.lexicon import (
    MOST_BYTES,
    MOST_ENTRIES,
    UNTESTED,
    LexiconTest,
    TranslationLexicon,
    lexicon_file,
    of_languages,
    read_lexicons,
)
from tests.support.lexicon import lexicon_of

HEAD = "#bilingual-lexicon\t1\tspa\teus\t30\t20\t19\n"
FILE = lexicon_file("spa-eus")


def lexicon(*rows, test=UNTESTED):
    together = {(first, second): times for first, second, times, *_ in rows}
    seen = ({row[0]: row[3] for row in rows}, {row[1]: row[4] for row in rows})
    return TranslationLexicon(("spa", "eus"), together, seen, test, pages=30)


def written(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_a_lexicon_is_read_as_it_was_written(tmp_path):
    known = lexicon(("casa", "etxea", 3.5, 4, 5), test=LexiconTest(20, 19))
    known.write(tmp_path / FILE)
    found = TranslationLexicon.read(tmp_path / FILE)
    assert list(found.lines()) == list(known.lines()) == ["casa\tetxea\t3.500\t4\t5\n"]
    assert (found.languages, found.pages, found.test) == (("spa", "eus"), 30, (20, 19))


def test_the_same_lexicon_gives_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        lexicon_of(range(50)).write(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_the_sum_of_two_lexicons_counts_what_both_have_seen():
    one, other = lexicon(("casa", "etxea", 3, 4, 4)), lexicon(("casa", "etxea", 1, 12, 12))
    assert list((one + other).entries()) == [("casa", "etxea", 0.25, 4)]
    assert (one + other).pages == 60


def test_lexicons_of_one_pair_in_both_orders_are_added_up():
    one = lexicon(("casa", "etxea", 3, 4, 4))
    total = of_languages(("eus", "spa"), [one, one.swapped(), lexicon_of(range(3), ("deu", "eng"))])
    assert total is not None
    assert list(total.lines()) == ["etxea\tcasa\t6.000\t8\t8\n"]


def test_only_the_entries_that_are_linked_most_often_are_kept():
    rows = {(f"a{n}", f"b{n}"): n + 1.0 for n in range(MOST_ENTRIES + 5)}
    seen = ({first: 1e6 for first, _ in rows}, {second: 1e6 for _, second in rows})
    kept = TranslationLexicon(("spa", "eus"), rows, seen)
    assert len(kept) == MOST_ENTRIES
    assert kept.share("a0", "b0") == 0 < kept.share("a5", "b5")


@pytest.mark.parametrize(
    ("tested", "won", "trusted"),
    [(0, 0, False), (4, 4, False), (5, 5, True), (20, 10, False), (20, 14, False), (20, 15, True)],
)
def test_a_lexicon_is_used_only_if_it_has_beaten_chance(tested, won, trusted):
    assert lexicon_of(range(5), test=LexiconTest(tested, won)).is_trusted is trusted


def test_the_tests_of_earlier_crawls_can_be_outweighed():
    proven = LexiconTest(1_000, 1_000).shortened()
    assert proven == (10, 10)
    assert not (proven + LexiconTest(60, 30)).beats_chance


def test_slugs_are_compared_by_the_words_that_they_do_not_share():
    known = lexicon(("casa", "etxea", 9, 9, 9), ("puente", "zubia", 9, 9, 9))
    assert known.slugs_agree("/es/casa-2024", "/eu/etxea-2024") == 1
    assert known.slugs_agree("casa-puente", "etxea") == pytest.approx(2 / 3)
    assert known.slugs_agree("casa", "zubia") == 0
    accents = lexicon(("jardín", "lorategia", 9, 9, 9))
    assert accents.slugs_agree("el-jardin", "lorategia") == 1
    assert known.slugs_agree("perro", "zubia") is None
    assert known.slugs_agree("casa-etxea", "casa-etxea") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not the lexicon of a crawl"),
        ("casa\tetxea\n", "it is not the lexicon of a crawl"),
        (HEAD.replace("\t1\t", "\t2\t", 1), "another version of the crawler wrote it"),
        ("#bilingual-lexicon\t1\tspa\n", "its first line is damaged"),
        (HEAD.replace("30", "many"), "its first line is damaged"),
        (HEAD.replace("\t20\t19", "\t19\t20"), "it is not the lexicon of a crawl"),
        (HEAD.replace("30", "9" * 5_000), "its first line is damaged"),
    ],
)
def test_a_file_that_is_no_lexicon_is_refused_with_the_reason(tmp_path, text, why):
    with pytest.raises(ConfigurationError, match=why):
        TranslationLexicon.read(written(tmp_path / FILE, text))


def test_damaged_rows_are_skipped_and_counted(tmp_path, caplog):
    bad = [
        "casa\tetxea",
        "casa\tetxea\tnan\t4\t4",
        "casa\tetxea\tinf\t4\t4",
        "casa\tetxea\t-1\t4\t4",
        "two words\tetxea\t1\t4\t4",
        f"{'a' * 100}\tetxea\t1\t4\t4",
        "casa\tetxea\t1\t4\t1e99",
        "\x1b[31m\tetxea\t1\t4\t4",
    ]
    file = written(tmp_path / FILE, HEAD + "\n".join(bad) + "\nagua\tura\t2\t1\t3\n")
    found = TranslationLexicon.read(file)
    assert list(found.lines()) == ["agua\tura\t2.000\t2\t3\n"]
    assert f"{len(bad)} damaged lines were skipped" in caplog.text


def test_of_a_file_that_unpacks_to_gigabytes_only_the_beginning_is_read(tmp_path):
    file = tmp_path / FILE
    with gzip.open(file, "wb") as packed:
        packed.write(HEAD.encode() + b"casa\tetxea\t1\t4\t4\n")
        for _ in range(20):
            packed.write(b"a" * (MOST_BYTES // 8))
    assert len(TranslationLexicon.read(file)) == 1


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    lexicon_of(range(500)).write(tmp_path / FILE)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigurationError, match="cannot be read"):
        TranslationLexicon.read(tmp_path / FILE)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_lexicon_or_a_clear_error(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("any") / FILE
    file.write_bytes(HEAD.encode() + data)
    for row in TranslationLexicon.read(file).entries(0, 0):
        assert 0 < row.share <= 1


def test_a_setting_names_files_and_folders_of_crawls(tmp_path):
    (tmp_path / "crawl").mkdir()
    lexicon_of(range(5)).write(tmp_path / "crawl" / FILE)
    lexicon_of(range(7)).write(tmp_path / "words.gz")
    found = read_lexicons(f"{tmp_path / 'crawl'}, {tmp_path / 'words.gz'}")
    assert list(map(len, found)) == [5, 7]


def test_a_folder_without_a_lexicon_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"(?s)no lexicon in the folder.*lexicon\.\*"):
        read_lexicons(str(tmp_path))
