"""The site detector on made sites: each kind of yes, of no, and of not knowing."""

import pytest

from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.discovery.site_detector import SiteDetector
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.sitemap import read_sitemap
from bilingual_crawler.languages import LanguagePair, parse_parallel
from tests.support.recordings import SITE, page, to

PAIR = LanguagePair.parse("spa-eus")
ARTICLES = range(1, 7)
SWITCH_TO = {
    "eu": '<a href="{}">Euskara</a> ',
    "es": '<a href="{}">Castellano</a> ',
}


def menu(language, base):
    """Links to the articles of a version."""
    return to(*(f"{base}/{number}" for number in ARTICLES))


def version(language, base, switch=""):
    """A home page and its articles, each with the same switch."""
    pages = {f"{base}/": page(language, 100, switch + menu(language, base))}
    for number in ARTICLES:
        pages[f"{base}/{number}"] = page(language, number, switch + menu(language, base))
    return pages


def bilingual():
    spanish = version("es", "", SWITCH_TO["eu"].format("/eu/"))
    return spanish | version("eu", "/eu", SWITCH_TO["es"].format("/"))


def ask(pages, start="/", pair=PAIR, failures=None, **options):
    """Let the detector judge a site of `pages`; what it asked for comes with the verdict."""
    detector = SiteDetector(SITE + start, pair, LinkPredictor.load(), **options)
    asked = []
    while wanted := detector.wanted():
        url = wanted[0]
        path = url.removeprefix(SITE)
        asked.append(path)
        if path in (failures or {}):
            detector.missed(url, failures[path])
        elif path not in pages:
            detector.missed(url, "http_404")
        elif detector.is_sitemap(url):
            detector.take_sitemap(url, read_sitemap(pages[path], url))
        else:
            detector.take(document_at(url, pages[path]))
    return detector.verdict, asked


def document_at(url, body):
    found, content = (body[0], body[1]) if isinstance(body, tuple) else (url, body)
    document = build_document(found, content, content_type="text/html")
    document.requested_url = url
    return document


def words(verdict):
    return {finding.word for finding in verdict.findings}


@pytest.fixture(scope="module")
def yes():
    return ask(bilingual())


def test_a_switch_to_a_whole_version_makes_a_site_bilingual_in_two_downloads(yes):
    verdict, asked = yes
    assert verdict.answer == "yes"
    assert asked == ["/", "/eu/"]
    assert verdict.downloads == 2
    assert verdict.likelihood > 0.9


def test_a_verdict_has_an_entry_page_a_language_and_shares_of_the_text(yes):
    verdict, _ = yes
    assert dict(verdict.entries) == {"spa": f"{SITE}/", "eus": f"{SITE}/eu/"}
    shares = dict(verdict.languages)
    assert shares["spa"] == pytest.approx(1 - shares["eus"])


def test_a_verdict_gives_its_reasons_in_sentences(yes):
    verdict, _ = yes
    assert {"link", "languages"} <= words(verdict)
    assert all(finding.detail.endswith(".") for finding in verdict.findings)
    assert verdict.to_dict()["bilingual"] == "yes"


def test_nothing_is_wanted_after_the_verdict_and_nothing_changes_it(yes):
    detector = SiteDetector(SITE, PAIR, LinkPredictor.load(), budget=1)
    detector.take(document_at(f"{SITE}/", bilingual()["/"]))
    verdict = detector.verdict
    detector.missed(f"{SITE}/x", "http_404")
    assert detector.wanted() == []
    assert detector.verdict is verdict


def test_declared_versions_are_followed_without_any_link():
    head = f'<link rel="alternate" hreflang="eu" href="{SITE}/e/">'
    pages = version("es", "") | version("eu", "/e")
    pages["/"] = page("es", 100, menu("es", ""), head)
    verdict, asked = ask(pages)
    assert verdict.answer == "yes"
    assert asked[:2] == ["/", "/e/"]
    assert "alternates" in words(verdict)


def test_who_begins_deep_in_a_site_looks_at_the_home_page_too():
    pages = bilingual() | {"/3": page("es", 3, to("/1", "/2"))}
    verdict, asked = ask(pages, start="/3")
    assert verdict.answer == "yes"
    assert asked[:3] == ["/3", "/", "/eu/"]


def test_a_sitemap_is_asked_last_and_its_claims_are_followed():
    sitemap = (
        '<urlset xmlns:xhtml="x"><url><loc>/1</loc>'
        '<xhtml:link rel="alternate" hreflang="eu" href="/e/1"/></url></urlset>'
    )
    pages = version("es", "") | version("eu", "/e") | {"/sitemap.xml": sitemap.encode()}
    verdict, asked = ask(pages)
    assert verdict.answer == "yes"
    assert asked[:3] == ["/", "/sitemap.xml", "/e/1"]
    assert "sitemap" in words(verdict)


