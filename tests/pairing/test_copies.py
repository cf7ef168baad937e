"""Copies of a page are one content, which is paired once."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import page_of

PAIR = LanguagePair.parse("eng-spa")
SITE = "https://www.tours.example"
WORDS = {
    "eng": ("castle", "garden", "old", "town", "open", "every", "day", "guide", "river", "walk"),
    "spa": ("castillo", "jardín", "vieja", "villa", "abierto", "cada", "día", "guía", "paseo"),
}


def article(language, number, path, title="", extra=()):
    """A page; those with one number in two languages are translations."""
    plan, chance = random.Random(number), random.Random(f"{language}{number}")
    texts = []
    for part in range(5):
        words = chance.choices(WORDS[language], k=plan.randint(15, 25))
        texts.append(" ".join([*words, f"Nombre{number}{part}", str(plan.randrange(9_999))]))
    heading = title or f"{language} title {number}"
    paragraphs = [Paragraph(heading, "title"), *map(Paragraph, texts), *map(Paragraph, extra)]
    return Document(f"{SITE}{path}", language=language, paragraphs=paragraphs, size=4_000)


def pairs_of(documents):
    matcher = Matcher(PAIR)
    for document in documents:
        matcher.hold(page_of(document))
    matcher.finish()
    return matcher, sorted((pair.first, pair.second) for pair in matcher.pairs)


def tours():
    pages = []
    for number in range(6):
        pages += [
            article("eng", number, f"/blog/tour-{number}"),
            article("spa", number, f"/es/blog/excursion-{number}"),
        ]
    return pages


EXPECTED = [(f"{SITE}/blog/tour-{n}", f"{SITE}/es/blog/excursion-{n}") for n in range(6)]


def test_copies_in_sections_of_other_languages_do_not_compete():
    copies = [
        article("eng", number, f"/{code}/blog/{code}-{number}", f"{code} titulo {number}")
        for number in range(6)
        for code in ("pt", "fr", "de")
    ]
    assert pairs_of(tours() + copies)[1] == EXPECTED


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_copies_does_not_matter(seed):
    pages = tours() + [
        article("eng", n, f"/{code}/blog/{code}-{n}", f"{code} titulo {n}")
        for n in range(6)
        for code in ("pt", "fr")
    ]
    random.Random(seed).shuffle(pages)
    assert pairs_of(pages)[1] == EXPECTED


def test_a_page_with_other_menus_has_the_partner_of_its_content():
    pages = [*tours(), article("eng", 3, "/m/tour-3", extra=["Mobile menu"])]
    matcher, pairs = pairs_of(pages)
    assert len(pairs) == 6
    assert matcher.partner_of(f"{SITE}/m/tour-3") == f"{SITE}/es/blog/excursion-3"
    assert matcher.partner_of(f"{SITE}/blog/tour-3") == f"{SITE}/es/blog/excursion-3"


def test_lists_with_one_paired_entry_are_no_second_pair():
    lists = [
        article("eng", 2, "/tag/x", "Posts about x", ["eng title 2"]),
        article("spa", 2, "/es/tag/x", "Entradas sobre x", ["spa title 2"]),
    ]
    matcher, pairs = pairs_of(tours() + lists)
    assert pairs == EXPECTED
    assert [each.refused for each in matcher.refused()] == [
        "a list with one entry, which is in a pair"
    ]


def test_lists_of_the_same_entries_are_copies_whatever_they_are_called():
    lists = []
    for name in ("x", "y"):
        lists += [
            article("eng", 2, f"/tag/{name}", f"Posts about {name}", ["eng title 2"]),
            article("spa", 2, f"/es/tag/{name}", f"Entradas sobre {name}", ["spa title 2"]),
        ]
    matcher, pairs = pairs_of(tours() + lists)
    assert pairs == EXPECTED
    assert matcher.refused_count == 1


def test_pages_of_one_template_are_no_copies():
    frame = [f"This is a long paragraph number {n} of the frame of every page." for n in range(8)]
    marco = [f"Este es un párrafo largo número {n} del marco de cada página." for n in range(8)]
    pages = []
    for number in range(6):
        pages += [
            article("eng", number, f"/blog/tour-{number}", extra=frame),
            article("spa", number, f"/es/blog/excursion-{number}", extra=marco),
        ]
    assert pairs_of(pages)[1] == EXPECTED


def test_variants_of_a_product_with_addresses_of_their_own_are_no_copies():
    pages = tours()
    for variant in ("one", "ten"):
        pages += [
            article("eng", 9, f"/en/shop/{variant}-day", f"{variant} day tour"),
            article("spa", 9, f"/es/shop/{variant}-day", f"visita de {variant} {variant}"),
        ]
    expected = [(f"{SITE}/en/shop/{n}-day", f"{SITE}/es/shop/{n}-day") for n in ("one", "ten")]
    assert pairs_of(pages)[1] == sorted(EXPECTED + expected)


COPY = st.tuples(
    st.integers(0, 3),
    st.sampled_from(("eng", "spa")),
    st.sampled_from(("print", "menu", "section")),
)


@settings(max_examples=25)
@given(st.lists(COPY, max_size=10), st.randoms(use_true_random=False))
def test_no_content_is_paired_twice_whatever_copies_there_are(copies, chance):
    pages = [page for page in tours() if int(page.url[-1]) < 4]
    content = {page.url: (page.language, int(page.url[-1])) for page in pages}
    for at, (number, language, kind) in enumerate(copies):
        title = f"{language} {at} in pt" if kind == "section" else ""
        path = f"/pt/{language}-{at}" if kind == "section" else f"/{kind}/{language}-{at}"
        extra = [f"Menu {at}"] if kind == "menu" else ()
        pages.append(article(language, number, path, title, extra))
        content[pages[-1].url] = language, number
    chance.shuffle(pages)
    pairs = pairs_of(pages)[1]
    found = [(content[first], content[second]) for first, second in pairs]
    assert sorted(found) == [(("eng", number), ("spa", number)) for number in range(4)]
