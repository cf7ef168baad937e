"""Pairs from all evidence: the same in any order, one-to-one, and never from a copy."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Alternate, Document, Image, Link, Paragraph
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.resources import DETECTORS, PairingAids
from tests.support.bilingual_texts import BASQUE, SPANISH

PAIR = LanguagePair.parse("spa-eus")
SITE = "https://www.udala.example"
WORDS = {
    "spa": ["casa", "mesa", "libro", "calle", "ayuntamiento", "verano", "tiempo", "persona"],
    "eus": ["etxea", "mahaia", "liburua", "kalea", "udala", "uda", "denbora", "pertsona"],
}


def made(language, number, path=None, *, size=6, links=(), alternates=()):
    """A page whose translation has the same number: names, figures and lengths go together."""
    plan, chance = random.Random(number), random.Random(f"{language}{number}")
    paragraphs = [Paragraph(f"{' '.join(chance.choices(WORDS[language], k=3))}", "title")]
    for _ in range(size):
        told = chance.choices(WORDS[language], k=plan.randint(5, 40))
        told += [f"Izena{plan.randrange(10_000)}", str(plan.randrange(10_000))]
        paragraphs.append(Paragraph(" ".join(told) + "."))
    slug = random.Random(f"{language}/{number}").getrandbits(40)
    return Document(
        f"{SITE}{path or f'/{language}/{slug:x}'}",
        language=language,
        paragraphs=paragraphs,
        images=[Image(f"{SITE}/logo.png"), Image(f"{SITE}/photo{number}.jpg")],
        links=[Link(SITE + url, anchor) for url, anchor in links],
        alternates=[Alternate(SITE + url, code, code) for url, code in alternates],
    )


def untranslated():
    """A text of a hundred words."""
    chance = random.Random(7)
    words = ["".join(chance.choices("aeioulnrst", k=8)) for _ in range(96)]
    return [Paragraph(" ".join(words[at : at + 12])) for at in range(0, 96, 12)]


def found(matcher):
    return {(pair.first, pair.second) for pair in matcher.pairs}


def matched(documents, **options):
    matcher = Matcher(PAIR, **options)
    for document in documents:
        matcher.add(page_of(document))
    matcher.finish()
    return matcher


def site(pairs=12, lone=4):
    documents = [made(language, number) for number in range(pairs) for language in ("spa", "eus")]
    return documents + [made("spa", 1_000 + number) for number in range(lone)]


def true(documents):
    by_number = {}
    for spanish in documents:
        for basque in documents:
            same = spanish.images[1].src == basque.images[1].src
            if same and (spanish.language, basque.language) == ("spa", "eus"):
                by_number[spanish.url] = basque.url
    return set(by_number.items())


def test_pages_whose_urls_say_nothing_are_paired_by_their_content():
    documents = site()
    assert found(matched(documents)) == true(documents)


@given(st.randoms(use_true_random=False))
@settings(max_examples=12)
def test_the_final_pairs_do_not_depend_on_the_order_of_arrival(chance):
    documents = [
        *site(8, 3),
        made("spa", 3, "/es/copy"),
        made("eus", 50, "/eu/a"),
        made("spa", 51, "/es/a"),
    ]
    first = found(matched(documents))
    chance.shuffle(documents)
    assert found(matched(documents)) == first


@given(st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_each_page_is_in_one_pair_at_most_at_any_moment(chance):
    documents = [*site(6, 3), *(made("spa", number, f"/es/copy{number}") for number in range(4))]
    chance.shuffle(documents)
    matcher = Matcher(PAIR)
    told: set[tuple[str, str]] = set()
    for changes in [*(matcher.add(page_of(each)) for each in documents), matcher.finish()]:
        assert set(changes.lost) <= told
        told = (told - set(changes.lost)) | set(changes.found)
        urls = [url for pair in told for url in pair]
        assert len(urls) == len(set(urls))
    assert told == found(matcher)
    assert len(matcher) == len(told)


def test_pages_that_were_known_before_make_the_same_pairs():
    documents = site()
    restored = Matcher(PAIR)
    restored.restore([(page_of(each), each.url) for each in reversed(documents)])
    assert found(restored) == found(matched(documents))


def test_a_page_comes_back_from_the_journal_as_it_was():
    page = page_of(made("spa", 1, links=[("/eu", "Euskara")], alternates=[("/eu/x", "eus")]))
    assert PairingPage.unpack(page.url, page.language, page.pack()) == page


def test_the_same_text_under_two_urls_is_no_pair():
    """CLD2 may take one of two copies for the other language; no claim makes them translations."""
    text = made("spa", 1, "/es/aviso", alternates=[("/eu/aviso", "eus")])
    copy = replace(text, url=f"{SITE}/eu/aviso", language="eus", alternates=[])
    text.paragraphs = copy.paragraphs = untranslated()
    assert not found(matched([text, copy, *site()])) & {(text.url, copy.url)}


def test_a_page_that_is_translated_only_in_its_menu_is_no_pair():
    menus = {"spa": ["Inicio", "Contacto", "Noticias"], "eus": ["Hasiera", "Kontaktua", "Berriak"]}
    pages = [
        Document(
            f"{SITE}/{code}/acta",
            language=language,
            paragraphs=[Paragraph(each, "listitem") for each in menus[language]] + untranslated(),
        )
        for language, code in (("spa", "es"), ("eus", "eu"))
    ]
    assert found(matched(pages)) == set()


def test_a_page_in_both_languages_is_a_pair_of_its_own():
    text = "".join(f"<p>{each}</p>" for side in (SPANISH, BASQUE) for each in side)
    both = build_document(f"{SITE}/bando", text.encode(), hints=PAIR.codes)
    parts = split_mixed(both, PAIR)
    assert parts is not None
    (pair,) = matched(parts).pairs
    assert (pair.first, pair.second) == (f"{SITE}/bando#variant=spa", f"{SITE}/bando#variant=eus")
    assert pair.evidence[0].detector == "same_page"


def test_what_a_site_declares_counts_but_not_blindly():
    pair = [
        made("spa", 1, "/es/uno", alternates=[("/eu/bat", "eus")]),
        made("eus", 1, "/eu/bat", alternates=[("/es/uno", "spa")]),
    ]
    assert found(matched(pair)) == {(pair[0].url, pair[1].url)}
    wrong = [
        made("spa", 2, "/es/dos", size=30, alternates=[("/eu/hiru", "eus")]),
        made("eus", 3, "/eu/hiru", size=1),
    ]
    assert found(matched([*wrong, *site()])) & {(wrong[0].url, wrong[1].url)} == set()


def test_a_language_switch_that_both_pages_have_makes_a_pair():
    pages = [
        made("spa", 4, "/a1", links=[("/b7", "Euskara")]),
        made("eus", 4, "/b7", links=[("/a1", "Español")]),
    ]
    (pair,) = matched([*pages, *site()], detectors=["switches"]).pairs
    assert (pair.first, pair.second) == (f"{SITE}/a1", f"{SITE}/b7")
    assert [each.detector for each in pair.reasons] == ["switches"]


@pytest.mark.parametrize("detector", ["url_key", "alternates"])
def test_a_detector_that_is_not_asked_says_nothing(detector):
    others = [name for name in DETECTORS if name != detector]
    pages = [
        made("spa", 1, "/es/a", alternates=[("/eu/a", "eus")]),
        made("eus", 1, "/eu/a", alternates=[("/es/a", "spa")]),
    ]
    (pair,) = matched(pages, detectors=others).pairs
    assert detector not in {each.detector for each in pair.evidence}


def test_the_model_of_parallel_urls_is_asked_when_pairs_are_settled():
    asked = []

    def model(pairs):
        asked.extend(pairs)
        return [0.9] * len(pairs)

    matcher = Matcher(PAIR, aids=PairingAids(url_model=model))
    for document in site(3, 0):
        matcher.add(page_of(document))
    assert not asked
    matcher.finish()
    assert set(asked) >= found(matcher)
    assert all("url_model" in {e.detector for e in pair.evidence} for pair in matcher.pairs)


def test_every_candidate_can_be_explained():
    matcher = matched(site(4, 2))
    weighed = list(matcher.candidates())
    assert len(weighed) == matcher.candidate_count
    for pair in weighed:
        assert 0 <= pair.score <= 1
        assert pair.evidence
        assert all(0 <= each.score <= 1 and each.why for each in pair.evidence)


texts = st.text(max_size=60)
urls = (
    st.sampled_from(["/es/a", "/eu/a", "/a?x=1", "/[", "/%ff", "/é", ""]).map(SITE.__add__) | texts
)
documents = st.builds(
    Document,
    url=urls,
    language=st.sampled_from(["spa", "eus"]),
    title=texts,
    paragraphs=st.lists(
        st.builds(
            Paragraph,
            text=texts,
            kind=st.sampled_from(["title", "heading", "listitem", "paragraph"]),
            boilerplate=st.booleans(),
        ),
        max_size=6,
    ),
    links=st.lists(
        st.builds(Link, url=urls, anchor=st.sampled_from(["Euskara", "ES", "x"])), max_size=3
    ),
    images=st.lists(st.builds(Image, src=texts), max_size=3),
    alternates=st.lists(
        st.builds(Alternate, url=urls, hreflang=texts, language=st.sampled_from(["spa", "eus"])),
        max_size=2,
    ),
    tags=texts,
    size=st.integers(0, 10**9),
    canonical=st.none() | urls,
    requested_url=urls,
)


@given(st.lists(documents, max_size=6, unique_by=lambda each: each.url))
def test_no_detector_raises_on_any_document(some):
    matcher = matched(some)
    for pair in matcher.candidates():
        assert 0 <= pair.score <= 1
    assert matcher.alias(f"{SITE}/old", f"{SITE}/es/a") is not None


def awaiting(*links):
    """A crawl with two counterparts, one with these links; and the odds that they are a pair."""
    matcher = Matcher(PAIR)
    for number in range(10, 22):
        for language in WORDS:
            matcher.add(page_of(made(language, number)))
    for page in (made("spa", 1, "/es/negra"), made("eus", 1, "/eu/horia", links=links)):
        matcher.add(page_of(page))
    chance = matcher.weigh(f"{SITE}/es/negra", f"{SITE}/eu/horia").probability
    return matcher, math.log(chance / (1 - chance))


def test_a_page_that_names_a_page_still_to_come_needs_more_evidence_for_another():
    _, plain = awaiting()
    _, waits = awaiting(("/es/rubia", "Español"))
    assert waits < plain - 2


def test_a_page_that_never_comes_is_no_longer_awaited_in_the_end():
    matcher, before = awaiting(("/es/rubia", "Español"))
    matcher.finish()
    chance = matcher.weigh(f"{SITE}/es/negra", f"{SITE}/eu/horia").probability
    assert math.log(chance / (1 - chance)) > before + 2
