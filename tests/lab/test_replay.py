"""`scrapy replay` on a small recorded site, with the real engine."""

import json
import sys

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.batch import replay_all
from bilingual_crawler.lab.replay.measure import Job, Measured
from tests.support.recordings import (
    ARTICLES,
    NOTICES,
    SITE,
    exchange,
    opaque_gold,
    opaque_site,
    page,
    slug,
    to,
    write_warc,
)
from tests.support.typed_commands import status_of

pytestmark = pytest.mark.crawl

PAGES = 1 + NOTICES + 1 + 2 * ARTICLES
HOME, LIST = f"{SITE}/", f"{SITE}/zerrenda"
NOTICE = [f"{SITE}/aviso/{number}" for number in range(NOTICES)]
SPANISH = [SITE + slug("es", number) for number in range(ARTICLES)]
BASQUE = [SITE + slug("eu", number) for number in range(ARTICLES)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    write_warc(folder / "opaque.warc.gz", opaque_site())
    (folder / "opaque.gold.tsv").write_text(opaque_gold())
    return folder


@pytest.fixture(scope="module")
def replays(folder):
    """One batch of replays for most of the tests, for the processes take their time to start."""
    usual = {"warc": folder / "opaque.warc.gz", "gold": folder / "opaque.gold.tsv"}
    both = ("breadth_first", "rules")
    jobs = {
        "plain": Job(**usual, scorers=both),
        "again": Job(**usual, scorers=both),
        "stripped": Job(**usual, scorers=both, strip=True),
        "budget": Job(**usual, scorers=both[:1], budget=4),
        "claims": Job(warc=usual["warc"], gold=None, langs="spa-eus", scorers=both[:1]),
        "deep": Job(**usual, scorers=both[:1], seeds=(NOTICE[-1],)),
        "bad seed": Job(**usual, scorers=both[:1], seeds=(f"{SITE}/nada",)),
        "other languages": Job(**usual, scorers=both[:1], langs="fra-deu"),
        "bad scorer": Job(**usual, scorers=("breadth_first", "no.such.Scorer")),
    }
    results = list(replay_all(list(jobs.values()), processes=2))
    return dict(zip(jobs, results, strict=True))


def test_breadth_first_downloads_pages_as_they_are_found(replays):
    order = replays["stripped"].orders["breadth_first"]
    assert order == [HOME, *NOTICE, *SPANISH, LIST, *BASQUE]


def test_a_page_is_a_download_once_whatever_leads_to_it(replays):
    result = replays["plain"]
    figures = result.scorers["breadth_first"]
    assert sorted(result.orders["breadth_first"]) == sorted(
        [HOME, LIST, *NOTICE, *SPANISH, *BASQUE]
    )
    assert (figures["downloads"], figures["missing"], figures["requests"]) == (
        PAGES,
        1,
        PAGES + 2,
    )


def test_the_length_of_a_curve_is_the_number_of_reachable_pages(replays):
    assert (replays["plain"].pages, replays["plain"].pairs) == (PAGES, ARTICLES)


def test_two_replays_download_in_the_same_order(replays):
    assert replays["plain"].orders == replays["again"].orders
    assert replays["plain"].to_dict() == replays["again"].to_dict()


def test_scores_alone_decide_the_order(replays):
    """An article's claim is followed at once: its translation is the next download."""
    order = replays["plain"].orders["rules"]
    for spanish, basque in zip(SPANISH, BASQUE, strict=True):
        assert order.index(basque) == order.index(spanish) + 1
    assert (
        replays["plain"].scorers["rules"]["auc"] > replays["plain"].scorers["breadth_first"]["auc"]
    )


@pytest.mark.parametrize("kind", ["plain", "stripped"])
def test_pairs_are_found_by_claims_and_without_them_by_content(replays, kind):
    figures = replays[kind].scorers["breadth_first"]
    assert figures["pairs_detected"] >= ARTICLES
    assert figures["detected_precision"] == 1
    assert figures["detected_recall"] == 1


def test_the_figures_are_those_of_the_order(replays):
    """Home, notices, Spanish articles, list: then each Basque article completes a pair."""
    figures = replays["stripped"].scorers["breadth_first"]
    before = 1 + NOTICES + ARTICLES + 1
    assert figures["downloads_to_50"] == before + ARTICLES // 2
    assert figures["downloads_to_95"] == PAGES
    assert figures["auc"] == pytest.approx(sum(range(1, ARTICLES + 1)) / ARTICLES / PAGES, abs=1e-6)
    assert figures["gain"] == 0


def test_the_oracle_goes_where_the_pairs_are(replays):
    plain, stripped = replays["plain"], replays["stripped"]
    assert len(plain.orders["oracle"]) == 1 + 2 * ARTICLES
    assert len(stripped.orders["oracle"]) == 1 + NOTICES_TO_LIST + 1 + 2 * ARTICLES
    assert plain.scorers["oracle"]["gain"] == stripped.scorers["oracle"]["gain"] == 1


NOTICES_TO_LIST = 1
"""The home page links to the last notice, and that to the Basque list."""


def test_a_budget_ends_the_crawl(replays):
    result = replays["budget"]
    assert result.orders["breadth_first"] == [HOME, *NOTICE[:3]]
    assert len(result.orders["oracle"]) == 4
    assert result.pages == PAGES


def test_the_claims_of_the_site_can_be_gold(replays):
    assert replays["claims"].pairs == ARTICLES
    assert replays["claims"].scorers == {
        name: figures
        for name, figures in replays["plain"].scorers.items()
        if name in {"breadth_first", "oracle"}
    }


def test_a_replay_starts_where_it_is_told(replays):
    assert replays["deep"].orders["breadth_first"][:3] == [NOTICE[-1], HOME, LIST]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bad seed", "nada is not recorded in"),
        ("other languages", "No pair for fra-deu .* pairs for eus-spa, eng-spa"),
        ("bad scorer", "opaque with no.such.Scorer failed: .*cannot be loaded"),
    ],
)
def test_what_cannot_be_replayed_is_said_in_a_sentence(replays, name, words):
    assert not isinstance(replays[name], Measured)
    with pytest.raises(ConfigurationError, match=words):
        raise replays[name]


