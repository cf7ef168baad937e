"""Whole crawls of a site whose translations are declared in its sitemaps and nowhere else."""

import pytest

from tests.support.crawling import crawl, pairs
from tests.support.fetching import HTML, NOT_FOUND, Site
from tests.support.recordings import page, to

pytestmark = pytest.mark.crawl

SPANISH, BASQUE = "/agenda-de-verano", "/udako-egitaraua"
XML = {"Content-Type": "application/xml"}
LINKS = "".join(
    f'<link rel="alternate" hreflang="{code}" href="{path}"/>'
    for code, path in (("es", SPANISH), ("eu", BASQUE))
)
ENTRIES = "".join(f"<url><loc>{path}</loc>{LINKS}</url>" for path in (SPANISH, BASQUE))
MAP = 200, XML, f"<urlset>{ENTRIES}</urlset>".encode()


def index(*paths):
    found = "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in paths)
    return 200, XML, f"<sitemapindex>{found}</sitemapindex>".encode()


def site(**files):
    """A home page, a page in each language that has nothing in common with the other."""
    return Site(
        dict.fromkeys(("/favicon.ico", "/sitemap.xml"), NOT_FOUND)
        | {
            "/": (200, HTML, page("es", 1000, to(SPANISH, BASQUE))),
            SPANISH: (200, HTML, page("es", 1, to("/"))),
            BASQUE: (200, HTML, page("eu", 22222, to("/"))),
        }
        | {f"/{name.replace('_', '.')}": answer for name, answer in files.items()}
    )


def declared(output):
    """The paths of the pairs that somebody declared, and why."""
    return {
        tuple("/" + url.rpartition("/")[2] for url in (each["url1"], each["url2"])): item["why"]
        for each in pairs(output)
        for item in each["evidence"]
        if item["detector"] == "alternates" and item["score"] > 0.5
    }


FOUND = {(SPANISH, BASQUE): "the site's map names each as the other's translation"}
ON = {"BILINGUAL_SITEMAPS": 1}


def test_sitemaps_are_not_asked_for_unless_that_is_wanted(tmp_path):
    with site(sitemap_xml=MAP) as server:
        crawl(server.url + "/", tmp_path / "out")
    assert "/sitemap.xml" not in server.asked
    assert declared(tmp_path / "out") == {}


def test_the_sitemap_at_the_usual_place_is_read_once_and_known_after_a_restart(tmp_path):
    out = tmp_path / "out"
    alone = 200, HTML, page("es", 3000)
    with site(sitemap_xml=MAP, alone=alone) as server:
        crawl(server.url + "/alone", out, settings=ON)
        assert server.asked.count("/sitemap.xml") == 1
        assert declared(out) == {}
        crawl(server.url + "/", out, settings=ON)
    assert server.asked.count("/sitemap.xml") == 1
    assert declared(out) == FOUND


def test_five_sitemaps_that_robots_txt_names_and_does_not_forbid_are_read(tmp_path):
    names = b"User-agent: *\nDisallow: /no.xml\nSitemap: /a.xml\nSitemap: http://a.example/c.xml\n"
    files = {
        "robots_txt": (200, {"Content-Type": "text/plain"}, names),
        "a_xml": index("/no.xml", "/a.xml", "/b.xml", "/0.xml"),
        "no_xml": MAP,
        "b_xml": MAP,
    }
    chain = {f"{number}_xml": index(f"/{number + 1}.xml") for number in range(9)}
    with site(**files, **chain) as server:
        crawl(server.url + "/", tmp_path / "out", settings=ON)
    asked = [path for path in server.asked if path.endswith(".xml")]
    assert asked == ["/a.xml", "/b.xml", "/0.xml", "/1.xml"], "and one was forbidden"
    assert declared(tmp_path / "out") == FOUND
