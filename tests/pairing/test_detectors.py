"""A detector of the user's decides where nothing else can, in crawls and in `scrapy pairs`."""

import json
import logging
import re
from pathlib import Path

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.detectors import (
    MAX_ODDS,
    PairDetector,
    PairOpinion,
    UserDetectors,
)
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.pairing.resources import DETECTORS, PairingAids
from bilingual_crawler.store.folder import CrawlFolder
from tests.pairing.test_resources import PAGES, SITE, spelt
from tests.support.plugin import install

PAIR = LanguagePair.parse("spa-eus")
PRICES = "shop.Prices"
EXAMPLE = r"```python\n((?:(?!```).)*class Prices.*?)```"
TRUE = {(f"{SITE}/s{n}", f"{SITE}/e{PAGES - n}") for n in range(PAGES)}


@pytest.fixture(autouse=True)
def prices(tmp_path_factory, monkeypatch):
    """The detector that the docs show, as a module `shop`."""
    papers = [path.read_text() for path in (Path(__file__).parents[2] / "docs").rglob("*.md")]
    (example,) = re.findall(EXAMPLE, "".join(papers), re.DOTALL)
    install(tmp_path_factory.mktemp("shop"), monkeypatch, "shop", example)


class Failing(PairDetector):
    def read(self, document):
        return {document.url}  # a set cannot be stored

    def compare(self, first, second):
        return PairOpinion(float("nan"), "nothing")


class Needy(PairDetector):
    def __init__(self, path):
        self.path = path

    def compare(self, first, second):
        return None


class Certain(PairDetector):
    def compare(self, first, second):
        return PairOpinion(float("inf"), "sure")


class Numbers(PairDetector):
    name = "numbers"

    def compare(self, first, second):
        return None


def documents():
    """Pages of one shape that share one name; only their prices tell them apart."""
    for language, place in (("spa", "s"), ("eus", "e")):
        for topic in range(PAGES):
            words = [spelt(language, topic * 40 + number) for number in range(40)]
            lines = [" ".join(words[at : at + 8]) for at in range(0, 40, 8)]
            euros, cents = 11 + 7 * topic, 30 + 5 * topic
            price = f"{euros},{cents} euro" if language == "spa" else f"{euros}{cents} zentimo"
            number = topic if language == "spa" else PAGES - topic
            yield Document(
                f"{SITE}/{place}{number}",
                language=language,
                paragraphs=[Paragraph("Udalberri"), *map(Paragraph, lines), Paragraph(price)],
            )


def aids(*detectors):
    return PairingAids.read(Config(detectors=detectors))


def urls(pairs):
    return {(pair.first, pair.second) for pair in pairs}


def crawl(path, *detectors):
    """Fill a folder in two runs, as a crawl that is stopped and goes on."""
    made = list(documents())
    for part in (made[::2], made[1::2]):
        folder = CrawlFolder(path, str(PAIR))
        corpus = Corpus(folder, lambda _url: PAIR, aids=aids(*detectors))
        for document in part:
            corpus.add(document)
        corpus.tidy()
        pairs = corpus.pairs
        folder.close()
    return pairs


def test_a_detector_changes_which_pages_of_a_crawl_are_paired(tmp_path):
    assert urls(crawl(tmp_path / "without")) != TRUE
    assert urls(crawl(tmp_path / "with", PRICES)) == TRUE
    lines = (tmp_path / "with" / "pairs.jsonl").read_text().splitlines()
    for line in lines:
        (said,) = [each for each in json.loads(line)["evidence"] if each["detector"] == "prices"]
        assert said == {"detector": "prices", "score": 0.993, "why": "1 of 1 prices are equal"}


def scrapy_pairs(tmp_path, *words):
    settings = Settings()
    out = tmp_path / "pairs"
    folder = str(tmp_path / "crawl")
    command = ["scrapy", "pairs", folder, "--langs", "spa-eus", "--out", str(out), *words]
    with pytest.raises(SystemExit) as end:
        execute(
            [str(tmp_path / "crawl") if word == "crawl" else word for word in command], settings
        )
    assert not end.value.code, end.value.code
    return [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]


