"""The audit as a page: the questions, answers and results of `scrapy audit`."""

import json

import pytest

from bilingual_crawler.corpus.audit import Audit, Sample, read_answers, read_result
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.source import Account, CorpusSource
from bilingual_crawler.web.audit_pages import AuditDesk
from tests.support.export import sentence, write_sentences
from tests.support.processes import wait_until
from tests.support.web_folders import small_crawl
from tests.support.web_server import running

PAIRS = 90
VERDICTS = ("parallel", "wrong", "borderline", "skipped")


@pytest.fixture
def folder(tmp_path):
    rows = [
        sentence(at, f"Frase número {at}.", f"{at}. esaldia.", score=0.91) for at in range(PAIRS)
    ]
    return write_sentences(tmp_path / "crawl", rows)


@pytest.fixture
def web(folder):
    with running(folder) as server:
        wait_until(lambda: 'name="digest"' in server.ask("/audit").text)
        yield server


def sample_of(folder):
    return Sample(lambda: CorpusSource(folder, Account()).links())


def answer(web, verdict, **more):
    page = web.ask("/audit")
    digest = page.text.split('name="digest" value="')[1].split('"')[0]
    return web.post("/audit", {"csrf": page.csrf, "digest": digest, "verdict": verdict} | more)


def test_the_page_asks_and_writes_what_the_command_does(web, folder):
    sample = sample_of(folder)
    for number, verdict in enumerate(VERDICTS):
        page = web.ask("/audit").text
        row = sample.questions[number].row
        assert row.text1 in page
        assert row.text2 in page
        assert "0.91" not in page  # it would sway the reader
        assert answer(web, verdict).status == 303
    digests = [each.digest for each in sample.questions[: len(VERDICTS)]]
    expected = dict(zip(digests, VERDICTS, strict=True))
    assert read_answers(folder) == expected
    assert read_result(folder) == Audit(sample, read_answers(folder)).to_dict()
    assert "<strong>3</strong> read of at most" in web.ask("/audit").text


def test_the_last_answer_is_taken_back_also_one_of_the_command(web, folder):
    sample = sample_of(folder)
    answer(web, "parallel")
    with (folder / "audit.jsonl").open("a") as lines:  # as the command writes it
        lines.write(json.dumps({"digest": sample.questions[1].digest, "verdict": "wrong"}) + "\n")
    for left in (1, 0):
        page = web.ask("/audit")
        assert 'value="undo"' in page.text
        web.post("/audit", {"csrf": page.csrf, "verdict": "undo"})
        assert len(read_answers(folder)) == left
    assert 'value="undo"' not in web.ask("/audit").text


def test_it_says_when_the_interval_is_narrow_enough(web, folder):
    with (folder / "audit.jsonl").open("a") as lines:
        for number, question in enumerate(sample_of(folder).questions[:52]):
            verdict = "parallel" if number % 20 else "wrong"
            lines.write(json.dumps({"digest": question.digest, "verdict": verdict}) + "\n")
    page = web.ask("/audit").text
    assert "narrow enough" in page
    assert "with 95% confidence" in page
    assert "narrow enough" not in web.ask("/audit?margin=0.02").text
    answer(web, "parallel", margin="0.02")
    assert read_result(folder)["margin"] == 0.02


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"csrf": "guessed"}, 403),
        ({"verdict": "maybe"}, 400),
        ({"digest": "unknown"}, 400),
    ],
)
def test_an_answer_that_is_not_from_the_page_is_refused(web, folder, change, status):
    page = web.ask("/audit")
    digest = page.text.split('name="digest" value="')[1].split('"')[0]
    form = {"csrf": page.csrf, "digest": digest, "verdict": "parallel"} | change
    assert web.post("/audit", form).status == status
    assert not (folder / "audit.jsonl").exists()


def test_answers_of_someone_else_do_no_harm(web, folder):
    hostile = ["[]", '{"digest": [], "verdict": []}', '{"digest": "x", "verdict": {}}', "{"]
    (folder / "audit.jsonl").write_text("\n".join(hostile))
    assert answer(web, "wrong").status == 303
    assert list(read_answers(folder).values()) == ["wrong"]


def test_without_sentence_pairs_it_says_how_to_align(tmp_path):
    with running(small_crawl(tmp_path, aligned=False)) as web:
        assert f"scrapy align {tmp_path}" in web.ask("/audit").text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_sample_that_cannot_be_drawn_is_not_waited_for(folder, monkeypatch):
    monkeypatch.setattr("bilingual_crawler.web.audit_pages.Sample", lambda _: 1 / 0)
    with pytest.raises(ConfigurationError, match="cannot be drawn"):
        AuditDesk(folder).prepared()


def test_a_long_corpus_is_read_beside_the_page(folder, monkeypatch):
    monkeypatch.setattr("bilingual_crawler.web.audit_pages.SOON_SECONDS", 0)
    desk = AuditDesk(folder)
    prepared = wait_until(desk.prepared)
    assert len(prepared.questions) == PAIRS
    (folder / "sentences.jsonl.gz").touch()
    assert desk.prepared() is prepared  # asked on, although the file has changed just now
