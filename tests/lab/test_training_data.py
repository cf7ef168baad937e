"""Tables, splits and what is made out of URLs for training: no torch needed."""

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.labels import (
    LabelledUrl,
    SkippedLines,
    read_pairs,
    read_urls,
    registered_domain,
)
from bilingual_crawler.lab.training.augment import (
    code_anywhere,
    coded,
    with_code,
    without_name,
)
from bilingual_crawler.lab.training.split import (
    cap,
    part,
    share_of,
    split_domains,
)

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared"))


def rows_of(count, *, domains=40, split=""):
    return [
        LabelledUrl(f"http://site{n % domains}.org/{n}", "fin", f"site{n % domains}.org", split)
        for n in range(count)
    ]


def test_a_plain_table_without_a_header_is_read(tmp_path):
    table = tmp_path / "urls.tsv"
    table.write_text("http://a.example.org/x\teu\nhttp://b.example.net/y\tSpanish\n")
    found = list(read_urls([table]))
    assert [row[:3] for row in found] == [
        ("http://a.example.org/x", "eus", "example.org"),
        ("http://b.example.net/y", "spa", "example.net"),
    ]


def test_a_gzip_table_is_read_by_the_names_in_its_header(tmp_path):
    table = tmp_path / "urls.tsv.gz"
    with gzip.open(table, "wt") as lines:
        lines.write("lang\tsource\turl\tsplit\nfin\tx\thttps://a.fi/\tdev\n")
    assert list(read_urls([table])) == [LabelledUrl("https://a.fi/", "fin", "a.fi", "dev")]


def test_a_comma_separated_table_may_quote(tmp_path):
    table = tmp_path / "urls.csv"
    table.write_text('url,lang\n"https://a.fi/?q=1,2",fin\n')
    assert next(read_urls([table])).url == "https://a.fi/?q=1,2"


def test_a_quote_in_a_tab_separated_url_swallows_nothing(tmp_path):
    table = tmp_path / "urls.tsv"
    table.write_text('http://a.fi/"x\tfin\nhttp://b.fi/y\tfin\n')
    assert [row.url for row in read_urls([table])] == ['http://a.fi/"x', "http://b.fi/y"]


def test_lines_that_cannot_be_used_are_counted_not_fatal(tmp_path):
    table = tmp_path / "urls.tsv"
    table.write_bytes(
        b"nothing\nhttp://a.fi/\tklingonish\nhost\tfin\n\xff\xfe.fi\tfin\nhttp://b.fi\tfin\n"
    )
    skipped = SkippedLines()
    assert len(list(read_urls([table], skipped=skipped))) == 2
    assert skipped.reasons == {"unknown language": 1, "no URL": 1}


def test_a_missing_table_is_a_sentence(tmp_path):
    with pytest.raises(ConfigurationError, match="Cannot read"):
        list(read_urls([tmp_path / "none.tsv"]))


def test_a_header_without_a_language_is_a_sentence(tmp_path):
    table = tmp_path / "urls.tsv"
    table.write_text("url\tcode\nhttp://a.fi\tfin\n")
    with pytest.raises(ConfigurationError, match="no column lang"):
        list(read_urls([table]))


def test_pairs_come_with_languages_or_with_a_label(tmp_path):
    named, labelled = tmp_path / "pairs.tsv", tmp_path / "candidates.tsv"
    named.write_text("http://a.org/en\thttp://a.org/fr\teng\tfra\n")
    labelled.write_text("http://a.org/1\thttp://a.org/2\t0\nhttp://a.org/1\thttp://a.org/3\t1\n")
    first, wrong, right = read_pairs([named, labelled])
    assert (first.first_language, first.second_language, first.parallel) == ("eng", "fra", True)
    assert (wrong.parallel, right.parallel) == (False, True)


def test_a_cap_takes_from_all_domains_before_it_takes_twice_from_one():
    rows = [LabelledUrl(f"http://big.fi/{n}", "fin", "big.fi") for n in range(100)]
    rows += [LabelledUrl(f"http://s{n}.fi/", "fin", f"s{n}.fi") for n in range(5)]
    kept = cap(rows, 6)
    assert len(kept) == 6
    assert len({row.domain for row in kept}) == 6


