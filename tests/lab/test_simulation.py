"""A simulated crawl downloads the same pages in the same order as a replay with the engine."""

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from bilingual_crawler.config.settings import SCORERS
from bilingual_crawler.lab.replay.batch import replay_all
from bilingual_crawler.lab.replay.measure import Job
from bilingual_crawler.lab.simulation import web
from bilingual_crawler.lab.simulation.measure import simulate
from tests.support import many_languages
from tests.support.recordings import (
    ARTICLES,
    SITE,
    exchange,
    opaque_gold,
    opaque_site,
    page,
    redirect,
    to,
    write_warc,
)

pytestmark = pytest.mark.crawl

SITES = Path(os.environ.get("BILINGUAL_SHARED", "/nonexistent")) / "sites"
RECORDED = (("112revelats", "cat-eng"), ("xezpeleta", "eng-eus"), ("laugar", "eus-spa"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(web.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "bilingual-crawler" / "simulation"


def switching_site():
    """Pages with language switches, redirects, missing pages, claims abroad, a page in both."""
    names = [f"/{code}/berri-{number}" for number in range(8) for code in ("es", "eu")]
    nav = to("/es/", "/eu/", "/zaharra", "/galduta")
    abroad = '<link rel="alternate" hreflang="eu" href="https://www.example.eus/berriak">'
    yield redirect(f"{SITE}/", "/es/")
    yield exchange(f"{SITE}/es/", page("es", 900, nav + to(*names[::2]), abroad))
    yield exchange(f"{SITE}/eu/", page("eu", 900, nav + to(*(f"{name}/" for name in names[1::2]))))
    yield redirect(f"{SITE}/zaharra", "/kaxkarra")
    yield redirect(f"{SITE}/kaxkarra", "/eu/berri-0")
    for number, name in enumerate(names):
        code, other = ("es", "eu") if number % 2 == 0 else ("eu", "es")
        mate = name.replace(f"/{code}/", f"/{other}/")
        switch = f'<a href="{mate}">{"Euskara" if other == "eu" else "Español"}</a>'
        yield redirect(f"{SITE}{name}/", f"{SITE}{name}")
        if number not in {5, 9}:
            yield exchange(SITE + name, page(code, number // 2, nav + switch))
    yield exchange(
        "https://www.example.eus/berriak", page("eu", 70, f'<a href="{SITE}/es/">es</a>')
    )


def switching_gold():
    return "".join(f"{SITE}/es/berri-{n}\t{SITE}/eu/berri-{n}\tspa\teus\n" for n in range(8))


def both_ways(jobs):
    """Return the results of jobs in the engine, and simulated, with the same hash seed."""
    simulated = [replace(job, simulate=True) for job in jobs]
    results = list(replay_all([*jobs, *simulated], processes=2))
    return zip(results[: len(jobs)], results[len(jobs) :], strict=True)


def job_of(folder, exchanges, gold, **options):
    warc = write_warc(folder / "site.warc.gz", exchanges)
    (folder / "site.gold.tsv").write_text(gold)
    options = {"scorers": tuple(SCORERS), "langs": "eus-spa"} | options
    return Job(warc=warc, gold=folder / "site.gold.tsv", **options)


def test_every_scorer_downloads_in_the_same_order_as_in_the_engine(tmp_path):
    (tmp_path / "opaque").mkdir()
    few = ("breadth_first", "rules", "adaptive")
    jobs = [
        job_of(tmp_path, switching_site(), switching_gold()),
        job_of(tmp_path, switching_site(), switching_gold(), scorers=few, strip=True),
        job_of(tmp_path / "opaque", opaque_site(), opaque_gold(), scorers=few),
    ]
    for real, simulated in both_ways(jobs):
        assert simulated.orders == real.orders
        for name, known in real.scorers.items():
            figures = dict(simulated.scorers[name])
            for found in ("pairs_detected", "detected_precision", "detected_recall"):
                del figures[found]  # a crawl settles its pairs when it ends
            assert figures.items() <= known.items()


def three_languages():
    """A site in three languages, and the pairs of every two."""
    site = [exchange(SITE + path, body) for path, body in many_languages.pages().items()]
    versions = [each.items() for each in many_languages.true_versions(SITE)]
    pairs = [sorted(pair) for each in versions for pair in combinations(each, 2)]
    return site, "".join(f"{one}\t{two}\t{a}\t{b}\n" for (a, one), (b, two) in pairs)


@pytest.mark.parametrize("langs", ["spa-eus-eng", "eng-*"])
def test_crawls_for_more_languages_are_simulated_and_measured_for_every_two(tmp_path, langs):
    few = ("breadth_first", "adaptive", "smart")
    job = job_of(tmp_path, *three_languages(), scorers=few, langs=langs)
    ((real, simulated),) = both_ways([job])
    assert simulated.orders == real.orders
    assert simulated.pairs == 18
    assert simulated.scorers["adaptive"]["pairs_fetched"] == simulated.pairs
    assert simulated.scorers["adaptive"]["versions_auc"] > 0


def test_a_budget_ends_a_simulated_crawl(tmp_path):
    job = job_of(tmp_path, opaque_site(), opaque_gold(), scorers=("breadth_first",), budget=4)
    assert len(simulate(job).orders["breadth_first"]) == 4


def test_a_second_simulation_reads_what_the_first_has_kept(tmp_path, cache, monkeypatch):
    job = job_of(tmp_path, opaque_site(), opaque_gold(), scorers=("breadth_first", "rules"))
    first = simulate(job)
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(web, "Recording", None)
    assert simulate(job).to_dict() == first.to_dict()
    assert first.pairs == ARTICLES


def test_a_changed_recording_is_read_again(tmp_path):
    job = job_of(tmp_path, opaque_site(), opaque_gold(), scorers=("breadth_first",))
    assert simulate(job).pages == 24
    write_warc(job.warc, [*opaque_site(), exchange(f"{SITE}/nada", page("es", 77))])
    (job.gold).write_text(opaque_gold() + "\n")
    assert simulate(job).pages == 25


def test_a_damaged_cache_is_made_anew(tmp_path, cache):
    job = job_of(tmp_path, opaque_site(), opaque_gold(), scorers=("breadth_first",))
    first = simulate(job)
    (kept,) = cache.iterdir()
    kept.write_bytes(b"nothing of the kind")
    assert simulate(job).to_dict() == first.to_dict()


@pytest.mark.skipif(not SITES.is_dir(), reason="the recorded sites are not here")
@pytest.mark.parametrize(("name", "langs"), RECORDED)
def test_recorded_sites_are_crawled_in_the_same_order(name, langs):
    gold = SITES / f"{name}.gold.tsv"
    scorers = ("breadth_first", "rules", "adaptive")
    usual = {"warc": SITES / f"{name}.warc.gz", "gold": gold, "langs": langs, "budget": 120}
    jobs = [Job(**usual, scorers=scorers, strip=strip) for strip in (True, False)]
    for real, simulated in both_ways(jobs):
        assert simulated.orders == real.orders
