import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents import dedup
from bilingual_crawler.documents.dedup import DedupDecision, DuplicateIndex, paragraph_hashes
from bilingual_crawler.documents.document import Document, Paragraph


def hashes(*names):
    return [hashlib.md5(str(name).encode()).digest()[:8] for name in names]


def compare_with_all(share, arrivals):
    """The definition: compare each new document with all that remain."""
    live: dict[str, set[str]] = {}
    for key, names in arrivals:
        live.pop(key, None)
        new = set(names)
        near = {
            other
            for other, known in live.items()
            if new and known and len(new & known) / min(len(new), len(known)) > share
        }
        larger = {other for other in near if len(live[other]) >= len(new)}
        if larger:
            yield larger, set()
            continue
        for other in near:
            del live[other]
        live[key] = new
        yield set(), near


arrivals = st.lists(
    st.tuples(
        st.integers(0, 30).map(str),
        st.lists(st.integers(0, 12), max_size=12) | st.integers(1, 12).map(range).map(list),
    ),
    max_size=40,
)
shares = st.sampled_from([0.0, 0.2, 0.29, 0.5, 0.55, 0.57, 0.8, 0.9, 1.0])


@pytest.mark.parametrize(
    ("first_compared", "comparison"), [(50, 20), (0, 0), (0, 1_000_000), (2, 20)]
)
def test_the_verdicts_are_those_of_comparing_with_all(monkeypatch, first_compared, comparison):
    monkeypatch.setattr(dedup, "FIRST_COMPARED", first_compared)
    monkeypatch.setattr(dedup, "COMPARISON", comparison)

    @given(shares, arrivals)
    def check(share, documents):
        index = DuplicateIndex(share)
        expected = compare_with_all(share, documents)
        for (key, names), (larger, smaller) in zip(documents, expected, strict=True):
            verdict = index.add(key, hashes(*names))
            assert (verdict.duplicate_of in larger) if larger else verdict.duplicate_of is None
            assert set(verdict.supersedes) == smaller

    check()


def test_the_verdicts_stay_right_when_the_index_is_cleared(monkeypatch):
    monkeypatch.setattr(dedup, "DROPPED_KEPT", 10)
    everything = hashes(*range(100))
    index = DuplicateIndex()
    for size in range(1, len(everything)):
        verdict = index.add(str(size), everything[:size])
        assert verdict.supersedes == ((str(size - 1),) if size > 1 else ())
    assert len(index) == 1
    assert index.add("short", everything[:5]).duplicate_of == "99"


def test_a_document_like_no_other_is_new():
    index = DuplicateIndex()
    assert index.add("a", hashes(1, 2, 3)) == DedupDecision()
    assert index.add("b", hashes(4, 5, 6)).is_new


def test_the_later_of_two_equal_documents_is_dropped():
    index = DuplicateIndex()
    index.add("a", hashes(1, 2, 3))
    assert index.add("b", hashes(1, 2, 3)) == DedupDecision(duplicate_of="a")
    assert "b" not in index


def test_the_shorter_of_two_near_duplicates_is_dropped():
    index = DuplicateIndex()
    index.add("short", hashes(1, 2, 3))
    assert index.add("long", hashes(1, 2, 3, 4)) == DedupDecision(supersedes=("short",))
    assert "short" not in index
    assert index.add("short again", hashes(1, 2, 3)).duplicate_of == "long"


def test_four_fifths_are_not_more_than_four_fifths():
    index = DuplicateIndex(0.8)
    index.add("a", hashes(1, 2, 3, 4, 5))
    assert index.add("b", hashes(1, 2, 3, 4, 6)).is_new


def test_documents_without_paragraphs_are_never_duplicates():
    index = DuplicateIndex()
    assert index.add("a", []).is_new
    assert index.add("b", []).is_new
    assert index.add("c", hashes(1)).is_new


def test_a_document_is_no_duplicate_of_itself():
    index = DuplicateIndex()
    index.add("a", hashes(1, 2))
    assert index.add("a", hashes(1, 2)).is_new


def test_a_restored_index_judges_like_the_old_one():
    index = DuplicateIndex()
    index.restore("a", hashes(1, 2, 3))
    index.restore("b", [])
    assert index.add("c", hashes(1, 2)).duplicate_of == "a"


def test_a_forgotten_document_has_no_duplicates():
    index = DuplicateIndex()
    index.add("a", hashes(1, 2))
    index.remove("a")
    index.remove("unknown")
    assert index.add("b", hashes(1, 2)).is_new


def test_the_hashes_are_of_the_content_alone():
    document = Document(
        "https://example.org/",
        language="eus",
        paragraphs=[
            Paragraph("menua", boilerplate=True),
            Paragraph("kaixo", language="eus"),
            Paragraph("hola", language="spa"),
            Paragraph("bai"),
        ],
    )
    assert paragraph_hashes(document) == hashes("kaixo", "bai")


def test_a_template_on_every_page_does_not_make_every_page_dear():
    template = hashes("t1", "t2", "t3", "t4", "t5")
    pages = [template + hashes(*(f"{page}.{at}" for at in range(9))) for page in range(20_000)]
    index = DuplicateIndex()
    start = time.process_time()
    for number, page in enumerate(pages):
        assert index.add(str(number), page).is_new
    assert time.process_time() - start < 10  # comparing with all takes twenty minutes
