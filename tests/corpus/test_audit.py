"""The sample of an audit, its intervals and its answers."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from bilingual_crawler.corpus.audit import (
    ANSWERS,
    BANDS,
    FEWEST,
    Audit,
    Band,
    Sample,
    Verdict,
    band_of,
    digest_of,
    estimate,
    read_answers,
    read_result,
    sample_size,
    write_answer,
    write_result,
)
from tests.support.export import sentence

RIGHT, WRONG = Verdict.PARALLEL, Verdict.WRONG


def rows_of(number, score=lambda at: (at % 10) / 10, sites=("a.org",)):
    return [
        sentence(
            at,
            f"Frase número {at}.",
            f"{at}. esaldia.",
            score=score(at),
            url1=f"https://{sites[at % len(sites)]}/es/{at}",
        )
        for at in range(number)
    ]


def sampled(rows, **options):
    return Sample(lambda: rows, **options)


def test_the_papers_sample_is_large_enough_for_ten_points():
    """Papavassiliou et al. read 103 pairs for 95% confidence and 10%."""
    assert sample_size(10**9, 0.10) == 97
    assert sample_size(1_000, 0.10) == 88
    assert sample_size(10**9, 0.05) == 385
    assert sample_size(20, 0.05) <= 20
    assert sample_size(0) == 0


def test_wilsons_interval_is_the_golden_one_for_a_single_band():
    """Newcombe 1998, table I: 81 of 263 gives .2553 to .3662, 15 of 148 gives .0624 to .1605."""
    for right, answers, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        interval = estimate([Band(10**9, answers, right)])
        assert interval.low == pytest.approx(low, abs=0.004)
        assert interval.high == pytest.approx(high, abs=0.004)


def test_what_was_read_completely_is_known():
    interval = estimate([Band(10, 10, 9), Band(30, 30, 30)])
    assert interval.low == interval.share == interval.high == pytest.approx(39 / 40)


def test_a_band_counts_by_its_pairs_and_not_by_its_answers():
    assert estimate([Band(900, 10, 10), Band(100, 10, 0)]).share == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("precisions", "sizes"),
    [
        ((0.5, 0.5, 0.5, 0.5), (5_000, 5_000, 5_000, 5_000)),
        ((0.4, 0.7, 0.9, 0.98), (1_000, 3_000, 6_000, 10_000)),
        ((0.8, 0.9, 0.97, 0.99), (500, 500, 1_000, 18_000)),
        ((0.9, 0.95, 1.0, 1.0), (50, 100, 100, 400)),
    ],
)
@pytest.mark.parametrize("margin", [0.1, 0.05])
def test_the_interval_covers_the_truth_although_one_stops_when_it_is_narrow(
    precisions, sizes, margin
):
    """400 audits of a corpus whose precision is known, each stopped as `is_enough` would."""
    chance = random.Random(17)
    truth = [round(p * size) for p, size in zip(precisions, sizes, strict=True)]
    share = sum(truth) / sum(sizes)
    audits, covered = 400, 0
    order = list(_order(sizes))
    for _ in range(audits):
        left, asked, right = list(truth), [0] * len(sizes), [0] * len(sizes)
        interval = estimate([])
        for number, band in enumerate(order, 1):
            is_right = chance.random() < left[band] / (sizes[band] - asked[band])
            left[band] -= is_right
            right[band] += is_right
            asked[band] += 1
            if number >= FEWEST:
                interval = estimate(map(Band, sizes, asked, right))
                if interval.half_width <= margin:
                    break
        covered += interval.low <= share <= interval.high
    assert covered / audits >= 0.93


def _order(sizes):
    """The bands in the order in which `Sample` asks."""
    asked = [0] * len(sizes)
    for _ in range(sum(sizes)):
        few = [band for band, size in enumerate(sizes) if asked[band] < min(3, size)]
        left = [band for band, size in enumerate(sizes) if asked[band] < size]
        band = few[0] if few else max(left, key=lambda each: sizes[each] / (asked[each] + 1))
        asked[band] += 1
        yield band


def test_each_prefix_of_the_sample_has_bands_and_sites_by_their_size():
    rows = rows_of(6_000, sites=("a.org", "a.org", "b.org", "c.org"))
    first = sampled(rows).questions[:400]
    bands = Counter(each.band for each in first)
    sites = Counter(each.row.url1.split("/")[2] for each in first)
    for band, size in enumerate(sampled(rows).pairs):
        assert bands[band] == pytest.approx(400 * size / 6_000, abs=4)
    assert sites["a.org"] == pytest.approx(200, abs=10)


def test_the_order_depends_on_the_texts_and_the_seed_alone():
    rows = rows_of(300)
    other = random.Random(1).sample(rows, len(rows))
    asked = [each.digest for each in sampled(rows).questions]
    assert [each.digest for each in sampled(other).questions] == asked
    assert [each.digest for each in sampled(rows, seed=1).questions] != asked
    assert set(asked) == {digest_of(row) for row in rows}


def test_every_pair_is_as_likely_to_be_asked_first():
    """Over many seeds, within a band, whatever the sizes of the sites."""
    rows = rows_of(40, score=lambda _: 0.9, sites=("a.org", "a.org", "a.org", "b.org"))
    first = Counter[int]()
    for seed in range(800):
        first.update(each.row.at for each in sampled(rows, seed=seed).questions[:10])
    assert all(140 < first[at] < 260 for at in range(40))  # 200 expected, 12 is one deviation


def test_dropped_pairs_are_not_part_of_the_sample():
    rows = rows_of(20) + [replace(row, dropped="copied", at=99) for row in rows_of(20)]
    assert len(sampled(rows).questions) == sum(sampled(rows).pairs) == 20


def test_an_audit_stops_when_the_interval_is_narrow_and_not_before():
    audit = Audit(sampled(rows_of(2_000)), margin=0.05)
    count = 0
    while not audit.is_enough:
        audit.answers[audit.next_question().digest] = RIGHT
        count += 1
    assert FEWEST <= count < sample_size(2_000)
    assert audit.precision().half_width <= 0.05
    assert str(audit.precision()) == "1.00 ± .03"


def test_a_pair_that_cannot_be_judged_does_not_count():
    audit = Audit(sampled(rows_of(20)))
    for verdict in (RIGHT, Verdict.SKIPPED, WRONG, Verdict.BORDERLINE):
        audit.answers[audit.next_question().digest] = verdict
    assert audit.precision().answers == 3
    assert audit.verdicts == {RIGHT: 1, WRONG: 1, Verdict.BORDERLINE: 1}


def test_answers_after_an_open_question_wait_until_it_is_answered():
    """A later pair that somebody has judged already must not displace one of the sample."""
    audit = Audit(sampled(rows_of(20)))
    audit.answers[audit.sample.questions[5].digest] = WRONG
    assert audit.precision().answers == 0


def test_a_threshold_is_estimated_from_its_bands_alone():
    audit = Audit(sampled(rows_of(200)))
    for question in audit.sample.questions:
        audit.answers[question.digest] = RIGHT if question.row.score >= 0.5 else WRONG
    assert audit.precision(0.5).share == 1.0
    assert audit.precision().share == pytest.approx(0.5)
    told = {each["score"]: each["pairs"] for each in audit.to_dict()["thresholds"]}
    assert told == {0.0: 200, 0.5: 100, 0.8: 40}


def test_answers_outlive_a_kill_and_the_last_one_counts(tmp_path):
    first, second, third = sampled(rows_of(20)).questions[:3]
    write_answer(tmp_path, first, RIGHT)
    write_answer(tmp_path, second, WRONG)
    with (tmp_path / ANSWERS).open("a") as lines:
        lines.write('{"digest": "cut off')
    write_answer(tmp_path, third, RIGHT)
    write_answer(tmp_path, first, WRONG)
    write_answer(tmp_path, second, None)
    assert read_answers(tmp_path) == {first.digest: WRONG, third.digest: RIGHT}


def test_answers_of_others_are_read_with_care(tmp_path):
    lines = [{"digest": 5, "verdict": "wrong"}, {"digest": "x", "verdict": "sure"}, {"digest": "y"}]
    (tmp_path / ANSWERS).write_text("\n".join(map(json.dumps, lines)) + "\n[]\n")
    assert read_answers(tmp_path) == {}


def test_the_result_is_kept_for_datasheets(tmp_path):
    assert read_result(tmp_path) is None
    audit = Audit(sampled(rows_of(20)))
    for question in audit.sample.questions:
        audit.answers[question.digest] = RIGHT
    write_result(tmp_path, audit)
    result = read_result(tmp_path)
    assert result["is_enough"]
    assert result["verdicts"] == {"parallel": 20, "borderline": 0, "wrong": 0}


@pytest.mark.parametrize("least", BANDS)
def test_a_score_at_the_bound_belongs_to_the_band_above(least):
    assert BANDS[band_of(least)] == least
