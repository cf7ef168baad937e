"""The file of a topic: what it may contain, and the errors if it cannot be used."""

import pytest

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.topic_definition import MOST_PROBLEMS, Term, read_terms
from bilingual_crawler.errors import ConfigurationError

SEED = "https://example.org/"


def read(tmp_path, text):
    file = tmp_path / "topic.tsv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_terms(file)


def problems(tmp_path, text):
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    return caught.value.problems


def test_a_line_is_weight_term_subdomain_and_language(tmp_path):
    assert read(tmp_path, "10\tballet\tdance\teng\n2.5\tzapatilla de punta\t\tes\n") == (
        Term("ballet", 10.0, "dance", "eng"),
        Term("zapatilla de punta", 2.5, "", "spa"),
    )


def test_a_header_may_name_the_columns_in_any_order(tmp_path):
    text = "\ufeff# made by hand\nlanguage\tterm\tweight\nBasque\tportua\t3\n"
    assert read(tmp_path, text) == (Term("portua", 3.0, "", "eus"),)


def test_what_is_left_out_has_its_usual_meaning(tmp_path):
    text = "# no weights\n\nballet\n\tpas de deux\n4\ttutu\r\n5\tarabesque\tsteps\n"
    assert read(tmp_path, text) == (
        Term("ballet"),
        Term("pas de deux"),
        Term("tutu", 4.0),
        Term("arabesque", 5.0, "steps"),
    )


def test_everything_that_is_wrong_is_told_at_once_with_its_line(tmp_path):
    told = problems(
        tmp_path,
        "much\tballet\n5\t...\n1\ta;b\n-1\ttutu\n2\tpointe\tshoes\tklingonish\n"
        "5 ballet shoes\n1\ta\tb\teng\tmore\n3\tfine\nnan\tx\n" + f"1\t{'w ' * 21}\n",
    )
    assert [each.split("topic.tsv, ")[1].split(":")[0] for each in told] == [
        f"line {number}" for number in (1, 2, 3, 4, 5, 6, 7, 9, 10)
    ]
    text = "\n".join(told)
    assert "must be a number above 0, not 'much'" in text
    assert "there is no term" in text
    assert "has a semicolon" in text
    assert "no language 'klingonish'" in text
    assert "a tab, not a space, after the weight 5" in text
    assert "5 columns" in text
    assert "21 words" in text


def test_of_many_problems_the_first_are_told(tmp_path):
    told = problems(tmp_path, "x\ty\n" * 50)
    assert len(told) == MOST_PROBLEMS + 1
    assert told[-1].startswith("And 30 more lines of ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\n # nothing \n", "has no terms"),
        (b"weight\tterm\n", "has no terms"),
        (b"a\n\xff", "line 2: save the file as UTF-8"),
    ],
)
def test_a_file_without_terms_or_of_bytes_is_told(tmp_path, content, told):
    (only,) = problems(tmp_path, content)
    assert told in only


def test_a_file_that_is_not_there_is_told_with_what_should_be_in_it(tmp_path):
    with pytest.raises(ConfigurationError, match=r"cannot be read: No such file.*weight, term"):
        read_terms(tmp_path / "missing.tsv")


def test_a_plan_takes_terms_in_any_of_its_languages(tmp_path):
    file = tmp_path / "topic.tsv"
    file.write_text("1\tport\t\teng\n1\tpuerto\t\tspa\n")
    for langs in ("spa-eus", "eus-eng", "Spanish"):
        plan = CrawlPlan.from_arguments(langs, SEED, output=tmp_path / "out", topic=file)
        assert [term.text for term in plan.topic] == ["port", "puerto"]


def test_a_plan_without_a_term_in_its_languages_is_refused_with_all_else(tmp_path):
    file = tmp_path / "topic.tsv"
    file.write_text("1\tport\t\teng\n1\tport\t\tfra\n")
    with pytest.raises(ConfigurationError) as caught:
        CrawlPlan.from_arguments("spa-eus", "ftp://x", output=tmp_path / "out", topic=file)
    assert "has terms in eng, fra, and none in Spanish and Basque." in str(caught.value)
    assert "ftp://x" in str(caught.value)
