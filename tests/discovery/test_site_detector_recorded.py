"""A floor under the site detector, on recorded real sites that the project may not carry.

The shipped predictor has seen these sites; figures on sites left out are in
docs/experiments/discovery.md.
"""

import os
from pathlib import Path

import pytest

from benchmarks.site_detector import World, ask_about
from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.lab.training.links import LabelledSite
from bilingual_crawler.languages import LanguagePair

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared")) / "sites"


@pytest.mark.parametrize(
    ("site", "langs", "answer"),
    [
        ("112revelats", "eng-spa", "yes"),
        ("112revelats", "cat-fra", "no"),
        ("irhpc", "eng-isl", "yes"),
        ("irhpc", "eng-deu", "no"),
        ("hagiasophia", "eng-fra", "yes"),
    ],
)
def test_recorded_sites_are_judged_rightly_with_few_downloads(site, langs, answer):
    warc = SHARED / f"{site}.warc.gz"
    if not warc.exists():
        pytest.skip(f"there is no recording of {site}: name their folder in BILINGUAL_SHARED")
    recorded = LabelledSite(warc)
    pair = LanguagePair.parse(langs)
    verdict = ask_about(recorded.recording.homes()[0], pair, World(recorded), LinkPredictor.load())
    assert verdict.answer == answer
    assert verdict.downloads <= 4