def test_a_detector_changes_which_pages_scrapy_pairs_finds(tmp_path):
    crawl(tmp_path / "crawl")
    without = scrapy_pairs(tmp_path)
    assert {(pair["url1"], pair["url2"]) for pair in without} != TRUE
    found = scrapy_pairs(tmp_path, "-s", f"BILINGUAL_DETECTORS={PRICES}")
    assert {(pair["url1"], pair["url2"]) for pair in found} == TRUE
    assert all("prices" in {each["detector"] for each in pair["evidence"]} for pair in found)


def test_a_detector_of_the_user_can_be_left_out_by_name(tmp_path):
    crawl(tmp_path / "crawl")
    words = ("-s", f"BILINGUAL_DETECTORS={PRICES}", "--detectors")
    found = scrapy_pairs(tmp_path, *words, ",".join(DETECTORS))
    assert {(pair["url1"], pair["url2"]) for pair in found} != TRUE
    assert scrapy_pairs(tmp_path, *words, f"{','.join(DETECTORS)},prices")


def test_an_installed_detector_is_named_by_its_entry_point(tmp_path, monkeypatch):
    source = "from shop import Prices\nclass Cheap(Prices):\n    name = 'cheap'\n"
    install(tmp_path, monkeypatch, "cheap_pack", source, detectors="cheap = cheap_pack:Cheap")
    config = Config.from_settings({"BILINGUAL_DETECTORS": f"cheap, {PRICES}"})
    assert PairingAids.read(config).detectors.names == ("cheap", "prices")


def test_a_detector_that_fails_is_reported_once_and_says_nothing(caplog):
    helped = aids("tests.pairing.test_detectors.Failing", PRICES)
    matcher = Matcher(PAIR, aids=helped)
    with caplog.at_level(logging.WARNING):
        for document in documents():
            matcher.add(helped.page_of(document))
        matcher.finish()
    assert urls(matcher.pairs) == TRUE
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "The detector Failing failed on" in caplog.text
    assert "Failing" not in {each.detector for pair in matcher.pairs for each in pair.evidence}


def test_a_page_without_text_is_weighed_by_the_detector_and_what_is_stated():
    pages = [PairingPage(f"{SITE}/es/a", "spa"), PairingPage(f"{SITE}/eu/b", "eus")]
    for detectors, most in (([], 0.0), ([Certain()], 1.0)):
        matcher = Matcher(PAIR, aids=PairingAids(detectors=UserDetectors(detectors)))
        for page in pages:
            matcher.hold(page)
        weighed = matcher.weigh(*(page.url for page in pages))
        assert (0.0 if weighed is None else round(weighed.score, 2)) == most


def test_one_detector_adds_no_more_than_it_may():
    page = PairingPage(f"{SITE}/a", "spa")
    assert [odds for odds, _ in UserDetectors([Certain()]).said(page, page)] == [MAX_ODDS]


def test_notes_survive_packing_and_pages_without_notes_are_packed_as_before():
    page = PairingPage(f"{SITE}/a", "spa", notes=(("prices", (1, {2: "x"})),))
    assert PairingPage.unpack(page.url, page.language, page.pack()) == page
    bare = PairingPage(f"{SITE}/a", "spa")
    assert PairingPage.unpack(bare.url, bare.language, bare.pack()) == bare
    assert len(bare.pack()) < len(page.pack())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("prices", "BILINGUAL_DETECTORS.* must be package.module.Class, not prices"),
        ("no.such.Detector", "cannot be loaded"),
        ("tests.pairing.test_detectors.crawl", "not a pair detector: make it a class"),
        ("tests.pairing.test_detectors.Needy", "cannot be made without arguments: TypeError"),
        ("tests.pairing.test_detectors.Numbers", "another detector called numbers"),
    ],
)
def test_what_is_no_detector_is_refused_in_words(setting, message):
    with pytest.raises(ConfigurationError, match=message):
        PairingAids.read(Config.from_settings({"BILINGUAL_DETECTORS": setting}))
