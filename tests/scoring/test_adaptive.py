"""What the adaptive scorer learns from a crawl, and how it then chooses."""

import hashlib
import math
import time

import pytest

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.scoring.adaptive import memory, site
from tests.support.adaptive import PAIR, SITE, Crawl, adaptive, fetch, page, pair

pytestmark = pytest.mark.usefixtures("without_rules")


def test_the_counterpart_of_a_fetched_page_is_worth_more_than_a_page_that_opens_a_pair():
    scorer = adaptive()
    scores = fetch(scorer, page("/en/a", "eng", "/fr/a", "/en/b", "/fr/b"))
    assert scores["/fr/a"] > 1.5 * scores["/fr/b"]


def test_a_declared_translation_is_worth_more_than_a_resembling_url():
    scorer = adaptive()
    scores = fetch(scorer, page("/en/a", "eng", "/fr/x", alternates={"fr": "/fr/x"}))
    resembling = fetch(adaptive(), page("/en/a", "eng", "/fr/a"))
    assert scores["/fr/x"] > resembling["/fr/a"]


def test_a_subtree_in_a_third_language_sinks_after_its_first_pages():
    scorer = adaptive()
    before = fetch(scorer, page("/", "eng", "/unten/a", "/up/a", depth=0))
    assert before["/unten/a"] == pytest.approx(before["/up/a"], rel=0.1)
    for name in "bc":
        fetch(scorer, page(f"/unten/{name}", "deu"))
        fetch(scorer, page(f"/up/{name}", "eng", alternates={"fr": f"/haut/{name}"}))
    after = dict(scorer.changes())
    assert after[SITE + "/unten/a"] < 0.5 * after.get(SITE + "/up/a", before["/up/a"])


def test_links_of_a_page_in_a_third_language_stand_behind_those_of_a_wanted_one():
    scorer = adaptive()
    of_english = fetch(scorer, page("/one", "eng", "/x"))
    of_german = fetch(scorer, page("/zwei", "deu", "/y"))
    assert of_german["/y"] < 0.5 * of_english["/x"]


def test_a_url_that_lies_about_its_language_is_found_out():
    scorer = adaptive()
    believed = fetch(scorer, page("/a?lang=FR", "fra", "/b?lang=EN", "/c?lang=EN"))
    for name in "defgh":
        fetch(scorer, page(f"/{name}?lang=EN", "fra"))
    document = page("/a?lang=FR", "fra", "/a?lang=EN")
    scores = fetch(scorer, document)
    assert scores["/a?lang=EN"] < 0.5 * believed["/b?lang=EN"] + 0.1
    _, factors = scorer.explain(document, document.links[0])
    assert any("FR" in factor.why or "language" in factor.why for factor in factors)


def test_a_section_whose_pages_have_no_translation_sinks_and_one_that_yields_rises():
    scorer = adaptive()
    for number in range(6):
        english = page(
            f"/en/guide/{number}", "eng", (f"/fr/guide/{number}", "Français"), "/en/blog/x"
        )
        fetch(scorer, english)
        fetch(
            scorer,
            page(f"/fr/guide/{number}", "fra", (f"/en/guide/{number}", "English")),
            pair(f"/en/guide/{number}", f"/fr/guide/{number}"),
        )
        fetch(scorer, page(f"/en/blog/{number}", "eng"))
    scores = fetch(scorer, page("/en/", "eng", "/en/guide/new", "/en/blog/new"))
    assert scores["/en/guide/new"] > 2 * scores["/en/blog/new"]


def test_a_switch_that_leads_home_says_that_the_page_has_no_translation():
    named, silent = adaptive(), adaptive()
    for scorer in (named, silent):
        fetch(scorer, page("/en/", "eng", ("/fr/", "Français"), depth=0))
        fetch(scorer, page("/fr/", "fra", ("/en/", "English")))
    leads_home = fetch(named, page("/en/tags/web", "eng", ("/fr/", "Français"), "/fr/tags/web"))
    leads_there = fetch(silent, page("/en/tags/web", "eng", ("/fr/tags/web", "Français")))
    assert leads_home["/fr/tags/web"] < 0.5 * leads_there["/fr/tags/web"]


