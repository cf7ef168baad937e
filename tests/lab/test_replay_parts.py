"""The arithmetic of a replay, the gold pairs, the graph of a site, and the oracle."""

import random

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.scope import Scope
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.document_pairs import Judge
from bilingual_crawler.lab.replay import curve, gold
from bilingual_crawler.lab.replay.graph import SiteGraph, draw_graph, oracle_order
from bilingual_crawler.lab.replay.measure import Measured
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.report import aggregate, plot_curves
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import LanguagePair, parse_parallel
from tests.support.recordings import (
    ARTICLES,
    SITE,
    exchange,
    opaque_site,
    page,
    redirect,
    slug,
    to,
    write_warc,
)

PAIR = LanguagePair.parse("spa-eus")
PAIRS = [("a", "A"), ("b", "B")]


def test_a_pair_counts_when_both_pages_are_there():
    assert curve.yield_curve(["a", "x", "A", "B", "b"], PAIRS) == [0, 0, 1, 1, 2]


def test_a_page_that_is_fetched_twice_is_a_download_but_no_new_pair():
    assert curve.yield_curve(["a", "A", "A"], PAIRS) == [0, 1, 1]


def test_versions_count_beyond_the_first_of_each_page():
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("x", "y")]
    found, total = curve.version_curve(["a", "x", "c", "c", "b", "z", "y"], pairs)
    assert (found, total) == ([0, 0, 1, 1, 2, 2, 3], 3)


def test_of_two_languages_versions_are_pairs():
    order = ["a", "x", "A", "B", "b"]
    assert curve.version_curve(order, PAIRS) == (curve.yield_curve(order, PAIRS), len(PAIRS))


def test_the_area_is_the_mean_share_over_all_reachable_pages():
    # shares after downloads 1 to 5: 0, 0, 1/2, 1/2, 1
    assert curve.area([0, 0, 1, 1, 2], pairs=2, pages=5) == pytest.approx(2 / 5)


def test_a_crawl_that_ends_early_keeps_its_last_value():
    # 0, 1/2, then 1/2 three times more
    assert curve.area([0, 1], pairs=2, pages=5) == pytest.approx(2 / 5)


def test_downloads_beyond_the_reachable_pages_do_not_count():
    assert curve.area([0, 1, 2, 2, 2, 2], pairs=2, pages=2) == pytest.approx(1 / 4)


def test_a_crawl_without_downloads_has_no_area():
    assert curve.area([], pairs=2, pages=5) == 0
    assert curve.downloads_to([], 2, 0.5) is None


def test_downloads_to_a_share_of_the_pairs():
    values = [0, 1, 1, 2, 3, 3, 4]
    assert [curve.downloads_to(values, 4, share) for share in (0.5, 0.75, 0.8, 1)] == [4, 5, 7, 7]
    assert curve.downloads_to(values, 5, 0.95) is None


def test_a_whole_number_of_pairs_is_not_lost_to_rounding():
    assert curve.downloads_to(list(range(1, 101)), 100, 0.55) == 55
    assert curve.downloads_to(list(range(1, 21)), 20, 0.95) == 19


def test_the_gain_is_the_way_from_breadth_first_to_the_oracle():
    assert curve.gain(0.6, 0.4, 0.8) == pytest.approx(0.5)
    assert curve.gain(0.3, 0.4, 0.8) == pytest.approx(-0.25)
    assert curve.gain(0.4, 0.4, 0.4) is None


def test_deciles_are_read_at_each_tenth_of_the_pages():
    assert curve.deciles(list(range(1, 21)), 20) == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert curve.deciles([0, 1, 1, 2, 3], 5) == [0, 0, 1, 1, 1, 1, 2, 2, 3, 3]
    assert curve.deciles([1, 2], 4) == [1, 1, 2, 2, 2, 2, 2, 2, 2, 2]


def test_found_pairs_are_judged_only_where_the_list_knows_a_page():
    found = {("A", "a"), ("B", "x"), ("y", "z")}
    figures = Judge({("A", "a"), ("B", "b")}).figures(found)
    assert (figures.correct, figures.wrong, figures.found) == (1, 1, 3)


