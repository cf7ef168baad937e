"""`scrapy rebuild --web`, as it is typed, over real HTTP."""

import csv
import json
import os
import sys

from bilingual_crawler.export.rebuilding import DRIFT, rebuild
from bilingual_crawler.export.standoff import without_text
from bilingual_crawler.store.folder import REPORT
from bilingual_crawler.store.sentence_pair import SENTENCES, read_sentences
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.edited_site import EditedSite, serving
from tests.support.export import sentence

SPANISH = "El museo abre a las diez de la mañana."
BASQUE = "Museoa goizeko hamarretan irekitzen da."


def html(*texts):
    return (
        "<html><title>x</title><body>"
        + "".join(f"<p>{text}</p>" for text in texts)
        + "</body></html>"
    )


def test_a_corpus_of_three_languages_stays_one(tmp_path):
    langs = [("spa", "eus"), ("spa", "eng"), ("zzz", "eng"), ("eng", "eng")]
    rows = [sentence(0, SPANISH, BASQUE, lang1=one, lang2=two) for one, two in langs]
    standoff = tmp_path / "standoff.jsonl"
    standoff.write_text("".join(json.dumps(without_text(row)) + "\n" for row in rows))
    rebuilt = rebuild(standoff, [], tmp_path / "again")
    assert str(rebuilt.languages) == "spa-eus-eng"
    assert rebuilt.account.damage.lines == 2
    assert json.loads((tmp_path / "again" / REPORT).read_text())["langs"] == "spa-eus-eng"


def test_the_pages_are_fetched_politely_and_what_drifted_is_told(tmp_path):
    pages = {
        "/es/1": html("Hoy hay una novedad.", SPANISH),
        "/eu/1": "/eu/moved",
        "/eu/moved": html(BASQUE),
    }
    pages |= {"/es/2": html(SPANISH), "/es/3": html(SPANISH), "/eu/3": html("Beste testu bat.")}
    site = EditedSite(pages, robots="User-agent: *\nDisallow: /es/2\n")
    with serving(site):
        places = {"paragraph1": 0, "paragraph2": 0, "sentence1": 0, "sentence2": 0}
        sides = [(f"{site.url}es/{n}", f"{site.url}eu/{n}") for n in (1, 2, 3)]
        rows = [sentence(0, SPANISH, BASQUE, url1=a, url2=b, **places) for a, b in sides]
        standoff = tmp_path / "standoff.jsonl"
        standoff.write_text("".join(json.dumps(without_text(row)) + "\n" for row in rows))
        words = ["rebuild", standoff, "--web", "--out", tmp_path / "again"]
        words += ["-s", "BILINGUAL_ALLOW_PRIVATE=1", "-s", "DOWNLOAD_DELAY=0"]
        run = processes.run(
            [sys.executable, "-m", "scrapy", *words],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | {"NO_COLOR": "1"},
        )
        asked = [each.path for each in site.new()]
    assert run.returncode == 0, run.stderr
    found = list(read_sentences(tmp_path / "again" / SENTENCES))
    assert [(row.url1[-5:], row.text1, row.text2) for row in found] == [("/es/1", SPANISH, BASQUE)]
    assert sorted(asked) == ["/es/1", "/es/3", "/eu/1", "/eu/2", "/eu/3", "/eu/moved"]
    with (tmp_path / "again" / DRIFT).open(encoding="utf-8", newline="") as lines:
        drift = {each["url"][-5:]: each["what"] for each in csv.DictReader(lines, delimiter="\t")}
    assert drift == {
        "/es/1": "elsewhere on its page",
        "/es/2": "on a page that is not in the sources (robots_txt)",
        "/eu/2": "on a page that is not in the sources (http_404)",
        "/eu/3": "no longer on its page",
    }
    assert "1 robots_txt: robots.txt forbids the page." in run.stdout