def test_a_slot_without_a_language_name_that_keeps_crossing_becomes_a_switch():
    scorer = adaptive()
    for number in range(4):
        fetch(scorer, page(f"/p/{number}aa", "eng", (f"/q/{number}zz", "Other language")))
        fetch(scorer, page(f"/q/{number}zz", "fra", (f"/p/{number}aa", "Other language")))
    scores = fetch(scorer, page("/p/9xx", "eng", ("/q/77y", "Other language"), ("/q/88y", "More")))
    assert scores["/q/77y"] > 1.5 * scores["/q/88y"]


def test_text_that_other_pages_have_makes_a_section_worth_less():
    scorer = adaptive()
    sentence = "This sentence stands on every page of one of the two sections."
    for number in range(5):
        fetch(scorer, page(f"/en/tags/{number}", "eng", text=[sentence]))
        fetch(scorer, page(f"/en/posts/{number}", "eng", text=[f"{sentence} {number}"]))
    scores = fetch(scorer, page("/en/", "eng", "/en/tags/new", "/en/posts/new"))
    assert scores["/en/posts/new"] > 1.3 * scores["/en/tags/new"]


def hashed_site(articles, unlinked):
    """Slugs that mean nothing and languages that are numbers: no model can know this."""

    def address(number, language):
        slug = hashlib.sha256(str(number).encode()).hexdigest()[:12]
        return f"/d/{slug}?v={language}"

    pages = [page("/", "eng", *(address(number, 1) for number in range(articles)), depth=0)]
    for number in range(articles):
        english, french = address(number, 1), address(number, 2)
        there, back = [(french, "Français")], [(english, "English")]
        if number in unlinked:
            there, back = [], []
        pages.append(page(english, "eng", *there, text=[f"English text of number {number}"]))
        pages.append(page(french, "fra", *back, text=[f"Texte français numéro {number}"]))
    return {each.url: each for each in pages}, address


def test_a_url_scheme_that_no_model_knows_is_learned_and_counterparts_are_probed():
    pages, address = hashed_site(40, unlinked := {18, 19})
    crawl = Crawl(pages, adaptive())
    order = crawl.run("/")
    (only,) = crawl.scorer._sites.values()
    predicted = [each.url for each in only.transforms[0, 1].predict(SITE + "/d/never-seen?v=1")]
    assert predicted == [SITE + "/d/never-seen?v=2"]
    for number in range(40):
        if number not in unlinked:
            both = sorted(order.index(address(number, language)) for language in (1, 2))
            assert both[1] - both[0] <= 2


def test_a_confirmed_pattern_is_probed_where_no_link_was_seen():
    scorer = adaptive()
    for number in range(6):
        fetch(scorer, page(f"/d/{number}f?v=1", "eng"))
        fetch(
            scorer, page(f"/d/{number}f?v=2", "fra"), pair(f"/d/{number}f?v=1", f"/d/{number}f?v=2")
        )
    scorer.proposals()
    fetch(scorer, page("/d/99e?v=1", "eng"))
    (proposal,) = scorer.proposals()
    assert proposal.url == SITE + "/d/99e?v=2"
    assert "pairs of this site" in proposal.why
    assert proposal.score > 0.3


def test_probes_that_fail_put_an_end_to_probing():
    scorer = adaptive()
    for number in range(6):
        fetch(scorer, page(f"/d/{number}f?v=1", "eng"))
        fetch(
            scorer, page(f"/d/{number}f?v=2", "fra"), pair(f"/d/{number}f?v=1", f"/d/{number}f?v=2")
        )
    scorer.proposals()
    tried = 0
    for number in range(100, 200):
        fetch(scorer, page(f"/d/{number}e?v=1", "eng"))
        for proposal in scorer.proposals():
            tried += 1
            scorer.failed(proposal.url, "http_404")
    assert 0 < tried <= site.FREE_PROBES + site.PROBES_PER_HIT


