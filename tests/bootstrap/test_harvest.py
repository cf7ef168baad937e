"""From titles to terms, from links to sites."""

import io
import itertools

import pytest
from lxml import etree

from bilingual_crawler.bootstrap.dump_wiki import article_links, links_in_text
from bilingual_crawler.bootstrap.external_links import (
    languages_in,
    readable_url,
    unique,
    url_of_index,
)
from bilingual_crawler.bootstrap.harvest import (
    CategoryPlace,
    TitleTerm,
    is_maintenance,
    objection_to,
    term_of,
    weight_of,
    wiki_code,
)
from bilingual_crawler.languages import LanguagePair, find_language

ENGLISH, GERMAN, PAIR = find_language("eng"), find_language("deu"), LanguagePair.parse("eng-spa")


@pytest.mark.parametrize(
    ("title", "objection"),
    [
        ("Pas de deux", None),
        ("Pointe technique", None),
        ("Barre (ballet)", None),
        ("Swan (disambiguation)", "disambiguation"),
        ("Cisne (desambiguación)", "disambiguation"),
        ("List of ballets by title", "list"),
        ("Anexo:Ballets", "list"),
        ("Balleten zerrenda", "list"),
        ("1990 in dance", "list"),
        ("Ballet in 1990", "list"),
        ("ABT", "abbreviation"),
        ("Anna Pavlova", "name"),
        ("Royal Academy of Dance", "name"),
        ("A title that goes on and on and on", "too_long"),
        ("1066", "list"),
        ("!!!", "no_words"),
    ],
)
def test_titles_that_are_no_terms_have_a_reason(title, objection):
    assert objection_to(title, ENGLISH) == objection


def test_capitals_mean_nothing_where_every_noun_has_one():
    assert objection_to("Klassisches Ballett", GERMAN) is None
    assert objection_to("Klassisches Ballett", ENGLISH) == "name"


def test_names_pass_where_they_are_wanted():
    assert objection_to("Anna Pavlova", ENGLISH, names=True) is None
    assert objection_to("List of Ballets", ENGLISH, names=True) == "list"


@pytest.mark.parametrize(
    ("title", "term"),
    [
        ("Barre (ballet)", TitleTerm("barre", was_qualified=True)),
        ("Pas de deux", TitleTerm("pas de deux")),
        ("Royal Ballet", TitleTerm("Royal Ballet")),
        ("École", TitleTerm("école")),
        ("DNA", TitleTerm("DNA")),
        ("Paris, Texas", TitleTerm("paris")),
        ("(Ballet)", TitleTerm("(Ballet)", was_qualified=True)),
    ],
)
def test_a_term_is_the_title_without_what_only_tells_it_apart(title, term):
    assert term_of(title) == term


@pytest.mark.parametrize(
    "category",
    ["Ballet stubs", "Articles with short description", "CS1 maint", "Wikipedia categories"],
)
def test_categories_that_keep_wikipedia_in_order_are_known(category):
    assert is_maintenance(category)
    assert not is_maintenance("Articles of clothing")


def test_weights_fall_with_depth_and_rise_with_how_specific_a_term_is():
    assert weight_of(CategoryPlace(0, "x"), TitleTerm("pas de deux")) == 100
    assert weight_of(CategoryPlace(0, "x"), TitleTerm("ballet")) == 80
    assert weight_of(CategoryPlace(1, "x"), TitleTerm("pas de deux")) == 75
    assert weight_of(CategoryPlace(2, "x"), TitleTerm("barre", was_qualified=True)) == 22.5
    assert weight_of(CategoryPlace(1, "x"), TitleTerm("pas de deux"), categories=3) == 90
    assert weight_of(CategoryPlace(0, "x"), TitleTerm("pas de deux"), categories=9) == 100


@pytest.mark.parametrize(
    ("index", "path", "url"),
    [
        ("https://org.example.www.", "/a?b=c", "https://www.example.org/a?b=c"),
        ("http://com.example.:8080", "/", "http://example.com:8080/"),
        ("http://V4.192.0.2.1.", "/x", "http://192.0.2.1/x"),
        ("mailto:org.example.@me", "", ""),
    ],
)
def test_reversed_hosts_are_turned_round(index, path, url):
    assert url_of_index(index, path) == url


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("//example.org/x", "https://example.org/x"),
        ("https://web.archive.org/web/2010/http://example.org/x", "http://example.org/x"),
        ("https://doi.org/10.1/x", None),
        ("https://en.wikipedia.org/wiki/X", None),
        ("http://example.org/x.pdf", None),
        ("ftp://example.org/", None),
        ("http://[bad", None),
        ("http://user:word@example.org/", None),
        ("javascript:alert(1)", None),
    ],
)
def test_only_links_that_a_crawl_may_begin_with_are_kept(link, url):
    assert readable_url(link) == url


def test_the_language_of_an_address_is_read_from_its_parts():
    assert languages_in("https://example.org/es/x", PAIR) == {"spa"}
    assert languages_in("https://en.example.org/", PAIR) == {"eng"}
    assert languages_in("https://example.org/x?lang=es", PAIR) == {"spa"}
    assert languages_in("https://example.es/eu/x", PAIR) == set()


def test_an_address_is_a_seed_once_and_a_site_gives_so_many():
    urls = [("http://a.example/2", 1.0), ("http://a.example/1", 2.0), ("http://a.example/1", 9.0)]
    urls += [("http://a.example/3", 0.5), ("http://b.example/", 0.1)]
    assert list(unique(urls, 2)) == [
        "http://a.example/1",
        "http://a.example/2",
        "http://b.example/",
    ]


def test_addresses_in_wikitext_end_where_the_markup_begins():
    text = "[http://a.example/x Title], ''http://b.example/y'' {{url|http://c.example/z}}."
    assert links_in_text(text) == ["http://a.example/x", "http://b.example/y", "http://c.example/z"]


def with_entities(entities, text):
    page = f"<page><title>X</title><ns>0</ns><revision><text>{text}</text></revision></page>"
    return io.BytesIO(f"<!DOCTYPE m [{entities}]><m>{page}</m>".encode())


def test_entities_in_a_file_of_articles_are_not_expanded():
    entities = '<!ENTITY a "http://a.example/"><!ENTITY f SYSTEM "file:///etc/hostname">'
    stream = with_entities(entities, "http://b.example/ &a; &f; http://c.example/")
    ((title, links),) = article_links(stream, {"X"})
    assert title == "X"
    assert links == ["http://b.example/"], "the text ends where the entity stands"


def test_a_file_that_would_burst_is_refused():
    pairs = itertools.pairwise("abcdefghij")
    grown = "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairs)
    stream = with_entities(f'<!ENTITY a "{"x" * 99}">{grown}', "&j;")
    with pytest.raises(etree.XMLSyntaxError):
        list(article_links(stream, {"X"}))


def test_editions_go_by_their_own_codes():
    assert wiki_code(find_language("nob")) == "no"
    assert wiki_code(find_language("eus")) == "eu"
