"""Whole crawls of a site that is made by scripts, with a real Chromium."""

import json
import shutil
import signal
import sqlite3
import sys
from collections import Counter

import pytest

from bilingual_crawler.store.warc import VARIANT
from bilingual_crawler.store.warc_reader import read_records, target_of
from tests.support import processes
from tests.support.crawling import ROOT, crawl, documents, finish, pairs, start
from tests.support.fetching import HTML, Site
from tests.support.processes import wait_until
from tests.support.recordings import PROSE, to
from tests.support.scripted_site import BY_COOKIE, JSON, SCRIPT, shell, toggled

if not (shutil.which("chromium") or shutil.which("chromium-browser")):
    pytest.skip("Chromium is not installed: run tools/system_packages.sh", allow_module_level=True)
pytest.importorskip("scrapy_playwright", reason="pip install 'bilingual-crawler[render]'")

pytestmark = pytest.mark.crawl

APPS = tuple(f"/app/{number}" for number in (11, 222, 3333))
FILL = """
const number = location.pathname.split('/')[2];
const code = new URLSearchParams(location.search).get('l') || 'es';
window.fill = async (code) => {
    const texts = await (await fetch(`/texts/${code}/${number}`)).json();
    document.getElementById('app').innerHTML = texts.map((text) => `<p>${text}</p>`).join('');
};
fill(code);
"""
TOGGLE = "document.querySelector('button').onclick = () => fill('eu');"
CLOSED = '<meta name="robots" content="noai">'


def texts(language, number):
    return [each.format(number) for each in PROSE[language]]


def prose(language, number):
    return "".join(f"<p>{text}</p>" for text in texts(language, number))


def html(text):
    return 200, HTML, text.encode()


def by_cookie(handler):
    code = "eu" if "lang=eu" in (handler.headers.get("Cookie") or "") else "es"
    return html(toggled(BY_COOKIE, texts=texts(code, 44444)))


class ScriptedSite(Site):
    def answer_to(self, path):
        if path.startswith("/texts/"):
            _, _, code, number = path.split("/")
            return 200, JSON, json.dumps(texts(code, number)).encode()
        return super().answer_to(path)