def test_a_home_page_in_a_third_language_leads_to_both():
    english = b"<p>" + b"Please choose the language in which you want to read the news. " * 4
    switches = SWITCH_TO["es"].format("/es/") + SWITCH_TO["eu"].format("/eu/")
    pages = version("es", "/es") | version("eu", "/eu") | {"/": switches.encode() + english}
    verdict, asked = ask(pages)
    assert verdict.answer == "yes"
    assert sorted(asked) == ["/", "/es/", "/eu/"]


def test_a_small_site_of_two_pages_is_bilingual():
    pages = {
        "/": page("es", 1, SWITCH_TO["eu"].format("/eu/")),
        "/eu/": page("eu", 1, SWITCH_TO["es"].format("/")),
    }
    assert ask(pages)[0].answer == "yes"


def test_a_site_without_a_promising_link_is_not_bilingual():
    verdict, asked = ask(version("es", ""))
    assert verdict.answer == "no"
    assert asked == ["/", "/sitemap.xml"]
    assert words(verdict) == {"no_link"}
    assert verdict.likelihood < 0.5


def test_a_site_is_not_asked_for_a_language_that_its_switches_do_not_name():
    verdict, asked = ask(bilingual(), pair=LanguagePair.parse("spa-fin"))
    assert verdict.answer == "no"
    assert "/eu/" not in asked


def test_a_language_that_is_only_in_the_menu_does_not_count():
    basque_menu = "<nav>Hasiera Albisteak Harremanetarako Bilatu</nav>"
    switch = SWITCH_TO["eu"].format("/eu/")
    pages = version("es", "", switch) | version("es", "/eu", basque_menu)
    verdict, _ = ask(pages)
    assert verdict.answer == "no"
    assert "menu" in words(verdict)


def test_a_switch_that_leads_back_to_the_same_page_is_only_a_menu():
    pages = version("es", "", SWITCH_TO["eu"].format("/eu/"))
    pages["/eu/"] = (f"{SITE}/", pages["/"])  # a redirect
    verdict, _ = ask(pages)
    assert verdict.answer == "no"
    assert "menu" in words(verdict)


def test_one_landing_page_in_the_second_language_does_not_count():
    switch = SWITCH_TO["eu"].format("/eu.html")
    pages = version("es", "", switch) | {"/eu.html": page("eu", 1, to("/", "/1", "/2", "/3"))}
    verdict, _ = ask(pages)
    assert verdict.answer == "no"
    assert "landing" in words(verdict)


def test_a_landing_page_whose_further_links_lead_to_the_first_language_does_not_count():
    switch = SWITCH_TO["eu"].format("/eu.html")
    pages = version("es", "", switch) | {f"/n{n}": page("es", 50 + n) for n in range(3)}
    pages["/eu.html"] = page("eu", 1, to("/", "/n0", "/n1", "/n2"))
    verdict, asked = ask(pages)
    assert verdict.answer == "no"
    assert "landing" in words(verdict)
    assert "/n0" in asked


def test_a_version_without_languages_in_its_urls_is_believed_after_one_more_page():
    switch = SWITCH_TO["eu"].format("/azala")
    basque = {f"/{word}": page("eu", 60 + n) for n, word in enumerate(("bat", "bi", "hiru"))}
    pages = version("es", "", switch) | basque | {"/azala": page("eu", 1, to("/", *basque))}
    verdict, asked = ask(pages)
    assert verdict.answer == "yes"
    assert sorted(asked) == ["/", "/1", "/azala", "/bat"]


def test_machine_output_does_not_count():
    switch = SWITCH_TO["eu"].format("/eu/")
    mark = '<meta name="x-translated-by" content="a machine">'
    pages = version("es", "", switch) | version("eu", "/eu")
    for path in [path for path in pages if path.startswith("/eu")]:
        pages[path] = pages[path].replace(b"</head>", mark.encode() + b"</head>")
    verdict, _ = ask(pages)
    assert verdict.answer == "no"
    assert "machine" in words(verdict)


def test_a_link_to_a_translating_service_does_not_count_and_is_not_fetched():
    proxy = "https://translate.google.com/translate?tl=eu&u=https://www.example.org/"
    verdict, asked = ask(version("es", "", f'<a href="{proxy}">Euskara</a> '))
    assert verdict.answer == "no"
    assert "machine" in words(verdict)
    assert not any("google" in url for url in asked)


def test_a_service_that_may_have_translated_a_version_leaves_it_open():
    script = b'<script src="https://cdn.weglot.com/weglot.min.js"></script></head>'
    pages = {path: body.replace(b"</head>", script) for path, body in bilingual().items()}
    verdict, _ = ask(pages)
    assert verdict.answer == "unsure"
    assert "machine" in words(verdict)