def bilingual_site(sections):
    """English and French pages with switches in `guide`, English ones alone in `blog`."""
    pages = {}
    listing = []
    for number in range(sections):
        listing += [f"/en/blog/{number}", f"/en/guide/{number}"]
        pages[f"/en/guide/{number}"] = page(
            f"/en/guide/{number}",
            "eng",
            (f"/fr/aide/{number}b", "Français"),
            text=[f"English guide number {number}"],
        )
        pages[f"/fr/aide/{number}b"] = page(
            f"/fr/aide/{number}b",
            "fra",
            (f"/en/guide/{number}", "English"),
            text=[f"Aide en français {number}"],
        )
        pages[f"/en/blog/{number}"] = page(
            f"/en/blog/{number}", "eng", text=[f"English blog number {number}"]
        )
    pages["/"] = page("/", "eng", *listing, depth=0)
    return {SITE + path: each for path, each in pages.items()}


def test_a_crawl_finds_the_translated_part_of_a_site_first():
    order = Crawl(bilingual_site(30), adaptive()).run("/")
    last_guide = max(at for at, path in enumerate(order) if "blog" not in path)
    wasted = sum("blog" in path for path in order[:last_guide])
    assert len(order) == 91
    assert wasted <= 5


def test_a_crawl_is_the_same_every_time():
    pages = bilingual_site(12)
    assert Crawl(pages, adaptive()).run("/") == Crawl(pages, adaptive()).run("/")


def test_what_was_learned_survives_a_restart():
    crawl = Crawl(bilingual_site(20), adaptive())
    crawl.run("/", most=25)
    again = adaptive()
    again.restore(crawl.scorer.state())
    document = page("/en/late", "eng", "/en/guide/new", "/en/blog/new", "/fr/aide/5b", "/x")
    assert again.score(document, document.links) == crawl.scorer.score(document, document.links)
    assert again.state() == crawl.scorer.state()


