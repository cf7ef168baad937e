"""The classifiers of pairs are fitted from few examples and evaluated without their library."""

import subprocess
import sys
from random import Random

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.ilsp import judge_structure
from bilingual_crawler.pairing.pplocator import judge_pages
from bilingual_crawler.pairing.small_models import PairClassifiers, shipped
from tests.support.pairing import packed, page

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn", reason="the classifiers are fitted by scikit-learn")
from sklearn.svm import SVC  # noqa: E402

from bilingual_crawler.lab.training.pairs import (  # noqa: E402
    LabelledPages,
    fit_machine,
    fit_pair_classifiers,
    fit_tree,
)
from tools.pair_classifiers import labelled_pairs  # noqa: E402


def rows(count, features=3, seed=1):
    random = Random(seed)
    made = [[random.random() for _ in range(features)] for _ in range(count)]
    return made, [row[0] * row[1] > row[2] * 0.4 for row in made]


def test_a_multiplied_out_machine_decides_as_its_support_vectors_do():
    made, labels = rows(150)
    for degree in (1, 2, 3):
        ours = fit_machine(made, labels, degree=degree, penalty=5.0)
        theirs = SVC(kernel="poly", degree=degree, gamma=1, coef0=1, C=5, class_weight="balanced")
        expected = theirs.fit(made, labels).decision_function(np.asarray(made))
        assert [ours.decision(row) for row in made] == pytest.approx(list(expected), abs=1e-6)
        assert [ours.score(row) >= 0.5 for row in made] == list(expected >= 0)


def test_a_hundred_and_ten_examples_are_enough_for_a_tree():
    made, labels = rows(110, features=4)
    tested, truth = rows(400, features=4, seed=2)
    tree = fit_tree(made, labels)
    right = sum((tree.score(row) >= 0.5) == label for row, label in zip(tested, truth, strict=True))
    assert right / len(tested) > 0.8


def test_examples_of_one_kind_teach_nothing():
    made, _ = rows(20)
    for fit in (fit_machine, fit_tree):
        with pytest.raises(ConfigurationError, match="both kinds"):
            fit(made, [True] * 20)


def site(count=30):
    random = Random(3)
    pages, gold = {}, []
    for number in range(count):
        marks = tuple(random.choice((-4, -3, 20, 90, 400, 1_600)) for _ in range(20))
        words = [f"Name{number}", f"Place{number}", "Example"]
        for language in ("es", "eu"):
            made = page(
                f"/{language}/page-{number}",
                {"es": "spa", "eu": "eus"}[language],
                words=200,
                size=9_000,
                paragraphs=14,
                fingerprint=marks,
                tags="".join(random.choice("abc") for _ in range(40)),
                vocabulary=packed(*words, language),
            )
            pages[made.url] = made
        gold.append(tuple(list(pages)[-2:]))
    return pages, gold


def test_negative_examples_contradict_the_true_pairs():
    pages, gold = site()
    examples = list(labelled_pairs(pages, gold))
    assert {(e.first.url, e.second.url) for e in examples if e.parallel} == set(gold)
    negatives = [each for each in examples if not each.parallel]
    assert len(negatives) > len(gold)
    for each in negatives:
        assert (each.first.url, each.second.url) not in gold
        assert each.second.language == "eus"


def test_a_site_with_one_pair_gives_no_negative_example():
    pages, gold = site(1)
    assert [each.parallel for each in labelled_pairs(pages, gold)] == [True]


def test_classifiers_learn_a_site_and_are_the_same_when_read_again():
    pages, gold = site()
    examples = list(labelled_pairs(pages, gold))
    fitted = fit_pair_classifiers(examples)
    assert PairClassifiers.loads(fitted.dumps(), "here") == fitted
    for one, other, parallel in examples:
        assert (judge_structure(one, other, fitted.structure).score >= 0.5) is parallel
        assert (judge_pages(one, other, fitted.pplocator).score >= 0.5) is parallel


def test_pages_of_very_different_size_do_not_teach_the_machine():
    short, long = page(words=1, fingerprint=(1,)), page("/eu/a", "eus", words=99, fingerprint=(1,))
    with pytest.raises(ConfigurationError):
        fit_pair_classifiers([LabelledPages(short, long, parallel) for parallel in (True, False)])


def test_the_shipped_classifiers_tell_a_likely_pair_from_an_unlikely_one():
    machine, tree = shipped()
    assert machine.score((1.0, 1.0, 0.0)) > 0.5 > machine.score((0.6, 0.6, 0.9))
    assert tree.score((0.95, 0.95, 0.0, 0.1)) > 0.5 > tree.score((0.4, 0.5, 0.5, 0.0))


def test_detectors_need_no_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['numpy'] = None\n"
        "from bilingual_crawler.pairing import almeida, ilsp, pplocator, small_models\n"
        "print(small_models.shipped().structure.score((1, 1, 0)) > 0.5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