def test_the_registered_domain_is_what_somebody_registered():
    assert registered_domain("https://www.news.example.co.uk:80/x") == "example.co.uk"
    assert registered_domain("https://somebody.github.io/x") == "somebody.github.io"
    assert registered_domain("http://[broken") == ""


def test_no_domain_is_on_two_sides():
    rows = rows_of(2000, domains=300)
    sides = split_domains(rows)
    parts = [{row.domain for row in part(rows, sides, side)} for side in ("train", "dev", "test")]
    assert all(parts)
    assert sum(map(len, parts)) == len(set.union(*parts)) == 300


def test_a_given_split_is_kept_and_its_training_part_still_gives_a_test():
    rows = [
        *rows_of(900, domains=300, split="train"),
        LabelledUrl("http://d.fi/", "fin", "d.fi", "dev"),
        LabelledUrl("http://k.fi/", "fin", "k.fi", "sites"),
    ]
    sides = split_domains(rows)
    assert (sides["d.fi"], sides["k.fi"]) == ("dev", "sites")
    assert {sides[f"site{n}.org"] for n in range(300)} == {"train", "test"}


def test_the_strictest_table_decides():
    rows = [
        LabelledUrl("http://a.fi/1", "fin", "a.fi", "train"),
        LabelledUrl("http://a.fi/2", "fin", "a.fi", "sites"),
        LabelledUrl("http://a.fi/3", "fin", "a.fi", "dev"),
    ]
    assert split_domains(rows)["a.fi"] == "sites"


def test_a_domain_falls_on_the_same_side_for_ever():
    assert share_of("example.org") == pytest.approx(0.0051677, abs=1e-6)


def test_the_name_of_a_domain_is_hidden_and_nothing_else():
    assert without_name("https://www.nimi.fi/nimi/x", "nimi.fi") == "https://www.x.fi/nimi/x"
    assert without_name("https://eu.nimi.eus/", "nimi.eus") == "https://eu.x.eus/"
    assert without_name("https://other.fi/", "nimi.fi") == "https://other.fi/"


def test_a_code_goes_where_sites_put_codes():
    urls = {with_code("https://www.a.com/b.html", "eu", random.Random(n)) for n in range(60)}
    assert "https://www.a.com/eu/b.html" in urls
    assert "https://eu.a.com/b.html" in urls
    assert "https://www.a.com/b.eu.html" in urls
    assert any(url.endswith("=eu") for url in urls)


def test_coded_urls_are_the_same_for_the_same_seed():
    pages = ["https://a.com/x", "https://b.com/y"]
    assert list(coded("eus", pages, 5, random.Random(1))) == list(
        coded("eus", pages, 5, random.Random(1))
    )


@pytest.mark.skipif(
    not (SHARED / "data").is_dir(),
    reason="the tables of real URLs are not here; BILINGUAL_SHARED says where they are",
)
def test_no_domain_of_the_real_tables_leaks():
    folder = SHARED / "data"
    rows: list[Any] = [
        *read_urls([folder / "urls_strong.tsv.gz", folder / "urls_weak.tsv.gz"]),
        *read_pairs([folder / "pairs.tsv.gz"]),
    ]
    sides = split_domains(rows)
    learned = {row.domain for row in part(rows, sides, "train")}
    others = {row.domain for side in ("dev", "test", "sites") for row in part(rows, sides, side)}
    assert learned
    assert others
    assert not learned & others
    assert not learned & {row.domain for row in rows if row.split in {"dev", "sites"}}


def test_a_code_is_put_in_wherever_sites_put_one():
    rng = random.Random(3)
    found = {code_anywhere("https://www.a.org/docs/page.html?p=1", "te", rng) for _ in range(200)}
    assert "https://www.a.org/te/docs/page.html?p=1" in found
    assert "https://www.a.org/docs/te/page.html?p=1" in found
    assert "https://te.a.org/docs/page.html?p=1" in found
    assert "https://www.a.org/docs/page_te.html?p=1" in found
    assert "https://www.a.org/docs/page.html?p=1&hl=te" in found
    assert code_anywhere("https://a.org", "te", random.Random(1)) == "https://a.org/te/"
