"""The pages over HTTP: what they show, and what the server refuses."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.store.sentence_pair import pair_id
from bilingual_crawler.web.gate import Hosts
from bilingual_crawler.web.rendering import language_tag, web_url
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.processes import HANG
from tests.support.web_folders import (
    ATTACK,
    SITE,
    LiveCrawl,
    sentence,
    small_crawl,
    write_sentences,
)
from tests.support.web_server import running

MUSEO = pair_id(f"{SITE}/es/museo", f"{SITE}/eu/museo")
HOSTILE = pair_id(f"{SITE}/es/ataque", f"{SITE}/eu/ataque")
TOKEN = "a-token-of-enough-characters"
PAGES = ("/", "/?q=museo", "/pairs", f"/pair/{MUSEO}", "/crawl", "/crawl/live", "/nowhere")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with running(small_crawl(tmp_path_factory.mktemp("crawl"))) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = small_crawl(tmp_path_factory.mktemp("guarded"))
    with running(folder, token=TOKEN, bound_to="0.0.0.0", allowed=["corpus.example"]) as server:
        yield server


def test_hits_are_shown_in_two_columns_with_the_words_marked(web):
    page = web.ask("/?q=museo").text
    assert 'lang="es" dir="auto">El <mark>museo</mark> está cerrado los lunes.</p>' in page
    assert 'lang="eu" dir="auto">Museoa astelehenetan itxita dago.</p>' in page
    assert "1 hit." in page
    assert f'href="{SITE}/es/museo" rel="noopener noreferrer"' in page
    assert f"/pair/{MUSEO}?page=1#s0" in page


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_the_headers_that_keep_strangers_out(web, path):
    headers = web.ask(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/?q=hostil", "/pairs", f"/pair/{HOSTILE}", "/crawl", "/"])
def test_crawled_text_is_never_markup(web, path):
    page = web.ask(path).text
    assert "<script>window" not in page
    assert "<img" not in page
    assert 'href="javascript:' not in page


def test_the_attack_is_shown_as_the_text_it_is(web):
    assert "&lt;script&gt;window.pwned" in web.ask(f"/pair/{HOSTILE}").text


@pytest.mark.parametrize("query", ["<script>alert(1)</script>", '"><b>', "' onfocus='x"])
def test_what_was_typed_is_escaped_too(web, query):
    page = web.ask(f"/?q={urllib.parse.quote(query)}").text
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "onfocus='x" not in page


def test_no_page_has_inline_scripts_or_styles_or_foreign_sources(web):
    for path in PAGES:
        page = web.ask(path).text
        assert not re.search(r"<script(?! src=\"/static/)", page)
        assert not re.search(r"<style|<[^>]*\s(?:style|on\w+)=", page)
        assert not re.search(r"(?:src|<link[^>]*href)=\"(?!/static/)", page)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/?q=%2A", "no word to look for"),
        ("/?q=(x&mode=regex", "cannot be read"),
        ("/?q=zzz", "No hits."),
        ("/?q=a&n=huge&page=-1&context=99&in=9", "hit"),
        ("/?q=museo&page=99999999999999999999", "1 hit."),
        ("/?q=museo&page=9999", "There is no page 9,999."),
        ("/pairs?page=9999", "There is no page 9,999: the last one is"),
        (f"/pair/{MUSEO}?page=9999", "There is no page 9,999 of this pair"),
        ("/", "<strong>6</strong> sentence pairs (cleaning dropped 1 more) from"),
        ("/?q=sobra&dropped=1", "dropped: unsure"),
        ("/?q=leche&context=3", "café con <mark>leche</mark>"),
        ("/?q=mu.eo%5Cb&mode=regex", "<mark>museo</mark>"),
    ],
)
def test_odd_questions_get_an_answer(web, path, says):
    answer = web.ask(path)
    assert answer.status == 200
    assert says in answer.text


def test_text_from_right_to_left_and_chinese_say_what_they_are(web):
    page = web.ask("/?q=%E5%8C%97%E4%BA%AC").text
    assert 'lang="ar" dir="auto">مرحبا بالعالم</p>' in page
    assert 'lang="zh" dir="auto"><mark>北京</mark>市博物馆</p>' in page


def test_a_pair_is_shown_with_its_evidence_and_aligned_text(web):
    page = web.ask(f"/pair/{MUSEO}").text
    assert "URLs differ in a token" in page
    assert "score 0.90" in page
    assert page.index("El museo está") < page.index("Museoa astele") < page.index("La biblioteca")
    assert "dropped: unsure" in page


@pytest.mark.parametrize("path", ["/pair/unknown", "/nowhere", "/static/../server.py", "/static/x"])
def test_what_is_not_there_is_told(web, path):
    answer = web.ask(path)
    assert answer.status == 404
    assert "There is no such" in answer.text or "No such pair" in answer.text


def test_the_crawl_page_explains_what_became_of_the_urls(web):
    page = web.ask("/crawl").text
    assert "The name of the host has no address." in page
    assert "The crawl was stopped." in page
    assert "broken.example" in page
    assert '<path class="line"' in page
    assert "0.750" in page


def test_sites_can_be_sorted_either_way(web):
    def order(query):
        page = web.ask(f"/crawl/live?{query}").text
        return re.findall(r'<th scope="row"><bdi>([^<]+)', page)

    assert order("sort=failed")[0] == "broken.example"
    assert order("sort=pages")[0] == "example.org"
    assert order("sort=pages&reverse=1")[-1] == "example.org"


def test_the_page_of_a_running_crawl_shows_its_forecast(tmp_path):
    crawl = LiveCrawl(tmp_path)
    crawl.queue("https://example.org/", 0.5)
    crawl.save(forecast={"pairs": [1180, 1220, 1260], "pages": [3000, 4000, 5000], "sites": {}})
    with running(tmp_path) as web:
        page = web.ask("/crawl/live").text
    crawl.close()
    assert "Pairs in the end" in page
    assert '<dd id="forecast">1,180-1,260</dd>' in page


def test_thousands_of_sites_are_paged(tmp_path):
    crawl = LiveCrawl(tmp_path)
    for at in range(1234):
        crawl.queue(f"https://site{at:04}.example/", 0.5)
    crawl.save()
    crawl.close()
    with running(tmp_path) as web:
        page = web.ask("/crawl?sort=site&page=25").text
    rows = re.findall(r'<th scope="row"><bdi>([^<]+)', page)
    assert "Page 25 of 25" in page
    assert rows == [f"site{at}.example" for at in range(1200, 1234)]


def test_a_mark_is_saved_and_shown(web):
    page = web.ask(f"/pair/{MUSEO}")
    answer = web.post(f"/pair/{MUSEO}/mark", {"csrf": page.csrf, "mark": "accept"})
    assert (answer.status, answer.headers["Location"]) == (303, f"/pair/{MUSEO}")
    labels = (web.site.folder / "labels.tsv").read_text()
    assert labels == f"{SITE}/es/museo\t{SITE}/eu/museo\t1\n"
    assert "Accepted" in web.ask(f"/pair/{MUSEO}").text
    assert "accepted</span>" in web.ask("/?q=museo").text
    web.post(f"/pair/{MUSEO}/mark", {"csrf": page.csrf, "mark": "none"})
    assert (web.site.folder / "labels.tsv").read_text() == ""


def test_the_mark_of_a_sentence_pair_is_saved_with_its_text_and_shown(web):
    page = web.ask(f"/pair/{MUSEO}")
    form = {"csrf": page.csrf, "mark": "reject"}
    answer = web.post(f"/pair/{MUSEO}/sentence/0", form)
    assert (answer.status, answer.headers["Location"]) == (303, f"/pair/{MUSEO}?page=1#s0")
    labels = web.site.folder / "sentence_labels.tsv"
    text1, text2, mark = labels.read_text().rstrip("\n").split("\t")
    assert mark == "0"
    assert text1 in page.text
    assert text2 in page.text
    assert "Rejected" in web.ask(f"/pair/{MUSEO}").text
    web.post(f"/pair/{MUSEO}/sentence/0", {"csrf": page.csrf, "mark": "none"})
    assert labels.read_text() == ""
    assert web.post(f"/pair/{MUSEO}/sentence/999", form).status == 404
    assert web.post(f"/pair/{MUSEO}/sentence/0", form | {"csrf": "guessed"}).status == 403


def test_a_mark_is_taken_back_and_the_page_of_it_is_shown(web):
    csrf = {"csrf": web.keys.csrf("mark")}
    labels = web.site.folder / "labels.tsv"
    place = f"/pairs?order=found#p-{MUSEO}"
    first = web.post(f"/pair/{MUSEO}/mark", csrf | {"mark": "accept", "back": place})
    assert first.headers["Location"] == place
    web.post(f"/pair/{MUSEO}/mark", csrf | {"mark": "reject"})
    sentence = web.post(f"/pair/{MUSEO}/sentence/1", csrf | {"mark": "accept"})
    assert "Undo the last mark" in web.ask("/pairs").text
    assert web.post("/undo", csrf).headers["Location"] == sentence.headers["Location"]
    assert (web.site.folder / "sentence_labels.tsv").read_text() == ""
    assert web.post("/undo", csrf).headers["Location"] == f"/pair/{MUSEO}"
    assert labels.read_text().endswith("\t1\n")
    web.site.marks.put(f"{SITE}/es/museo", f"{SITE}/eu/museo", good=False)  # by someone else
    assert web.post("/undo", csrf).status == 409
    assert labels.read_text().endswith("\t0\n")
    web.site.marks.put(f"{SITE}/es/museo", f"{SITE}/eu/museo", good=None)


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/pairs\r\nX: y", "/"])
def test_a_mark_leads_back_to_our_list_only(web, back):
    form = {"csrf": web.keys.csrf("mark"), "mark": "none", "back": back}
    answer = web.post(f"/pair/{MUSEO}/mark", form)
    assert answer.headers["Location"] == f"/pair/{MUSEO}"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"form": {"mark": "accept"}}, 403),
        ({"form": {"mark": "accept", "csrf": "guessed"}}, 403),
        ({"headers": {"Origin": "https://evil.example"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "same-site"}}, 403),
        ({"headers": {"Content-Type": "text/plain"}}, 403),
        ({"form": {"mark": "maybe", "csrf": True}}, 400),
        ({"path": "/pair/unknown/mark"}, 404),
        ({"method": "GET"}, 405),
    ],
)
def test_a_mark_that_does_not_come_from_our_form_is_refused(web, change, status):
    csrf = web.keys.csrf("mark")
    form = dict(change.get("form", {"mark": "accept", "csrf": csrf}))
    if form.get("csrf") is True:
        form["csrf"] = csrf
    answer = web.ask(
        change.get("path", f"/pair/{HOSTILE}/mark"),
        method=change.get("method", "POST"),
        form=form,
        headers=change.get("headers"),
    )
    assert answer.status == status
    assert web.site.marks.of(f"{SITE}/es/ataque", f"{SITE}/eu/ataque") is None


@pytest.mark.parametrize("path", [*PAGES, "/?q=mu.eo&mode=regex", "/static/page.js"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_cannot_ask_anything(web, path, site):
    answer = web.ask(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})
    assert answer.status == 403
    assert "address bar" in answer.text


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_pages_and_the_user_may_ask(web, site):
    assert web.ask("/?q=museo", headers={"Sec-Fetch-Site": site}).status == 200


def test_a_script_of_another_site_cannot_ask_by_its_origin_alone(web):
    assert web.ask("/?q=museo", headers={"Origin": "https://evil.example"}).status == 403


def test_our_own_page_may_say_where_it_is(web):
    form = {"mark": "none", "csrf": web.keys.csrf("mark")}
    ours = {"Origin": web.url, "Sec-Fetch-Site": "same-origin"}
    answer = web.ask(f"/pair/{MUSEO}/mark", method="POST", form=form, headers=ours)
    assert answer.status == 303


def test_a_form_that_is_too_large_is_refused(web):
    form = {"mark": "accept", "csrf": web.keys.csrf("mark"), "more": "x" * 20_000}
    assert web.post(f"/pair/{MUSEO}/mark", form).status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1:80", "127.0.0.1.evil", ""]
)
def test_a_name_that_is_not_ours_is_refused(web, host):
    answer = web.ask("/", headers={"Host": host})
    assert answer.status in {400, 421}
    assert "museo" not in answer.text


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine_are_ours(web, host):
    assert web.ask("/", headers={"Host": host}).status == 200


def test_off_the_loopback_interface_addresses_and_given_names_are_fine():
    hosts = Hosts("0.0.0.0", ["corpus.example"])
    assert "192.0.2.7:8000" in hosts
    assert "corpus.example" in hosts
    assert "evil.example" not in hosts


@pytest.mark.parametrize("path", ["/", "/?q=museo", f"/pair/{MUSEO}", "/crawl", "/crawl/live"])
def test_nothing_is_shown_without_the_token(guarded, path):
    answer = guarded.ask(path)
    assert answer.status == 303
    assert answer.headers["Location"].startswith("/login?to=")
    assert guarded.ask(path, headers={"Accept": "*/*"}).status == 401
    assert "museo" not in answer.text.lower()


def test_marks_need_the_token_too(guarded):
    form = {"mark": "accept", "csrf": guarded.keys.csrf("mark")}
    assert guarded.post(f"/pair/{MUSEO}/mark", form).status == 401


@pytest.mark.parametrize("given", ["Bearer wrong", "Bearer", "Basic x", f"Bearer {TOKEN}x"])
def test_a_wrong_token_opens_nothing(guarded, given):
    answer = guarded.ask("/", headers={"Authorization": given, "Accept": "*/*"})
    assert answer.status == 401


def test_a_program_shows_the_token_in_a_header(guarded):
    answer = guarded.ask("/?q=museo", headers={"Authorization": f"Bearer {TOKEN}"})
    assert "<mark>museo</mark>" in answer.text


def test_a_person_gives_the_token_once(guarded):
    form = guarded.ask("/login?to=/crawl")
    entered = guarded.post("/login", {"csrf": form.csrf, "token": TOKEN, "to": "/crawl"})
    assert (entered.status, entered.headers["Location"]) == (303, "/crawl")
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    page = guarded.ask("/crawl", headers={"Cookie": cookie.partition(";")[0]})
    assert page.status == 200
    left = guarded.post("/logout", {"csrf": page.csrf}, Cookie=cookie.partition(";")[0])
    assert "Max-Age=0" in left.headers["Set-Cookie"]


def test_the_url_with_the_token_opens_the_page_and_leaves_it_out_from_then_on(guarded):
    answer = guarded.ask(f"/pairs?order=newest&token={TOKEN}&page=2")
    assert (answer.status, answer.headers["Location"]) == (303, "/pairs?order=newest&page=2")
    cookie = answer.headers["Set-Cookie"]
    assert TOKEN not in cookie
    assert "SameSite=strict" in cookie
    known = {"Cookie": cookie.partition(";")[0]}
    assert guarded.ask("/pairs?order=newest&page=2", headers=known).status == 200
    again = guarded.ask("/pairs?token=anything", headers=known)
    assert (again.status, again.headers["Location"]) == (303, "/pairs")


def test_what_other_users_read_of_the_command_of_the_browser_opens_nothing_any_more(guarded):
    once = guarded.keys.single_pass()
    assert "Set-Cookie" in guarded.ask(f"/?token={once}").headers
    answer = guarded.ask(f"/?token={once}")
    assert answer.headers["Location"] == "/login?to=/"
    assert "Set-Cookie" not in answer.headers


def test_the_url_with_the_token_leads_nowhere_else(guarded):
    answer = guarded.ask(f"//evil.example/?token={TOKEN}")
    assert answer.headers["Location"] == "/"
    assert guarded.ask(f"/?token={TOKEN}", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert guarded.post(f"/undo?token={TOKEN}", {}, Accept="*/*").status == 401


def test_a_wrong_token_in_the_form_is_told(guarded):
    form = guarded.ask("/login")
    answer = guarded.post("/login", {"csrf": form.csrf, "token": "wrong"})
    assert answer.status == 403
    assert "That is not the token." in answer.text


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "x"])
def test_the_login_leads_nowhere_else(guarded, to):
    csrf = guarded.ask("/login").csrf
    entered = guarded.post("/login", {"csrf": csrf, "token": TOKEN, "to": to})
    assert entered.headers["Location"] == "/"


def test_a_folder_without_sentences_says_how_to_align(tmp_path):
    with running(small_crawl(tmp_path, aligned=False)) as web:
        page = web.ask("/").text
        assert f"scrapy align {tmp_path}" in page
        assert f"/pair/{MUSEO}" in page
        pair = web.ask(f"/pair/{MUSEO}").text
    assert "not aligned" in pair
    assert "El museo está cerrado los lunes." in pair
    assert "Menu" not in pair


def test_sentences_that_come_while_the_server_runs_are_found(tmp_path):
    with running(small_crawl(tmp_path, aligned=False)) as web:
        assert f"scrapy align {tmp_path}" in web.ask("/?q=nuevo").text
        write_sentences(tmp_path, [sentence("museo", 0, "Algo nuevo", "Zerbait berria")])
        web.site.indexer.refresh()
        assert "<mark>nuevo</mark>" in web.ask("/?q=nuevo").text


def test_an_index_that_was_taken_away_is_told(tmp_path):
    with running(small_crawl(tmp_path)) as web:
        for file in tmp_path.glob("search.sqlite*"):
            file.unlink()
        answer = web.ask("/?q=museo")
    assert answer.status == 503
    assert "cannot be read" in answer.text


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.example/x", True),
        ("http://a.example", True),
        ("javascript:alert(1)", False),
        ("JAVASCRIPT://a.example/%0aalert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("//a.example", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_web_become_links(url, link):
    assert bool(web_url(url)) is link


def test_languages_have_the_tags_that_browsers_know():
    assert [language_tag(code) for code in ("spa", "eus", "zho", "ast", '"><x')] == [
        "es", "eu", "zh", "ast", "und",
    ]  # fmt: skip


def test_the_style_is_cached_for_as_long_as_it_stays_the_same(web):
    path = re.search(r"/static/style.css\?v=\w+", web.ask("/").text)[0]
    assert "immutable" in web.ask(path).headers["Cache-Control"]
    assert web.ask("/static/style.css").headers["Cache-Control"] == "no-cache"
    assert web.ask(path).headers["Content-Type"].startswith("text/css")


def command(*words, **options):
    return processes.start(
        [sys.executable, "-m", "scrapy", "serve", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **options,
    )  # fmt: skip


def test_the_command_serves_until_ctrl_c(tmp_path):
    small_crawl(tmp_path)
    with command(tmp_path, "--no-browser") as process:
        line = process.stdout.readline()
        url = line.rpartition(" ")[2].strip()
        assert line == f"Serving {tmp_path} at {url}\n"
        with urllib.request.urlopen(f"{url}?q=%3F", timeout=HANG) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=HANG)
    assert (process.returncode, errors) == (0, "")
    assert printed.endswith("Stopped.\n")


def test_another_address_needs_a_token_which_is_made_and_printed(tmp_path):
    small_crawl(tmp_path)
    with command(tmp_path, "--host", "0.0.0.0") as process:
        printed = process.stdout.readline()
        port, token = re.search(r":(\d+)/\?token=(\S{32,})$", printed).groups()
        assert process.stdout.readline() == f"Token: {token}\n"
        url = f"http://127.0.0.1:{port}/"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=HANG) as answer:
            assert answer.status == 200
        process.terminate()
        process.communicate(timeout=HANG)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["{folder}/missing"], "There is no folder"),
        (["{folder}/empty"], "is not the folder of a crawl, and there is none below it"),
        (["{crawl}", "--port", "{taken}"], "is in use"),
        (["{crawl}", "--port", "99999"], "is not a port"),
        (["{crawl}", "--host", "no.such.host.invalid"], "is not an address of this machine"),
        (["{crawl}", "--token", "short"], "16 characters"),
        ([], "name the folder of one crawl"),
        (["{crawl}", "--colour"], "unknown option"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(tmp_path, words, says, capsys):
    small_crawl(tmp_path / "crawl", aligned=False)
    (tmp_path / "empty").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        places = {"folder": tmp_path, "crawl": tmp_path / "crawl", "taken": taken.getsockname()[1]}
        given = ["scrapy", "serve", *(word.format(**places) for word in words)]
        with pytest.raises(SystemExit) as end:
            execute(given, Settings())
    printed = capsys.readouterr()
    assert says in f"{end.value.code}{printed.out}{printed.err}"


def test_the_crawl_of_a_foreign_report_is_shown_without_harm(tmp_path):
    small_crawl(tmp_path)
    report = {"languages": [{"code": "x", "name": ATTACK}, {"code": "y", "name": "Y"}]}
    (tmp_path / "crawl.json").write_text(json.dumps(report | {"state": ATTACK}))
    with running(tmp_path) as web:
        page = web.ask("/crawl")
    assert page.status == 200
    assert "<script>window" not in page.text
