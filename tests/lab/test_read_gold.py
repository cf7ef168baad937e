"""Pairs are judged against lists that a person has read."""

from bilingual_crawler.lab.evaluation.read_gold import ReadFigures, ReadGold
from bilingual_crawler.languages import LanguagePair

PAIR = LanguagePair.parse("eng-fra")
A, B = "https://a.example/en/", "https://a.example/fr/"


def lists(folder, **rows):
    for name, lines in rows.items():
        file = "READ.tsv" if name == "read" else f"site.{name}.tsv"
        text = "".join("\t".join(line) + "\n" for line in lines)
        (folder / file).write_text(text, encoding="utf-8")
    return ReadGold.read(folder, "site", PAIR)


def gold(folder):
    return lists(
        folder,
        read=[("site", "eng-fra")],
        gold=[(A + "1", B + "1", "eng", "fra"), (A + "é", B + "2", "eng", "fra")],
        also=[(A + "copy", A + "1")],
        uncertain=[(A + "3", B + "3", "eng", "fra", "half of it")],
        wrong=[(A + "4", B + "4", "eng", "fra", "stub")],
    )


def test_each_list_has_its_verdict(tmp_path):
    judged = gold(tmp_path)
    found = [(A + "1", B + "1"), (A + "3", B + "3"), (A + "4", B + "4"), (A + "5", B + "5")]
    verdicts = judged.judge(found).verdicts
    assert list(verdicts.values()) == ["right", "uncertain", "wrong", "unlisted"]
    assert judged.is_read


def test_a_copy_counts_as_its_page_and_only_once(tmp_path):
    judgement = gold(tmp_path).judge([(A + "copy", B + "1"), (A + "1", B + "1")])
    assert list(judgement.verdicts.values()) == ["right", "repeated"]
    assert judgement.figures.precision == 0.5


def test_urls_are_compared_in_their_canonical_form(tmp_path):
    judgement = gold(tmp_path).judge([(A + "%C3%A9", B + "2")])
    assert list(judgement.verdicts.values()) == ["right"]
    assert judgement.missed == [(A + "1", B + "1")]


def test_another_partner_of_a_gold_page_is_wrong(tmp_path):
    assert gold(tmp_path).label(A + "1", B + "2") == "wrong"


def test_figures_add_up():
    one, other = ReadFigures(3, 1, 0, 1, 5), ReadFigures(5, 0, 1, 1, 0)
    assert one.plus(other) == ReadFigures(8, 1, 1, 2, 5)
    assert (one.plus(other).precision, one.plus(other).recall) == (0.8, 0.8)
