import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.config.toml_lines import TomlLines, line_of_syntax_error

TRICKY = '''\
# ["comment"]
top = 1
"quoted.key" = { a = 1, b = { c = [1] } }
dotted.x.y = 2

["one"]   # a comment with "quotes' and [brackets]
list = [
    "]", # ]
    "[two]",
    \'\'\'
[two]
list = 1
\'\'\',

    "last" ]
text = """
["two"]
list = "no"
"""
after = 1
[ "two" . 'three' ]
list = [ "a", "b" ]
[two]
'list' = 1
[[many]]
list = 1
[[many]]
list = 2
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("quoted.key",), 3),
        (("quoted.key", "b", "c"), 3),
        (("dotted",), 4),
        (("dotted", "x", "y"), 4),
        (("one",), 6),
        (("one", "list"), 7),
        (("one", "text"), 16),
        (("one", "after"), 20),
        (("two",), 21),
        (("two", "three"), 21),
        (("two", "three", "list"), 22),
        (("two", "list"), 24),
        (("many",), 25),
        (("many", "list"), 26),
    ],
)
def test_a_key_is_found_on_its_line(path, line):
    tomllib.loads(TRICKY)
    assert TomlLines(TRICKY).line_of(*path) == line


def test_an_element_of_a_list_is_found_on_its_line():
    lines = TomlLines(TRICKY)
    assert [lines.line_of("one", "list", element=element) for element in range(4)] == [8, 9, 10, 15]


def test_the_elements_of_a_list_on_one_line_are_on_that_line():
    assert TomlLines(TRICKY).line_of("two", "three", "list", element=1) == 22


def test_an_element_in_a_table_in_braces_is_found_where_it_begins():
    lines = TomlLines('a = 1\nb = { c = [\n"x",\n"y"\n] }')
    assert lines.line_of("b", "c", element=1) == 2


def test_windows_line_ends_count_once():
    assert TomlLines("a = 1\r\nb = [\r\n1,\r\n2]\r\nc = 1\r\n").line_of("c") == 5


VALUES = (
    "1",
    "'[x]'",
    '"a = 1"',
    '[1, "]",\n\n"[t]" # ]\n]',
    '"""\n[t]\na = 1\n"""',
    "'''\n# '\n'''",
    "{ a = 1, b.c = 2 }",
    "1979-05-27T07:32:00Z",
    "[\n[1,\n2], { x = ']' },\n]",
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "# [c]\n", "\n\n", "  "]),
            st.sampled_from(["k{}", '"k{}"', "'k{}'", " k{} "]),
            st.sampled_from(VALUES),
            st.sampled_from(["", " # comment ]", "  "]),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_every_key_of_any_file_is_found_on_its_line(statements):
    text = ""
    expected: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, (before, spelling, value, behind, header) in enumerate(statements):
        text += before
        line = text.count("\n") + 1
        name = f"k{number}"
        if header:
            table = (name,)
            expected[table] = line
            text += f"[{spelling.format(number)}]{behind}\n"
        else:
            expected[(*table, name)] = line
            text += f"{spelling.format(number)} = {value}{behind}\n"
    lines = TomlLines(text)
    assert {path: lines.line_of(*path) for path in expected} == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = [\n1,\n2\n", 2),
        ('a = 1\nb = """\nc = 1\n', 2),
        ("a = 1\n\na = 2", 3),
        ("a = 1\nb : 1\nc = 1", 2),
        ("a = ", 1),
    ],
)
def test_a_syntax_error_is_found_where_it_begins(text, line):
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    assert line_of_syntax_error(text, str(caught.value)) == line


def test_a_long_file_is_searched_quickly():
    text = "".join(
        f'["h{number}.org"]\ndelay = 1\ninclude = [\n"a",\n]\n' for number in range(2000)
    )
    start = time.process_time()
    assert TomlLines(text).line_of("h1999.org", "include", element=0) == 9999
    assert time.process_time() - start < 3
