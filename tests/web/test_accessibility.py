"""Every page, checked by axe-core in a real Chromium: no violation, in both themes."""

import pytest

from bilingual_crawler.store.sentence_pair import pair_id
from tests.support.processes import HANG
from tests.support.web_folders import SITE, small_crawl
from tests.support.web_server import running

axe_api = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python"
)
pytest.importorskip("duckdb", reason="pip install 'bilingual-crawler[concordance]'")

MUSEO = pair_id(f"{SITE}/es/museo", f"{SITE}/eu/museo")
PAGES = (
    "/", "/?q=museo&context=more&dropped=1", "/?q=(&mode=regex", "/pairs",
    f"/pair/{MUSEO}", "/crawl", "/pictures", "/audit", "/nowhere",
    "/concordance", "/concordance?q=el&sort=right&level=lemma",
    "/words/frequencies", "/words/n-grams", "/words/collocations?q=el", "/words/translations?q=el",
    "/words/translations",
)  # fmt: skip
TOKEN = "a-token-of-enough-characters"
ONLY_CONTRAST = {"runOnly": ["color-contrast"]}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    small_crawl(folder / "one")
    return folder


@pytest.fixture(scope="module")
def web(library):
    with running(library / "one") as server:
        server.site.concordance.refresh()
        yield server


def violations(browser, url, paths, *, dark=False, options=None):
    """What axe-core objects to, as sentences."""
    context = browser.new_context(color_scheme="dark" if dark else "light")
    page = context.new_page()
    page.set_default_timeout(1000 * HANG)
    found = []
    for path in paths:
        page.goto(f"{url}{path}")
        page.wait_for_function("!document.querySelector('[data-reload]')")
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        results = axe_api.Axe().run(page, options=options).response
        assert results["passes"], path
        found += [
            f"{path}: {each['id']}: {node['html'][:200]} {node['failureSummary'][:200]}"
            for each in results["violations"]
            for node in each["nodes"]
        ]
    context.close()
    return found


def test_no_page_has_a_violation(web, browser):
    assert violations(browser, web.url, PAGES) == []


def test_every_page_has_contrast_in_the_dark_too(web, browser):
    assert violations(browser, web.url, PAGES, dark=True, options=ONLY_CONTRAST) == []


def test_the_list_the_controls_of_crawls_and_the_login_have_no_violation(library, browser):
    with running(library, allow_crawls=True) as server:
        paths = ["/", "/new", "/new?from=one", "/c/one/crawl"]
        assert violations(browser, server.url, paths) == []
        assert violations(browser, server.url, paths, dark=True, options=ONLY_CONTRAST) == []
    with running(library, token=TOKEN) as server:
        assert violations(browser, server.url, ["/"]) == []