def measured(site, curves, *, pages, pairs, gains):
    scorers = {
        name: {
            "deciles": curve.deciles(values, pages),
            "download_deciles": curve.deciles(values, len(values)),
            "pairs_fetched": curve.value_at(values, pages),
            "auc": curve.area(values, pairs, pages),
            "gain": gains[name],
        }
        for name, values in curves.items()
    }
    return Measured(
        site=site, langs="eus-spa", seeds=(SITE,), strip=False, pages=pages, pairs=pairs,
        listed=pairs, scorers=scorers, curves=curves, orders={},
    )  # fmt: skip


def test_sites_are_put_together_by_deciles_and_mean_gain():
    small = measured("small", {"s": [1, 1, 2]}, pages=3, pairs=2, gains={"s": 0.5})
    large = measured("large", {"s": [0] * 5 + [4] * 5}, pages=10, pairs=4, gains={"s": 0.25})
    none = measured("none", {"s": [1]}, pages=1, pairs=1, gains={"s": None})
    together = aggregate([small, large, none])["scorers"]["s"]
    assert together["deciles"] == [2, 2, 2, 2, 2, 6, 7, 7, 7, 7]
    assert len(together["download_deciles"]) == 10
    assert together["download_deciles"][-1] == together["deciles"][-1]
    assert (together["gain"], together["least_gain"]) == (0.375, 0.25)


