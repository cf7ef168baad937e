"""Each sentence pair says where it is from."""

import gzip
import json

import pytest

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, read_sentences

ONE, TWO = "https://example.org/en", "https://example.org/es"
PAIR = {"url1": ONE, "url2": TWO, "lang1": "eng", "lang2": "spa"}


def aligned(folder, pair):
    first = Document(ONE, "eng", fetched_at="2026-05-01T10:00:00Z", licence="https://licence.org/a")
    first.paragraphs = [
        Paragraph("Home", boilerplate=True),
        Paragraph("The museum is open in 2026. The ticket costs 12 euros."),
    ]
    second = Document(TWO, "spa", machine_translated="weglot")
    second.paragraphs = [Paragraph("El museo está abierto en 2026. La entrada cuesta 12 euros.")]
    lines = "".join(json.dumps(document_to_dict(each)) + "\n" for each in (first, second))
    (folder / DOCUMENTS).write_bytes(gzip.compress(lines.encode()))
    (folder / PAIRS).write_text(json.dumps(pair) + "\n")
    counts = align_folder(folder, folder / SENTENCES)
    return list(read_sentences(folder / SENTENCES)), counts


def test_a_sentence_pair_names_its_pages_and_its_place_in_them(tmp_path):
    evidence = [
        {"detector": "hreflang", "score": 0.95, "why": "both pages declare the other"},
        {"detector": "length", "score": 0.3, "why": "one is longer"},
    ]
    (_, last), _ = aligned(tmp_path, PAIR | {"score": 0.87, "evidence": evidence})
    assert (last.fetched1, last.fetched2) == ("2026-05-01T10:00:00Z", "")
    assert (last.licence1, last.licence2) == ("https://licence.org/a", "")
    assert (last.machine1, last.machine2) == ("", "weglot")
    assert (last.pair_score, last.evidence) == (0.87, "hreflang")
    assert (last.paragraph1, last.sentence1, last.paragraph2, last.sentence2) == (1, 1, 0, 1)


def test_a_document_pair_without_evidence_is_aligned_as_before(tmp_path):
    (first, _), _ = aligned(tmp_path, PAIR)
    assert (first.pair_score, first.evidence) == (1.0, "")


@pytest.mark.parametrize(
    "broken",
    [{"score": "high"}, {"score": 10**400}, {"evidence": 5}, {"evidence": [{"score": 1}]}],
    ids=str,
)
def test_a_document_pair_with_broken_evidence_is_counted(tmp_path, broken):
    rows, counts = aligned(tmp_path, PAIR | broken)
    assert not rows
    assert counts.unreadable_lines == 1


def test_files_without_provenance_are_still_read():
    fields = SentencePair("id", 0, ONE, TWO, "eng", "spa", "One", "Uno").to_dict()
    old = {name: value for name, value in fields.items() if name in list(fields)[:12]}
    assert SentencePair.from_dict(old) == SentencePair.from_dict(fields)
