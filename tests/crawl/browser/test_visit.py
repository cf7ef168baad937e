"""Pages in a real Chromium: what is read from them, and what they cannot do."""

import asyncio
import contextlib
import shutil
import socket
import time

import psutil
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed: run tools/system_packages.sh", allow_module_level=True)
pytest.importorskip("scrapy_playwright", reason="pip install 'bilingual-crawler[render]'")

from playwright.async_api import async_playwright  # noqa: E402

from bilingual_crawler.crawl.browser.chromium import launch_options  # noqa: E402
from tests.support.bilingual_texts import BASQUE, SPANISH  # noqa: E402
from tests.support.browser import visit_all  # noqa: E402
from tests.support.fetching import Site  # noqa: E402
from tests.support.processes import HANG  # noqa: E402
from tests.support.scripted_site import (  # noqa: E402
    BY_ADDRESS,
    BY_CHOICE,
    BY_HISTORY,
    BY_STORAGE,
    CHOICE,
    IN_PLACE,
    prose,
    shell,
    site,
    toggled,
)

HUGE = "document.body.innerHTML = '<p>' + 'a b '.repeat(500000) + '</p>';"
SAYS_IT_IS_SMALL = (
    "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => ''});"
    "Object.defineProperty(Document.prototype, 'documentElement', {get: () => null});"
)
SHADOWS = "".join(
    f'<form name="{name}"><input name="outerHTML"></form>'
    for name in ("documentElement", "body", "doctype", "querySelectorAll", "textContent")
)
HUGE_TYPE = (
    "const type = document.implementation.createDocumentType('html', '', 'a b '.repeat(500000));"
    "document.doctype ? document.doctype.replaceWith(type) : document.prepend(type);"
)
LYING_BUTTONS = (
    "for (const name of ['slice', 'trim']) String.prototype[name] = () => 'x'.repeat(1000);"
    "Element.prototype.getAttribute = () => 'x'; Array.prototype.map = () => [];"
)
POPUPS = "window.open('/popup'); window.open('about:blank').document.write('x');"
FILES = (
    "const a = document.createElement('a'); a.href = '/file.bin'; a.download = 'x'; a.click();"
    "const b = document.createElement('a'); b.href = URL.createObjectURL(new Blob(['x']));"
    "b.download = 'y'; b.click();"
)
DIALOGS = "alert('a'); confirm('b'); prompt('c'); window.onbeforeunload = () => 'stay';"
IMAGES = (
    '<img src="/picture.png"><video src="/film.mp4"></video><iframe src="/frame"></iframe>'
    '<link rel="stylesheet" href="/style.css"><link rel="prefetch" href="/next">'
)
MORE = "fetch('/secret/a.json'); navigator.sendBeacon('/beacon'); fetch('/sent', {method: 'POST'});"
IDENTITY = "document.body.append(navigator.userAgent + ' ' + navigator.language);"
SERVICE = '<div id="google_translate_element"></div><button data-lang="eu">EU</button>'


def page(script, body=""):
    return f"<title>Plaza</title>{body}{prose(SPANISH)}<script>{script}</script>"


PAGES = {
    "app": shell(),
    "toggle": toggled(IN_PLACE),
    "choice": toggled(BY_CHOICE, CHOICE),
    "storage": toggled(BY_STORAGE),
    "address": toggled(BY_ADDRESS),
    "history": toggled(BY_HISTORY),
    "redirect": page("location.href = '/eu/elsewhere'"),
    "service": toggled(IN_PLACE, SERVICE),
    "linked": toggled(IN_PLACE, '<button>EU</button><a href="/eu/">Euskara</a>'),
    "huge": page(HUGE),
    "small": page(HUGE + SAYS_IT_IS_SMALL),
    "shadows": page(HUGE + "document.body.insertAdjacentHTML('beforeend', `" + SHADOWS + "`);"),
    "shadowed": page("", SHADOWS),
    "type": page(HUGE_TYPE),
    "buttons": toggled(IN_PLACE + LYING_BUTTONS),
    "popups": page(POPUPS),
    "files": page(FILES),
    "dialogs": page(DIALOGS),
    "images": page(MORE, IMAGES),
    "identity": page(IDENTITY),
    "closed": page("fetch('/closed.json').then(() => document.body.append('TAKEN'));"),
    "lies": page(
        "Array.from = () => 7; document.querySelectorAll = () => { throw 1; };"
        "Object.defineProperty(Node.prototype, 'textContent', {get: () => ({})});"
    ),
}


@pytest.fixture(scope="module")
def visits():
    """Every page in one browser, with what the server was asked for meanwhile."""
    with site() as server:
        found, stats = visit_all({f"{server.url}/{name}": text for name, text in PAGES.items()})
        by_name = {url.rpartition("/")[2]: each for url, each in found.items()}
        yield by_name, server, stats


