"""A floor under pair detection, on recorded real sites that the project may not carry.

The shipped weights have seen these sites; figures on sites left out are in
docs/experiments/pairing.md.
"""

import os
from pathlib import Path

import pytest

from bilingual_crawler.corpus.offline import Task, find_pairs
from bilingual_crawler.corpus.sources.reading import SourceReading
from bilingual_crawler.lab.evaluation.pairs_report import evaluate
from bilingual_crawler.lab.replay.site import without_alternates
from bilingual_crawler.languages import LanguagePair

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared")) / "sites"


@pytest.mark.parametrize(
    ("site", "langs"),
    [("irhpc", "eng-isl"), ("112revelats", "eng-spa"), ("paraguay4life", "deu-eng")],
)
def test_pairs_of_a_recorded_site_are_found_without_its_declarations(site, langs):
    warc = SHARED / f"{site}.warc.gz"
    if not warc.exists():
        pytest.skip(f"there is no recording of {site}: name their folder in BILINGUAL_SHARED")
    reading = SourceReading(LanguagePair.parse(langs), without_alternates)
    outcome = find_pairs(Task(inputs=(str(warc),), reading=reading))
    figures = evaluate(outcome, SHARED / f"{site}.gold.tsv", ablation=False)
    print(site, langs, figures["precision"], figures["recall"])  # noqa: T201 - for those who look
    assert figures["precision"] >= 0.95
    assert figures["recall"] >= 0.9
