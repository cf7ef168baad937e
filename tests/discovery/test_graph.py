"""The neighbourhood of a link in words."""

import pytest

from bilingual_crawler.discovery.graph import address_words, link_words
from bilingual_crawler.documents.document import Link


def test_every_context_has_its_own_words():
    link = Link(
        "http://www.rent-spain.es/hotels/links.asp?area=hotels",
        anchor="Hotels in Spain",
        context="Our favourite hotels and flights",
    )
    assert link_words(link, "eng") == (
        *("host:rent", "host:spain", "host:es"),
        *("url:hotel", "url:link", "url:area"),
        *("anchor:hotel", "anchor:spain"),
        *("around:favourit", "around:hotel", "around:flight"),
    )


def test_the_text_of_an_image_counts_as_anchor():
    assert "anchor:museo" in link_words(Link("http://a.example/", image_alt="El museo"), None)


def test_words_are_stemmed_in_the_language_of_the_page():
    link = Link("http://a.example/", anchor="habitaciones libres")
    stemmed = {word for word in link_words(link, "spa") if word.startswith("anchor:")}
    assert stemmed == {"anchor:habit", "anchor:libr"}


def test_a_language_without_a_stemmer_keeps_its_words():
    link = Link("http://a.example/", anchor="hótelherbergi")
    assert "anchor:hótelherbergi" in link_words(link, "isl")


def test_the_same_address_has_the_same_words_wherever_it_is_linked_from():
    url = "http://a.example/enlaces"
    assert set(address_words(url)) <= set(link_words(Link(url), "spa"))
    assert set(address_words(url)) <= set(link_words(Link(url), "eng"))


def test_a_context_without_end_is_cut():
    link = Link("http://a.example/", context=" ".join(f"wort{'x' * n}" for n in range(500)))
    assert len(link_words(link)) < 50


@pytest.mark.parametrize("url", ["http://[::1", "", "mailto:a@b.example"])
def test_an_address_that_is_none_has_few_words_or_none(url):
    assert len(address_words(url)) <= 3
