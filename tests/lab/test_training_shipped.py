"""The shipped models still read URLs as they did when they were made.

A change of preprocessing or hashing leaves the files as they are and turns their input
into noise; nothing else would say so.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from bilingual_crawler.languages import all_languages
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang

MODELS = Path(__file__).parents[2] / "models"
PLAIN = {
    "https://www.example.es/noticias/la-empresa-presenta-los-resultados-del-trimestre": "spa",
    "https://www.example.fi/uutiset/suomen-hallitus-esitteli-uuden-ohjelman": "fin",
    "https://www.example.de/nachrichten/die-regierung-stellt-neue-plaene-vor": "deu",
    "https://www.example.pl/wiadomosci/rzad-przedstawil-nowy-program-dla-szkol": "pol",
    "https://www.example.eus/albisteak/jaurlaritzak-plan-berria-aurkeztu-du": "eus",
    "https://www.example.is/frettir/rikisstjornin-kynnti-nyja-aaetlun": "isl",
    "https://www.example.com.tr/haber/hukumet-yeni-programi-acikladi": "tur",
    "https://www.example.it/notizie/il-governo-presenta-il-nuovo-programma": "ita",
}


@pytest.fixture(scope="module")
def languages():
    return Url2Lang(MODELS / "url2lang")


@pytest.fixture(scope="module")
def pairs():
    return ParallelUrls(MODELS / "parallel")


def test_plain_urls_get_their_language(languages):
    found = {
        url: best[0][0] for url, best in zip(PLAIN, languages.languages(list(PLAIN)), strict=True)
    }
    assert sum(found[url] == code for url, code in PLAIN.items()) >= len(PLAIN) - 1, found


CODES = {
    "https://www.example.com/fi/about": "fin",
    "https://www.example.com/about?lang=eu": "eus",
    "https://www.example.com/news-07.it.html": "ita",
    "https://www.example.com/charter.az": "aze",
    "https://www.example.com/index.sv": "swe",
    "https://www.example.com/p?hl=cs": "ces",
    "https://cs.example.com/": "ces",
    "https://www.example.com/haw/": "haw",
    "https://www.example.com/mi/about": "mri",
}
"""The last two have hardly a page in the tables that the model learned from."""


def test_codes_in_a_url_count_wherever_they_are(languages):
    found = languages.languages(list(CODES))
    assert {url: best[0][0] for url, best in zip(CODES, found, strict=True)} == CODES


def test_every_language_of_cld2_is_known(languages):
    named = {language.code for language in all_languages() if language.cld2}
    assert named <= set(languages.labels)
    assert len(named) >= 161


def test_the_same_page_in_two_languages_is_likelier_than_another_page(pairs):
    right, other, same = pairs.probabilities(
        [
            ("https://www.example.org/en/about/team", "https://www.example.org/es/about/team"),
            ("https://www.example.org/en/about/team", "https://www.example.org/es/news/2019"),
            ("https://www.example.org/en/about/team", "https://www.example.org/en/about/jobs"),
        ]
    )
    assert right > 0.5 > max(other, same)


def test_the_order_of_a_pair_matters_little(pairs):
    one, two = "https://www.example.org/en/a/team", "https://www.example.org/fr/a/team"
    first, second = pairs.probabilities([(one, two), (two, one)])
    assert first == pytest.approx(second, abs=0.2)


def test_translated_slugs_are_told_from_other_pages(pairs):
    site = "https://www.example.org"
    slugs = {"about-us": "sobre-nosotros", "privacy-policy": "politica-de-privacidad"}
    slugs |= {"health-and-safety": "salud-y-seguridad", "contact": "contacto"}
    for english, spanish in slugs.items():
        others = [slug for slug in slugs.values() if slug != spanish]
        right, *wrong = pairs.probabilities(
            [(f"{site}/en/{english}", f"{site}/es/{slug}") for slug in (spanish, *others)]
        )
        assert right > max(wrong), english


def test_urls_that_are_equal_but_for_language_tokens_are_likely_pairs(pairs):
    page = "http://example.org/?url=songs/song18&lang=eng&link=features"
    right, other = pairs.probabilities(
        [(page, page.replace("eng", "fra")), (page, page.replace("eng", "fra").replace("18", "19"))]
    )
    assert right > 0.9 > other


def test_batching_does_not_change_a_result(languages, pairs):
    urls = list(PLAIN)
    alone = [Url2Lang(MODELS / "url2lang").probabilities([url])[0] for url in urls[:3]]
    np.testing.assert_allclose(languages.probabilities(urls)[:3], alone, atol=1e-4)
    asked = [(urls[0], url) for url in urls]
    alone = [ParallelUrls(MODELS / "parallel").probabilities([each])[0] for each in asked[:3]]
    np.testing.assert_allclose(pairs.probabilities(asked)[:3], alone, atol=1e-4)


def test_the_shipped_models_are_small_and_say_what_they_reach():
    for task in ("url2lang", "parallel"):
        config = json.loads((MODELS / task / "config.json").read_text())
        assert config["figures"]["agreement_int8"] >= 0.97
        assert config["figures"]["agreement_fp32"] >= 0.99
        assert "## Figures" in (MODELS / task / "README.md").read_text()
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) < 40_000_000
