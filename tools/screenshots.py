"""Take the screenshots of the documentation: pages of a served crawl folder, in Chromium.

    python -m demo --pages 150 --output crawls/tour && scrapy align crawls/tour
    python -m tools.screenshots crawls/tour                     all of the tour (tools/tour.py)
    python -m tools.screenshots crawls/tour pair phone          some of it

The picture NAME becomes docs/images/web-NAME.png.
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tools.tour import FIRST_PAIR, TOUR, TourStop

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
COLOURS = 128
SCREEN, PHONE = (1200, 820), (390, 800)
NOT_READY = "#indexing, [data-reload], h2:text('There is no index of words yet')"


def main() -> None:
    """Serve the folder and save a screenshot of each page."""
    names = [each.name for each in TOUR]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"The tour has no {', '.join(sorted(unknown))}: choose from {names}.")
    command = [sys.executable, "-m", "scrapy", "serve", str(options.folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own command
        assert server.stdout is not None
        url = server.stdout.readline().rpartition(" ")[2].strip().rstrip("/")
        try:
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
                for stop in TOUR:
                    if stop.name in (options.names or names):
                        _save(_seen(browser, stop, url), IMAGES / f"web-{stop.name}.png")
        finally:
            server.terminate()


def _seen(browser: Browser, stop: TourStop, url: str) -> bytes:
    width, height = PHONE if stop.is_phone else SCREEN
    page = browser.new_page(
        viewport={"width": width, "height": height},
        has_touch=stop.is_phone,
        is_mobile=stop.is_phone,
        color_scheme="dark" if stop.is_dark else "light",
    )
    path = stop.path
    if path == FIRST_PAIR:
        page.goto(f"{url}/pairs")
        path = re.findall(r'href="(/pair/\w+)"', page.content())[0]
    _open(page, url + path)
    picture = page.screenshot(full_page=stop.is_whole)
    page.close()
    return picture


def _open(page: Page, url: str) -> None:
    """Open a page when its index is there."""
    page.goto(url, wait_until="load")
    while page.locator(NOT_READY).count():
        time.sleep(1)
        page.goto(url, wait_until="load")


def _save(picture: bytes, path: Path) -> None:
    """Save a picture with few colours, which is enough for pages and a third of the size."""
    small = (
        Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    )
    small.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
