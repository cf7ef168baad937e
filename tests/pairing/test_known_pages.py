"""The pages that pairing knows, which are packed and unpacked."""

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing import known_pages
from bilingual_crawler.pairing.known_pages import KnownPages
from bilingual_crawler.pairing.pair import PairingPage
from tests.support.pairing import pages

PAIR = LanguagePair.parse("spa-eus")


@given(st.lists(pages, max_size=6, unique_by=lambda page: page.url))
def test_pages_come_back_as_they_were_taken_in(some):
    known = KnownPages(PAIR)
    taken = [known.add(page) for page in some]
    assert list(known) == [page.url for page in some]
    assert [known[page.url] for page in some] == taken
    assert [each.page for each in taken] == some
    for page in some:
        number = known.number_of(page.url)
        assert known.url_of(number) == page.url
        assert known.language_of(number) == page.language
        assert known.characters_of(number) == page.profile.characters


def test_a_page_with_a_known_url_takes_the_place_of_the_former():
    known = KnownPages(PAIR)
    known.add(PairingPage("https://a.example/es/x", "spa"))
    assert known["https://a.example/es/x"].fit == 1
    known.add(PairingPage("https://a.example/es/x", "eus"))
    assert len(known) == 1
    assert known["https://a.example/es/x"].fit == -1


def test_what_is_forgotten_is_unpacked_again(monkeypatch):
    monkeypatch.setattr(known_pages, "REMEMBERED", 2)
    known = KnownPages(PAIR)
    urls = [f"https://a.example/es/{number}" for number in range(5)]
    for url in urls:
        known.add(PairingPage(url, "spa", names=(f"{url}/index.html",)))
    for url in urls * 2:
        assert known[url].page.names == (f"{url}/index.html",)