def test_a_version_on_another_site_does_not_count_and_is_not_fetched():
    switch = '<a href="https://www.example.eus/">Euskara</a> '
    verdict, asked = ask(version("es", "", switch))
    assert verdict.answer == "no"
    assert "other_site" in words(verdict)
    assert not any("eus" in url for url in asked)


def test_a_declared_version_on_another_site_does_not_count():
    head = '<link rel="alternate" hreflang="eu" href="https://www.example.eus/">'
    verdict, _ = ask({"/": page("es", 1, menu("es", ""), head)})
    assert verdict.answer == "no"
    assert "other_site" in words(verdict)


def test_a_switch_that_redirects_to_another_site_does_not_count():
    pages = version("es", "", SWITCH_TO["eu"].format("/eu/"))
    pages["/eu/"] = ("https://www.example.eus/", page("eu", 1))
    verdict, _ = ask(pages)
    assert verdict.answer == "no"
    assert "other_site" in words(verdict)


def test_a_dead_switch_does_not_count():
    verdict, _ = ask(version("es", "", SWITCH_TO["eu"].format("/eu/")))
    assert verdict.answer == "no"
    assert "dead_link" in words(verdict)


def test_a_switch_that_cannot_be_read_now_leaves_it_open():
    verdict, _ = ask(bilingual(), failures={"/eu/": "http_503"})
    assert verdict.answer == "unsure"
    assert "refused" in words(verdict)


def test_a_site_that_cannot_be_reached_leaves_it_open():
    verdict, asked = ask({}, start="/deep", failures={"/deep": "timeout", "/": "timeout"})
    assert verdict.answer == "unsure"
    assert words(verdict) == {"unreachable"}
    assert asked[:2] == ["/deep", "/"]


def test_a_site_without_text_leaves_it_open():
    verdict, _ = ask({"/": b"<p>Kaixo"})
    assert verdict.answer == "unsure"
    assert words(verdict) == {"empty"}


def test_a_spent_budget_with_links_left_leaves_it_open():
    verdict, asked = ask(bilingual(), budget=1)
    assert verdict.answer == "unsure"
    assert asked == ["/"]
    assert words(verdict) == {"budget"}


def test_two_languages_that_nothing_ties_together_leave_it_open():
    pages = version("es", "") | {"/blog": page("eu", 9, to("/b1", "/b2", "/b3", "/b4", "/b5"))}
    pages |= {f"/b{n}": page("eu", 10 + n) for n in range(1, 6)}
    verdict, _ = ask(pages, start="/blog")
    assert verdict.answer == "unsure"
    assert "no_tie" in words(verdict)


def test_links_below_the_likelihood_are_not_followed():
    verdict, asked = ask(bilingual(), likelihood=1.0, sitemaps=False)
    assert verdict.answer == "no"
    assert asked == ["/"]


def test_the_site_is_where_the_first_address_leads():
    pages = bilingual()
    pages["/start"] = ("https://www.example.com/", pages["/"])
    detector = SiteDetector(f"{SITE}/start", PAIR, LinkPredictor.load())
    detector.take(document_at(f"{SITE}/start", pages["/start"]))
    assert detector.wanted()[0] == "https://www.example.com/eu/"


def test_a_page_in_both_languages_side_by_side_makes_a_site_bilingual():
    texts = [
        page(code, number).split(b"<body>")[1].split(b"</body>")[0]
        for number in (1, 2)
        for code in ("es", "eu")
    ]
    verdict, asked = ask({"/": b"<html><body>" + b"".join(texts) + b"</body></html>"})
    assert verdict.answer == "yes"
    assert "mixed" in words(verdict)
    assert asked == ["/"]


@pytest.mark.parametrize("langs", ["spa-eus-eng", "eng-spa-fra-eus", "eng-*", "all"])
def test_of_more_languages_any_two_make_a_site_worth_a_crawl(langs, yes):
    verdict, asked = ask(bilingual(), pair=parse_parallel(langs))
    assert (verdict.answer, asked) == (yes[0].answer, yes[1])
    assert dict(verdict.entries) == {"spa": f"{SITE}/", "eus": f"{SITE}/eu/"}


def test_a_site_in_one_of_many_languages_is_not_worth_a_crawl():
    verdict, _ = ask(version("es", ""), pair=parse_parallel("spa-eus-eng"))
    assert verdict.answer == "no"
    assert "likely to lead to English or Basque" in str(verdict.findings)
    verdict, _ = ask(version("es", ""), pair=parse_parallel("all"))
    assert "likely to lead to another wanted language" in str(verdict.findings)
