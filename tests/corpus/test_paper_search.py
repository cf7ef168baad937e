"""Pairing by the rules of one paper alone."""

import pytest

from bilingual_crawler.corpus.offline import Task, find_pairs
from bilingual_crawler.corpus.paper_search import BOTH_LISTS, OTHER_TOKEN, NoIdentifier, PaperSearch
from bilingual_crawler.corpus.sources.reading import SourceReading
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.almeida import DEFAULTS, Validation
from bilingual_crawler.pairing.resources import PairingAids

PAIR = LanguagePair.parse("eng-fra")
HOST = "https://www.example.org"
NAMES = ("Zorvath", "Quimbel", "Tarnock")


def page(path, name, words):
    """A page in no language at all, which an identifier could only get wrong."""
    body = f"<html><body><h1>{name}</h1><p>{name} {' '.join(words)}.</p></body></html>"
    return build_document(HOST + path, body.encode(), identifier=NoIdentifier())


def invented(letter):
    return [f"{letter}or{letter}{number % 7}um{letter}ax" for number in range(40)]


def searched(pages, system="pplocator", **aids):
    search = PaperSearch(system, PAIR, aids=PairingAids(**aids))
    for each in pages:
        search.take(each)
    search.finish()
    return search


def test_pages_are_paired_by_their_urls_and_the_tree_without_any_language():
    pages = [page(f"/en/{name}.html", name, invented("b")) for name in NAMES]
    pages += [page(f"/fr/{name}.html", name, invented("k")) for name in NAMES]
    pages.append(page(f"/de/{NAMES[0]}.html", NAMES[0], invented("m")))
    pages.append(page(f"/{NAMES[0]}.html", NAMES[0], invented("n")))
    search = searched(pages)
    assert {(pair.first, pair.second) for pair in search.pairs} == {
        (f"{HOST}/en/{name}.html", f"{HOST}/fr/{name}.html") for name in NAMES
    }
    assert search.language_of(f"{HOST}/fr/{NAMES[0]}.html") == "fra"
    assert search.skips.counts == {OTHER_TOKEN: 1, BOTH_LISTS: 1}
    assert {each.detector for each in search.pairs[0].evidence} == {"url_similarity", "pplocator"}


def test_urls_without_a_token_stand_for_the_language_that_has_none():
    pages = [page(f"/{name}.html", name, invented("b")) for name in NAMES]
    pages += [page(f"/{name}_fr.html", name, invented("k")) for name in NAMES]
    assert {(pair.first, pair.second) for pair in searched(pages).pairs} == {
        (f"{HOST}/{name}.html", f"{HOST}/{name}_fr.html") for name in NAMES
    }


@pytest.mark.parametrize(("accept", "verdict"), [(0.75, False), (0.2, True)])
def test_the_users_validation_decides_about_listed_files(tmp_path, accept, verdict):
    english = "The ministry published its annual report about the public libraries of the country. "
    french = "Le ministère a publié son rapport annuel sur les bibliothèques publiques du pays! "
    (tmp_path / "report_en.html").write_text(f"<p>{english * 3}</p>")
    (tmp_path / "bilan_fr.html").write_text(f"<p>{french * 4}</p>")
    listed = tmp_path / "list.tsv"
    listed.write_text(f"{tmp_path}/report_en.html\t{tmp_path}/bilan_fr.html\n")
    aids = PairingAids(validations={**DEFAULTS, "html": Validation(accept=accept)})
    task = Task(inputs=(str(listed),), reading=SourceReading(PAIR), aids=aids, system="almeida")
    (found,) = find_pairs(task).verdicts
    assert found.accepted is verdict
    assert found.pair.evidence[0].detector == "almeida"
