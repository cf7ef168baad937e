"""A lexicon learned from a crawl makes its alignment better."""

import pytest

from bilingual_crawler.alignment.aligner import Aligner, scores
from bilingual_crawler.alignment.costs import GALE_CHURCH, Bead
from bilingual_crawler.alignment.documents import PairOfTexts
from bilingual_crawler.alignment.overlap import anchors, learn_lexicon, words
from bilingual_crawler.alignment.splitting import Segment
from bilingual_crawler.alignment.two_passes import LEAST_PAIRS, first_pass
from tests.support.alignment import texts

CASES = [texts(seed) for seed in range(25)]


def f1(aligner, cases=CASES):
    right = found = true = 0
    for first, second, gold in cases:
        beads = {each.bead for each in aligner.align(first, second) if each.bead.is_paired}
        right, found, true = right + len(beads & gold), found + len(beads), true + len(gold)
    return 2 * right / (found + true)


@pytest.fixture(scope="module")
def learned():
    pairs = [PairOfTexts("a", "b", "spa", "eus", one, two) for one, two, _ in CASES]
    return first_pass(pairs)["spa", "eus"]


def test_the_second_pass_beats_the_first_and_lengths_alone(learned):
    plain, first, second = (
        f1(Aligner(weights=GALE_CHURCH)),
        f1(Aligner()),
        f1(Aligner(learned.lexicon)),
    )
    assert second > plain + 0.1
    assert second > first + 0.03
    assert second > 0.95


def test_right_beads_score_higher_than_those_of_texts_that_are_no_translations(learned):
    aligner = Aligner(learned.lexicon)
    scores: dict[bool, list[float]] = {True: [], False: []}
    for number, (first, second, _) in enumerate(CASES):
        for other in (second, CASES[number - 1][1]):
            found = [each.score for each in aligner.align(first, other) if each.bead.is_paired]
            scores[other is second].extend(found)
    assert sum(scores[True]) / len(scores[True]) > 0.8
    assert sum(scores[False]) / len(scores[False]) < 0.3


def test_the_lexicon_pairs_words_that_stand_for_one_another():
    meanings = [
        ("rojo gato", "katu gorri"),
        ("gato negro", "katu beltz"),
        ("rojo pan", "ogi gorri"),
    ]
    pairs = [(words(one), words(two)) for one, two in meanings * 5]
    lexicon = learn_lexicon([*pairs, (words("pan negro"), words("ogi beltz"))] * 2)
    assert lexicon.share("gato", "katu") > 0.8
    assert lexicon.share("gato", "gorri") < 0.1
    assert lexicon.share("gato", "nothing") == 0


def test_nothing_is_learned_from_nothing():
    assert learn_lexicon([]) is None
    assert learn_lexicon([(["one"], ["bat"])]) is None


def test_too_few_sentences_teach_nothing():
    few = [PairOfTexts("a", "b", "spa", "eus", *texts(0, size=LEAST_PAIRS // 2)[:2])]
    assert first_pass(few)["spa", "eus"].lexicon is None


def test_numbers_addresses_and_cognates_are_anchors():
    one = anchors("El museo abrió en 1.997, véase www.museo.eus/es.")
    two = anchors("Museoa 1997an ireki zen: www.museo.eus/es (ikus).")
    assert {"#1997", "@www.museo.eus/es", "~muse"} <= one.keys() & two.keys()
    assert anchors("¿Qué?").keys() & anchors("什么？").keys() == {"?"}
    assert anchors("٣ كتب").keys() & anchors("3 libros").keys() == {"#3"}


def test_words_are_cut_to_stems_and_signs_to_pairs():
    assert words("Etxearekin don't") == ["etxea", "don't"]
    assert words("门票多") == ["门票", "票多"]


def test_numbers_decide_where_lengths_cannot():
    first = [Segment(f"Capítulo {number}.") for number in (1, 2, 3, 4, 5)]
    second = [Segment(f"{number}. atala da.") for number in (1, 2, 4, 5)]
    paired = [each.bead for each in Aligner().align(first, second) if each.bead.is_paired]
    assert [(bead.start1, bead.start2) for bead in paired] == [(0, 0), (1, 1), (3, 2), (4, 3)]


def test_a_heading_is_not_taken_for_prose():
    first = [Segment("Aaaa bbbb", 0, "heading"), Segment("Cccc dddd", 1)]
    second = [Segment("Eeee ffff", 0)]
    paired = [each.bead for each in Aligner().align(first, second) if each.bead.is_paired]
    assert [bead.start1 for bead in paired] == [1]


class Watched(Aligner):
    """An aligner that shows what its last judgement was made of."""

    def judge(self, beads, costs, overlaps):
        self.last = costs, overlaps
        return super().judge(beads, costs, overlaps)


def test_a_list_that_is_shifted_by_one_scores_low_though_it_looks_regular(learned):
    aligner, right, wrong = Watched(learned.lexicon), [], []
    for first, second, _ in CASES:
        size = min(len(first), len(second)) - 1
        aligner.align(first, second)
        shifted = [Bead(0, 0, 0, 1), *(Bead(at, at + 1, at + 1, at + 2) for at in range(size))]
        shifted += [Bead(at, at + 1, size + 1, size + 1) for at in range(size, len(first))]
        end = len(first)
        shifted += [Bead(end, end, at, at + 1) for at in range(size + 1, len(second))]
        wrong += scores(shifted, *aligner.last)[1 : size + 1]
        right += [each.score for each in aligner.align(first, second) if each.bead.is_paired]
    assert sum(right) / len(right) > 0.8
    assert sum(wrong) / len(wrong) < 0.3


def test_a_list_that_lacks_items_is_aligned_by_what_its_items_say(learned):
    first, second, gold = max(CASES, key=lambda case: len(case[0]))
    items1 = [Segment(each.text, at, "listitem") for at, each in enumerate(first)]
    items2 = [Segment(each.text, at, "listitem") for at, each in enumerate(second)]
    kept = [at for at in range(len(items2)) if at % 5]
    found = Aligner(learned.lexicon).align(items1, [items2[at] for at in kept])
    pairs = {
        (each.bead.start1, kept[each.bead.start2])
        for each in found
        if each.bead.shape == (1, 1) and each.score >= 0.5
    }
    true = {(bead.start1, bead.start2) for bead in gold if bead.shape == (1, 1)}
    assert len(pairs & true) > 0.9 * len(pairs)
    assert len(pairs) > 0.5 * len(kept)


def test_items_in_another_order_are_paired_by_what_they_say(learned):
    first, second, gold = max(CASES, key=lambda case: len(case[0]))
    single = [bead for bead in sorted(gold) if bead.shape == (1, 1)]
    moved, kept = single[3], single[:3] + single[4:]
    items1 = [first[each.start1] for each in single]
    items2 = [second[each.start2] for each in [*kept, moved]]
    aligner = Aligner(learned.lexicon)
    found = aligner.with_crossing(items1, items2, aligner.align(items1, items2))
    (score,) = [
        each.score for each in found if each.bead == Bead(3, 4, len(single) - 1, len(single))
    ]
    assert score >= 0.7
    paired = [each.bead for each in found if each.bead.is_paired]
    assert len({bead.start1 for bead in paired}) == len(paired) == len({b.start2 for b in paired})


def test_without_a_lexicon_nothing_is_moved():
    first, second, _ = CASES[0]
    found = Aligner().align(first, second)
    assert Aligner().with_crossing(first, second, found) == found
