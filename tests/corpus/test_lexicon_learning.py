"""A crawl learns words from the pairs that it is sure of, and uses them if they prove right."""

import random
import subprocess
import sys

import pytest

from bilingual_crawler.alignment.word_links import learn, units_of
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus import lexicon_keeper, lexicon_learning
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper, joined_lexicons
from bilingual_crawler.corpus.lexicon_learning import LexiconLearner, PageTexts
from bilingual_crawler.documents.document import Alternate
from bilingual_crawler.languages import LanguagePair, parse_parallel
from bilingual_crawler.pairing.lexicon import TranslationLexicon, lexicon_file
from bilingual_crawler.pairing.pair import PackedPair
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.lexicon import SITE, lexicon_of, numbers_of, text_page, words

PAIR = LanguagePair.parse("spa-eus")
FILE = lexicon_file("spa-eus")
DECLARED, HIDDEN = range(24), range(1_000, 1_012)


def declared(number, right=True):
    """A page and its translation, which name each other; or two pages of which only one is."""
    spanish, basque = f"{SITE}/es/{number}", f"{SITE}/eu/{number}"
    other = numbers_of(number) if right else numbers_of(number + 500)
    return (
        text_page(spanish, "spa", numbers_of(number), alternates=[Alternate(basque, "eu", "eus")]),
        text_page(basque, "eus", other, alternates=[Alternate(spanish, "es", "spa")]),
    )


def hidden(number):
    """A page and its translation, which nothing ties together but their words."""
    at = number - HIDDEN.start
    return (
        text_page(f"{SITE}/x{at * 7 % 12}", "spa", numbers_of(number)),
        text_page(f"{SITE}/y{at * 5 % 12}", "eus", numbers_of(number)),
    )


TRUE = {(hidden(number)[0].url, hidden(number)[1].url) for number in HIDDEN}


class Harvest:
    """A crawl's corpus with a lexicon, in a folder that can be opened again."""

    def __init__(self, path, languages=PAIR, **settings):
        self.path, self.languages, self.config = path, languages, Config(**settings)
        self.open()

    def open(self):
        self.folder = CrawlFolder(self.path, str(self.languages))
        keeper = LexiconKeeper.open(self.config, self.path)
        self.corpus = Corpus(self.folder, lambda _url: self.languages, lexicons=keeper)

    def add(self, *pages):
        for each in pages:
            self.corpus.add(each)

    def close(self):
        self.corpus.tidy()
        self.folder.close()

    @property
    def hidden_pairs(self):
        return {(each.first, each.second) for each in self.corpus.pairs} & TRUE

    @property
    def file(self):
        return self.path / FILE


def pages_of(make, numbers, **more):
    return [page for number in numbers for page in make(number, **more)]


def test_declared_pairs_teach_the_words_that_find_the_others(tmp_path):
    crawl = Harvest(tmp_path)
    crawl.add(*pages_of(declared, DECLARED), *pages_of(hidden, HIDDEN))
    crawl.close()
    assert crawl.hidden_pairs == TRUE
    assert TranslationLexicon.read(crawl.file).is_trusted


@pytest.mark.parametrize("langs", ["eng-spa-eus", "eng-*", "all"])
def test_of_many_languages_any_two_teach_words_that_have_enough_pairs(tmp_path, langs):
    crawl = Harvest(tmp_path, parse_parallel(langs))
    crawl.add(*pages_of(declared, DECLARED), *pages_of(hidden, HIDDEN))
    crawl.close()
    (file,) = tmp_path.glob(lexicon_file("*"))
    assert TranslationLexicon.read(file).is_trusted
    assert {frozenset(urls) for urls in TRUE} <= {
        frozenset((each.first, each.second)) for each in crawl.corpus.pairs
    }


def test_the_number_of_lexicons_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(lexicon_keeper, "MOST_OTHER_LEXICONS", 0)
    crawl = Harvest(tmp_path, parse_parallel("eng-spa-eus"))
    crawl.add(*pages_of(declared, DECLARED))
    crawl.close()
    assert list(tmp_path.glob(lexicon_file("*"))) == []


def test_what_was_learned_are_translations(tmp_path):
    crawl = Harvest(tmp_path)
    crawl.add(*pages_of(declared, DECLARED))
    crawl.close()
    entries = list(TranslationLexicon.read(crawl.file).entries(0.5, 3))
    right = sum(each.first[:-1] == each.second[:-1] for each in entries)
    assert len(entries) > 50
    assert right / len(entries) > 0.95


