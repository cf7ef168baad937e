"""The rows of SQL dumps: every spelling of a value, long lines, and damage."""

import io
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.bootstrap import sql_dump
from bilingual_crawler.bootstrap.sql_dump import BrokenOffError, MissingColumnError, rows
from tests.support.wiki_world import sql

CREATE = b"CREATE TABLE `t` (\n  `a` int,\n  `b` varbinary(9),\n  `c` float,\n  KEY (`b`)\n);\n"


def read(text, *columns, damaged=pytest.fail):
    return list(rows(io.BytesIO(text), columns or ("a", "b", "c"), damaged))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"'plain'", b"plain"),
        (rb"''", b""),
        (rb"'it\'s'", b"it's"),
        (rb"'it''s'", b"it's"),
        (rb"'a\\'", b"a\\"),
        (rb"'\0\b\n\r\t\Z\"'", b'\0\b\n\r\t\x1a"'),
        (rb"'100\%\_'", rb"100\%\_"),
        (rb"'x),(2,\'y\',3);'", b"x),(2,'y',3);"),
        (b"'\xff\xfe'", b"\xff\xfe"),
        (b"_binary 'x'", b"x"),
        (b"0x4142", b"AB"),
        (b"0xF", b"\x0f"),
        (b"NULL", None),
        (b"-1.5e+3", b"-1.5e+3"),
    ],
)
def test_every_spelling_of_a_value_is_understood(written, meant):
    text = CREATE + b"INSERT INTO `t` VALUES (1," + written + b",2),(3,'next',NULL);\n"
    assert read(text) == [(b"1", meant, b"2"), (b"3", b"next", None)]


def test_columns_come_by_name_in_the_order_they_are_asked_for():
    text = CREATE + b"INSERT INTO `t` VALUES (1,'x',2);\n"
    assert read(text, "c", "a") == [(b"2", b"1")]
    assert read(text, "z|b", "a") == [(b"x", b"1")]
    with pytest.raises(MissingColumnError, match="z"):
        read(text, "z")


def test_an_insert_may_name_its_columns_itself():
    text = b"INSERT INTO `t` (`c`, `b`, `a`) VALUES (1,'x',2);\n"
    assert read(text) == [(b"2", b"x", b"1")]


def test_a_line_may_be_longer_than_what_is_read_at_once(monkeypatch):
    monkeypatch.setattr(sql_dump, "CHUNK", 50)
    many = b",".join(b"(%d,'%s',NULL)" % (n, b"x" * (n % 97)) for n in range(500))
    found = read(CREATE + b"INSERT INTO `t` VALUES " + many + b";\n")
    assert [int(a) for a, _, _ in found] == list(range(500))


def test_a_row_that_cannot_be_read_is_told_once_and_passed_over():
    text = CREATE + b"INSERT INTO `t` VALUES (1,'a',1),(2,'b,2),(3,bad),(4,'d',4),(5,'e',5);\n"
    damages: list[sql_dump.DumpDamage] = []
    found = read(text + b"INSERT INTO `t` VALUES (6,'f',6);\n", damaged=damages.append)
    assert [row[0] for row in found] == [b"1", b"4", b"5", b"6"]
    assert damages == [(text.index(b"(2,"), 1)]


def test_a_file_that_is_nothing_but_damage_is_given_up():
    bad = b"INSERT INTO `t` VALUES (bad),(1,'a',1);\n" * 3 * sql_dump.MOST_DAMAGES
    damages: list[sql_dump.DumpDamage] = []
    read(CREATE + bad, damaged=damages.append)
    assert len(damages) == sql_dump.MOST_DAMAGES


def test_what_came_before_a_broken_end_is_read_first():
    class Broken(io.BytesIO):
        def read1(self, size=-1):
            part = super().read1(min(size, 10))
            if not part:
                raise EOFError("it breaks off")
            return part

    text = CREATE + b"INSERT INTO `t` VALUES (1,'a',1),(2,'b',2),(3,'c"
    found = rows(Broken(text), ("a",), lambda damage: pytest.fail(str(damage)))
    assert list(islice(found, 2)) == [(b"1",), (b"2",)]
    with pytest.raises(BrokenOffError) as broken:
        next(found)
    assert broken.value.row == 2
    assert str(broken.value.__cause__) == "it breaks off"


VALUES = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.binary(max_size=30))


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=20), st.integers(1, 5))
def test_what_is_written_is_read(given_rows, a_statement):
    text = sql("t", ("a", "b", "c"), given_rows, a_statement)
    meant = [
        tuple(str(each).encode() if isinstance(each, int) else each for each in row)
        for row in given_rows
    ]
    assert read(text) == meant


@given(st.binary(max_size=300))
def test_whatever_the_bytes_are_reading_ends(noise):
    for _ in rows(io.BytesIO(CREATE + b"INSERT INTO `t` VALUES (1,'a" + noise), ("a",)):
        pass
