"""Crawls from the page: what may be ordered, what is refused, and which process is ours."""

import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from bilingual_crawler.commands.serve import read_scrapyd
from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.web.report_file import read_report
from bilingual_crawler.web.runs.child import ChildRuns
from bilingual_crawler.web.runs.order import OURS, CrawlOrder, check_order
from bilingual_crawler.web.runs.record import read_record
from bilingual_crawler.web.runs.runs import Runs
from bilingual_crawler.web.runs.scrapyd import ScrapydRuns, ScrapydServer
from bilingual_crawler.web.server import ServerOptions, check_token
from tests.support import processes
from tests.support.scrapyd_server import free_port
from tests.support.web_folders import LiveCrawl, small_crawl
from tests.support.web_server import running

FIXED = {"BILINGUAL_CONTACT": "https://example.net/us", "BILINGUAL_PASSWORD": "very-secret"}
GOOD = {"langs": "spa-eus", "seeds": "https://example.org/", "output": "one"}


class NoRunner(ChildRuns):
    """Refuses to start anything, so that nothing is fetched by mistake."""

    def start(self, order):
        raise AssertionError(f"{order} was started")


@pytest.fixture(scope="module")
def crawls(tmp_path_factory):
    crawls = tmp_path_factory.mktemp("crawls")
    small_crawl(crawls / "done")
    (crawls / "seeds.txt").write_text("https://example.org/\n")
    (crawls.parent / "secret.txt").write_text("root:x:0\n")
    with (crawls / "large.tsv").open("wb") as file:
        file.truncate(30_000_000)
    (crawls / "leading-out").symlink_to(crawls.parent)
    return crawls


@pytest.fixture(scope="module")
def web(crawls):
    with running(crawls, allow_crawls=True, settings=FIXED) as server:
        yield server


def post(web, path, form, **headers):
    return web.post(path, {"csrf": web.keys.csrf("run")} | form, **headers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BILINGUAL_SCORER", "os.system"),
        ("BILINGUAL_DETECTORS", "my.Detector"),
        ("BILINGUAL_IDENTIFIER", "my.Identifier"),
        ("BILINGUAL_BACKLINKS", "python:my.Source"),
        ("BILINGUAL_CHROMIUM", "/bin/sh"),
        ("BILINGUAL_MODELS", "/tmp/models"),
        ("BILINGUAL_EMBEDDINGS", "anything"),
        ("BILINGUAL_FRONTIER", "redis://10.0.0.1:6379/0"),
        ("BILINGUAL_METRICS", "0.0.0.0:80"),
        ("BILINGUAL_ALLOW_PRIVATE", "1"),
        ("EXTENSIONS", '{"my.Extension": 1}'),
        ("ROBOTSTXT_OBEY", "0"),
        ("LOG_FILE", "/etc/cron.d/x"),
        ("FEEDS", "{}"),
    ],
)
def test_no_setting_that_names_code_programs_files_or_servers_is_taken(web, name, value):
    answer = post(web, "/new", GOOD | {"action": "start", "settings": f"{name}={value}"})
    assert answer.status == 422
    assert name in answer.shown.partition('id="wrong-')[2]


