"""Translation memories come in as they went out, and those of other tools as far as they say."""

import gzip
import json
import resource
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.source import EMPTY
from bilingual_crawler.export.tmx import ENTITY, ONE_LANGUAGE, import_tmx, place_of
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.sentence_pair import (
    SENTENCES,
    SentencePair,
    pair_id,
    read_sentences,
)
from tests.support.export import HARD, exported, sentence, write_sentences
from tests.support.typed_commands import status_of

HEADER = '<header srclang="en" segtype="sentence" datatype="x" adminlang="en" o-tmf="x"/>'
UNIT = '<tu><tuv xml:lang="en"><seg>One</seg></tuv><tuv xml:lang="fr"><seg>Un</seg></tuv></tu>'


def round_trip(folder, rows):
    target, _ = exported(write_sentences(folder / "crawl", rows), "tmx")
    import_tmx(target, folder / "again")
    return list(read_sentences(folder / "again" / SENTENCES))


def imported(tmp_path, units, *, langs=None, before="", header=HEADER, encoding="utf-8"):
    """Import a file with these units; the rows and what became of the units."""
    text = f'{before}<tmx version="1.4">{header}<body>{units}</body></tmx>'
    file = tmp_path / "other.tmx"
    file.write_bytes(text.encode(encoding))
    pair = LanguagePair.parse(langs) if langs else None
    account, _ = import_tmx(file, tmp_path / "in", pair)
    return list(read_sentences(tmp_path / "in" / SENTENCES)), account


def unit(english, french="Un", more=""):
    sides = (("en", english), ("fr", french))
    variants = (f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in sides)
    return f"<tu>{more}{''.join(variants)}</tu>"


def test_what_was_exported_comes_back_as_it_was(tmp_path):
    assert round_trip(tmp_path, HARD) == HARD


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
allowed = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r\x7f\x85\u2028<>&\"'"),
    max_size=30,
)
solid = allowed.filter(str.strip)
rows_of_one_pair = st.lists(
    st.builds(
        SentencePair,
        pair=st.sampled_from(["a1", "b2", "c-3"]),
        at=st.integers(0, 10**12),
        url1=allowed,
        url2=allowed,
        lang1=st.just("ara"),
        lang2=st.just("zho"),
        text1=solid,
        text2=solid,
        beads=st.sampled_from(["1-1", "2-1", "2-2"]),
        kind=st.sampled_from(["paragraph", "heading", "title", "listitem"]),
        score=st.floats(allow_nan=False, allow_infinity=False),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60)
@given(rows_of_one_pair)
def test_any_sentence_pairs_come_back_as_they_were_in_their_order(rows):
    with TemporaryDirectory() as folder:
        assert round_trip(Path(folder), rows) == rows


@settings(max_examples=60)
@given(texts, texts)
def test_any_text_comes_back_but_for_what_xml_forbids(first, second):
    gone = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF])
    rows = [sentence(0, first, second), sentence(1)]
    wanted = [each.translate(gone) for each in (first, second)]
    with TemporaryDirectory() as folder:
        found = [(row.text1, row.text2) for row in round_trip(Path(folder), rows)]
    if all(each.strip() for each in (first, second, *wanted)):
        assert found[0] == tuple(wanted)
    assert found[-1] == (rows[1].text1, rows[1].text2)


def test_units_that_say_nothing_of_themselves_get_ids_and_defaults(tmp_path):
    rows, account = imported(tmp_path, UNIT + unit("Two", "Deux"))
    name = pair_id("other.tmx", "")
    assert rows == [
        SentencePair(name, 0, "", "", "eng", "fra", "One", "Un"),
        SentencePair(name, 1, "", "", "eng", "fra", "Two", "Deux"),
    ]
    assert account.written == {"sentence pairs": 2}


def test_urls_and_scores_of_bitextor_are_understood(tmp_path):
    units = (
        '<tu><prop type="score-bicleaner">0.75</prop><tuv xml:lang="en">'
        '<prop type="source-document">http://a/</prop><seg>One</seg></tuv><tuv xml:lang="fr">'
        '<prop type="source-document">http://b/</prop><prop type="source-document">http://c/</prop>'
        "<seg>Un</seg></tuv></tu>"
    )
    (row,), _ = imported(tmp_path, units)
    assert (row.url1, row.url2, row.score) == ("http://a/", "http://b/", 0.75)
    assert row.pair == pair_id("http://a/", "http://b/")


