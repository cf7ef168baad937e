"""The pages in a real Chromium: what people see and do, and that nothing hostile runs."""

import pytest

from bilingual_crawler.corpus.audit import read_answers
from bilingual_crawler.store.sentence_pair import pair_id
from tests.support.processes import HANG
from tests.support.web_folders import SITE, TEXTS, LiveCrawl, small_crawl
from tests.support.web_server import running

playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
)
expect = playwright_api.expect
MILLISECONDS = 1000 * HANG
expect.set_options(timeout=MILLISECONDS)

MUSEO = pair_id(f"{SITE}/es/museo", f"{SITE}/eu/museo")
HOSTILE = pair_id(f"{SITE}/es/ataque", f"{SITE}/eu/ataque")
TOKEN = "a-token-of-enough-characters"
WATCH = """
document.addEventListener("securitypolicyviolation",
    (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with running(small_crawl(tmp_path_factory.mktemp("crawl"))) as server:
        yield server


@pytest.fixture
def open_page(browser):
    """Open pages; whatever the console says, a broken policy too, fails the test."""
    contexts, complaints = [], []

    def make(url, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.extend(_foreign(request.url, url)))
        page.goto(url)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


def _foreign(asked, ours):
    return [] if asked.startswith(ours[: ours.index("/", 8)]) else [f"asked for {asked}"]


def test_a_word_is_searched_and_its_hits_are_marked(web, open_page):
    page = open_page(f"{web.url}/")
    page.get_by_label("Search", exact=True).fill("museo")
    page.keyboard.press("Enter")
    expect(page.locator("mark")).to_have_text(["museo"])
    expect(page.get_by_role("status")).to_contain_text("1 hit.")


def test_options_are_sent_and_stay(web, open_page):
    page = open_page(f"{web.url}/")
    page.get_by_text("More options").click()
    page.get_by_label("Search", exact=True).fill(r"\bcaf. con")
    page.get_by_label("As", exact=True).select_option("regex")
    page.get_by_label("Show", exact=True).select_option("3")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("mark")).to_have_text(["café con"])
    expect(page.get_by_label("As", exact=True)).to_have_value("regex")
    expect(page.get_by_label("Show", exact=True)).to_have_value("3")


def test_a_hit_leads_to_its_place_in_the_document(web, open_page):
    page = open_page(f"{web.url}/?q=molino")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("li:target")).to_contain_text("El río baja")
    expect(page.get_by_text("URLs differ in a token")).to_be_visible()


def test_a_pair_is_accepted_by_button_and_rejected_by_key(web, open_page):
    page = open_page(f"{web.url}/pair/{MUSEO}")
    page.get_by_role("button", name="✓ Accept", exact=True).click()
    expect(page.get_by_role("button", name="Accepted")).to_have_attribute("aria-pressed", "true")
    labels = web.site.folder / "labels.tsv"
    assert labels.read_text() == f"{SITE}/es/museo\t{SITE}/eu/museo\t1\n"
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Rejected")).to_be_visible()
    assert labels.read_text() == f"{SITE}/es/museo\t{SITE}/eu/museo\t0\n"
    page.keyboard.press("n")
    expect(page).to_have_url(f"{web.url}/pair/{HOSTILE}")


def test_pairs_and_sentences_are_judged_by_keys_alone(tmp_path, open_page):
    with running(small_crawl(tmp_path)) as web:
        page = open_page(f"{web.url}/pairs")
        labels, sentences = tmp_path / "labels.tsv", tmp_path / "sentence_labels.tsv"
        for key in "jj":
            page.keyboard.press(key)
        page.keyboard.press("r")
        expect(page.locator(".current .badge")).to_have_text("rejected")
        assert labels.read_text() == f"{SITE}/es/ataque\t{SITE}/eu/ataque\t0\n"
        page.keyboard.press("u")
        expect(page.locator(".badge")).to_have_count(0)
        assert labels.read_text() == ""
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{web.url}/pair/{MUSEO}")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("a")
        expect(page.locator("#s1").get_by_role("button", name="Accepted")).to_be_visible()
        expect(page.locator("#s1")).to_be_focused()
        assert sentences.read_text() == "\t".join(TEXTS[1]) + "\t1\n"
        page.keyboard.press("u")
        expect(page.get_by_role("button", name="Accepted")).to_have_count(0)


def test_an_audit_is_done_by_keys_alone(tmp_path, open_page):
    with running(small_crawl(tmp_path)) as web:
        page = open_page(f"{web.url}/audit")
        expect(page.locator("#progress")).to_contain_text("0 read of at most 6")
        for number, key in enumerate("pwb", 1):
            page.keyboard.press(key)
            expect(page.locator("#progress")).to_contain_text(f"{number} read")
        page.keyboard.press("u")
        expect(page.locator("#progress")).to_contain_text("2 read")
        assert sorted(read_answers(tmp_path).values()) == ["parallel", "wrong"]
        page.get_by_label("Enough at").select_option("0.1")
        page.get_by_role("button", name="Set").click()
        expect(page).to_have_url(f"{web.url}/audit?margin=0.1")


def test_the_form_of_a_crawl_shows_its_command_while_one_types(tmp_path, open_page):
    with running(tmp_path, allow_crawls=True) as web:
        page = open_page(f"{web.url}/")
        page.get_by_role("link", name="Start one here").click()
        page.get_by_label("Languages").fill("spa-eus")
        page.get_by_label("Pages per site").fill("7")
        expect(page.locator("#command code")).to_contain_text("-s BILINGUAL_SITE_PAGES=7")
        page.get_by_label("Seeds", exact=True).fill("https://example.org:port/")
        page.get_by_role("button", name="Check").click()
        seeds = page.get_by_label("Seeds", exact=True)
        expect(seeds).to_have_attribute("aria-invalid", "true")
        expect(page.locator("#wrong-seeds")).to_contain_text("https://example.org:port/")
        expect(page.get_by_label("Languages")).to_have_value("spa-eus")
        assert list(tmp_path.iterdir()) == []


def test_everything_can_be_reached_by_keyboard(web, open_page):
    page = open_page(f"{web.url}/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
    page.keyboard.type("biblioteca/")
    expect(page.get_by_label("Search", exact=True)).to_have_value("biblioteca/")
    page.goto(f"{web.url}/crawl")
    page.keyboard.press("/")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()


@pytest.mark.parametrize(
    "path", ["/", "/?q=hostil", "/?q=hostil&context=more", "/pairs", f"/pair/{HOSTILE}", "/crawl"]
)
def test_hostile_text_is_shown_and_never_run(web, open_page, path):
    page = open_page(f"{web.url}{path}")
    page.wait_for_load_state()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, main script").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_the_attack_can_be_read(web, open_page):
    page = open_page(f"{web.url}/?q=hostil")
    expect(page.locator(".hit .text").first).to_contain_text("<script>window.pwned = 1</script>")


def test_the_crawl_page_follows_a_running_crawl(tmp_path, open_page):
    crawl = LiveCrawl(tmp_path)
    crawl.pair("uno")
    crawl.queue(f"{SITE}/es/next", 0.75)
    crawl.save()
    with running(tmp_path) as web:
        page = open_page(f"{web.url}/crawl")
        expect(page.locator("#pages")).to_have_text("2")
        expect(page.get_by_text("The crawl is running.")).to_be_visible()
        page.locator("#sort-pages").focus()
        crawl.pair("dos")
        crawl.save()
        expect(page.locator("#pages")).to_have_text("4")
        expect(page.locator("#pairs")).to_have_text("2")
        expect(page.locator("#sort-pages")).to_be_focused()
        expect(page.get_by_role("img")).to_have_attribute(
            "aria-label", "Yield curve: 2 pairs after 4 pages"
        )
    crawl.close()


def test_sites_are_sorted_by_a_click(web, open_page):
    page = open_page(f"{web.url}/crawl")
    page.get_by_role("link", name="Failed").click()
    expect(page.locator(".sites tbody tr").first).to_contain_text("broken.example")
    expect(page.get_by_role("columnheader", name="Failed")).to_have_attribute(
        "aria-sort", "descending"
    )


@pytest.mark.parametrize(
    "path", ["/?q=museo&context=more", f"/pair/{MUSEO}", "/crawl", "/pairs", "/audit"]
)
def test_a_phone_needs_no_scrolling_to_the_side(web, open_page, path):
    page = open_page(f"{web.url}{path}", viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_text_stands_on_the_side_where_its_script_begins(web, open_page):
    page = open_page(f"{web.url}/?q=بالعالم")
    arabic = page.locator(".text[lang=ar]")
    expect(page.locator("mark")).to_have_text(["بالعالم"])
    assert arabic.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert page.locator(".text[lang=zh]").evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_dark_is_dark(web, open_page):
    page = open_page(f"{web.url}/", color_scheme="dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(20, 25, 27)"


def test_the_token_is_asked_for_once(tmp_path, open_page):
    with running(small_crawl(tmp_path), token=TOKEN) as web:
        page = open_page(f"{web.url}/?q=museo")
        page.get_by_label("The token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("mark")).to_have_text(["museo"])
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("The token")).to_be_visible()


def test_the_page_works_without_scripts(web, open_page):
    page = open_page(f"{web.url}/pair/{MUSEO}", java_script_enabled=False)
    page.get_by_role("button", name="Accept", exact=False).first.click()
    expect(page.get_by_role("button", name="Accepted")).to_be_visible()
