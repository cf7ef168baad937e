"""What is for one language or for two: how it is written, requested and reported."""

import pytest

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.crawl.fetching.identity import accept_language
from bilingual_crawler.documents.document import Document, Paragraph, why_unwanted
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import (
    LanguagePair,
    LanguagePairError,
    OneLanguage,
    UnknownLanguageError,
    parse_languages,
)
from bilingual_crawler.reporting.counts import Counts
from bilingual_crawler.reporting.progress import Progress, progress_line
from bilingual_crawler.reporting.report import explain
from bilingual_crawler.reporting.summary import Ending, summary_text

SPANISH = parse_languages("spa")
PAIR = parse_languages("spa-eus")


@pytest.mark.parametrize("text", ["spa", "es", "SPA", "Spanish", "español", " Spanish "])
def test_one_language_goes_by_any_of_its_names(text):
    assert parse_languages(text) == SPANISH
    assert isinstance(SPANISH, OneLanguage)
    assert str(SPANISH) == "spa"


@pytest.mark.parametrize("text", ["spa-eus", "es,eu", "Spanish-Basque"])
def test_two_languages_are_a_pair(text):
    assert parse_languages(text) == LanguagePair.parse("spa-eus")


def test_a_name_with_a_hyphen_in_it_is_one_language():
    assert str(parse_languages("Luba-Katanga")) == "lub"
    assert str(parse_languages("zh-Hant")) == "zho"
    assert str(parse_languages("Luba-Katanga-French")) == "lub-fra"


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("spz", UnknownLanguageError, "did you mean Spanish"),
        ("spa-basqe", UnknownLanguageError, "did you mean Basque"),
        ("spa-spa", LanguagePairError, "two different languages"),
        ("spa-", LanguagePairError, "not a pair"),
        ("x" * 1000, LanguagePairError, "not a pair"),
    ],
)
def test_what_names_no_language_is_told_with_the_nearest(text, error, told):
    with pytest.raises(error, match=told):
        parse_languages(text)


def test_a_page_makes_one_look_for_the_other_language_or_for_the_only_one():
    assert PAIR.sought_from("spa") == {"eus"}
    assert PAIR.sought_from("eng") == PAIR.sought_from(None) == {"spa", "eus"}
    assert SPANISH.sought_from("spa") == SPANISH.sought_from("eng") == {"spa"}


def test_servers_are_asked_for_the_language():
    assert accept_language(SPANISH) == "es, *;q=0.5"
    assert accept_language(PAIR) == "es, eu;q=0.9, *;q=0.5"


def test_pages_in_another_language_are_not_wanted():
    page = Document("https://x.example/", language="eus", paragraphs=[Paragraph("Kaixo")])
    assert why_unwanted(page, PAIR, 0) is None
    assert why_unwanted(page, SPANISH, 0).reason == "off_language"


def test_the_folder_of_a_crawl_is_named_by_its_language(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = CrawlPlan.from_arguments("spa", "https://x.example/")
    assert plan.output.name.startswith("spa-2")


def test_one_language_has_no_list_of_seeds(tmp_path):
    with pytest.raises(ConfigurationError, match="no list of seeds for spa"):
        CrawlPlan.from_arguments("spa", output=tmp_path)


def test_progress_is_told_in_documents():
    progress = Progress(langs=SPANISH, pages=200, waiting=3, documents={"spa": 50})
    assert progress_line(progress) == (
        "200 pages (0.0/s), 3 waiting, spa 50, 50 documents (25.0 per 100 pages)"
    )


def test_the_summary_is_told_in_documents(tmp_path):
    (tmp_path / "pairs.jsonl").touch()
    (tmp_path / "documents.jsonl.gz").write_bytes(b"x")
    counts = Counts(langs=SPANISH, pages=10, documents={"spa": 1}, outcomes={"off_language": 9})
    ending = Ending(
        counts=counts, pairs=[], folder=tmp_path, seconds=1, finished=True, stopped_why=""
    )
    text = summary_text(ending)
    assert "1 document in Spanish from 10 pages" in text
    assert "9  The page is in another language." in text
    assert "documents.jsonl.gz" in text
    assert "pair" not in text


def test_a_crawl_without_documents_is_explained():
    counts = Counts(langs=SPANISH, pages=4, outcomes={"off_topic": 3, "off_language": 1})
    assert explain(counts)[:3] == [
        "All 4 pages were dropped:",
        "3 pages: The page is not about the topic (BILINGUAL_TOPIC_SCORE, BILINGUAL_TOPIC_TERMS).",
        "1 page: The page is in another language.",
    ]
    assert any("scrapy topic" in sentence for sentence in explain(counts))
    assert explain(Counts(langs=SPANISH, pages=4, documents={"spa": 1})) == []
