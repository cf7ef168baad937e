"""A real Chromium for the tests of the web page; they are skipped where there is none."""

import shutil

import pytest

ARGUMENTS = [
    "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    """A browser that asks nothing of its own from the network."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed: run tools/system_packages.sh")
    api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield made
        made.close()