@pytest.mark.parametrize("score", ["nan", "inf", "high", ""])
def test_a_score_that_is_no_number_counts_as_none(tmp_path, score):
    (row,), _ = imported(tmp_path, unit("One", more=f'<prop type="x-score">{score}</prop>'))
    assert row.score == 1.0


@pytest.mark.parametrize("at", ["-1", "1.5", "9" * 400, "٣"])
def test_a_position_that_is_no_position_is_counted_anew(tmp_path, at):
    (row,), _ = imported(tmp_path, unit("One", more=f'<prop type="x-at">{at}</prop>'))
    assert row.at == 0


def test_language_variants_count_as_their_language(tmp_path):
    units = UNIT.replace('"en"', '"en-GB"').replace('"fr"', '"FR_ca"')
    (row,), _ = imported(tmp_path, units)
    assert (row.lang1, row.lang2) == ("eng", "fra")


def test_the_attribute_of_older_versions_names_the_language(tmp_path):
    (row,), _ = imported(tmp_path, UNIT.replace("xml:lang", "lang"))
    assert (row.lang1, row.lang2) == ("eng", "fra")


def test_a_namespace_does_not_matter(tmp_path):
    file = tmp_path / "x.tmx"
    file.write_text(f'<tmx xmlns="http://www.lisa.org/tmx14">{HEADER}<body>{UNIT}</body></tmx>')
    import_tmx(file, tmp_path / "in")
    assert [row.text1 for row in read_sentences(tmp_path / "in" / SENTENCES)] == ["One"]


def test_of_several_variants_the_two_that_are_asked_for_are_taken(tmp_path):
    units = UNIT.replace("</tu>", '<tuv xml:lang="de"><seg>Eins</seg></tuv></tu>')
    (row,), _ = imported(tmp_path, units, langs="deu-fra")
    assert (row.lang1, row.text1, row.lang2, row.text2) == ("deu", "Eins", "fra", "Un")


def test_without_being_asked_for_the_source_language_comes_first(tmp_path):
    (row,), _ = imported(tmp_path, UNIT, header=HEADER.replace('"en"', '"fr"', 1))
    assert (row.lang1, row.lang2) == ("fra", "eng")


def test_of_two_texts_in_one_language_the_first_counts(tmp_path):
    units = UNIT.replace("</tu>", '<tuv xml:lang="en-US"><seg>Uno</seg></tuv></tu>')
    (row,), _ = imported(tmp_path, units)
    assert row.text1 == "One"


def test_codes_are_left_out_and_highlighted_text_stays(tmp_path):
    english = (
        'Press <bpt i="1">&lt;b&gt;</bpt>the <hi>red <ph x="1">{0}</ph>big</hi> button'
        '<ept i="1">&lt;/b&gt;</ept><it pos="begin">[i]</it>, <ut>{u}</ut>now'
        "<ph>img<sub>alt text</sub></ph>."
    )
    (row,), _ = imported(tmp_path, unit(english))
    assert row.text1 == "Press the red big button, now."


def test_comments_and_instructions_are_no_text(tmp_path):
    (row,), _ = imported(tmp_path, unit("One<!-- two --><?three four?> five"))
    assert row.text1 == "One five"


def test_units_without_both_languages_or_texts_are_counted(tmp_path):
    units = unit(" ") + UNIT.replace('"fr"', '"xx-unknown"') + "<tu/>" + UNIT
    rows, account = imported(tmp_path, units)
    assert len(rows) == 1
    assert account.left_out == {EMPTY: 1, ONE_LANGUAGE: 2}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path, encoding):
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    (row,), _ = imported(tmp_path, unit("Ωμέγα 漢字 𝔘"), before=mark, encoding=encoding)
    assert row.text1 == "Ωμέγα 漢字 𝔘"


def test_a_declared_encoding_counts(tmp_path):
    declared = '<?xml version="1.0" encoding="iso-8859-1"?>'
    (row,), _ = imported(tmp_path, unit("café"), before=declared, encoding="latin-1")
    assert row.text1 == "café"


def test_gzip_is_seen_in_the_bytes(tmp_path):
    file = tmp_path / "packed.tmx"
    file.write_bytes(gzip.compress(f"<tmx>{HEADER}<body>{UNIT}</body></tmx>".encode()))
    account, _ = import_tmx(file, tmp_path / "in")
    assert account.written == {"sentence pairs": 1}


def test_a_doctype_is_not_fetched(tmp_path):
    (tmp_path / "tmx14.dtd").write_text("<!ENTITY one 'expanded'>")
    before = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'
    rows, account = imported(tmp_path, unit("&one;") + UNIT, before=before)
    assert [row.text1 for row in rows] == ["One"]
    assert account.left_out == {ENTITY: 1}


