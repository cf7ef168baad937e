"""A survey of a site reads pages of all its languages in turns."""

from bilingual_crawler.discovery.site_survey import SiteSurvey
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.sitemap import Sitemap, SitemapPage

TEXTS = {
    "spa": "El ayuntamiento informa a los vecinos de que la fiesta empieza el sábado. ",
    "eus": "Udalak herritarrei jakinarazten die jaia larunbatean hasiko dela herrian. ",
    "eng": "The town council tells all neighbours that the feast begins on Saturday. ",
}


def page(url, language, links=""):
    body = f"<html><body><h1>Page</h1><p>{TEXTS[language] * 6}</p>{links}</body></html>"
    return build_document(url, body.encode())


def test_languages_without_pages_come_first_and_claims_are_counted():
    survey = SiteSurvey("https://a.example/", 4)
    links = '<a href="/b">Noticias</a><a href="/eu/">Euskara</a><a href="//b.example/">English</a>'
    survey.take(survey.wanted(), page("https://a.example/", "spa", links))
    assert survey.is_sitemap(survey.wanted())
    listed = SitemapPage("https://a.example/c", (("https://a.example/en/c", "eng"),))
    survey.take_sitemap(survey.wanted(), Sitemap([listed]))
    asked = []
    while url := survey.wanted():
        asked.append(url)
        survey.take(url, page(url, "eus" if "/eu/" in url else "eng"))
    assert asked == ["https://a.example/eu/", "https://a.example/en/c"]
    found = {each.code: (each.pages, each.declared) for each in survey.languages()}
    assert found == {"spa": (1, 0), "eus": (1, 1), "eng": (1, 1)}
    assert survey.downloads == 4


def test_a_site_that_cannot_be_read_has_no_languages():
    survey = SiteSurvey("https://a.example/", 4)
    survey.missed(survey.wanted(), "dns")
    assert survey.wanted() is None
    assert survey.languages() == []
    assert survey.to_dict()["missed"] == {"https://a.example/": "dns"}
