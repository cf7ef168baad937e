"""A crawl that is started on the page outlives the server, and is stopped and resumed there."""

import re

import pytest

from tests.support.crawling import FAST, report
from tests.support.processes import wait_until
from tests.support.servers import serve_demo
from tests.support.web_server import running

pytestmark = pytest.mark.crawl
BEFORE_STOP = 30
SETTINGS = {name: str(value) for name, value in FAST.items()}


def post(web, path, form):
    return web.post(path, {"csrf": web.keys.csrf("run")} | form)


def test_a_crawl_is_started_found_again_stopped_and_resumed_on_the_page(tmp_path):
    with serve_demo(pages=40) as site:
        site.hold(after=BEFORE_STOP)
        with running(tmp_path, allow_crawls=True, settings=SETTINGS) as web:
            form = {"langs": "spa-eus", "seeds": site.url, "output": "news/demo", "action": "start"}
            answer = post(web, "/new", form)
            page = "/c/news~1demo"
            assert (answer.status, answer.headers["Location"]) == (303, f"{page}/crawl")
            assert post(web, "/new", form).status == 409  # it runs already
            wait_until(lambda: len(site.paths()) > BEFORE_STOP)
            wait_until(lambda: f"{site.url}e" in web.ask(f"{page}/run/log").text)
            assert "Crawling 1 site for Spanish and Basque" in web.ask(f"{page}/run/log").text
        with running(tmp_path, allow_crawls=True, settings=SETTINGS) as web:
            shown = web.ask(f"{page}/crawl").text
            assert re.search(r"Started.* from this page .*, process \d+", shown)
            assert "news/demo" in web.ask("/").text
            post(web, f"{page}/run/stop", {})
            site.release()
            wait_until(lambda: 'id="resume"' in web.ask(f"{page}/run/live").text)
            folder = tmp_path / "news" / "demo"
            assert report(folder)["stopped_by"] == "shutdown"
            assert (folder / "crawl.run.json").stat().st_mode & 0o77 == 0
            before = report(folder)["pages"]
        with running(folder, allow_crawls=True, settings=SETTINGS) as web:
            form = {"langs": "spa-eus", "seeds": site.url, "action": "start"}
            answer = post(web, "/new", form | {"CLOSESPIDER_PAGECOUNT": "100000"})
            assert (answer.status, answer.headers["Location"]) == (303, "/crawl")
            wait_until(lambda: 'id="resume"' in web.ask("/run/live").text)
            assert report(folder)["state"] == "finished"
            assert report(folder)["pages"] > before
