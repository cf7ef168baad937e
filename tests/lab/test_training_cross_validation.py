"""Cross-validation by site: no fold sees its own sites; figures are those of the answers."""

import json
import random
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
pytest.importorskip("transformers", reason="training needs transformers")
pytest.importorskip("sklearn", reason="training needs scikit-learn")

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.training import cross_validation
from bilingual_crawler.lab.training.cross_validation import Answer, cross_validate, figures, table
from bilingual_crawler.lab.training.recipe import TrainingOptions, carry_out
from bilingual_crawler.lab.training.url2lang import prepare_url2lang, prepared_from

SLUGS = {"fin": "palvelut-etusivu-uutiset", "spa": "servicios-noticias-inicio"}


def answers():
    """Fifteen English and fifteen Finnish URLs of five sites each, and one Basque."""
    found = []
    for number in range(15):
        site = f"{number % 5}.org"
        rule = "eng" if number < 9 else ""
        found.append(Answer("eng", site, rule, "eng", "fin" if number < 3 else "eng"))
        found.append(Answer("fin", site, "fin" if number < 12 else "eng", "eng", "fin"))
    return [*found, Answer("eus", "0.org", "", "eng", "unknown")]


def test_the_figures_are_those_of_the_answers():
    found = figures(answers())
    assert found["languages"] == 2
    rules, model = found["ways"]["rules"], found["ways"]["model"]
    assert rules["by_language"]["eng"] == pytest.approx(2 * 9 / (2 * 9 + 3 + 6))
    assert rules["by_language"]["fin"] == pytest.approx(2 * 12 / (2 * 12 + 3))
    assert rules["accuracy"] == pytest.approx(21 / 31)
    assert model["by_language"]["fin"] == pytest.approx(2 * 15 / (2 * 15 + 3))
    assert model["accuracy"] == pytest.approx(27 / 31)
    assert model["announced"] == pytest.approx(21 / 24)
    assert model["plain"] == pytest.approx(6 / 7)
    assert found["ways"]["cascade"]["accuracy"] == pytest.approx((9 + 6 + 12) / 31)


def test_the_table_names_what_is_below_the_rules_and_what_is_confused(monkeypatch):
    monkeypatch.setattr(cross_validation, "FREQUENT", 15)
    worse = [each._replace(model="fin") if each.language == "eng" else each for each in answers()]
    text = table(worse, 5)
    assert "31 URLs of 5 sites, 5 folds by site" in text
    assert "Below the rules, with 15 URLs or more: eng -0.667, fin -0.222." in text
    assert "eng taken for fin (15)" in text


def test_every_site_is_answered_for_by_a_model_that_has_not_seen_it(tmp_path, monkeypatch):
    rng = random.Random(1)
    rows = tmp_path / "urls.tsv"
    with rows.open("w") as lines:
        for number in range(400):
            language = rng.choice(list(SLUGS))
            words = rng.sample(SLUGS[language].split("-"), 2)
            lines.write(f"https://site{number % 60}.org/{'-'.join(words)}/{number}\t{language}\n")
    asked = []

    def watched(tables, options):
        asked.append(tables)
        return prepared_from(tables, options)

    monkeypatch.setattr(cross_validation, "prepared_from", watched)
    options = TrainingOptions(
        data=(rows,), out=tmp_path / "cv", epochs=3, batch=64, vocabulary=300, epoch_size=640,
        threads=1,
    )  # fmt: skip
    text = cross_validate(options, 2, lambda *_: None, lambda _: None)
    assert "| compact model |" in text
    assert len(asked) == 2
    for tables in asked:
        parts = [{row.domain for row in part} for part in tables[:3]]
        assert sum(map(len, parts)) == len(set().union(*parts))
    assert len({row.domain for tables in asked for row in tables.test}) == 60
    written = json.loads((tmp_path / "cv" / cross_validation.FIGURES).read_text())
    assert written["ways"]["model"]["accuracy"] > 0.9
    shipped = replace(options, out=tmp_path / "all", everything=True, epochs=1, epoch_size=128)
    shipped = replace(shipped, figures=tmp_path / "cv" / cross_validation.FIGURES)
    found = carry_out(prepare_url2lang(shipped), shipped, lambda *_: None)
    assert found["unseen_sites_accuracy"] == round(written["ways"]["model"]["accuracy"], 4)
    assert "is answered for by a model without it" in (shipped.out / "README.md").read_text()
    again = cross_validate(options, 2, lambda *_: None, lambda _: None)
    assert again == text
    assert len(asked) == 2  # answered folds are not trained again


def test_figures_of_something_else_are_a_sentence(tmp_path):
    rows = tmp_path / "urls.tsv"
    rows.write_text("".join(f"https://s{n}.org/{'abcde'[n % 5]}\teng\n" for n in range(60)))
    with rows.open("a") as lines:
        lines.writelines(f"https://t{n}.org/fi\tfin\n" for n in range(60))
    other = tmp_path / "other.json"
    other.write_text("{}")
    options = TrainingOptions(
        data=(rows,), out=tmp_path / "m", epochs=1, epoch_size=64, batch=64, vocabulary=100,
        everything=True, figures=other, threads=1,
    )  # fmt: skip
    with pytest.raises(ConfigurationError, match="has no figures of a cross-validation"):
        carry_out(prepare_url2lang(options), options, lambda *_: None)