def test_without_the_setting_nothing_is_learned(tmp_path):
    crawl = Harvest(tmp_path, learn_lexicon=False)
    crawl.add(*pages_of(declared, DECLARED), *pages_of(hidden, HIDDEN))
    crawl.close()
    assert not crawl.file.exists()
    assert crawl.hidden_pairs == set()


def test_the_lexicon_is_used_before_the_crawl_ends(tmp_path):
    crawl = Harvest(tmp_path)
    crawl.add(*pages_of(declared, DECLARED), *pages_of(hidden, HIDDEN))
    assert crawl.hidden_pairs
    crawl.folder.close()


def test_a_crawl_with_the_same_order_of_pages_has_the_same_pairs_at_every_moment(tmp_path):
    histories = []
    for name in ("one", "other"):
        crawl, history = Harvest(tmp_path / name), []
        for page in (*pages_of(declared, DECLARED), *pages_of(hidden, HIDDEN)):
            crawl.add(page)
            history.append(crawl.corpus.pair_count)
        crawl.folder.close()
        histories.append(history)
    assert histories[0] == histories[1]


def test_the_next_crawl_begins_with_the_lexicon_of_another(tmp_path):
    first = Harvest(tmp_path / "first")
    first.add(*pages_of(declared, DECLARED))
    first.close()
    for name, expected in (("", set()), (str(tmp_path / "first"), TRUE)):
        crawl = Harvest(tmp_path / f"next{len(name)}", lexicon=name)
        crawl.add(*pages_of(hidden, HIDDEN))
        crawl.close()
        assert crawl.hidden_pairs == expected


def test_a_crawl_does_not_save_what_it_was_given(tmp_path):
    lexicon_of(range(400)).write(tmp_path / "given.gz")
    crawl = Harvest(tmp_path / "out", lexicon=str(tmp_path / "given.gz"))
    crawl.add(*pages_of(declared, range(10)))
    crawl.close()
    assert TranslationLexicon.read(crawl.file).pages <= 10


def test_a_killed_crawl_goes_on_with_what_it_had_learned(tmp_path):
    crawl = Harvest(tmp_path)
    crawl.add(*pages_of(declared, DECLARED))
    crawl.close()
    before = TranslationLexicon.read(crawl.file)
    (tmp_path / f"{FILE}.new").write_bytes(b"half a lexicon")
    crawl.open()
    crawl.add(*pages_of(hidden, HIDDEN))
    crawl.close()
    assert crawl.hidden_pairs == TRUE
    assert TranslationLexicon.read(crawl.file).pages >= before.pages


def test_a_damaged_file_in_the_folder_is_reported_and_learned_anew(tmp_path, caplog):
    crawl = Harvest(tmp_path)
    crawl.add(*pages_of(declared, DECLARED))
    crawl.close()
    crawl.file.write_bytes(b"\x1f\x8bnonsense")
    crawl.open()
    assert "Its words are learned anew" in caplog.text
    crawl.close()


def test_a_lexicon_that_does_not_beat_chance_is_not_used(tmp_path):
    crawl = Harvest(tmp_path)
    crawl.add(*pages_of(declared, DECLARED, right=False), *pages_of(hidden, HIDDEN))
    crawl.close()
    assert crawl.hidden_pairs == set()
    if crawl.file.exists():
        assert not TranslationLexicon.read(crawl.file).is_trusted


def test_a_given_lexicon_that_is_wrong_for_these_pages_is_given_up(tmp_path):
    shuffled = words(random.Random(1).sample(range(400), 400), "eus")
    spanish = words(range(400), "spa")
    wrong = TranslationLexicon(
        ("spa", "eus"),
        dict.fromkeys(zip(spanish, shuffled, strict=True), 9.0),
        (dict.fromkeys(spanish, 9.0), dict.fromkeys(shuffled, 9.0)),
        lexicon_of([1]).test,
    )
    learner = LexiconLearner(PAIR, given=wrong)
    assert learner.finish(list, lambda _lexicon: None) is wrong
    pages = pages_of(declared, DECLARED)
    for page in pages:
        learner.read(page)
    made = [
        PackedPair(a.url, b.url, 0.99, b"", ()) for a, b in zip(*[iter(pages)] * 2, strict=True)
    ]
    learned = learner.finish(lambda: made, lambda _lexicon: None)
    assert learned is not None
    assert all(each.first[:-1] == each.second[:-1] for each in learned.entries(0.6, 3))


