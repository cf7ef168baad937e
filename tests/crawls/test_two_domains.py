"""One site on two domains, one per language: crawled from both seeds, and paired from archives."""

import json

import pytest

from tests.support.crawling import crawl, documents, pairs
from tests.support.named_hosts import NamedHosts
from tests.support.recordings import exchange, write_warc
from tests.support.two_domains import ES, EUS, true_pairs, two_domains
from tests.support.typed_commands import typed

SETTINGS = {"BILINGUAL_SCORER": "breadth_first", "BILINGUAL_CHECKPOINT_SECONDS": 0.1}
FEDERAL = "http://numerique.example.ca", "http://digital.example.ca"


def harvested(pages, output, seeds, **settings):
    """The pairs of a crawl from these seeds."""
    with NamedHosts(pages).served() as proxy:
        crawl(",".join(seeds), output, proxy=proxy, settings=SETTINGS | settings)
    assert {document["url"] for document in documents(output)} == set(pages)
    return {(pair["url1"], pair["url2"]) for pair in pairs(output)}


@pytest.mark.crawl
def test_two_seeds_of_one_brand_are_paired_although_nothing_links_them(tmp_path):
    pages = two_domains(switches=(False, False))
    assert harvested(pages, tmp_path / "out", (f"{ES}/", f"{EUS}/")) == true_pairs()


@pytest.mark.crawl
def test_with_the_setting_at_0_only_declarations_and_addresses_cross_domains(tmp_path):
    pages = two_domains(switches=(False, False))
    found = harvested(pages, tmp_path / "out", (f"{ES}/", f"{EUS}/"), BILINGUAL_CROSS_DOMAIN=0)
    assert found <= {(f"{ES}/", f"{EUS}/")}


@pytest.mark.crawl
def test_two_subdomains_of_one_domain_are_crawled_and_paired_as_one_site(tmp_path):
    first, second = FEDERAL
    pages = two_domains(first, second)
    assert harvested(pages, tmp_path / "out", (f"{first}/",)) == true_pairs(first, second)


@pytest.fixture
def archive(tmp_path):
    """Write pages into a WARC file."""

    def write(pages):
        return write_warc(tmp_path / "a.warc", [exchange(url, body) for url, body in pages.items()])

    return write


def paired(capsys, *words):
    status, out, err = typed(capsys, "pairs", *words, "--langs", "spa-eus")
    assert status == 0, err
    return {tuple(line.split("\t")[:2]) for line in out.splitlines()}


def test_an_archive_of_two_domains_with_links_both_ways_is_paired(capsys, archive):
    hosts = "http://www.puente.es", "http://www.zubia.eus"
    assert paired(capsys, archive(two_domains(*hosts))) == true_pairs(*hosts)


def test_an_archive_of_two_domains_of_one_brand_is_paired(capsys, archive):
    assert paired(capsys, archive(two_domains(switches=(False, False)))) == true_pairs()


def test_an_archive_with_links_in_one_direction_is_not(capsys, archive):
    hosts = "http://www.puente.es", "http://www.zubia.eus"
    found = paired(capsys, archive(two_domains(*hosts, switches=(True, False))))
    assert len(found) <= 2


def test_a_directory_of_two_domains_is_paired(capsys, tmp_path):
    for url, body in two_domains(switches=(False, False)).items():
        file = tmp_path / "mirror" / url.removeprefix("http://").rstrip("/")
        file = file / "index.html" if url.endswith("/") else file.with_suffix(".html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
    status, out, err = typed(capsys, "pairs", tmp_path / "mirror", "--langs", "spa-eus", "--json")
    assert status == 0, err
    assert json.loads(out)["pairs"] == len(true_pairs())
