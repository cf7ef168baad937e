"""The comparison of mixes of negatives, and the links that are genuine ones."""

import random

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="training needs scikit-learn: pip install '.[train,cpu]'")

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.labels import LabelledPair, read_pairs
from bilingual_crawler.lab.training import negative_mixes
from bilingual_crawler.lab.training.negative_mixes import (
    FoldRows,
    MixData,
    compare,
    measure,
    mixes_of,
    prepare_mixes,
    read_figures,
)
from bilingual_crawler.lab.training.page_links import PageLinks
from tests.support.recordings import SITE, exchange, page, to, write_warc


def a_pair(site, number):
    one = f"https://s{site}.org/en/story-{number}/part-{number % 3}"
    return LabelledPair(one, one.replace("/en/", "/fr/"), True, "eng", "fra", f"s{site}.org")


def some_pairs(sites=12, pages=6):
    return [a_pair(site, number) for site in range(sites) for number in range(pages)]


def test_all_mixes_are_the_sixty_three_of_the_paper():
    mixes = mixes_of([])
    assert len(mixes) == len(set(mixes)) == 63
    assert mixes[:7] == ["1", "2", "3", "4", "5", "6", "1+2"]
    assert mixes[-1] == "1+2+3+4+5+6"
    assert mixes_of(["all"]) == mixes


def test_some_mixes_are_chosen_by_their_numbers():
    assert mixes_of(["5+1", "2", "1+5"]) == ["1+5", "2"]
    with pytest.raises(ConfigurationError, match=r"'1\+7' is not a mix"):
        mixes_of(["1+7"])


def test_no_site_is_learned_from_and_measured_on():
    data = prepare_mixes(some_pairs(), PageLinks(), most=4, seed=0, tell=lambda _: None)
    assert len(data.pairs.folds) == 12 * 4
    assert set(data.pairs.folds.tolist()) == set(range(10))
    assert (data.sites, data.genuine_sites) == (12, 0)
    sites = negative_mixes._folds({f"s{number}.org": 4 for number in range(12)})
    assert np.bincount(list(sites.values())).tolist() == [2, 2, *[1] * 8]


def test_sites_are_measured_against_their_listed_negatives():
    listed = [a_pair(0, 1)._replace(second="https://s0.org/fr/x", parallel=False)]
    again = [pair._replace(first_language="", second_language="") for pair in some_pairs()]
    data = prepare_mixes(
        [*again, *some_pairs(), *listed], PageLinks(), most=40, seed=0, tell=lambda _: None
    )
    assert data.genuine_sites == 1
    assert len(data.pairs.folds) == 72
    assert len(data.kinds["1"].folds) > 72  # random matches need the languages of the other table


def test_the_figures_of_a_mix_count_all_folds_together():
    """One feature decides: negatives of kind 1 show it, those of kind 2 show the opposite.

    Ten pairs and twenty others, in ten folds; what is right for kind 1 is all wrong for kind 2.
    """
    rng = np.random.default_rng(0)

    def rows(value, count):
        features = rng.normal(value, 0.01, (count, 3)).astype(np.float32)
        return FoldRows(features, np.arange(count) % 10)

    kinds = {"1": rows(-1.0, 20), "2": rows(3.0, 20)}
    data = MixData(rows(1.0, 10), kinds, rows(-1.0, 20), 0, 10)
    good, bad = measure(data, "1"), measure(data, "2")
    assert (good.positive_f1, good.negative_f1, good.macro_f1) == (1, 1, 1)
    assert (good.pairs, good.negatives, good.measured) == (10, 20, 20)
    assert bad.positive_f1 == pytest.approx(2 * 10 / (10 + 30))
    assert bad.negative_f1 == 0
    assert bad.macro_f1 == pytest.approx(0.25)


def test_tables_are_written_and_a_killed_run_goes_on(tmp_path):
    told = []

    def kill(text):
        told.append(text)
        if text.startswith("Mix 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(some_pairs(), ["1", "2"], tmp_path, tell=kill)
    assert list(read_figures(tmp_path / "negatives.tsv")) == ["1"]
    told.clear()
    found = compare(some_pairs(), ["1", "2"], tmp_path, resume=True, tell=told.append)
    assert [text for text in told if text.startswith("Mix")] == ["Mix 2 of 2: 2"]
    assert [each.mix for each in found] == ["1", "2"]
    lines = (tmp_path / "negatives.md").read_text().splitlines()
    assert lines[4] == "| methods | positive F1 | negative F1 | macro F1 | negatives |"
    best = max(found, key=lambda each: each.macro_f1)
    assert any(line.startswith(f"| **{best.mix}** | **") for line in lines)
    again = read_figures(tmp_path / "negatives.tsv")["2"]
    assert again.positive_f1 == pytest.approx(found[1].positive_f1, abs=1e-4)


def test_too_few_sites_and_a_foreign_table_are_sentences(tmp_path):
    with pytest.raises(ConfigurationError, match="at least 10 sites; the tables have 3"):
        compare(some_pairs(sites=3), ["1"], tmp_path)
    (tmp_path / "negatives.tsv").write_text("something\telse\n")
    with pytest.raises(ConfigurationError, match="not a table of this comparison"):
        compare(some_pairs(), ["1"], tmp_path, resume=True)


def a_recorded_site(folder):
    """Spanish page 1 links to its translation and to page 2; page 2 to page 1 alone."""
    return write_warc(
        folder / "site.warc.gz",
        [
            exchange(f"{SITE}/es/1", page("es", 1, to("/eu/1", "/es/2", "/missing"))),
            exchange(f"{SITE}/eu/1", page("eu", 1)),
            exchange(f"{SITE}/es/2", page("es", 2, to("/es/1"))),
            exchange(f"{SITE}/eu/2", page("eu", 2)),
        ],
    )


def test_links_of_a_recorded_site_are_negatives(tmp_path):
    pairs = [
        LabelledPair(f"{SITE}/es/{n}", f"{SITE}/eu/{n}", True, "spa", "eus", "example.org")
        for n in (1, 2)
    ]
    links = PageLinks([a_recorded_site(tmp_path)])
    (found,) = links.negatives_of(pairs)
    assert found == LabelledPair(f"{SITE}/es/1", f"{SITE}/es/2", False, "spa", "spa", "example.org")
    elsewhere = [pair._replace(domain="other.org") for pair in pairs]
    assert list(links.negatives_of(elsewhere)) == []
    assert not PageLinks()


def test_links_of_a_table_are_negatives_and_measured(tmp_path):
    table, links = tmp_path / "pairs.tsv", tmp_path / "links.tsv"
    pairs = some_pairs()
    random.Random(0).shuffle(pairs)
    table.write_text("".join(f"{one}\t{two}\teng\tfra\n" for one, two, *_ in pairs))
    one, two = a_pair(3, 1), a_pair(3, 2)
    links.write_text(f"{one.first}\t{one.second}\n{one.first}\t{two.second}\n")
    data = prepare_mixes(
        read_pairs([table]), PageLinks([links]), most=40, seed=0, tell=lambda _: None
    )
    assert data.genuine_sites == 1