def test_files_of_the_machine_are_not_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    before = f'<!DOCTYPE tmx [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    rows, account = imported(tmp_path, unit("&x;") + UNIT, before=before)
    assert "secret" not in json.dumps([row.to_dict() for row in rows])
    assert account.left_out == {ENTITY: 1}


def test_an_entity_of_an_entity_is_not_expanded(tmp_path):
    before = '<!DOCTYPE tmx [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
    rows, account = imported(tmp_path, unit("&b;") + UNIT, before=before)
    assert [row.text1 for row in rows] == ["One"]
    assert account.left_out == {ENTITY: 1}


@pytest.mark.parametrize("units", [unit("&l12;"), UNIT.replace("<tu>", '<tu tuid="&l12;">')])
def test_entities_that_would_fill_the_memory_end_the_import(tmp_path, units):
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(12))
    before = f'<!DOCTYPE tmx [<!ENTITY l0 "lol">{laughs}]>'
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ConfigurationError, match="not a valid TMX file"):
        imported(tmp_path, units, before=before)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start < 50_000
    assert not (tmp_path / "in" / SENTENCES).exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a valid TMX file"),
        (b"<tmx><body>" + UNIT.encode(), "not a valid TMX file"),
        (b"<tmx><body><tu>&nbsp;</tu></body></tmx>", "not a valid TMX file"),
        (b"<html><body><p>Hello</p></body></html>", "XML but not TMX"),
        (gzip.compress(b"<tmx>" + b" " * 100_000)[:-20], "truncated"),
        (b"<tmx><body/></tmx>", "it has no units"),
        (f"<tmx>{UNIT.replace('fr', 'en')}</tmx>".encode(), "does not have both languages"),
    ],
    ids=["empty", "cut", "entity", "html", "gzip", "no units", "one language"],
)
def test_a_bad_file_is_told_and_leaves_an_earlier_import_alone(tmp_path, content, told):
    imported(tmp_path, UNIT)
    before = (tmp_path / "in" / SENTENCES).read_bytes()
    file = tmp_path / "bad.tmx"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=told):
        import_tmx(file, tmp_path / "in")
    assert (tmp_path / "in" / SENTENCES).read_bytes() == before
    assert sorted(each.name for each in (tmp_path / "in").iterdir()) == ["crawl.json", SENTENCES]


def test_memory_does_not_grow_with_the_file(tmp_path):
    peaks = []
    for size in (500, 5000):
        file = tmp_path / f"{size}.tmx"
        file.write_text(f"<tmx>{HEADER}<body>{unit('word ' * 50) * size}</body></tmx>")
        tracemalloc.start()
        import_tmx(file, tmp_path / "in")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 500_000


def test_a_crawl_is_never_overwritten(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "pairs.jsonl").write_text("")
    with pytest.raises(ConfigurationError, match="holds a crawl"):
        imported(tmp_path, UNIT)


def test_the_folder_says_what_it_is(tmp_path):
    imported(tmp_path, UNIT)
    report = json.loads((tmp_path / "in" / "crawl.json").read_text())
    assert (report["langs"], report["state"]) == ("eng-fra", "finished")
    assert report["imported_from"] == "other.tmx"


@pytest.mark.parametrize("name", ["memory.tmx", "memory.tmx.gz", "memory"])
def test_the_folder_is_named_as_the_file(name):
    assert place_of(Path("/somewhere") / name, None) == Path("crawls/memory")


def run_scrapy(*words):
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", *map(str, words)], Settings())
    return status_of(end.value)


def test_the_command_imports_and_the_folder_can_be_exported(tmp_path, capsys):
    file = tmp_path / "memory.tmx"
    file.write_text(f"<tmx>{HEADER}<body>{UNIT}</body></tmx>")
    folder = tmp_path / "in"
    assert not run_scrapy("import", file, "--langs", "fr-en", "--out", folder)
    assert f"1 sentence pairs written to {folder} (fra-eng)" in capsys.readouterr().out
    assert not run_scrapy("export", folder, "--to", "moses")
    assert (folder / "export" / "moses" / "corpus.fra").read_text() == "Un\n"


def test_the_command_tells_mistakes_in_a_sentence(tmp_path):
    assert "There is no file" in run_scrapy("import", tmp_path / "no.tmx")
    assert "--langs xx: 'xx' is not a pair" in run_scrapy("import", "x.tmx", "--langs", "xx")
