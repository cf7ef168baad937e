"""The project is sent to a real scrapyd, crawls there, is stopped there and goes on there."""

import configparser
import json
import subprocess
import sys
import urllib.error

import pytest

from bilingual_crawler.web.runs.order import CrawlOrder
from bilingual_crawler.web.runs.runs import Runs
from bilingual_crawler.web.runs.scrapyd import ScrapydRuns, ScrapydServer
from demo import content
from tests.support.crawling import documents, pairs, report
from tests.support.processes import wait_until
from tests.support.projects import ROOT, copy_project
from tests.support.scrapyd_server import PASSWORD, PROJECT, USERNAME, deploy, serve_scrapyd
from tests.support.servers import serve_demo

pytest.importorskip("scrapyd", reason="pip install 'bilingual-crawler[deploy]'")

pytestmark = pytest.mark.crawl
BEFORE_CANCEL = 30
VERSION = "1.0+from.the.egg"
FAST = (
    "BILINGUAL_ALLOW_PRIVATE=1",
    "BILINGUAL_LOG_FORMAT=json",
    "BILINGUAL_RETRY_DELAY=0.1",
    "DOWNLOAD_DELAY=0",
    "AUTOTHROTTLE_ENABLED=0",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("deploy")


@pytest.fixture(scope="module")
def scrapyd(place):
    """A scrapyd that has the project, whose version tells the egg from what is installed."""
    copy_project(place / "project")
    init = place / "project" / "bilingual_crawler" / "__init__.py"
    init.write_text(f"{init.read_text()}\n__version__ = {VERSION!r}\n")
    with serve_scrapyd(place / "scrapyd") as server:
        done = deploy(server, place / "project", "r1")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["spiders"] >= 1
        yield server


@pytest.fixture(scope="module")
def sites():
    with serve_demo() as quick, serve_demo(pages=60) as slow:
        slow.hold(after=BEFORE_CANCEL)
        yield quick, slow


@pytest.fixture(scope="module")
def jobs(scrapyd, sites):
    """One job that runs to its end, and one beside it that is cancelled on its way."""
    quick, slow = sites
    started = [
        scrapyd.tell(
            "schedule", *FAST, *more, project=PROJECT, spider="bilingual", langs="spa-eus",
            seeds=site.url,
        )["jobid"]
        for site, more in ((quick, ["BILINGUAL_ALIGN=1"]), (slow, []))
    ]  # fmt: skip
    whole, cut = started
    wait_until(lambda: len(slow.paths()) > BEFORE_CANCEL)
    scrapyd.tell("cancel", project=PROJECT, job=cut)
    slow.release()
    scrapyd.wait_until(cut, "finished")
    scrapyd.wait_until(whole, "finished")
    return whole, cut


def folder_of(scrapyd, job):
    return scrapyd.folder / "crawls" / f"spa-eus-{job}"


def test_nobody_gets_in_without_the_password(scrapyd):
    with pytest.raises(urllib.error.HTTPError, match="401"):
        scrapyd.ask("daemonstatus", password="wrong")


@pytest.mark.parametrize(("password", "status"), [(PASSWORD, 0), ("wrong", 1)])
def test_the_health_check_of_the_image_asks_as_a_user_does(scrapyd, password, status):
    port = scrapyd.url.rstrip("/").rpartition(":")[2]
    names = {"SCRAPYD_HTTP_PORT": port, "SCRAPYD_USERNAME": USERNAME, "SCRAPYD_PASSWORD": password}
    check = [sys.executable, str(ROOT / "deploy" / "healthcheck.py")]
    done = subprocess.run(check, env=names, capture_output=True, check=False)
    assert done.returncode == status


def test_the_version_that_was_sent_is_there(scrapyd):
    assert scrapyd.ask("listversions", project=PROJECT)["versions"] == ["r1"]


def test_a_job_finds_the_pairs_and_its_folder_is_named_for_it(scrapyd, sites, jobs):
    output = folder_of(scrapyd, jobs[0])
    found = {(pair["url1"], pair["url2"]) for pair in pairs(output)}
    assert content.expected_pairs(sites[0].url) <= found
    assert report(output)["state"] == "finished"


def test_a_job_runs_the_code_and_the_models_of_the_egg(scrapyd, jobs):
    about = report(folder_of(scrapyd, jobs[0]))
    assert about["versions"]["bilingual-crawler"] == VERSION
    assert about["settings"].get("BILINGUAL_SCORER", "adaptive") == "adaptive"


def test_sentences_are_aligned_by_a_process_that_finds_the_egg_too(scrapyd, jobs):
    output = folder_of(scrapyd, jobs[0])
    assert (output / "sentences.jsonl.gz").exists(), scrapyd.log(jobs[0])


def test_a_cancelled_job_stops_cleanly_and_keeps_what_it_has(scrapyd, jobs):
    output = folder_of(scrapyd, jobs[1])
    assert report(output)["stopped_by"] == "shutdown"
    assert report(output)["state"] == "stopped"
    assert len(documents(output)) == sum(report(output)["documents"].values()) > 0


def test_the_web_page_starts_and_stops_a_crawl_as_a_job(scrapyd, tmp_path):
    settings = dict(each.split("=") for each in FAST)
    server = ScrapydServer(scrapyd.url, PROJECT, USERNAME, PASSWORD)
    runs = Runs(tmp_path, ScrapydRuns(server, settings), settings)
    with serve_demo(pages=40) as site:
        site.hold(after=BEFORE_CANCEL)
        order = CrawlOrder(tmp_path / "one", {"langs": "spa-eus", "seeds": site.url})
        assert not runs.check(order)
        runs.start(order)
        wait_until(lambda: runs.state(order.output).phase == "running")
        wait_until(lambda: len(site.paths()) > BEFORE_CANCEL)
        runs.stop(order.output)
        site.release()
        wait_until(lambda: runs.state(order.output).phase == "ended")
    assert report(order.output)["stopped_by"] == "shutdown"
    assert any(
        "Summary of the crawl" in line for line in runs.state(order.output, with_log=True).log
    )


def test_the_log_of_a_job_has_an_object_to_the_line(scrapyd, jobs):
    lines = [json.loads(line) for line in scrapyd.log(jobs[0]).splitlines()]
    assert {line["crawl"] for line in lines if "crawl" in line} == {"spa-eus"}
    assert "Summary of the crawl" in lines[-1]["message"]


def test_the_configuration_binds_to_loopback_and_keeps_no_password():
    conf = configparser.ConfigParser()
    conf.read(ROOT / "deploy" / "scrapyd.conf")
    options = conf["scrapyd"]
    assert options["bind_address"] == "127.0.0.1"
    assert options["password"] == options["items_dir"] == options["jobs_dir"] == ""
    assert int(options["max_proc"]) > 0
