"""Whole crawls of a site with a page in both languages and a machine-translated one."""

import pytest

from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.crawling import crawl, documents, report
from tests.support.fetching import HTML, NOT_FOUND, Site
from tests.support.recordings import PROSE

pytestmark = pytest.mark.crawl

ORIGINAL = '<link rel="alternate machine-translated-from" hreflang="en" href="/en/">'


def page(texts, links=(), head="", lang="es"):
    body = "".join(f"<p>{text}</p>" for text in texts)
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    markup = f"<html lang={lang}><head>{head}</head><body><nav>{anchors}</nav>{body}</body></html>"
    return 200, HTML, markup.encode()


def prose(language, number):
    return [sentence.format(number) for sentence in PROSE[language]]


def bilingual_site():
    missing = dict.fromkeys(("/favicon.ico", "/en/"), NOT_FOUND)
    return Site(
        missing
        | {
            "/": page(prose("es", 100), ["/aviso", "/maquina"]),
            "/aviso": page([*SPANISH, *BASQUE], ["/", "/solo"]),
            "/maquina": page(prose("es", 200), ["/"], head=ORIGINAL),
            "/solo": page(prose("eu", 300), ["/"], lang="eu"),
        }
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    output = tmp_path_factory.mktemp("crawl") / "out"
    with bilingual_site() as site:
        printed = crawl(site.url + "/", output)
        yield site, output, printed


def test_a_page_in_both_languages_is_kept_as_two_documents(crawled):
    site, output, _ = crawled
    kept = [each for each in documents(output) if each["url"] == f"{site.url}/aviso"]
    assert {each["variant"]: each["language"] for each in kept} == {"spa": "spa", "eus": "eus"}
    text = {
        each["variant"]: [p["text"] for p in each["paragraphs"] if not p["boilerplate"]]
        for each in kept
    }
    assert text == {"spa": SPANISH, "eus": BASQUE}


def test_its_links_are_seen_and_followed_once(crawled):
    site, output, _ = crawled
    assert sorted(site.pages_asked) == ["/", "/aviso", "/en/", "/maquina", "/solo"]
    assert report(output)["links_seen"] == 7


def test_its_url_is_counted_once(crawled):
    _, output, printed = crawled
    told = report(output)
    ended = {reason: each["count"] for reason, each in told["urls_ended"].items()}
    assert ended == {"stored": 4, "http_404": 1}
    assert told["pages"] == 4
    assert sum(told["documents"].values()) == len(documents(output)) == 5
    assert told["split_pages"] == 1
    assert "pages with both languages" in printed


def test_a_machine_translated_page_is_kept_with_its_mark(crawled):
    site, output, printed = crawled
    marks = {each["url"]: each["machine_translated"] for each in documents(output)}
    assert marks.pop(f"{site.url}/maquina") == "machine_translated_from"
    assert set(marks.values()) == {""}
    assert report(output)["machine_translated"] == {"machine_translated_from": 1}
    assert "BILINGUAL_MACHINE_TRANSLATED" in printed


def test_a_machine_translated_page_is_dropped_if_that_is_wanted(tmp_path):
    with bilingual_site() as site:
        crawl(f"{site.url}/", tmp_path, settings={"BILINGUAL_MACHINE_TRANSLATED": "drop"})
        kept = {each["url"] for each in documents(tmp_path)}
        assert "/en/" in site.pages_asked, "its links are followed all the same"
    told = report(tmp_path)
    assert f"{site.url}/maquina" not in kept
    assert told["urls_ended"]["machine_translated"]["count"] == 1
    assert told["machine_translated"] == {"machine_translated_from": 1}


def test_a_resumed_crawl_knows_both_documents(crawled):
    site, output, _ = crawled
    before = (output / "documents.jsonl.gz").read_bytes()
    crawl(site.url + "/", output)
    assert (output / "documents.jsonl.gz").read_bytes() == before
    assert sum(report(output)["documents"].values()) == 5


def test_a_url_is_stored_if_one_of_its_documents_is(tmp_path):
    pages = {
        "/": page(SPANISH, ["/aviso"]),
        "/aviso": page([*SPANISH, *BASQUE], lang="eu"),
    }
    with Site(pages) as site:
        crawl(f"{site.url}/", tmp_path, settings={"CONCURRENT_REQUESTS": 1})
    told = report(tmp_path)
    assert {reason: each["count"] for reason, each in told["urls_ended"].items()} == {"stored": 2}
    assert told["split_pages"] == 1
