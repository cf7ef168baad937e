"""Files for the Corpus Workbench: what they say, and that its own programs take them."""

import re
import shutil
import subprocess
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.export.safe_text import MAX_TOKEN, tokens
from bilingual_crawler.export.source import EMPTY
from tests.support.export import HARD, PAIR, exported, sentence, write_sentences

TAG = re.compile(r'<(doc|s)( [a-z]+="[^"<>]*")*>|</(doc|s)>')
PROGRAMS = ("cwb-encode", "cwb-makeall", "cwb-align-encode", "cwb-decode", "cwb-describe-corpus")
missing = [program for program in PROGRAMS if shutil.which(program) is None]


@pytest.fixture
def folder(tmp_path):
    return exported(write_sentences(tmp_path / "crawl", HARD), "cwb")[0]


def words_of(file):
    """The tokens of a vertical text by position, as cwb-encode -x reads them."""
    lines = file.read_text("utf-8").split("\n")[:-1]
    words = (line.partition("\t")[0] for line in lines if not line.startswith("<"))
    marks = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
    return [re.sub("&(lt|gt|amp);", lambda found: marks[found[0]], word) for word in words]


def structures(registry):
    return re.findall(r"^STRUCTURE (\w+)", registry, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("L'été, c'est 3,50 € !", ["L'été", ",", "c'est", "3,50", "€", "!"]),
        (
            "see https://a.eu/x?y=1, or me@a.eu.",
            ["see", "https://a.eu/x?y=1", ",", "or", "me@a.eu", "."],
        ),
        ("漢字とABC。", ["漢", "字", "と", "ABC", "。"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Euskal-Herria (EH)", ["Euskal-Herria", "(", "EH", ")"]),
        ("كتابٌ جديد", ["كتابٌ", "جديد"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        (" \t\n\x00 ", []),
    ],
)
def test_text_is_cut_into_tokens_in_many_scripts(text, wanted):
    assert list(tokens(text)) == wanted


@given(st.text())
def test_tokens_hold_every_visible_character_in_its_order(text):
    hidden = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
    assert "".join(tokens(text)) == hidden.sub("", text)


def test_a_token_without_end_is_cut():
    assert [len(token) for token in tokens("a" * (2 * MAX_TOKEN + 1))] == [MAX_TOKEN, MAX_TOKEN, 1]


def test_a_line_is_a_token_or_a_tag_and_nothing_crawled_looks_like_a_tag(folder):
    for language in ("spa", "eus"):
        for line in (folder / f"{language}.vrt").read_text("utf-8").split("\n")[:-1]:
            assert line
            assert TAG.fullmatch(line) if line.startswith("<") else line.count("\t") == 1


def test_the_tokens_of_a_text_are_all_there(folder):
    assert words_of(folder / "eus.vrt") == [word for row in HARD for word in tokens(row.text2)]


def test_structures_open_and_close_in_order(tmp_path):
    rows = [sentence(0), sentence(1), sentence(0, pair="other"), sentence(1, pair="other")]
    target, _ = exported(write_sentences(tmp_path / "crawl", rows), "cwb")
    text = (target / "spa.vrt").read_text("utf-8")
    tags = re.findall(r"^</?(?:doc|s)\b", text, re.MULTILINE)
    assert tags == ["<doc", "<s", "</s", "<s", "</s", "</doc"] * 2
    assert f'<s id="{PAIR}-1" at="1" beads="1-1" kind="paragraph" score="1.0" before="-">' in text


def test_the_alignment_names_the_positions_of_both_sentences(folder):
    heading, *lines = (folder / "sentences.align").read_text().splitlines()
    assert heading.split() == ["CRAWL_SPA", "s", "CRAWL_EUS", "s"]
    first, second = (words_of(folder / f"{language}.vrt") for language in ("spa", "eus"))
    for row, line in zip(HARD, lines, strict=True):
        start1, end1, start2, end2 = map(int, line.split()[:4])
        assert first[start1 : end1 + 1] == list(tokens(row.text1))
        assert second[start2 : end2 + 1] == list(tokens(row.text2))


def test_the_registry_declares_every_structure_of_the_text(folder):
    entry = (folder / "registry" / "crawl_spa").read_text()
    text = (folder / "spa.vrt").read_text("utf-8")
    used = set()
    for element, attributes in re.findall(r"^<(doc|s)((?: \w+=\"[^\"]*\")*)>", text, re.MULTILINE):
        used |= {element, *(f"{element}_{name}" for name in re.findall(r" (\w+)=", attributes))}
    assert set(structures(entry)) == used
    assert "ID   crawl_spa\n" in entry
    assert "ATTRIBUTE word\n" in entry
    assert "ALIGNED crawl_eus\n" in entry
    assert '##:: charset  = "utf8"' in entry


def test_the_script_is_sound_and_declares_what_the_registry_does(folder):
    subprocess.run(["sh", "-n", folder / "encode.sh"], check=True)
    script = (folder / "encode.sh").read_text()
    declared = re.findall(r"-S (\w+):0((?:\+\w+)+)", script)
    made = [
        name
        for element, attributes in declared[:2]
        for name in (element, *(f"{element}_{each}" for each in attributes[1:].split("+")))
    ]
    assert made == structures((folder / "registry" / "crawl_spa").read_text())


def test_a_text_without_tokens_is_left_out(tmp_path):
    rows = [sentence(0, "\x01"), sentence(1)]
    _, account = exported(write_sentences(tmp_path / "crawl", rows), "cwb")
    assert account.left_out == {EMPTY: 1}
    assert account.written == {"sentence pairs": 1}


@pytest.mark.skipif(bool(missing), reason=f"the Corpus Workbench lacks here: {', '.join(missing)}")
def test_the_workbench_encodes_and_aligns_the_corpora(folder):
    subprocess.run(["sh", folder / "encode.sh"], check=True, capture_output=True)
    registry = str(folder / "registry")
    for language, text in (("SPA", "text1"), ("EUS", "text2")):
        name = f"CRAWL_{language}"
        decoded = subprocess.run(
            ["cwb-decode", "-C", "-r", registry, name, "-P", "word"],
            capture_output=True,
            text=True,
            check=True,
        )
        wanted = [word for row in HARD for word in tokens(getattr(row, text))]
        assert decoded.stdout.split("\n")[:-1] == [normalize("NFC", word) for word in wanted]
        described = subprocess.run(
            ["cwb-describe-corpus", "-r", registry, "-s", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert re.search(rf"^s-ATT s +{len(HARD)} regions", described, re.MULTILINE)
        assert re.search(rf"^a-ATT crawl_\w+ +{len(HARD)} ", described, re.MULTILINE)