def text_of(document):
    return " ".join(each.text for each in document.paragraphs)


def test_an_empty_page_is_filled_by_its_script(visits):
    document = visits[0]["app"].page.document
    assert document.language == "spa"
    assert SPANISH[-1] in text_of(document)


@pytest.mark.parametrize("name", ["toggle", "choice", "storage"])
def test_a_language_that_is_toggled_is_a_variant(visits, name):
    found = visits[0][name]
    assert found.page.document.language == "spa"
    assert list(found.variants) == ["eus"]
    assert BASQUE[-1] in text_of(found.variants["eus"].document)


@pytest.mark.parametrize(("name", "target"), [("address", "/eu/plaza"), ("history", "/eu/pushed")])
def test_a_switch_to_another_address_is_a_link(visits, name, target):
    found, server = visits[0][name], visits[1]
    assert not found.variants
    assert [(link.url, link.anchor) for link in found.links.values()] == [
        (server.url + target, "EU")
    ]
    assert target not in server.asked, "it is fetched when its turn comes"


def test_where_a_script_goes_by_itself_is_a_link(visits):
    found, server = visits[0]["redirect"], visits[1]
    assert list(found.links) == [f"{server.url}/eu/elsewhere"]
    assert SPANISH[0] in text_of(found.page.document), "the page stays"


def test_machine_translation_is_not_asked_for(visits):
    assert visits[0]["service"].clicks == 0


def test_a_language_that_has_a_link_is_not_clicked(visits):
    assert visits[0]["linked"].clicks == 0


def test_a_page_that_grows_without_end_is_refused(visits):
    assert visits[0]["huge"].reason == "too_large"


@pytest.mark.parametrize("name", ["small", "shadows", "type"])
def test_a_page_cannot_say_that_it_is_smaller_than_it_is(visits, name):
    assert visits[0][name].reason == "too_large"


def test_a_page_cannot_answer_for_its_buttons(visits):
    assert list(visits[0]["buttons"].variants) == ["eus"]


@pytest.mark.parametrize("name", ["popups", "files", "dialogs", "lies", "shadowed"])
def test_tricks_of_a_page_do_not_keep_it_from_being_read(visits, name):
    assert SPANISH[0] in text_of(visits[0][name].page.document)


def test_only_what_text_is_made_of_is_fetched(visits):
    asked = set(visits[1].asked)
    asked -= {"/robots.txt", "/closed.json"}
    assert asked == {"/bundle.js", "/texts/es.json", "/texts/eu.json"}


def test_what_opts_out_in_its_headers_is_not_handed_to_the_page(visits):
    found, _, stats = visits
    assert "TAKEN" not in text_of(found["closed"].page.document)
    assert stats["bilingual/render/resources/refused/noai"] == 1


def test_a_resource_is_fetched_once_and_what_robots_txt_forbids_never(visits):
    _, server, stats = visits
    assert server.asked.count("/texts/eu.json") == 1
    assert stats["bilingual/render/resources/refused/robots_txt"] == 1


def test_the_browser_goes_by_the_name_of_the_crawler(visits):
    assert "test-crawler/1 (+https://example.org/) es" in text_of(
        visits[0]["identity"].page.document
    )


def test_a_page_reaches_no_private_address_in_any_way():
    with Site() as inside:
        port = inside.port
        ways = (
            f"fetch('http://127.0.0.1:{port}/fetch').catch(() => 0);"
            f"new WebSocket('ws://127.0.0.1:{port}/socket');"
            f"new EventSource('http://localhost:{port}/events');"
            f"navigator.sendBeacon('http://127.0.0.1:{port}/beacon');"
            f"new Worker(URL.createObjectURL(new Blob([`fetch('http://127.0.0.1:{port}/worker')`])));"
            f"new Image().src = 'http://127.0.0.1:{port}/image';"
            f"import('http://[::1]:{port}/module').catch(() => 0);"
            f"try {{ new WebTransport('https://127.0.0.1:{port}/transport'); }} catch {{}}"
        )
        address = f"http://127.0.0.1:{port}/"
        body = f'<link rel="preconnect" href="{address}"><iframe src="{address}"></iframe>'
        url = "http://site.example/"
        found, stats = visit_all({url: page(ways, body)}, BILINGUAL_ALLOW_PRIVATE=False)
        assert found[url].page.document.language == "spa"
        assert inside.connections == 0
        assert stats["bilingual/render/resources/refused/private_address"] >= 2


CALL = """
    const call = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}]});
    call.createDataChannel('x');
    call.createOffer().then((offer) => call.setLocalDescription(offer));
    const ended = new Promise((end) => {
        call.onicegatheringstatechange = () => call.iceGatheringState === 'complete' && end(1);
    });
"""


