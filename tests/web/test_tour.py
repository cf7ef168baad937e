"""The tour in the documentation shows pages that are served, with the words that it names."""

import html
import re
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="pip install 'bilingual-crawler[concordance]'")

from tests.support.processes import wait_until
from tests.support.web_folders import SITE, TEXTS, sentence, small_crawl, write_sentences
from tests.support.web_server import running
from tools.tour import FIRST_PAIR, TOUR

DOCS = Path(__file__).parents[2] / "docs"
PICTURE = re.compile(r"!\[[^\]]+\]\(\.\./images/web-([\w-]+)\.png\)")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = small_crawl(tmp_path_factory.mktemp("tour"))
    rows = [sentence("museo", at, *texts) for at, texts in enumerate([*TEXTS, *TEXTS])]
    write_sentences(folder, rows)
    with running(folder) as server:
        server.site.concordance.refresh()
        first = re.findall(r'href="(/pair/\w+)"', server.ask("/pairs").text)[0]
        asked = {stop: first if stop.path == FIRST_PAIR else stop.path for stop in TOUR}
        server.ask("/audit")
        wait_until(lambda: "data-reload" not in server.ask("/audit").text)
        answers = {stop.name: server.ask(path) for stop, path in asked.items()}
    assert SITE in answers["search"].text
    return answers


def sections():
    """The parts of the tour that have a picture: its name, and the words in bold."""
    text = (DOCS / "tutorial" / "tour.md").read_text("utf-8")
    for part in text.split("\n## ")[1:]:
        words = [
            re.sub(r"\s+", " ", each) for each in re.findall(r"\*\*(.+?)\*\*", part, re.DOTALL)
        ]
        yield PICTURE.findall(part), words


def test_every_picture_of_the_tour_is_in_it_once_and_on_the_disk():
    shown = [name for names, _ in sections() for name in names]
    assert shown == [stop.name for stop in TOUR]
    assert all((DOCS / "images" / f"web-{name}.png").stat().st_size for name in shown)


def test_every_page_of_the_tour_is_served_with_the_words_that_the_tour_names(pages):
    for names, words in sections():
        assert words
        for name in names:
            answer = pages[name]
            assert answer.status == 200
            seen = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))
            assert [word for word in words if word not in seen] == []