@pytest.mark.parametrize("state", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x92\x01\x91\x80"])
def test_a_state_that_is_none_is_refused(state):
    with pytest.raises(ValueError, match=r"."):
        adaptive().restore(state)


def test_the_factors_of_an_explanation_multiply_to_the_score():
    crawl = Crawl(bilingual_site(10), adaptive())
    crawl.run("/", most=12)
    document = page(
        "/en/guide/77", "eng", ("/fr/aide/77b", "Français"), "/en/guide/88", "/en/blog/9", "/de/x"
    )
    scores = fetch(crawl.scorer, document)
    for link in document.links:
        score, factors = crawl.scorer.explain(document, link)
        assert math.isclose(score, math.prod(each.value for each in factors))
        assert math.isclose(score, scores[link.url.removeprefix(SITE)])
        assert all(each.why and each.name for each in factors)


def test_a_page_that_redirects_hands_its_ties_on():
    scorer = adaptive()
    fetch(scorer, page("/en/a", "eng", ("/fr/ancien", "Français")))
    landed = page("/fr/nouveau", "fra")
    landed.requested_url = SITE + "/fr/ancien"
    fetch(scorer, landed)
    (only,) = scorer._sites.values()
    here, there = only.memory.get(SITE + "/en/a"), only.memory.get(SITE + "/fr/nouveau")
    assert here in there.ties


def test_a_lowered_score_is_told_as_a_change():
    scorer = adaptive()
    first = fetch(scorer, page("/", "eng", "/en/blog/x", depth=0))
    scorer.changes()
    for number in range(5):
        fetch(scorer, page(f"/en/blog/{number}", "eng", "/en/blog/x"))
    changes = [priority for url, priority in scorer.changes() if url == SITE + "/en/blog/x"]
    assert changes
    assert changes[-1] < first["/en/blog/x"]


def test_tables_have_a_largest_size(monkeypatch):
    monkeypatch.setattr(memory, "MOST_URLS", 50)
    monkeypatch.setattr(memory, "MOST_GROUPS", 20)
    monkeypatch.setattr(site, "MOST_TEXTS", 30)
    scorer = adaptive()
    for number in range(200):
        links = [f"/dir{number}/sub{each}/page-{each}" for each in range(10)]
        fetch(
            scorer, page(f"/en/{number}", "eng", *links, text=[f"A text of number {number} here"])
        )
    (only,) = scorer._sites.values()
    assert len(only.memory.urls) == 50
    assert len(only.memory._groups) <= 220  # one for each language class above the limit
    assert len(only.texts) == 30
    assert len(only.memory.dirty) <= 50


HOSTILE = [
    "",
    "http://",
    "http://[",
    "https://[::1",
    "https://site.example/%zz/%ff%fe",
    "https://site.example/" + "a/" * 900,
    "https://site.example/?" + "a=en&" * 400,
    "https://site.example/\ud800",
    "javascript:alert(1)",
    "https://site.example:99999999/en/",
    "https://xn--/fr/",
    "https://site.example/en_en-en/fr?lang=\x00",
]


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_addresses_are_scored_like_any_other(url):
    scorer = adaptive()
    link = Link(url, "Français \ud800", "x", "", "fr", "\udfff", "https://[")
    document = Document(url, language="eng", links=[link, link], requested_url="http://[")
    scorer.arrived(document)
    (one, other) = scorer.score(document, document.links)
    assert one == other >= 0
    scorer.failed(url, "http_500")
    scorer.proposals()
    scorer.changes()
    again = adaptive()
    again.restore(scorer.state())


def test_a_site_that_yields_too_little_is_ended_and_told_once():
    scorer = adaptive(site_yield=0.05, site_yield_pages=5)
    first = fetch(scorer, page("/", "eng", "/en/late", depth=0))
    for number in range(30):
        fetch(scorer, page(f"/en/{number}", "eng"))
    assert scorer.exhausted() == ["site.example"]
    assert scorer.exhausted() == []
    document = page("/en/x", "eng", "/en/late")
    score, factors = scorer.explain(document, document.links[0])
    assert score < 1e-3 * first["/en/late"]
    assert factors[-1].name == "site ended"
    assert math.isclose(score, math.prod(each.value for each in factors))


def test_no_site_is_ended_unless_that_is_asked_for():
    scorer = adaptive()
    for number in range(300):
        fetch(scorer, page(f"/en/{number}", "eng"))
    assert scorer.exhausted() == []


def test_a_page_with_forty_links_costs_little():
    scorer = adaptive()
    started = time.process_time()
    for number in range(100):
        links = [f"/en/s{number % 7}/p{number * 20 + each}-page" for each in range(40)]
        fetch(scorer, page(f"/en/{number}", "eng", *links))
        scorer.changes()
    assert (time.process_time() - started) / 100 < 0.03


def test_a_page_that_says_its_language_is_elsewhere_has_no_translation():
    scorer = adaptive()
    copy = page("/fr/doc", "eng", ("/doc", "English"), ("/de/doc", "Deutsch"))
    fetch(scorer, copy)
    honest = adaptive()
    scores = fetch(honest, page("/fr/doc", "fra", ("/doc", "English")))
    again = fetch(scorer, page("/x", "eng", "/doc"))
    assert again["/doc"] < 0.5 * scores["/doc"]


class Told:
    """Answers of the URL models as a test wants them; what was asked is written down."""

    def __init__(self, french, translations=None):
        self.french = french
        self.translations = translations or {}
        self.asked = []

    def language(self, urls, code):
        self.asked += [(code, url) for url in urls]
        shares = [self.french.get(url.removeprefix(SITE), 0.05) for url in urls]
        return shares if code == "fra" else [0.95 - share for share in shares]

    def languages(self, urls, codes):
        return [self.language(urls, code) for code in codes]

    def translation(self, source, urls):
        self.asked += [(source, url) for url in urls]
        return [self.translations.get(url.removeprefix(SITE), 0.01) for url in urls]


def with_models(*answers):
    scorer = adaptive()
    scorer._hunches._models = told = Told(*answers)
    return scorer, told


def test_a_translated_slug_that_the_model_knows_is_taken_for_the_counterpart():
    links = ["/a-propos", "/boutique", "/about/team"]
    french = {"/a-propos": 0.9, "/boutique": 0.9}
    scorer, _ = with_models(french, {"/a-propos": 0.8, "/boutique": 0.1})
    document = page("/about", "eng", *links)
    scores = fetch(scorer, document)
    assert scores["/a-propos"] > 1.2 * scores["/boutique"]
    _, factors = scorer.explain(document, document.links[0])
    assert any("parallel-URL model" in factor.why for factor in factors)


def test_a_likely_translation_on_another_site_changes_nothing_on_this_one():
    other = "https://autre.example/a-propos"
    scorer, _ = with_models({other: 0.9}, {other: 0.9})
    about = Document(SITE + "/about", language="eng")
    scorer.arrived(about)
    scores = scorer.score(about, [Link(other), Link(SITE + "/boutique")])
    scorer.arrived(Document(other, language="fra"))
    assert min(scores) > 0
    assert dict(scorer.changes()).keys() <= {SITE + "/boutique"}


def test_a_url_that_the_model_takes_for_a_third_language_stands_behind():
    scorer, _ = with_models({})
    scorer._hunches._models.language = lambda urls, _code: [
        0.02 if "unten" in url else 0.5 for url in urls
    ]
    scores = fetch(scorer, page("/", "eng", "/unten/a", "/up/a"))
    assert scores["/up/a"] > 1.05 * scores["/unten/a"]


def test_a_model_that_is_wrong_on_a_site_is_believed_less_and_less():
    wrong = {f"/{number}": 0.95 for number in range(40)}
    scorer, _ = with_models(wrong)
    fetch(scorer, page("/", "eng", *wrong))
    (only,) = scorer._sites.values()
    before = only.guesses[0] / only.guesses[1]
    for number in range(20):
        fetch(scorer, page(f"/{number}", "eng"))
    assert only.guesses[0] / only.guesses[1] < 0.5 * before


def test_the_models_are_asked_once_a_url_and_not_where_the_answer_is_known():
    scorer, told = with_models({"/nouveau": 0.9}, {"/nouveau": 0.1})
    plain = page("/start", "eng", "/nouveau", "/fr/start", "/de/x", ("/ailleurs", "Français"))
    for document in (plain, page("/other", "eng", "/nouveau")):
        fetch(scorer, document)
    asked = {url.removeprefix(SITE) for code, url in told.asked if code in PAIR.codes}
    assert asked == {"/nouveau"}
    assert len(told.asked) == len(set(told.asked))


def test_two_pages_that_pairing_leaves_alone_make_their_section_worth_less():
    quiet, loud = adaptive(), adaptive()
    for scorer in (quiet, loud):
        for number in range(8):
            english, french = f"/en/guide/{number}", f"/fr/guide/{number}"
            fetch(scorer, page(english, "eng"))
            fetch(scorer, page(french, "fra"), pair(english, french))
        for number in range(4):
            english, french = f"/en/api/{number}", f"/fr/api/{number}"
            fetch(scorer, page(english, "eng"))
            fetch(scorer, page(french, "fra"), *[pair(english, french)] * (scorer is loud))
    links = ["/en/api/new", "/fr/api/new"]
    silent, told = (fetch(each, page("/en/x", "eng", *links)) for each in (quiet, loud))
    assert silent["/en/api/new"] < 0.7 * told["/en/api/new"]