@pytest.mark.parametrize(
    ("probability", "detectors", "counts"),
    [(0.95, (), True), (0.85, (), False), (0.95, ("lexicon",), False), (0.999, ("lexicon",), True)],
)
def test_only_pairs_that_are_sure_without_the_lexicon_teach(probability, detectors, counts):
    learner = LexiconLearner(PAIR)
    pages = pages_of(declared, DECLARED)
    for page in pages:
        learner.read(page)
    made = [
        PackedPair(one.url, other.url, probability, b"", detectors)
        for one, other in zip(pages[::2], pages[1::2], strict=True)
    ]
    saved: list[TranslationLexicon] = []
    learner.finish(lambda: made, saved.append)
    assert bool(saved) is counts


def test_one_site_teaches_a_bounded_number_of_pages(monkeypatch):
    monkeypatch.setattr(lexicon_learning, "MOST_PAIRS_OF_SITE", 10)
    learner = LexiconLearner(PAIR)
    pages = pages_of(declared, DECLARED)
    for page in pages:
        learner.read(page)
    made = [
        PackedPair(one.url, other.url, 0.99, b"", ())
        for one, other in zip(pages[::2], pages[1::2], strict=True)
    ]
    saved: list[TranslationLexicon] = []
    learner.finish(lambda: made, saved.append)
    assert saved[0].pages == 10


def test_only_the_texts_of_recent_pages_are_kept():
    texts = PageTexts(most_bytes=2_000)
    for number in range(50):
        texts.add(declared(number)[0])
    assert texts.get(declared(0)[0].url) is None
    assert texts.get(declared(49)[0].url) is not None


def test_lexicons_of_several_folders_are_added_up(tmp_path):
    for name, numbers in (("a", range(5)), ("b", range(3, 9))):
        (tmp_path / name).mkdir()
        lexicon_of(numbers).write(tmp_path / name / FILE)
    (joined,) = joined_lexicons([tmp_path / "b", tmp_path / "a"])
    assert (len(joined), joined.pages, joined.test.tested) == (9, 60, 40)


def test_paragraphs_that_correspond_are_found_in_order():
    spanish = [
        ("title", "Casa"),
        ("paragraph", "La casa es grande. Tiene agua."),
        ("listitem", "x"),
    ]
    basque = [("title", "Etxea"), ("paragraph", "Etxea handia da. Ura dauka."), ("heading", "y")]
    assert units_of(spanish, basque) == [
        (["casa"], ["etxea"]),
        (["casa", "grande"], ["etxea", "handia"]),
        (["tiene", "agua"], ["ura", "dauka"]),
    ]


def test_pages_of_which_little_corresponds_teach_nothing():
    assert units_of([("title", "Casa")], [("paragraph", "Etxea handia da.")]) == []
    assert units_of([], []) == []


def test_a_text_that_is_the_same_on_both_sides_teaches_nothing():
    text = [("paragraph", "one text in one language")]
    assert units_of(text, text) == []
    assert learn(("spa", "eus"), [], 0) is None


def test_when_there_is_enough_text_no_more_lessons_are_given(monkeypatch):
    monkeypatch.setattr(lexicon_learning, "MOST_UNITS", 40)
    learner = LexiconLearner(PAIR)
    saved: list[TranslationLexicon] = []
    made: list[PackedPair] = []
    for number in range(60):
        for page in (pages := declared(number)):
            learner.read(page)
        made.append(PackedPair(pages[0].url, pages[1].url, 0.99, b"", ()))
        learner.step(lambda: made, saved.append)
    learner.finish(lambda: made, saved.append)
    assert len(saved) == 1


def test_a_lesson_does_not_wait_for_scipy():
    lesson = """
import sys
from bilingual_crawler.alignment.word_links import learn
from bilingual_crawler.corpus import lexicon_learning
assert learn(("spa", "eus"), [(["casa"], ["etxea"])] * 9, 1)
assert "scipy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", lesson], check=True)


def test_the_more_pages_there_are_the_more_must_come_until_the_pairs_are_looked_at():
    learner = LexiconLearner(PAIR)
    looks: list[int] = []
    page, number = declared(0)[0], 0

    def look() -> list[PackedPair]:
        looks.append(number)
        return []

    for number in range(8_000):  # noqa: B007 - `look` notes it
        learner.read(page)
        learner.step(look, lambda _lexicon: None)
    assert looks[0] < 25
    assert len([each for each in looks if each >= 4_000]) <= 16