def test_every_setting_of_the_page_has_a_check_and_none_takes_an_import_path():
    names = {f"BILINGUAL_{name.upper()}" for name in Config.__dataclass_fields__}
    assert names >= OURS
    texts = OURS - {"BILINGUAL_CONTACT", "BILINGUAL_CONTENT_TYPES"}  # words that are only sent
    for name in sorted(texts):
        assert check_order(CrawlOrder(Path("x"), {}, {name: "my.module.Class"}), Path(), {})[name]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"langs": ""}, "langs"),
        ({"langs": "spa-xyzzy"}, "langs"),
        ({"seeds": "https://example.org/\nhttps://example.com:port/"}, "seeds"),
        ({"seeds": "", "langs": "ast-eus"}, "seeds"),
        ({"BILINGUAL_SITE_PAGES": "many"}, "BILINGUAL_SITE_PAGES"),
        ({"CLOSESPIDER_PAGECOUNT": "-1"}, "CLOSESPIDER_PAGECOUNT"),
        ({"topic": "../secret.txt"}, "topic"),
        ({"seeds_file": "leading-out/secret.txt"}, "seeds_file"),
        ({"sites": "/etc/passwd"}, "sites"),
        ({"topic": "large.tsv"}, "topic"),
        ({"output": "../outside"}, "output"),
        ({"output": "leading-out/x"}, "output"),
        ({"output": "seeds.txt"}, "output"),
        ({"output": "-x"}, "output"),
        ({"output": "語" * 100}, "output"),
        ({"settings": "BILINGUAL_CONTACT=me"}, "settings"),
        ({"settings": "hello"}, "settings"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(web, crawls, change, field):
    answer = post(web, "/new", GOOD | change | {"action": "start"})
    assert answer.status == 422
    assert f'id="wrong-{field}"' in answer.text
    assert "aria-invalid" in answer.text
    assert "root:x" not in answer.text
    assert not (crawls / "one").exists()


def test_arguments_are_refused_with_the_sentences_of_the_command(web):
    with pytest.raises(ConfigurationError) as error:
        CrawlPlan.from_arguments(langs="spa-xyzzy", seeds="https://example.com:port/", output="x")
    answer = post(web, "/new", {"langs": "spa-xyzzy", "seeds": "https://example.com:port/"})
    for problem in error.value.problems:
        assert problem in answer.shown


def test_the_form_shows_the_command_that_does_the_same_without_secrets(web, crawls):
    answer = post(web, "/new", GOOD | {"DOWNLOAD_DELAY": "2", "settings": "RETRY_TIMES=1"})
    assert answer.status == 200
    assert (
        f"scrapy crawl bilingual -a langs=spa-eus -a seeds=https://example.org/"
        f" -a output={crawls}/one -s DOWNLOAD_DELAY=2 -s RETRY_TIMES=1"
        f" -s BILINGUAL_CONTACT=https://example.net/us -s BILINGUAL_PASSWORD=..."
    ) in answer.shown
    assert "very-secret" not in answer.text


def test_a_crawl_that_was_started_elsewhere_fills_the_form(web):
    page = web.ask("/new?from=done")
    assert page.status == 200
    assert 'name="output" type="text" value="done"' in page.text
    assert "<h1>Change and resume</h1>" in page.text
    assert web.ask("/new?from=..").status == 404


def test_the_only_folder_has_a_form_that_changes_its_crawl_and_cannot_name_another(tmp_path):
    folder = tmp_path / "done"
    small_crawl(folder)
    known = json.loads((folder / "crawl.json").read_text())
    (folder / "crawl.json").write_text(json.dumps(known | {"langs": "spa-eus"}))
    with running(folder, allow_crawls=True, settings=FIXED) as web:
        assert 'href="/new"' in web.ask("/crawl").text
        page = web.ask("/new")
        assert 'name="langs" type="text" value="spa-eus"' in page.text
        assert 'name="output"' not in page.text
        answer = post(web, "/new", GOOD | {"CLOSESPIDER_PAGECOUNT": "7"})
        assert f"-a output={folder} -s CLOSESPIDER_PAGECOUNT=7" in answer.shown
        assert post(web, "/new", GOOD | {"langs": "x", "action": "start"}).status == 422
    with running(folder) as web:
        assert web.ask("/new").status == 404


@pytest.mark.parametrize("made", [{"seeds": []}, {"seeds": [], "built_from": ["a.warc.gz"]}])
def test_a_corpus_without_a_crawl_has_none_to_resume(tmp_path, made):
    (tmp_path / "crawl.json").write_text(
        json.dumps({"langs": "spa-eus", "state": "finished"} | made)
    )
    with running(tmp_path, allow_crawls=True) as web:
        page = web.ask("/crawl").text
        assert "there was no crawl" in page
        assert 'id="resume"' not in page
        answer = post(web, "/run/resume", {})
        assert (answer.status, web.ask("/new").status) == (409, 404)
        assert "there is no crawl to resume" in answer.text


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        ({"csrf": "guessed"}, {}),
        ({"csrf": ""}, {}),
        ({}, {"Origin": "https://evil.example"}),
        ({}, {"Sec-Fetch-Site": "cross-site"}),
    ],
)
@pytest.mark.parametrize("path", ["/new", "/c/done/run/stop", "/c/done/run/resume"])
def test_only_our_own_forms_start_and_stop_anything(web, path, form, headers):
    assert post(web, path, GOOD | {"action": "start"} | form, **headers).status == 403


