"""The datasheet of an export says what is in it, and cannot be forged by what is in it."""

import json

import pytest

from bilingual_crawler.corpus.audit import RESULT, Audit, Sample, Verdict, write_result
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import EXPORTERS
from bilingual_crawler.export.source import Selection
from tests.support.export import (
    ES,
    EU,
    document,
    exported,
    sentence,
    write_documents,
    write_sentences,
)

CC = "https://creativecommons.org/licenses/by/4.0/"
MAIL = "Escriba a ana@example.org o llame al +34 943 48 11 66."


@pytest.fixture
def folder(tmp_path):
    rows = [
        sentence(0, MAIL, "Idatzi.", licence1=CC, fetched1="2026-01-02T00:00:00+00:00"),
        sentence(1, machine2="google", fetched2="2026-03-04T00:00:00+00:00"),
        sentence(2, dropped="copied"),
        sentence(3, score=0.2),
    ]
    folder = write_sentences(tmp_path / "crawl", rows)
    report = {"opt_outs": {"robots_txt": 7}, "pages": 1200, "started": "2026-01-01"}
    (folder / "crawl.json").write_text(json.dumps(report))
    pages = [document(ES, "spa", MAIL), document(EU, "eus", "Idatzi.")]
    return write_documents(folder, pages, [(ES, EU)])


def sheet_of(folder, name="tsv", **options):
    target, account = exported(folder, name, **options)
    file = target.with_name(f"{target.name}.DATASHEET.md")
    return (file if file.exists() else target / "DATASHEET.md").read_text("utf-8"), account


@pytest.mark.parametrize("name", EXPORTERS.builtin)
def test_every_format_has_a_datasheet(folder, name):
    text, _ = sheet_of(folder, name)
    assert text.startswith("# Datasheet of")
    assert "| Spanish (spa) | " in text
    assert "| example.org | " in text


def test_it_tells_sizes_dates_licences_marks_opt_outs_and_filters(folder):
    text, _ = sheet_of(folder, selection=Selection(min_score=0.5))
    for part in (
        "2 sentence pairs, in the format tsv",
        "| Spanish (spa) | 2 | 17 |",
        "Pages fetched from 2026-01-02T00:00:00+00:00 to 2026-03-04T00:00:00+00:00.",
        f"| {CC} | 1 |",
        "| not stated | 3 |",
        "| robots.txt forbids the page. | 7 |",
        "| google | 1 |",
        "| dropped by cleaning: copied | 1 |",
        "| score below 0.5 | 1 |",
        "Selection: only scores of at least 0.5.",
        "Nobody has read a sample yet: `scrapy audit",
    ):
        assert part in text


def test_personal_data_is_counted_and_masked_on_request(folder):
    text, _ = sheet_of(folder)
    assert "not masked" in text
    assert "| e-mail addresses | 1 |\n| telephone numbers | 1 |" in text
    text, account = sheet_of(folder, selection=Selection(anonymise=True))
    assert "masked, as [KIND]" in text
    assert account.changed == {"e-mail addresses masked": 1, "telephone numbers masked": 1}


@pytest.mark.parametrize("name", EXPORTERS.builtin)
def test_no_format_lets_personal_data_through_when_it_is_to_be_masked(folder, name):
    if name in {"tbx", "glossary", "standoff"}:
        pytest.skip("it has no texts")
    target, _ = exported(folder, name, selection=Selection(anonymise=True))
    files = [target] if target.is_file() else [each for each in target.rglob("*") if each.is_file()]
    held = b"".join(each.read_bytes() for each in files)
    assert b"ana@example.org" not in held
    assert b"943 48 11 66" not in held
    if name not in {"parquet", "huggingface", "cwb", "multiparallel"}:
        assert b"[EMAIL]" in held


def test_an_audit_is_cited_for_the_scores_that_are_exported(folder):
    rows = [sentence(at, f"Texto {at}.", score=0.9 if at % 2 else 0.3) for at in range(40)]
    write_sentences(folder, rows)
    audit = Audit(Sample(lambda: rows))
    for question in audit.sample.questions:
        audit.answers[question.digest] = Verdict.PARALLEL if question.band else Verdict.WRONG
    write_result(folder, audit)
    assert "**precision .50 ± .00 at score >= 0**" in sheet_of(folder)[0]
    text, _ = sheet_of(folder, selection=Selection(min_score=0.6))
    assert "**precision 1.00 ± .00 at score >= .5**" in text


def test_a_damaged_audit_is_refused_and_not_passed_over(folder):
    (folder / RESULT).write_text("{")
    with pytest.raises(ConfigurationError, match="run scrapy audit"):
        exported(folder, "tsv")


def test_what_pages_say_cannot_forge_a_row_or_markup(folder):
    write_sentences(folder, [sentence(licence1="x |\n| <script>alert(1)</script> | 9")])
    text, _ = sheet_of(folder)
    assert "<script>" not in text
    assert "| x &#124; &#124; &#60;script" in text


def test_a_folder_without_a_report_has_a_shorter_datasheet(folder):
    (folder / "crawl.json").unlink()
    text, _ = sheet_of(folder)
    assert "Pages fetched from" in text
    assert "pages read" not in text