@pytest.fixture
def scrapy(capsys, monkeypatch):
    """Run the command as it is typed; its status and what it printed."""

    def run(*words):
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", "replay", *map(str, words)], settings)
        printed = capsys.readouterr()
        status = status_of(end.value)
        return (status, printed.out, printed.err) if isinstance(status, int) else (1, "", status)

    monkeypatch.setattr(sys, "argv", ["scrapy"])
    return run


def refused_site():
    """Two pages that translate one another and ask for neither links nor keeping."""
    closed = '<meta name="robots" content="noindex, nofollow">'
    yield exchange(f"{SITE}/", page("es", 1, to("/eu/"), closed))
    yield exchange(f"{SITE}/eu/", page("eu", 1, to("/"), closed))


def test_json_has_a_line_a_site_and_one_for_all(scrapy, folder, tmp_path):
    write_warc(tmp_path / "small.warc.gz", refused_site())
    (tmp_path / "small.gold.tsv").write_text(f"{SITE}/\t{SITE}/eu/\tspa\teus\n")
    warcs = folder / "opaque.warc.gz", tmp_path / "small.warc.gz"
    orders = tmp_path / "orders"
    status, out, err = scrapy(
        *warcs, "--langs", "eus-spa", "--scorers", "rules", "--json", "--order", orders
    )
    assert (status, err) == (0, "")
    opaque, small, together = map(json.loads, out.splitlines())
    assert (opaque["site"], opaque["langs"]) == ("opaque", "eus-spa")
    assert set(opaque["scorers"]) == {"breadth_first", "rules", "oracle"}
    assert set(opaque["scorers"]["rules"]) >= {
        "auc", "downloads_to_50", "downloads_to_80", "downloads_to_95", "pairs_fetched",
        "pairs_detected", "detected_precision", "detected_recall", "gain",
    }  # fmt: skip
    assert (small["pages"], small["scorers"]["rules"]["pairs_detected"]) == (2, 1)
    assert small["scorers"]["rules"]["gain"] is None
    assert (together["site"], together["pages"], together["pairs"]) == ("all", PAGES + 2, 7)
    assert together["scorers"]["rules"]["gain"] == opaque["scorers"]["rules"]["gain"]
    assert together["scorers"]["rules"]["deciles"][-1] == 7
    lines = (orders / "small.eus-spa.rules.txt").read_text().splitlines()
    assert lines == [f"{SITE}/", f"{SITE}/eu/"]


def test_people_get_a_table_and_a_picture(scrapy, folder, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "curves.png"
    status, out, _ = scrapy(
        folder / "opaque.warc.gz", "--scorers", "breadth_first", "--plot", picture
    )
    assert status == 0
    assert "opaque, eus-spa, with alternates: 24 pages and 6 of 6 gold pairs" in out
    assert "breadth_first" in out
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name a recorded site"),
        (["nix.warc.gz"], "There is no file nix.warc.gz"),
        (["{warc}", "--scorers", "clever"], "There is no scorer 'clever': write some of"),
        (["{warc}", "--gold", "a.tsv", "b.tsv"], "1 recordings and 2 gold lists"),
        (["{warc}", "--budget", "-1"], "--budget and --seed must be 0 or more"),
        (["{warc}", "--seeds", "ftp://example.org/"], "--seeds: "),
        (["{warc}", "--fast"], "unknown option --fast"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_mistakes_are_told_before_anything_is_replayed(scrapy, folder, words, told):
    status, _, err = scrapy(*(word.format(warc=folder / "opaque.warc.gz") for word in words))
    assert status != 0
    assert told in err


def test_a_recording_without_a_list_beside_it_asks_for_one(scrapy, tmp_path):
    warc = write_warc(tmp_path / "alone.warc.gz", refused_site())
    status, _, err = scrapy(warc)
    assert status == 1
    assert "--gold alternates" in err


def test_help_tells_how_lists_belong_to_recordings(scrapy):
    _, out, _ = scrapy("--help")
    assert "--gold names one table per recording, in the same order" in out
