"""Take the screenshots of docs/how-to/web.md: pages of a served crawl folder, in Chromium.

    python -m tools.screenshots CRAWL_DIR search='/?q=mol*' phone='/?q=mol*'

Each NAME=PATH becomes docs/images/web-NAME.png. A name that begins with `phone` is as wide as a
phone, one that begins with `dark` is dark, one that begins with `whole` shows the page to its end.
"""

import argparse
import io
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
COLOURS = 128
SCREEN, PHONE = (1200, 820), (390, 800)


def main() -> None:
    """Serve the folder and save a screenshot of each page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", nargs="+", metavar="NAME=PATH")
    options = parser.parse_args()
    command = [sys.executable, "-m", "scrapy", "serve", str(options.folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own command
        assert server.stdout is not None
        url = server.stdout.readline().rpartition(" ")[2].strip().rstrip("/")
        try:
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
                for page in options.pages:
                    name, _, path = page.partition("=")
                    _save(_seen(browser, name, url + path), IMAGES / f"web-{name}.png")
        finally:
            server.terminate()


def _seen(browser: Browser, name: str, url: str) -> bytes:
    width, height = PHONE if name.startswith("phone") else SCREEN
    page = browser.new_page(
        viewport={"width": width, "height": height},
        has_touch=name.startswith("phone"),
        is_mobile=name.startswith("phone"),
        color_scheme="dark" if name.startswith("dark") else "light",
    )
    page.goto(url, wait_until="load")
    page.wait_for_function("!document.getElementById('indexing')")
    picture = page.screenshot(full_page=name.startswith("whole"))
    page.close()
    return picture


def _save(picture: bytes, path: Path) -> None:
    """Save a picture with few colours, which is enough for pages and a third of the size."""
    small = (
        Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    )
    small.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