def test_nothing_is_started_unless_the_server_allows_it(crawls):
    with running(crawls) as web:
        assert web.ask("/new").status == 404
        assert "New crawl" not in web.ask("/").text
        assert post(web, "/new", GOOD | {"action": "start"}).status in {404, 405}
        for what in ("stop", "resume"):
            answer = post(web, f"/c/done/run/{what}", {})
            assert answer.status == 403
            assert "--allow-crawls" in answer.text


def test_a_server_that_starts_crawls_asks_other_users_of_the_machine_for_a_token():
    assert check_token(ServerOptions(Path(), allow_crawls=True))
    assert check_token(ServerOptions(Path())) is None


def recorded(folder, process, name):
    folder.mkdir()
    fields = {"id": name, "via": "process", "pid": process.pid, "arguments": {}}
    (folder / "crawl.run.json").write_text(json.dumps(fields))


def test_a_process_is_known_by_its_command_line_and_not_by_its_number(tmp_path):
    """A record may be old, copied, or made by someone who wants another process to be stopped."""
    name = uuid4().hex
    code = "import sys; print(flush=True); sys.stdin.read()"
    ours, copy, others = tmp_path / "ours", tmp_path / "copy", tmp_path / "others"
    words = [sys.executable, "-c", code, "bilingual_crawler", f"_run={name}", f"output={ours}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = processes.start(words, **pipes)
    stranger = processes.start([sys.executable, "-c", code], **pipes)
    for each in (process, stranger):
        each.stdout.readline()
    recorded(ours, process, name)
    recorded(copy, process, name)
    recorded(others, stranger, uuid4().hex)
    runs = Runs(tmp_path, NoRunner({}))
    assert [runs.state(each).phase for each in (ours, copy, others)] == [
        "running",
        "ended",
        "ended",
    ]
    for folder in (copy, others):
        with pytest.raises(ConfigurationError, match="No crawl that was started here"):
            runs.stop(folder)
    runs.stop(ours)
    assert process.wait(processes.HANG) == -15
    assert stranger.poll() is None
    assert runs.state(ours).phase == "ended"


def test_a_crawl_of_a_terminal_is_seen_and_left_alone(tmp_path):
    crawl = LiveCrawl(tmp_path / "live")
    crawl.save()
    (tmp_path / "live" / "crawl.log").write_text("a line\n\x1b]0;owned\x07<b>\n")
    runs = Runs(tmp_path, NoRunner({}))
    state = runs.state(tmp_path / "live")
    assert state.phase == "elsewhere"
    assert state.log == ["a line", "\N{REPLACEMENT CHARACTER}]0;owned\N{REPLACEMENT CHARACTER}<b>"]
    order = CrawlOrder(tmp_path / "live", {"langs": "spa-eus"})
    with pytest.raises(ConfigurationError, match="running already"):
        runs.start(order)
    with pytest.raises(ConfigurationError, match="no more are allowed"):
        Runs(tmp_path, NoRunner({}), most=1).start(CrawlOrder(tmp_path / "new"))
    crawl.close()


@pytest.mark.parametrize(
    "content",
    [
        "[]", "{}", "{", "[" * 100_000, '{"id": "x"}', '{"id": 5, "pid": "1"}',
        '{"id": "%s", "pid": true}' % ("a" * 32),
    ],
)  # fmt: skip
def test_a_record_of_someone_else_is_no_record(tmp_path, content):
    (tmp_path / "crawl.run.json").write_text(content)
    assert read_record(tmp_path) is None


def test_what_a_record_orders_is_checked_like_a_form(crawls):
    folder = crawls / "foreign"
    folder.mkdir()
    fields = {
        "id": "a" * 32, "via": "process", "pid": 1,
        "arguments": {"langs": "spa-eus", "seeds": "https://example.org/", "topic": "/etc/passwd"},
        "settings": {"BILINGUAL_DETECTORS": "my.Detector", "EXTENSIONS": "{}", "HALF": "\udc80"},
    }  # fmt: skip
    (folder / "crawl.run.json").write_text(json.dumps(fields))
    with running(crawls, allow_crawls=True) as web:
        assert [web.ask(f"/{each}").status for each in ("c/foreign/crawl", "new?from=foreign")] == [
            200,
            200,
        ]
        answer = post(web, "/c/foreign/run/resume", {})
    assert answer.status == 409
    assert "BILINGUAL_DETECTORS cannot be set on this page" in answer.text
    assert "EXTENSIONS cannot be set on this page" in answer.text
    assert "no such file below" in answer.text


def test_a_folder_of_someone_else_gets_a_sentence(tmp_path):
    fields = {"seeds": ["https://example.org/"], "seeds_from": 5}
    (tmp_path / "crawl.json").write_text(json.dumps(fields))
    assert "seeds" in CrawlOrder.from_report(tmp_path, read_report(tmp_path)).arguments
    order = CrawlOrder(tmp_path, {"langs": "spa\0eus"})
    with pytest.raises(ConfigurationError, match="cannot be started: embedded null byte"):
        ChildRuns({}).start(order)
    (tmp_path / "file").touch()
    scrapyd = ScrapydRuns(ScrapydServer("http://127.0.0.1:1"), {})
    with pytest.raises(ConfigurationError, match="cannot be written: File exists"):
        scrapyd.start(CrawlOrder(tmp_path / "file"))


def test_a_log_that_is_not_a_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "crawl.log")
    assert Runs(tmp_path, NoRunner({})).state(tmp_path).log == []


