"""Sets of languages: what is read, in which order, and what is refused with which words."""

import pytest

from bilingual_crawler.languages import (
    LanguagePair,
    LanguagePairError,
    LanguageSet,
    UnknownLanguageError,
    parse_languages,
    parse_parallel,
)


@pytest.mark.parametrize(
    ("text", "written", "names"),
    [
        ("spa-eus-eng", "spa-eus-eng", "Spanish, Basque and English"),
        ("es,Basque, English", "spa-eus-eng", "Spanish, Basque and English"),
        ("Luba-Katanga-French-eng", "lub-fra-eng", "Luba-Katanga, French and English"),
        ("eng-*", "eng-*", "English and every other language"),
        ("all", "all", "all languages"),
    ],
)
def test_several_languages_are_a_set_that_can_be_read_again(text, written, names):
    languages = parse_languages(text)
    assert isinstance(languages, LanguageSet)
    assert (str(languages), languages.names) == (written, names)
    assert parse_languages(written) == languages


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("spa-eus-spa", LanguagePairError, r"names Spanish \(spa\) twice"),
        ("eng-eng-*", LanguagePairError, r"names English \(eng\) twice"),
        ("spa-eus-zorblax", UnknownLanguageError, "There is no language 'zorblax'"),
        ("spa-basqe-eng", UnknownLanguageError, "did you mean Basque"),
        ("spa,,eus", LanguagePairError, "an empty name"),
        ("-".join(["spa"] * 200), LanguagePairError, "can name 30 languages"),
        (",".join(f"l{n}" for n in range(100)), UnknownLanguageError, "no language 'l0'"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused_with_the_reason(text, error, told):
    with pytest.raises(error, match=told):
        parse_languages(text)


def test_more_than_thirty_languages_are_too_many():
    codes = "eng spa eus fra deu ita por cat glg oci nld dan swe nor fin est lav lit pol ces"
    with pytest.raises(LanguagePairError, match="These are 31 languages"):
        parse_languages(f"{codes} slk slv hrv srp bul mkd ell tur heb ara fas".replace(" ", "-"))


def test_one_language_has_no_translations():
    with pytest.raises(LanguagePairError, match="is one language"):
        parse_parallel("spa")


def test_two_of_the_languages_are_a_pair_in_the_order_of_the_set():
    languages = parse_parallel("spa-eus-eng")
    assert languages.pair_of("eng", "eus") == LanguagePair.parse("eus-eng")
    open_set = parse_parallel("eng-*")
    assert open_set.pair_of("fra", "eng") == LanguagePair.parse("eng-fra")
    assert open_set.pair_of("spa", "fra") == LanguagePair.parse("fra-spa")


@pytest.mark.parametrize("langs", ["all", "eng-*"])
def test_an_open_set_has_every_language_and_nothing_else(langs):
    languages = parse_parallel(langs)
    for code in ("eng", "eus", "ilo", "nah", "qaa"):
        assert code in languages
    for junk in ("", "en", "zzz", "spanish", "xx-Latn", None, 7):
        assert junk not in languages


@pytest.mark.parametrize(
    ("langs", "admitted"),
    [
        ("eus-spa", {"spa-eus"}),
        ("spa-eus-eng", {"spa-eus", "eng-spa"}),
        ("eng-*", {"eng-spa", "eng-fra"}),
        ("all", {"spa-eus", "eng-spa", "eng-fra"}),
    ],
)
def test_pairs_are_chosen_by_their_languages(langs, admitted):
    languages = parse_parallel(langs)
    pairs = ("spa-eus", "eng-spa", "eng-fra", "eng-eng")
    assert {each for each in pairs if languages.admits(*each.split("-"))} == admitted
