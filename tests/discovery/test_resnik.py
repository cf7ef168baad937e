"""Links that name the two languages, and which of them belong together."""

from bilingual_crawler.discovery.site_pages import paired_links
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import LanguagePair

SITE = "https://www.example.org"
PAIR = LanguagePair.parse("por-eng")


def pairs(*links, title=""):
    return paired_links(Document(f"{SITE}/", title=title, links=list(links)), PAIR)


def test_two_links_that_name_the_languages_belong_together():
    assert pairs(Link(f"{SITE}/a.html", "Português"), Link(f"{SITE}/b.html", "English")) == [
        (f"{SITE}/a.html", f"{SITE}/b.html")
    ]


def test_a_page_that_names_one_language_has_no_pairs():
    assert pairs(Link(f"{SITE}/a.html", "Português"), Link(f"{SITE}/b.html", "Contact")) == []


def test_files_of_different_kinds_do_not_belong_together():
    assert pairs(Link(f"{SITE}/a.pdf", "Português"), Link(f"{SITE}/b.html", "English")) == []


def test_pages_of_two_sites_do_not_belong_together():
    assert pairs(Link(f"{SITE}/a", "Português"), Link("https://www.example.com/a", "English")) == []


def test_of_several_links_those_with_equal_addresses_go_together():
    found = pairs(
        Link(f"{SITE}/pt/one", "Português"),
        Link(f"{SITE}/pt/two", "Português"),
        Link(f"{SITE}/en/two", "English"),
        Link(f"{SITE}/en/one", "English"),
    )
    assert set(found) == {
        (f"{SITE}/pt/one", f"{SITE}/en/one"),
        (f"{SITE}/pt/two", f"{SITE}/en/two"),
    }


def test_dictionaries_are_left_out():
    links = Link(f"{SITE}/a", "Português"), Link(f"{SITE}/b", "English")
    assert pairs(*links, title="A Portuguese dictionary") == []
