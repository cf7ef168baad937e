"""Small files of others that unpack to gigabytes take no such memory."""

import gzip
import json
import subprocess
import sys
from io import BufferedReader, BytesIO

import pytest

from bilingual_crawler.export import tmx
from bilingual_crawler.export.source import Account
from bilingual_crawler.store.input_files import Damage, bounded_lines, read_json_lines, unpacked
from tests.support.crawling import ROOT

MEGABYTES = 300  # a reader that holds what it reads takes more than twice as much
GOOD = b'{"text": "on"}\n'
UNIT = b'<tu><tuv xml:lang="en"><seg>One</seg></tuv><tuv xml:lang="fr"><seg>Un</seg></tuv></tu>'
MEASURED = """
import sys
from pathlib import Path
def memory():
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
{imports}
file = Path(sys.argv[1])
before = memory()
count = sum(1 for _ in {reader})
print(count, memory() - before)
"""
PLACES = {
    "Account": "export.source",
    "TmxFile": "export.tmx",
    "_of_lines": "pairing.word_list",
    "Damage": "store.input_files",
    "read_json_lines": "store.input_files",
    "rows": "store.input_files",
    "unpacked": "store.input_files",
    "LinePlace": "web.search.index",
    "lines_from": "web.search.index",
}
"""Where the readers are, so that each process imports its own alone."""
LINE_READERS = {
    "json lines": "read_json_lines(file, Damage())",
    "a table": "rows(str(file))",
    "a word list": "_of_lines(unpacked(file.open('rb')), file)",
    "the index of the search page": "lines_from(file.open('rb'), file, LinePlace())",
}


def measured(reader, file):
    """How many things a reader finds in a file, and how many megabytes more it takes."""
    imports = "\n".join(
        f"from bilingual_crawler.{place} import {name}"
        for name, place in PLACES.items()
        if f"{name}(" in reader
    )
    program = MEASURED.replace("{reader}", reader).replace("{imports}", imports)
    command = [sys.executable, "-c", program, str(file)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    count, megabytes = map(int, ended.stdout.split())
    return count, megabytes


def packed(path, *parts):
    """Write parts, each (bytes, how often), without having all of them in memory."""
    with gzip.open(path, "wb", 1) as file:
        for part, times in parts:
            block = part * max(1, (1 << 20) // len(part))
            for _ in range(times * len(part) // len(block)):
                file.write(block)
            file.write(part * (times % (len(block) // len(part))))
    return path


@pytest.mark.parametrize("reader", LINE_READERS.values(), ids=LINE_READERS)
def test_an_endless_line_is_passed_over(tmp_path, reader):
    good = b'{"a": 1}\tbi\n'  # good enough for all of them, JSON aside
    line = GOOD if "json" in reader else good
    file = packed(tmp_path / "x.jsonl.gz", (line, 2), (b"x", 500_000_000), (b"\n", 1), (line, 3))
    count, megabytes = measured(reader, file)
    assert count in {5, 6}  # the page of the search numbers lines that it cannot read
    assert megabytes < MEGABYTES


def test_a_line_of_very_many_values_is_passed_over(tmp_path):
    file = packed(tmp_path / "x.jsonl.gz", (b'{"a":[', 1), (b"[],", 11_000_000), (b"0]}\n", 1))
    count, megabytes = measured(LINE_READERS["json lines"], file)
    assert (count, megabytes < MEGABYTES) == (0, True)


@pytest.mark.parametrize(
    "junk",
    [
        b"<x/>",
        b"<x><y a='1'>text</y> tail</x>",
        b"<header><note/></header>",
        b"<!-- comment -->",
        b"<?instruction?>",
        b"<tuv><seg>outside</seg></tuv>",
    ],
)
@pytest.mark.parametrize("place", ["before", "inside", "nested"])
def test_junk_in_a_translation_memory_is_freed(tmp_path, junk, place):
    around = {
        "before": (b"", b""),
        "inside": (b"<tu>", b"</tu>"),
        "nested": (b"<z><z>", b"</z></z>"),
    }
    begin, end = around[place]
    file = packed(
        tmp_path / "x.tmx.gz",
        (b"<tmx><body>" + begin, 1),
        (junk, 8_000_000 // len(junk)),
        (end + UNIT + b"</body></tmx>", 1),
    )
    count, megabytes = measured("TmxFile(file, Account()).read()", file)
    assert (count, megabytes < MEGABYTES / 4) == (1, True)


def test_a_unit_with_too_many_elements_is_left_out_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(tmx, "MAX_IN_UNIT", 10)
    large = b"<tu>" + b"<prop/>" * 11 + UNIT[4:]
    (tmp_path / "x.tmx").write_bytes(b"<tmx><body>" + UNIT + large + UNIT + b"</body></tmx>")
    account = Account()
    assert len(list(tmx.TmxFile(tmp_path / "x.tmx", account).read())) == 2
    assert account.left_out == {tmx.TOO_LARGE: 1}


def test_an_overlong_line_is_counted_and_the_next_one_read(tmp_path, monkeypatch):
    monkeypatch.setattr("bilingual_crawler.store.input_files.MAX_LINE", 100)
    monkeypatch.setattr("bilingual_crawler.store.input_files.bounded_lines.__defaults__", (100,))
    file = tmp_path / "x.jsonl"
    file.write_bytes(GOOD + json.dumps({"text": "x" * 100}).encode() + b"\n" + GOOD)
    damage = Damage()
    places = [place for place, _ in read_json_lines(file, damage)]
    assert places == ["x.jsonl, line 1", "x.jsonl, line 3"]
    assert (damage.lines, damage.first) == (1, "x.jsonl, line 2: too long")


@pytest.mark.parametrize("content", [b"", b"\n", b"a", b"a\n", b"a\r\rb\n\nc", b"x" * 10 + b"\ny"])
def test_lines_are_split_as_files_split_them(content):
    for data in (content, gzip.compress(content)):
        stream = unpacked(BufferedReader(BytesIO(data)))
        assert list(bounded_lines(stream)) == list(BytesIO(content))


def test_lines_up_to_the_limit_are_whole():
    stream = BufferedReader(BytesIO(b"12345\n123456\n1\n1234567"))
    assert list(bounded_lines(stream, 6)) == [b"12345\n", None, b"1\n", None]
