import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.languages import (
    Language,
    LanguagePair,
    LanguagePairError,
    UnknownLanguageError,
    all_languages,
    find_language,
    language_of_cld2,
    language_of_tag,
    languages_of_token,
)
from bilingual_crawler.languages.further import further_language

any_text = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))
languages = st.sampled_from(all_languages())


@pytest.mark.parametrize(
    ("code", "codes", "name", "endonym", "country"),
    [
        ("spa", ("es", ("spa",), ("es",)), "Spanish", "español", "es"),
        ("eus", ("eu", ("baq", "eus"), ("eu",)), "Basque", "euskara", "es"),
        ("eng", ("en", ("eng",), ("en",)), "English", "English", "gb"),
        ("isl", ("is", ("ice", "isl"), ("is",)), "Icelandic", "íslenska", "is"),
        ("mlt", ("mt", ("mlt",), ("mt",)), "Maltese", "Malti", "mt"),
        ("fin", ("fi", ("fin",), ("fi",)), "Finnish", "suomi", "fi"),
        ("cnr", (None, ("cnr",), ("sr-ME",)), "Montenegrin", "crnogorski", "me"),
        ("zho", ("zh", ("chi", "zho"), ("zh", "zh-Hant")), "Chinese", "中文", "tw"),
        ("srp", ("sr", ("srp",), ("sr",)), "Serbian", "srpski", "rs"),
        ("hrv", ("hr", ("hrv",), ("hr",)), "Croatian", "hrvatski", "hr"),
        ("nor", ("no", ("nor",), ("no",)), "Norwegian", "norsk bokmål", "no"),
        ("fas", ("fa", ("fas", "per"), ("fa",)), "Persian", "فارسی", "ir"),
        ("kor", ("ko", ("kor",), ("ko",)), "Korean", "한국어", "kr"),
        ("hye", ("hy", ("arm", "hye"), ("hy",)), "Armenian", "հայերեն", "am"),
        ("kat", ("ka", ("geo", "kat"), ("ka",)), "Georgian", "ქართული", "ge"),
        ("heb", ("he", ("heb",), ("iw",)), "Hebrew", "עברית", "il"),
    ],
)
def test_the_table_says_what_is_known_of_a_language(code, codes, name, endonym, country):
    language = find_language(code)
    assert language.code == code
    assert (language.iso639_1, language.iso639_2, language.cld2) == codes
    assert language.name == name
    assert endonym in language.endonyms
    assert country in language.countries


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ("nob", "nor"),
        ("nb", "nor"),
        ("nn", "nno"),
        ("ekk", "est"),
        ("lvs", "lav"),
        ("zsm", "msa"),
        ("ind", "ind"),
        ("arb", "ara"),
        ("pes", "fas"),
        ("cmn", "zho"),
        ("swh", "swa"),
        ("fil", "tgl"),
        ("mo", "ron"),
        ("sh", "srp"),
        ("bih", "bho"),
        ("castellano", "spa"),
        ("espanol", "spa"),
        ("FARSI", "fas"),
        ("norwegian  nynorsk", "nno"),
        ("pt-BR", "por"),
    ],
)
def test_other_codes_and_names_lead_to_the_language(other, code):
    assert find_language(other).code == code


@given(languages)
def test_a_language_is_found_by_its_code_in_any_case(language):
    assert find_language(language.code) is language
    assert find_language(language.code.upper()) is language


@given(languages)
def test_iso_and_cld2_codes_mean_one_language_alone(language):
    for code in filter(None, (language.iso639_1, *language.iso639_2)):
        assert find_language(code) is language
        assert language_of_tag(code) is language
    for code in language.cld2:
        assert find_language(code) is language
        assert language_of_cld2(code) is language


def kinds(language: Language, text: str) -> int:
    """How early in the rule for ambiguous texts `text` fits the language."""
    if text in {language.code, language.iso639_1, *language.iso639_2, *language.cld2}:
        return 0
    return 1 if text == language.name.lower() else 2


