"""What the places of links on two paired pages say about the files that they lead to."""

from bilingual_crawler.corpus.file_links import FileLinks
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.store.journal import Journal

PAIR = DocumentPair("https://a.example/es", "https://a.example/eu", ("spa", "eus"), ())


def page(url, *files):
    return Document(url, links=[Link(f"https://a.example/{each}") for each in files])


def claims(first, second):
    links = FileLinks()
    links.add(page(PAIR.first, *first))
    links.add(page(PAIR.second, *second))
    return {
        (url.rpartition("/")[2], target.rpartition("/")[2], language)
        for url, ((target, language),) in links.claims(lambda: [PAIR])
    }


def test_files_at_the_same_place_are_counterparts():
    assert claims(("menu", "1.pdf", "2.docx"), ("8.pdf", "menu", "9.docx")) == {
        ("1.pdf", "8.pdf", "eus"),
        ("8.pdf", "1.pdf", "spa"),
        ("2.docx", "9.docx", "eus"),
        ("9.docx", "2.docx", "spa"),
    }


def test_a_file_that_both_pages_link_to_is_left_out():
    assert claims(("map.pdf", "1.pdf"), ("2.pdf", "map.pdf")) == {
        ("1.pdf", "2.pdf", "eus"),
        ("2.pdf", "1.pdf", "spa"),
    }


def test_lists_of_different_length_say_nothing():
    assert not claims(("1.pdf", "2.pdf"), ("3.pdf",))
    assert not claims(("1.html",), ("2.html",))


def test_links_are_remembered_in_the_journal(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    links = FileLinks(journal)
    links.add(page(PAIR.first, "1.pdf"))
    links.add(page(PAIR.second, "2.pdf"))
    journal.close()
    journal = Journal(tmp_path / "crawl.sqlite")
    assert len(list(FileLinks(journal).claims(lambda: [PAIR]))) == 2
    journal.close()
