"""Pairs as they are kept while a crawl runs."""

from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.pairing.pair import DocumentPair, Evidence, PairPacker

LANGUAGES = ("spa", "eus")
evidence = st.builds(
    Evidence, st.sampled_from(["url_key", "words", "lengths"]), st.floats(0, 1), st.text()
)
pairs = st.builds(
    DocumentPair,
    st.text(),
    st.text(),
    st.just(LANGUAGES),
    st.lists(evidence, max_size=12).map(tuple),
    st.none() | st.floats(0, 1),
)


@given(st.lists(pairs, max_size=5))
def test_pairs_come_back_as_they_were(several):
    packer = PairPacker(LANGUAGES)
    packed = [packer.pack(each) for each in several]
    assert [packer.unpack(each) for each in packed] == several
    assert [each.detectors for each in packed] == [each.detectors for each in several]


@given(pairs, pairs)
def test_packed_pairs_are_equal_exactly_if_the_pairs_are(one, other):
    packer = PairPacker(LANGUAGES)
    packer.pack(one)
    assert (packer.pack(one) == packer.pack(other)) == (one == other)
    assert packer.pack(other) == packer.pack(other)


def test_the_evidence_of_a_second_pair_takes_a_fraction_of_the_first():
    packer = PairPacker(LANGUAGES)

    def pair(number):
        words = f"{number} and {number + 1} paragraphs whose lengths correlate by 0.9{number}"
        said = [Evidence(f"detector {at}", 0.5, f"{at}: {words}") for at in range(8)]
        return DocumentPair(f"/es/{number}", f"/eu/{number}", LANGUAGES, tuple(said), 0.9)

    plain = sum(len(each.why) for each in pair(7).evidence)
    packer.pack(pair(3))
    assert len(packer.pack(pair(7)).evidence) < plain / 2