@given(languages)
def test_names_find_their_language_or_one_that_comes_before_it(language):
    for text in (language.name.lower(), *(name.lower() for name in language.endonyms)):
        found = find_language(text)
        rank = (kinds(found, text), not found.cld2, not found.iso639_1, found.code)
        own = (kinds(language, text), not language.cld2, not language.iso639_1, language.code)
        assert found is language or rank < own


def test_hardly_any_name_is_ambiguous():
    lost = {
        (name, language.code)
        for language in all_languages()
        for name in (language.name, *language.endonyms)
        if find_language(name) is not language
    }
    assert lost == {("Ga", "gaa"), ("isiNdebele", "nde"), ("Tshiluba", "lub")}


def test_an_unknown_language_is_answered_with_the_nearest():
    with pytest.raises(UnknownLanguageError) as caught:
        find_language("basqe")
    assert str(caught.value) == "There is no language 'basqe'; did you mean Basque (eus)?"


def test_at_most_three_languages_are_suggested():
    with pytest.raises(UnknownLanguageError, match=r"did you mean .*, .* or .*\?$") as caught:
        find_language("sap")
    assert str(caught.value).count("(") == 3


def test_where_nothing_is_near_the_message_says_what_to_write():
    with pytest.raises(UnknownLanguageError, match="such as eus"):
        find_language("qqqqqqqq")


@given(any_text)
def test_any_text_is_a_language_or_unknown(text):
    with suppress(UnknownLanguageError):
        language = find_language(text)
        assert language in all_languages() or further_language(language.code)


@pytest.mark.parametrize(
    "text", ["spa-eus", "es-eu", "Spanish-Basque", "spa,eus", "spa_eus", "SPA , EUS", "español-eu"]
)
def test_a_pair_is_read_from_codes_and_names(text):
    assert LanguagePair.parse(text).codes == ("spa", "eus")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Serbo-Croatian-English", ("srp", "eng")),
        ("zh-Hant-en", ("zho", "eng")),
        ("eng_Luba-Lulua", ("eng", "lua")),
        ("ca-fr-ca", ("cat", "fra")),
    ],
)
def test_names_with_hyphens_make_pairs_too(text, codes):
    assert LanguagePair.parse(text).codes == codes


@given(languages, languages)
def test_what_a_pair_is_printed_as_reads_as_the_same_pair(first, second):
    if first == second:
        with pytest.raises(LanguagePairError, match="two different languages"):
            LanguagePair(first, second)
    else:
        pair = LanguagePair(first, second)
        assert LanguagePair.parse(str(pair)) == pair


@given(any_text)
def test_a_pair_of_any_text_raises_nothing_but_value_errors(text):
    with suppress(ValueError):
        assert len(set(LanguagePair.parse(text).codes)) == 2


@pytest.mark.parametrize("text", ["spa-spa", "es-spa", "nob-nor", "Spanish-castellano"])
def test_a_pair_of_one_language_is_refused(text):
    with pytest.raises(LanguagePairError, match="two different languages"):
        LanguagePair.parse(text)


@pytest.mark.parametrize("text", ["", "spa", "-", "spa-", "a-b-c-d", "spa-eus-cat", "-" * 100_000])
def test_what_is_no_pair_is_answered_with_an_example(text):
    with pytest.raises(LanguagePairError, match="such as spa-eus") as caught:
        LanguagePair.parse(text)
    assert len(str(caught.value)) < 300


def test_an_unknown_language_of_a_pair_is_named():
    with pytest.raises(UnknownLanguageError, match="'basqe'; did you mean Basque"):
        LanguagePair.parse("spa-basqe")


def test_a_pair_with_several_readings_is_refused():
    with pytest.raises(LanguagePairError, match="may mean"):
        LanguagePair.parse("fr-ca-es")


def test_a_pair_knows_its_languages():
    pair = LanguagePair.parse("spa-eus")
    spanish, basque = pair
    assert (spanish.code, basque.code) == ("spa", "eus")
    assert "spa" in pair
    assert "eng" not in pair
    assert pair.other("spa") is basque
    assert pair.other("eus") is spanish
    assert str(pair) == "spa-eus"
    with pytest.raises(ValueError, match="not a language of the pair"):
        pair.other("eng")