@contextlib.contextmanager
def udp_socket():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        yield listening, CALL.replace("PORT", str(listening.getsockname()[1]))


def has_received(listening, seconds):
    listening.settimeout(seconds)
    try:
        return bool(listening.recv(1))
    except (TimeoutError, BlockingIOError):
        return False


async def make_call(script, without="", until=None):
    """Make a call in a browser that is started as ours is, but for one of its options.

    The browser stays until the call has found all its ways, or until `until` returns.
    """
    options = launch_options("")
    options["args"] = [each for each in options["args"] if not without or without not in each]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**options)
        page = await browser.new_page()
        waits = (
            ""
            if until
            else "await Promise.race([ended, new Promise((end) => setTimeout(end, 3000))]);"
        )
        await page.evaluate(f"async () => {{ {script} {waits} }}")
        found = await asyncio.to_thread(until) if until else None
        await browser.close()
    return found


def test_a_call_sends_no_packet_past_the_proxy():
    with udp_socket() as (listening, script):
        asyncio.run(make_call(script))
        assert not has_received(listening, 0)


def test_a_call_would_send_packets_without_the_option_against_it():
    with udp_socket() as (listening, script):
        without = "--webrtc-ip-handling-policy"
        assert asyncio.run(make_call(script, without, lambda: has_received(listening, HANG)))


def test_a_page_has_nothing_to_make_calls_with():
    tried = "document.body.append([typeof RTCPeerConnection, typeof WebTransport].join());"
    in_frame = (
        "const frame = document.createElement('iframe'); document.body.append(frame);"
        "document.body.append(' ' + typeof frame.contentWindow.RTCPeerConnection);"
    )
    with udp_socket() as (listening, script):
        url = "http://site.example/"
        found, _ = visit_all({url: page(f"{tried}{in_frame}{script}")})
        assert b"undefined,undefined<iframe></iframe> undefined" in found[url].page.markup
        assert not has_received(listening, 0)


def test_the_delay_of_a_host_holds_for_what_its_pages_ask_for():
    moments = []

    def script(_handler):
        moments.append(time.monotonic())
        return 200, {"Content-Type": "text/javascript"}, b""

    with Site(dict.fromkeys(("/robots.txt", "/1.js", "/2.js", "/3.js"), script)) as server:
        three = "".join(f'<script src="/{number}.js"></script>' for number in (1, 2, 3))
        visit_all({f"{server.url}/": page("", three)}, DOWNLOAD_DELAY=0.5)
    assert len(moments) == 4
    assert moments[-1] - moments[0] > 1, "the scripts were asked for all at once"


def test_a_page_that_never_rests_is_given_up_and_the_next_one_is_read():
    endless = page("for (;;) {}")
    restless = page("setInterval(() => fetch('/x' + Math.random()), 50);")
    pages = {"http://site.example/a": endless, "http://site.example/b": restless}
    found, _ = visit_all(pages | {"http://site.example/c": page("")}, seconds=15.0)
    reasons = [getattr(each, "reason", "read") for each in found.values()]
    assert reasons == ["timeout", "read", "read"]


def kill_chromium(kind):
    """End the processes of Chromium that show pages, or the one that began them all."""
    killed = 0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            line = process.cmdline()
            is_chromium = any("--host-resolver-rules" in each for each in line)
            types = [each for each in line if each.startswith("--type=")]
            if types == ["--type=renderer"] if kind == "renderer" else is_chromium and not types:
                process.kill()
                killed += 1
    return killed


@pytest.mark.parametrize("kind", ["renderer", "browser"])
def test_a_crash_costs_no_page(kind):
    killed: list[None] = []

    def crash(_handler):
        if not killed:
            killed.append(kill_chromium(kind))
        return 200, {"Content-Type": "text/javascript"}, b""

    with Site({"/crash.js": crash}) as server:
        bad = page("", '<script src="/crash.js"></script>')
        pages = {f"{server.url}/bad": bad, f"{server.url}/good": page("")}
        found, _ = visit_all(pages)
    assert killed[0] > 0
    assert [type(each).__name__ for each in found.values()] == ["Findings", "Findings"]


def test_a_browser_that_does_not_start_is_told_in_a_sentence(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    pages = {f"http://site.example/{at}": page("") for at in range(5)}
    found, _ = visit_all(pages, BILINGUAL_CHROMIUM=str(program))
    failures = list(found.values())
    assert {each.reason for each in failures} == {"no_browser"}
    assert "BILINGUAL_CHROMIUM=/path/to/chromium" in failures[0].detail
    assert "continues without it" in failures[-1].detail
