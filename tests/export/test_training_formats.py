"""What trainers and translators load: Hugging Face, OpusFilter, TBX and glossaries."""

import json
import subprocess
import sys
from collections import Counter

import pytest
import yaml  # type: ignore[import-untyped]
from lxml import etree

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.glossary import ALIKE, learn_entries
from bilingual_crawler.export.hugging_face import dataset_card
from bilingual_crawler.export.site_splits import SiteSplit
from bilingual_crawler.export.survey import Survey
from tests.support.export import exported, sentence, write_sentences

NOUNS = [("museo", "museoa"), ("puente", "zubia"), ("iglesia", "eliza"), ("plaza", "enparantza"),
         ("mercado", "azoka"), ("teatro", "antzokia"), ("puerto", "portua")]  # fmt: skip
VERBS = [("abre", "irekitzen da"), ("cierra", "ixten da"), ("espera", "zain dago")]


def sites(number):
    return {
        "url1": f"https://site{number}.org/es",
        "url2": f"https://site{number}.org/eu",
        "pair": f"{number}",
    }


def texts(copies=3):
    return [
        (f"El {noun1} de Getaria {verb1} {copy}", f"Getariako {noun2} {verb2} {copy}")
        for copy in range(copies)
        for noun1, noun2 in NOUNS
        for verb1, verb2 in VERBS
    ]


@pytest.fixture
def folder(tmp_path):
    rows = [sentence(at, *both, **sites(at % 20)) for at, both in enumerate(texts(10))]
    return write_sentences(tmp_path / "crawl", rows)


LOAD = """
import json, sys
from datasets import load_dataset
found = load_dataset(sys.argv[1], cache_dir=sys.argv[2])
print(json.dumps({
    "splits": {part: sorted(set(rows["url1"])) for part, rows in found.items()},
    "rows": sum(len(rows) for rows in found.values()),
    "first": found["train"][0]["translation"],
    "type": type(found["train"].features["translation"]).__name__,
}))
"""


def test_a_dataset_folder_loads_by_its_name_with_unseen_sites(folder, tmp_path):
    pytest.importorskip("datasets", reason="datasets is not installed")
    target, account = exported(folder, "huggingface")
    done = subprocess.run(
        [sys.executable, "-c", LOAD, target, tmp_path / "cache"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    parts = [set(urls) for urls in found["splits"].values()]
    assert list(found["splits"]) == ["train", "validation", "test"]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 20
    assert found["rows"] == account.written["sentence pairs"] == 210
    assert found["type"] == "Translation"
    assert list(found["first"]) == ["es", "eu"]


def test_the_card_has_a_header_that_the_hub_reads(folder):
    target, _ = exported(folder, "huggingface")
    _, header, body = (target / "README.md").read_text("utf-8").split("---\n", 2)
    card = yaml.safe_load(header)
    assert card["language"] == ["es", "eu"]
    assert card["license"] == "unknown"
    assert card["task_categories"] == ["translation"]
    assert card["size_categories"] == ["n<1K"]
    splits = [each["split"] for each in card["configs"][0]["data_files"]]
    assert splits == ["train", "validation", "test"]
    assert "210 sentence pairs" in body


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        (["https://creativecommons.org/licenses/by-sa/4.0/deed.es"], "cc-by-sa-4.0"),
        (["https://creativecommons.org/licenses/by/4.0/", ""], "other"),
        (["© Museo"], "other"),
        ([""], "unknown"),
    ],
)
def test_the_hub_is_told_a_licence_only_if_all_pages_state_it(stated, name):
    survey = Survey()
    survey.licences.update(stated)
    split = SiteSplit.of([("https://a.org/", "https://a.org/eu")])
    card = dataset_card(("spa", "eus"), Counter(train=1), split, survey)
    assert f"\nlicense: {name}\n" in card


def test_the_configuration_of_opusfilter_names_the_files_that_are_there(folder):
    target, _ = exported(folder, "opusfilter")
    steps = yaml.safe_load((target / "opusfilter.yaml").read_text("utf-8"))["steps"]
    assert steps[0]["parameters"]["inputs"] == ["corpus.spa", "corpus.eus"]
    assert all((target / name).is_file() for name in steps[0]["parameters"]["inputs"])
    assert steps[1]["parameters"]["inputs"] == steps[0]["parameters"]["outputs"]


def test_opusfilter_runs_the_configuration(folder):
    pytest.importorskip("opusfilter", reason="opusfilter is not installed")
    target, _ = exported(folder, "opusfilter")
    done = subprocess.run(
        [sys.executable, "-m", "opusfilter.cli.opusfilter", "opusfilter.yaml"],
        cwd=target, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (target / "filtered.spa").is_file()


def test_words_that_translate_each_other_are_learned():
    learned = {(each.word1, each.word2) for each in learn_entries(texts())}
    assert set(NOUNS) <= learned


def test_a_glossary_has_a_word_its_translation_and_a_comment_per_line(folder):
    target, account = exported(folder, "glossary")
    rows = [line.split("\t") for line in target.read_text("utf-8").splitlines()]
    assert ["puente", "zubia"] in [row[:2] for row in rows]
    assert {len(row) for row in rows} == {3}
    assert account.written["entries"] == len(rows)


def test_words_that_are_the_same_in_both_languages_are_no_entries(tmp_path):
    rows = [sentence(at, f"Zarautz {one}", f"Zarautz {two}") for at, (one, two) in
            enumerate(texts(5))]  # fmt: skip
    target, account = exported(write_sentences(tmp_path / "crawl", rows), "glossary")
    assert "Zarautz\t" not in target.read_text("utf-8")
    assert account.left_out[ALIKE] == 1


def test_tbx_is_well_formed_and_holds_the_same_entries(folder):
    table, _ = exported(folder, "glossary")
    target, _ = exported(folder, "tbx")
    root = etree.parse(target).getroot()
    entries = [
        tuple(term.text for term in entry.iterfind(".//term")) for entry in root.iter("termEntry")
    ]
    lines = table.read_text("utf-8").splitlines()
    assert entries == [tuple(line.split("\t")[:2]) for line in lines]
    languages = {
        each.get("{http://www.w3.org/XML/1998/namespace}lang") for each in root.iter("langSet")
    }
    assert languages == {"es", "eu"}


def test_a_language_without_spaces_has_no_glossary(tmp_path):
    rows = [sentence(0, lang2="zho", text2="博物馆十点开门")]
    folder = write_sentences(tmp_path / "crawl", rows)
    with pytest.raises(ConfigurationError, match="written without spaces"):
        exported(folder, "glossary")
