import gzip
import json
import os
import runpy
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pycld2
import pytest

from bilingual_crawler.languages import (
    all_languages,
    find_language,
    language_of_cld2,
    language_of_tag,
    languages_of_token,
)

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "bilingual_crawler" / "data" / "languages.json"
SHARED = Path(os.environ.get("BILINGUAL_SHARED", ROOT.parent / "shared"))


def is_script_or_joke(cld2_code):
    return cld2_code.startswith(("xx-", "zz")) or cld2_code == "xxx"


def test_every_language_that_cld2_detects_is_in_the_table():
    codes = dict(pycld2.LANGUAGES)
    detected = {codes[name] for name in pycld2.DETECTED_LANGUAGES}
    unknown = {code for code in detected if language_of_cld2(code) is None}
    assert unknown == {codes["X_PIG_LATIN"]}
    assert len({language_of_cld2(code) for code in detected - unknown}) >= 161


def test_every_language_that_cld2_names_is_in_the_table():
    named = {code for _, code in pycld2.LANGUAGES if not is_script_or_joke(code)}
    assert {code for code in named if language_of_cld2(code) is None} == set()


def test_cld2_answers_that_are_no_language_are_none():
    assert language_of_cld2("un") is None
    assert language_of_cld2("xx-Latn") is None


def test_languages_are_unique_and_sorted():
    codes = [language.code for language in all_languages()]
    assert codes == sorted(set(codes))


def test_no_iso_639_1_code_is_the_token_of_another_language():
    for language in all_languages():
        if language.iso639_1:
            assert languages_of_token(language.iso639_1) == {language.code}


def test_tokens_are_lower_case_without_blanks():
    for language in all_languages():
        assert all(token == token.lower() and token.split() == [token] for token in language.tokens)


def test_countries_are_two_small_letters():
    for language in all_languages():
        assert all(len(each) == 2 and each.islower() for each in language.countries)


def test_regenerating_the_table_gives_the_committed_file():
    committed = TABLE.read_text(encoding="utf-8")
    for name, wanted in json.loads(committed)["sources"].items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            pytest.skip(f"the table is made with {name}, which is not installed")
        if installed != wanted:
            pytest.skip(f"the table was made with {name} {wanted}, installed is {installed}")
    tool = runpy.run_path(str(ROOT / "tools" / "languages.py"))
    assert tool["render"]() == committed


def test_the_table_is_read_from_a_zip_without_the_libraries_that_made_it(tmp_path):
    archive = tmp_path / "crawler.egg"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in (
            *("__init__.py", "suggestions.py"),
            *("data/languages.json", "data/further_languages.tsv"),
            *(f"languages/{each.name}" for each in TABLE.parents[1].glob("languages/*.py")),
        ):
            packed.write(ROOT / "bilingual_crawler" / name, f"bilingual_crawler/{name}")
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "from bilingual_crawler import languages\n"
        "print(languages.__file__, languages.find_language('Basque').code)\n"
        "print(sorted({'babel', 'iso639', 'language_data', 'pycld2', 'scrapy'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout == f"{archive}/bilingual_crawler/languages/__init__.py eus\n[]\n"


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason=f"no shared data at {SHARED}")
def test_languages_of_the_shared_data_keep_their_codes():
    codes: set[str] = set()
    for name, columns in (("urls_strong", [1]), ("urls_weak", [1]), ("pairs", [2, 3])):
        with gzip.open(SHARED / "data" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
            next(lines)
            for line in lines:
                row = line.split("\t")
                codes.update(row[column] for column in columns)
    moved = {code: find_language(code).code for code in codes if find_language(code).code != code}
    assert moved == {"bih": "bho"}  # ISO 639-3 has no collections
    assert all(language_of_tag(code) for code in codes)