def test_the_curves_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    curves = {"oracle": [1, 2], "breadth_first": [0, 0, 1, 2], "nothing": []}
    gains = dict.fromkeys(curves, 0.5)
    results = [measured(name, curves, pages=4, pairs=2, gains=gains) for name in "abcde"]
    path = tmp_path / "curves.png"
    plot_curves(results, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        plot_curves(results, tmp_path / "nowhere" / "curves.png")


LIST = f"""\
{SITE}/es/a\t{SITE}/eu/a\tes\teu
{SITE}/eu/b\t{SITE}/es/b\teus\tSpanish
{SITE}/en/a\t{SITE}/es/a\teng\tspa
{SITE}/x\t{SITE}/y
no line of a list
{SITE}/es/a\t{SITE}/eu/a\tspa\teus
"""


def test_a_gold_list_has_two_or_four_columns(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text(LIST)
    lines = gold.read_gold(path)
    assert gold.of_languages(lines, PAIR) == [
        (f"{SITE}/es/a", f"{SITE}/eu/a"),
        (f"{SITE}/eu/b", f"{SITE}/es/b"),
        (f"{SITE}/x", f"{SITE}/y"),
    ]
    assert gold.largest_pairs(lines) == ["eus-spa", "eng-spa"]
    assert len(gold.of_languages(lines, parse_parallel("spa-eus-eng"))) == 4
    assert len(gold.of_languages(lines, parse_parallel("eng-*"))) == 4


@pytest.mark.parametrize("content", [b"", b"a\tb\n", b"\x1f\x8b broken"])
def test_a_list_without_pairs_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "gold.tsv"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"gold\.tsv"):
        gold.read_gold(path)


def site_of(tmp_path, exchanges, *, strip=False):
    recording = Recording(write_warc(tmp_path / "site.warc.gz", exchanges))
    return RecordedSite(recording, PAIR.codes, strip=strip)


def test_the_claims_of_a_site_are_gold_where_they_are_mutual_and_true(tmp_path):
    def claims(path):
        return f'<link rel="alternate" hreflang="eu" href="{path}">'

    def back(path):
        return f'<link rel="alternate" hreflang="es" href="{path}">'

    site = site_of(
        tmp_path,
        [
            exchange(f"{SITE}/1", page("es", 1, head=claims("/old"))),
            exchange(f"{SITE}/2", page("eu", 1, head=back("/1"))),
            redirect(f"{SITE}/old", "/2"),
            exchange(f"{SITE}/3", page("es", 3, head=claims("/4"))),
            exchange(f"{SITE}/4", page("eu", 3)),
            exchange(f"{SITE}/5", page("es", 5, head=claims("/6"))),
            exchange(f"{SITE}/6", page("es", 6, head=back("/5"))),
        ],
    )
    assert gold.claimed_pairs(site, PAIR) == [(f"{SITE}/1", f"{SITE}/2")]


def graph_of(site, **settings):
    scope = Scope((f"{SITE}/",), Sites(), depth_limit=20)
    graph = draw_graph(site, [f"{SITE}/"], scope, Config(**settings), PAIR)
    return {page.removeprefix(SITE): targets for page, targets in graph.links.items()}


def test_pages_are_reached_by_links_redirects_and_claims(tmp_path):
    graph = graph_of(site_of(tmp_path, opaque_site()))
    assert {slug("es", n) for n in range(ARTICLES)} < graph.keys()
    assert {slug("eu", n) for n in range(ARTICLES)} < graph.keys()
    assert not graph.keys() & {"/viejo", "/nada", "/escondida"}
    assert f"{SITE}{slug('eu', 2)}" in graph[slug("es", 2)]


def test_stripped_claims_are_no_links(tmp_path):
    graph = graph_of(site_of(tmp_path, opaque_site(), strip=True))
    assert f"{SITE}{slug('eu', 2)}" not in graph[slug("es", 2)]


def test_the_graph_keeps_to_the_rules_of_the_crawl(tmp_path):
    nofollow = '<meta name="robots" content="nofollow">'
    exchanges = [
        exchange(f"{SITE}/", page("es", 1, to("/a", "/b.pdf", "/private/c", "https://x.example/"))),
        exchange(f"{SITE}/a", page("es", 2, to("/d"), nofollow)),
        exchange(f"{SITE}/b.pdf", b"%PDF-"),
        exchange(f"{SITE}/private/c", page("es", 3)),
        exchange("https://x.example/", page("es", 4)),
        exchange(f"{SITE}/d", page("es", 5)),
        exchange(f"{SITE}/robots.txt", b"User-agent: *\nDisallow: /private\n", headers=()),
    ]
    site = site_of(tmp_path, exchanges)
    assert graph_of(site).keys() == {"/", "/a"}
    assert graph_of(site, honour=()).keys() == {"/", "/a", "/d"}


def test_a_page_that_refreshes_leads_to_its_target_alone(tmp_path):
    refresh = '<meta http-equiv="refresh" content="0; url={}">'
    exchanges = [
        exchange(f"{SITE}/", page("es", 1, to("/a", "/b"))),
        exchange(f"{SITE}/a", page("es", 2, to("/not-read"), refresh.format("/c"))),
        exchange(f"{SITE}/b", page("es", 3, to("/d"), refresh.format("https://gone.example/"))),
        *(exchange(f"{SITE}/{name}", page("es", 4)) for name in ("c", "d", "not-read")),
    ]
    graph = graph_of(site_of(tmp_path, exchanges))
    assert graph.keys() == {"/", "/a", "/b", "/c", "/d"}


def oracle(links, pairs):
    return "".join(oracle_order(SiteGraph(("s",), {k: tuple(v) for k, v in links.items()}), pairs))


def test_the_oracle_fetches_pairs_and_nothing_else_where_it_can():
    links = {"s": "xyaAbB", "x": "", "y": "", "a": "", "A": "", "b": "", "B": ""}
    assert oracle(links, PAIRS) == "saAbB"


def test_the_oracle_takes_the_nearest_pair_first_and_the_way_to_the_far_one():
    links = {"s": "xya", "x": "bB", "y": "", "a": "A", "A": "", "b": "", "B": ""}
    assert oracle(links, PAIRS) == "saAxbB"


def test_of_two_ways_the_oracle_takes_the_one_that_opens_more():
    links = {"s": "xy", "x": "aA", "y": "aAbB", "a": "", "A": "", "b": "", "B": ""}
    assert oracle(links, PAIRS)[:2] == "sy"


def test_the_oracle_leaves_alone_what_cannot_be_reached():
    assert oracle({"s": "a", "a": "A", "A": "", "b": "B", "B": ""}, PAIRS) == "saA"


@pytest.mark.parametrize("seed", range(20))
def test_the_oracle_fetches_each_page_once_and_only_what_it_has_seen_a_link_to(seed):
    choose = random.Random(seed)
    names = [f"p{number}" for number in range(60)]
    links = {name: tuple(choose.sample(names, choose.randrange(4))) for name in names}
    graph = SiteGraph(("p0",), links)
    pairs = [(names[2 * n], names[2 * n + 1]) for n in range(15)]
    order = oracle_order(graph, pairs)
    seen = {"p0"}
    for name in order:
        assert name in seen
        seen |= set(links[name])
    assert len(set(order)) == len(order)
    reachable = closure(links)
    wanted = sum(one in reachable and other in reachable for one, other in pairs)
    assert curve.value_at(curve.yield_curve(order, pairs), len(order)) == wanted


def closure(links):
    found, queue = {"p0"}, ["p0"]
    while queue:
        for name in links[queue.pop()]:
            if name not in found:
                found.add(name)
                queue.append(name)
    return found