def site():
    script = '<script src="/fill.js"></script>'
    button = '<button data-lang="eu">EU</button>'
    return ScriptedSite(
        {
            "/": html(
                f"<title>Inicio</title>{to(*APPS, '/toggle/555', '/cookie/', '/closed/6', '/eu/8')}"
                + prose("es", 1000)
            ),
            **dict.fromkeys(APPS, html(shell(script="fill.js"))),
            "/toggle/555": html(
                f"<title>x</title>{button}<div id=app>{prose('es', 555)}</div>{script}"
                f"<script>{TOGGLE}</script>"
            ),
            "/cookie/": by_cookie,
            "/closed/6": html(shell(script="closed.js", head=CLOSED)),
            "/eu/8": html(f"<title>Berria</title>{prose('eu', 8)}"),
            "/late/7": html(f"<title>x</title>{prose('es', 7000000)}<div id=app></div>{script}"),
            "/fill.js": (200, SCRIPT, FILL.encode()),
        }
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    out = tmp_path_factory.mktemp("crawl") / "out"
    settings = {"BILINGUAL_RENDER": "auto", "BILINGUAL_WARC": 1}
    with site() as server:
        crawl(server.url + "/", out, settings=settings)
        yield server, out, settings


def by_path(server, out):
    return {
        (each["url"].removeprefix(server.url), each["variant"]): each for each in documents(out)
    }


def test_pages_that_need_scripts_are_rendered_and_others_are_not(crawled):
    server, out, _ = crawled
    found = by_path(server, out)
    assert {key for key, each in found.items() if each["rendered"]} == {
        *((path, "") for path in APPS),
        *(("/toggle/555", code) for code in ("spa", "eus")),
        *(("/cookie/", code) for code in ("spa", "eus")),
    }
    assert not found["/", ""]["rendered"]
    assert texts("es", 11)[0] in [each["text"] for each in found["/app/11", ""]["paragraphs"]]


@pytest.mark.parametrize("path", ["/toggle/555", "/cookie/"])
def test_two_languages_of_one_address_make_a_pair(crawled, path):
    server, out, _ = crawled
    keys = {(each["url1"], each["url2"]) for each in pairs(out)}
    url = server.url + path
    assert (f"{url}#variant=spa", f"{url}#variant=eus") in keys


def test_a_page_that_opts_out_is_not_rendered(crawled):
    assert "/closed.js" not in crawled[0].asked


def test_a_script_is_fetched_once_for_all_pages(crawled):
    assert crawled[0].asked.count("/fill.js") == 1


def test_the_archive_has_the_answers_and_what_the_browser_made_of_them(crawled):
    server, out, _ = crawled
    records: Counter[tuple[str, str, str | None]] = Counter()
    for record in read_records(out / "crawl-00000.warc.gz", lambda at: pytest.fail(str(at))):
        url = (target_of(record) or "").removeprefix(server.url)
        records[record.headers["WARC-Type"], url, record.headers.get(VARIANT)] += 1
    assert records["response", "/app/11", None] == records["conversion", "/app/11", None] == 1
    assert records["response", "/fill.js", None] == 1
    assert records["conversion", "/toggle/555", "spa"] == 1
    assert records["conversion", "/toggle/555", "eus"] == 1
    assert not [each for each in records if "/closed" in each[1]], "it opted out"


def test_pairs_are_found_in_the_archive_as_in_the_crawl(crawled):
    server, out, _ = crawled
    command = [sys.executable, "-m", "scrapy", "pairs", out / "crawl-00000.warc.gz"]
    done = processes.run(
        [*command, "--langs", "spa-eus"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    url = f"{server.url}/toggle/555"
    assert f"{url}#variant=spa\t{url}#variant=eus" in done.stdout


def test_a_crawl_that_goes_on_remembers_that_the_site_needs_a_browser(crawled):
    server, out, settings = crawled
    crawl(server.url + "/late/7", out, settings=settings)
    assert "/texts/es/7" in server.asked, "though the page has text enough"
    connection = sqlite3.connect(out / "crawl.sqlite")
    facts = dict(connection.execute("SELECT name, value FROM facts"))
    connection.close()
    assert facts["rendering of 127.0.0.1"].startswith("3 ")


def test_a_page_that_is_being_rendered_when_the_crawl_is_stopped_is_rendered_by_the_next(tmp_path):
    stopped: list[None] = []

    def stop(_handler):
        if not stopped:
            stopped.append(process.send_signal(signal.SIGTERM))
            wait_until(lambda: "Received SIGTERM" in log.read_text(), process)
        return 200, JSON, json.dumps(texts("es", 9)).encode()

    log = tmp_path / "log"
    settings = {"BILINGUAL_RENDER": "auto"}
    with site() as server:
        server.answers["/app/9"] = html(shell(script="fill.js"))
        server.answer_to = lambda path: (
            stop if path == "/texts/es/9" else ScriptedSite.answer_to(server, path)
        )
        out = tmp_path / "out"
        process = start(f"{server.url}/app/9", out, settings=settings | {"LOG_FILE": log})
        finish(process)
        assert documents(out) == []
        crawl(f"{server.url}/app/9", out, settings=settings)
    assert [each["rendered"] for each in documents(out)] == [True]


def test_a_site_that_is_not_to_be_rendered_is_not_and_the_user_is_told_what_it_would_help(tmp_path):
    rules = tmp_path / "sites.toml"
    rules.write_text('["127.0.0.1"]\nrender = "never"\n')
    with site() as server:
        printed = crawl(
            server.url + "/",
            tmp_path / "out",
            arguments={"sites": rules},
            settings={"BILINGUAL_RENDER": "always"},
        )
    assert "/fill.js" not in server.asked
    assert "6 pages seem to need JavaScript" in printed
    assert "-s BILINGUAL_RENDER=auto" in printed
