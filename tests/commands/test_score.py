"""`scrapy score`, as it is typed."""

import json
import re

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.config.settings import SCORERS
from bilingual_crawler.scoring.scorer import Factor, LinkScorer
from tests.support.crawling import ROOT
from tests.support.scoring import HandMade, Page, crawl_site
from tests.support.typed_commands import status_of

PAPER = (ROOT / "docs" / "how-to" / "choose-scorer.md").read_text()

HOST = "https://udala.example"
LINK = (f"{HOST}/eu/agenda", "--from", f"{HOST}/es/agenda", "--langs", "spa-eus")
SITE_FILES = 2


@pytest.fixture
def scrapy(capsys):
    """Run the command; its status and what it printed."""

    def run(*words):
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", "score", *words], settings)
        printed = capsys.readouterr()
        return status_of(end.value), printed.out, printed.err

    return run


def answers(scrapy, *words):
    status, printed, _ = scrapy(*words, "--json")
    assert status == 0
    return json.loads(printed)


def test_all_scorers_are_asked_side_by_side(scrapy):
    answer = answers(scrapy, *LINK)
    assert list(answer["scores"]) == list(SCORERS)
    assert (answer["url"], answer["from"], answer["langs"]) == (LINK[0], LINK[2], "spa-eus")
    smart = answer["scores"]["smart"]
    first, second = (factor["value"] for factor in smart["factors"])
    assert smart["score"] == pytest.approx(first * second)


def test_a_person_reads_each_factor_with_its_reason(scrapy):
    status, printed, _ = scrapy(*LINK, "--scorer", "smart")
    assert status == 0
    assert "url2lang:" in printed
    assert "% Basque" in printed
    assert "translation" in printed
    assert "breadth_first" not in printed


def test_the_anchor_counts(scrapy):
    link = (f"{HOST}/x7", "--from", f"{HOST}/es/", "--langs", "spa-eus", "--scorer", "rules")
    plain = answers(scrapy, *link)["scores"]["rules"]["score"]
    named = answers(scrapy, *link, "--anchor", "Euskara")["scores"]["rules"]["score"]
    assert named > plain


def test_the_language_of_the_page_is_what_its_url_says_or_as_told(scrapy):
    assert answers(scrapy, *LINK, "--scorer", "rules")["from_lang"] == "spa"
    back = (LINK[2], "--from", LINK[0], "--langs", "spa-eus", "--scorer", "rules")
    assert answers(scrapy, *back)["from_lang"] == "eus"
    told = answers(scrapy, *LINK, "--scorer", "rules", "--from-lang", "Basque")
    assert told["from_lang"] == "eus"


def test_a_page_in_neither_language_weighs_on_its_links(scrapy):
    answer = answers(scrapy, *LINK, "--from-lang", "English")["scores"]
    assert answer["language"]["score"] is None
    assert answer["rules"]["factors"][-1] == {
        "name": "page language",
        "value": 0.1,
        "why": "the page is not in a language that is wanted but in eng",
    }
    status, printed, _ = scrapy(*LINK, "--from-lang", "English", "--scorer", "language")
    assert status == 0
    assert "not followed" in printed


def test_a_scorer_that_cannot_be_made_does_not_silence_the_others(scrapy, tmp_path):
    setting = ("-s", f"BILINGUAL_MODELS={tmp_path}")
    scores = answers(scrapy, *LINK, *setting)["scores"]
    assert "model" in scores["smart"]["error"]
    assert scores["rules"]["score"] > 0
    status, _, message = scrapy(*LINK, *setting, "--scorer", "smart")
    assert status != 0
    assert "scorer=rules" in message


class Learned(LinkScorer):
    """Knows how many pages it has seen."""

    pages = 0

    def arrived(self, document):
        self.pages += 1

    def score(self, document, links):
        return [self.pages / 10 for _ in links]

    def explain(self, document, link):
        known = f"{self.crawl.language_of(document.url)}, {self.crawl.state_of(link.url)!r}"
        partner = self.crawl.partner_of(document.url)
        return self.pages / 10, [Factor("pages", self.pages, f"{known}, {partner}")]

    def state(self):
        return str(self.pages).encode()

    def restore(self, state):
        self.pages = int(state)


def test_what_a_crawl_has_learned_is_used(scrapy, tmp_path):
    pages = {
        "/": Page("spa", ["/es/a", "/eu/a", "/es/b"]),
        "/es/a": Page("spa"),
        "/eu/a": Page("eus"),
        "/es/b": Page("spa"),
    }
    name = "tests.commands.test_score.Learned"
    with HandMade(pages) as site:
        crawl_site(site, tmp_path / "out", name, CLOSESPIDER_PAGECOUNT=SITE_FILES + 3)
    link = (f"{site.url}/es/b", "--from", f"{site.url}/eu/a", "--crawl", str(tmp_path / "out"))
    answer = answers(scrapy, *link, "--scorer", name)
    assert answer["from_lang"] == "eus", "as the crawl found it"
    assert answer["langs"] == "spa-eus", "as the crawl was begun for"
    assert answer["waiting_at"] == pytest.approx(0.1)
    assert answer["scores"][name]["score"] == 0.3
    (factor,) = answer["scores"][name]["factors"]
    assert factor["why"] == f"eus, <State.QUEUED: 0>, {site.url}/es/a"


def test_the_example_of_the_documentation_is_what_is_printed(scrapy):
    (example,) = re.findall(r"```\n\$ scrapy score (.*?)\n(.*?)```", PAPER, re.DOTALL)
    command, expected = example
    assert scrapy(*command.split()) == (0, expected, "")


def test_the_scorer_of_the_documentation_works(tmp_path, monkeypatch, scrapy):
    guide = (ROOT / "docs" / "how-to" / "extend.md").read_text()
    (code,) = re.findall(r"```python\n((?:(?!```).)*class Short.*?)```", guide, re.DOTALL)
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    score = answers(scrapy, *LINK, "--scorer", "mine.Short")["scores"]["mine.Short"]["score"]
    assert 0 < score < 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the URL of one link"),
        ((f"{HOST}/a",), "--from URL"),
        ((f"{HOST}/a", "--from", f"{HOST}/b"), "--langs"),
        (("a", "--from", f"{HOST}/b", "--langs", "spa-eus"), "https://"),
        ((*LINK[:4], "spanish-"), "not a pair of languages"),
        ((*LINK, "--from-lang", "xx7"), "There is no language"),
        ((*LINK, "--scorer", "no.such.Scorer"), "BILINGUAL_SCORER"),
        ((*LINK, "--crawl", "/nowhere"), "crawl.sqlite"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(scrapy, words, message):
    status, printed, told = scrapy(*words)
    assert status != 0
    assert message in told
    assert "Traceback" not in printed + told