def test_a_pair_survives_the_way_to_another_process():
    pair = LanguagePair.parse("spa-eus")
    copy = pickle.loads(pickle.dumps(pair))
    assert copy == pair
    assert hash(copy) == hash(pair)


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("eu-ES", "eus"),
        ("eu_ES", "eus"),
        (" EU ", "eus"),
        ("zh-Hant-TW", "zho"),
        ("zh-cmn-Hans", "zho"),
        ("sr-Latn-RS", "srp"),
        ("sr-ME", "cnr"),
        ("sr-Latn-ME", "cnr"),
        ("no-nyn", "nno"),
        ("iw-IL", "heb"),
        ("en-US-posix", "eng"),
        ("cz", "ces"),
        ("eng", "eng"),
    ],
)
def test_a_tag_means_a_language(tag, code):
    assert language_of_tag(tag).code == code


@pytest.mark.parametrize("tag", ["x-default", "und", "mul", "zxx", "", "-", "english", "*", "qzz"])
def test_some_tags_mean_no_language(tag):
    assert language_of_tag(tag) is None


@given(any_text)
def test_tokens_and_tags_of_any_text_never_raise(text):
    language_of_tag(text)
    language_of_cld2(text)
    assert languages_of_token(text) <= {language.code for language in all_languages()}


@pytest.mark.parametrize(
    ("code", "tokens"),
    [
        ("spa", "spanish español espanol castellano es spa es-es es_es es-mx es-419 cas esp"),
        ("eus", "basque euskara eu eus baq eu-es eu_es eu-fr"),
        ("fra", "french français francais fr fra fre fr-fr fr_ca"),
        ("isl", "icelandic íslenska islenska is isl ice is-is"),
        ("zho", "chinese 中文 zh zho chi zh-cn zh_tw zh-hans zh_hant_tw cn"),
        ("nor", "norwegian norsk no nb nor nob nb-no no_no bokmal norsk-bokmål"),
        ("vie", "tieng-viet tieng_viet tiengviet tiếng-việt vi-vn"),
        ("ces", "čeština cestina cz cze ces cs cs-cz"),
        ("cnr", "montenegrin crnogorski cnr cnr-me sr-me"),
    ],
)
def test_tokens_hold_codes_names_and_countries(code, tokens):
    assert set(tokens.split()) <= find_language(code).tokens


@given(languages)
def test_tokens_lead_back_to_their_language(language):
    for token in language.tokens:
        assert language.code in languages_of_token(token)


def test_a_token_of_two_languages_means_both():
    assert languages_of_token("sr-me") == {"srp", "cnr"}


@pytest.mark.parametrize("token", ["", "about", "tonga", "iron", "index", "sh"])
def test_ordinary_words_are_no_tokens(token):
    assert languages_of_token(token) == frozenset()


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        ("ilo", "ilo", "Ilocano"),
        ("Tetum", "tet", "Tetum"),
        ("Mizo", "lus", "Mizo"),
        ("Lombard", "lmo", "Lombard"),
        ("Mapudungun", "arn", "Mapudungun"),
        ("Santali", "sat", "Santali"),
        ("K'iche'", "quc", "K'iche'"),
        ("Nahuatlahtolli", "nah", "Nahuatl"),
        ("qtz", "qtz", "Language qtz"),
    ],
)
def test_every_language_with_an_iso_639_code_is_known(text, code, name):
    language = find_language(text)
    assert (language.code, language.name) == (code, name)
    assert language_of_tag(f"{code}-Latn") == language


def test_a_variety_outside_the_table_keeps_its_code_and_knows_its_macrolanguage():
    assert [find_language(code).macrolanguage for code in ("zai", "nhn", "eus")] == [
        "zap",
        "nah",
        "",
    ]
    assert find_language("quz").code == "que"  # Quechua is in the table


def test_tokens_of_a_further_language_mean_it_once_a_crawl_is_for_it():
    assert not languages_of_token("sahu")
    LanguagePair.parse("eng-saj")
    assert languages_of_token("sahu") == {"saj"}
