"""Mistakes of users are reported in a sentence that says what to write instead."""

import sys

import pytest

from tests.support import processes
from tests.support.crawling import FAST, ROOT, crawl, documents
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl


def run(*arguments, settings=None, cwd=ROOT):
    options = [part for k, v in (FAST | (settings or {})).items() for part in ("-s", f"{k}={v}")]
    return processes.run(
        [sys.executable, "-m", "scrapy", "crawl", "bilingual", *arguments, *options],
        cwd=cwd,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("arguments", "settings", "told"),
    [
        (["-a", "langs=basqe-spa"], {}, "did you mean Basque (eus)"),
        (["-a", "langs=spa-eus"], {"BILINGUAL_WARC": "maybe"}, "must be true or false"),
    ],
)
def test_a_refusal_is_in_the_log_file_which_is_all_that_scrapyd_shows(
    tmp_path, arguments, settings, told
):
    log = tmp_path / "job.log"
    assert run(*arguments, settings=settings | {"LOG_FILE": log}).returncode != 0
    refusals = [line for line in log.read_text("utf-8").splitlines() if "ERROR" in line]
    assert any(told in line for line in refusals)


@pytest.mark.parametrize(
    ("arguments", "settings", "told"),
    [
        ([], {}, "-a langs=spa-eus"),
        (["-a", "langs=basqe-spa"], {}, "did you mean Basque (eus)"),
        (["-a", "langs=spa-spa"], {}, "two different languages"),
        (["-a", "langs=xho-kat"], {}, "-a seeds="),
        (["-a", "langs=spa-eus", "-a", "seeds=ftp://a.example/"], {}, "ftp://a.example/"),
        (["-a", "langs=spa-eus", "-a", "seeds_file=/no/such/file"], {}, "/no/such/file"),
        (["-a", "langs=spa-eus", "-a", "sites=/no/such/file"], {}, "/no/such/file"),
        (["-a", "langs=spa-eus", "-a", "seed=https://a.example/"], {}, "did you mean seeds?"),
        (["-a", "langs=spa-eus"], {"BILINGUAL_SCORRER": "rules"}, "did you mean BILINGUAL_SCORER"),
        (["-a", "langs=spa-eus"], {"BILINGUAL_SCORER": "magic"}, "rules, language"),
        (["-a", "langs=spa-eus"], {"BILINGUAL_WORD_LIST": "/no/list"}, "The word list /no/list"),
        (
            ["-a", "langs=spa-eus"],
            {"BILINGUAL_EMBEDDINGS": "/no/model"},
            "sentence model /no/model",
        ),
        (["-a", "langs=spa-eus"], {"BILINGUAL_WARC": "maybe"}, "must be true or false"),
        (["-a", "langs=spa-eus"], {"BILINGUAL_SITE_PAGES": "many"}, "must be a whole number"),
        (["-a", "langs=spa-eus", "-a", "scorer=magic"], {}, "rules, language"),
    ],
)
def test_a_mistake_is_explained_without_a_traceback(tmp_path, arguments, settings, told):
    done = run(*arguments, "-a", f"output={tmp_path / 'out'}", settings=settings)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_crawl_with_mistakes_leaves_no_folder(tmp_path):
    run("-a", "langs=basqe-spa", "-a", f"output={tmp_path / 'out'}")
    assert list(tmp_path.iterdir()) == []


def test_all_problems_of_the_settings_are_told_at_once(tmp_path):
    done = run("-a", "langs=spa-eus", settings={"BILINGUAL_WARC": "x", "BILINGUAL_HONOUR": "law"})
    assert "BILINGUAL_WARC" in done.stderr
    assert "BILINGUAL_HONOUR" in done.stderr


@pytest.mark.parametrize("langs", ["es-eu", "Spanish-Basque", "spa-baq"])
def test_languages_go_by_many_names(tmp_path, langs):
    with serve_demo() as server:
        settings = {"CLOSESPIDER_PAGECOUNT": 5}
        crawl(server.url, tmp_path / "out", langs=langs, settings=settings)
    assert {document["language"] for document in documents(tmp_path / "out")} <= {"spa", "eus"}


def test_seeds_come_from_a_file_and_are_named(tmp_path):
    with serve_demo() as server:
        file = tmp_path / "seeds.txt"
        file.write_text(f"# ours\n{server.url}es/\n\n{server.url}eu/\n")
        printed = crawl(
            None,
            tmp_path / "out",
            arguments={"seeds_file": file},
            settings={"CLOSESPIDER_PAGECOUNT": 10, "LOG_LEVEL": "INFO"},
        )
        assert "seeds.txt" in printed
        assert f"{server.url}eu/" in printed
        asked = server.paths()
        pages = [path for path in asked if not path.startswith("/.well-known")]
        assert {"/es/", "/eu/"} <= set(pages[:6])  # one may overtake the other on its way


def test_an_output_folder_is_made_up_where_none_is_given(tmp_path):
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = bilingual_crawler.settings\n")
    with serve_demo() as server:
        done = run(
            *("-a", "langs=spa-eus", "-a", f"seeds={server.url}"),
            settings={"CLOSESPIDER_PAGECOUNT": 3},
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "crawls").iterdir()
    assert folder.name.startswith("spa-eus-")
    assert (folder / "crawl.json").exists()
