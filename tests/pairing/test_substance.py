"""Counterparts without translated content are no pairs, and those with it are."""

import pytest

from bilingual_crawler.documents.document import Document, Link, Paragraph
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import DocumentPair, PairingPage, page_of
from bilingual_crawler.pairing.profile import Profile, blocks_of, profile_of
from bilingual_crawler.pairing.resources import PairingAids

PAIR = LanguagePair.parse("spa-eus")
SITE = "https://www.udala.example"
TEXTS = {
    "spa": "El ayuntamiento número {} abre sus puertas y la gente del pueblo baila en la calle {}.",
    "eus": "Udaletxe zenbakia {} zabalik dago eta herriko jendeak dantza egiten du kalean {}.",
}
TEMPLATE = {
    "spa": "Todos nuestros productos se venden en la tienda y en la oficina de turismo.",
    "eus": "Gure produktu guztiak dendan eta herriko turismo bulegoan saltzen dira egunero.",
}


def made(language, number, *texts, foreign=()):
    code, other = {"spa": ("es", "eu"), "eus": ("eu", "es")}[language]
    paragraphs = [Paragraph(f"Izena{number}", "title"), Paragraph(TEMPLATE[language])]
    paragraphs += [Paragraph(text, language=language) for text in texts]
    paragraphs += [Paragraph(text, language=lang) for lang, text in foreign]
    name = {"spa": "Español", "eus": "Euskara"}["eus" if language == "spa" else "spa"]
    return Document(
        f"{SITE}/{code}/{number}",
        language=language,
        paragraphs=paragraphs,
        links=[Link(f"{SITE}/{other}/{number}", name)],
        size=5_000,
    )


def site(**given):
    """A matcher with eight translated pages of one template."""
    matcher = Matcher(PAIR, aids=PairingAids(**given))
    for number in range(8):
        for language, text in TEXTS.items():
            own = (text.format(f"{number}{i}", "abcdefgh"[number] * 3) for i in range(3))
            matcher.hold(page_of(made(language, number, *own)))
    return matcher


def found(matcher, *documents):
    for document in documents:
        matcher.hold(page_of(document))
    matcher.finish()
    return {(pair.first, pair.second) for pair in matcher.pairs}


def test_pages_with_translated_text_are_pairs_with_their_share():
    matcher = site()
    assert len(found(matcher)) == 8
    assert all(pair.translated_share > 0.5 for pair in matcher.pairs)
    assert matcher.refused_count == 0


def test_a_name_in_a_template_is_no_pair_whatever_the_urls_say():
    matcher = site()
    pairs = found(matcher, made("spa", 99), made("eus", 99))
    assert (f"{SITE}/es/99", f"{SITE}/eu/99") not in pairs
    assert len(pairs) == 8
    (refused,) = matcher.refused()
    assert "hardly any text" in refused.refused


def test_the_same_text_on_both_sides_is_no_pair():
    same = [f"Author{n}, Journal of Public Records and Notices {n}, 2014, p. {n}" for n in range(9)]
    matcher = site()
    pairs = found(matcher, made("spa", 99, *same), made("eus", 99, *same))
    assert (f"{SITE}/es/99", f"{SITE}/eu/99") not in pairs
    (refused,) = matcher.refused()
    assert "same on both pages" in refused.refused


def test_a_page_that_is_mostly_in_another_language_is_no_pair():
    own = [TEXTS["spa"].format(f"99{i}", "xyz") for i in range(6)]
    half = [("spa", text) for text in own]
    matcher = site()
    pairs = found(matcher, made("spa", 99, *own), made("eus", 99, "Hau itzuli dugu.", foreign=half))
    assert (f"{SITE}/es/99", f"{SITE}/eu/99") not in pairs
    (refused,) = matcher.refused()
    assert "another language" in refused.refused


def test_a_setting_brings_refused_pairs_back():
    matcher = site(thin_pairs=True)
    assert (f"{SITE}/es/99", f"{SITE}/eu/99") in found(matcher, made("spa", 99), made("eus", 99))
    assert matcher.refused_count == 0


def test_profiles_of_an_older_version_are_not_refused():
    old = Matcher(PAIR)
    for language in ("spa", "eus"):
        page = page_of(made(language, 99))
        fields = {name: getattr(page.profile, name) for name in Profile.__slots__}
        profile = Profile(**fields | {"blocks": b""})
        old.hold(PairingPage(page.url, language, switches=page.switches, profile=profile))
    old.finish()
    (pair,) = old.pairs
    assert pair.translated_share is None


def test_a_stub_does_not_take_the_partner_of_a_translated_page():
    text = [TEXTS["spa"].format(f"99{i}", "xyz") for i in range(3)]
    stub = made("eus", 99)
    real = made("eus", 98, *(TEXTS["eus"].format(f"99{i}", "xyz") for i in range(3)))
    real.links = [Link(f"{SITE}/es/99", "Español")]
    spanish = made("spa", 99, *text)
    spanish.links.append(Link(real.url, "Euskara"))
    pairs = found(site(), spanish, stub, real)
    assert (spanish.url, real.url) in pairs


def test_refused_pairs_are_found_while_pages_come_in_too():
    matcher = site()
    matcher.finish()
    changes = [matcher.add(page_of(made(language, 99))) for language in ("spa", "eus")]
    assert not any(each.found for each in changes)


def test_a_profile_keeps_the_size_of_each_paragraph_and_whether_it_is_foreign():
    document = made("spa", 1, "uno dos tres cuatro", foreign=[("eus", "bat bi")])
    blocks = blocks_of(profile_of(document).blocks)
    assert [block.size for block in blocks] == sorted((b.size for b in blocks), reverse=True)
    assert [(block.size, block.foreign) for block in blocks[-2:]] == [(6, False), (5, True)]


@pytest.mark.parametrize("share", [None, 0.75])
def test_a_pair_keeps_its_share_in_the_file(share):
    pair = DocumentPair("a", "b", ("spa", "eus"), (), 0.9, share)
    assert DocumentPair.from_dict(pair.to_dict()) == pair
    assert ("translated_share" in pair.to_dict()) == (share is not None)