def test_a_scrapyd_that_does_not_answer_is_no_end_of_a_crawl(tmp_path):
    nowhere = ScrapydServer(f"http://crawler:very-secret@127.0.0.1:{free_port()}/")
    runs = Runs(tmp_path, ScrapydRuns(nowhere, {}))
    with pytest.raises(ConfigurationError, match="is it running") as error:
        runs.start(CrawlOrder(tmp_path / "one", {"langs": "spa-eus"}))
    assert "very-secret" not in str(error.value)
    state = runs.state(tmp_path / "one", with_log=True)
    assert (state.phase, state.log) == ("unknown", [])
    assert "is it running" in state.problem


def test_a_scrapyd_is_named_by_its_section_in_scrapy_cfg_or_by_its_url(tmp_path, monkeypatch):
    (tmp_path / "scrapy.cfg").write_text(
        "[deploy]\nurl = http://127.0.0.1:6800/\nproject = mine\nusername = $SCRAPYD_USERNAME\n"
        "password = $SCRAPYD_PASSWORD\n[deploy:far]\nurl = https://far.example/\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPYD_USERNAME", "crawler")
    monkeypatch.delenv("SCRAPYD_PASSWORD", raising=False)
    assert read_scrapyd("default") == ScrapydServer("http://127.0.0.1:6800/", "mine", "crawler")
    assert read_scrapyd("far").url == "https://far.example/"
    direct = "http://127.0.0.1:1/"
    assert read_scrapyd(direct) == ScrapydServer(direct, username="crawler")
    for wrong in ("near", "ftp://x.example/"):
        with pytest.raises(ConfigurationError):
            read_scrapyd(wrong)
