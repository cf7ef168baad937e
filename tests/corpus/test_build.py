"""A corpus from recorded pages: what is taken in, what is left out, what a kill changes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bilingual_crawler.api import read_crawl
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.build import BuildTask, build_corpus
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.recordings import HTML, SITE, exchange, page, redirect, to, write_warc

PAIR = LanguagePair.parse("spa-eus")
LETTERS = "abcdefgh"
ROOT = Path(__file__).parents[2]


class KilledError(Exception):
    """Stands for a kill: nothing after it is written."""


def recording(path, letters=LETTERS, *more):
    made = [
        exchange(f"{SITE}/{code}/{name}", page(code, LETTERS.index(name)))
        for name in letters
        for code in ("es", "eu")
    ]
    return write_warc(path, [*made, *more])


def build(folder, *inputs, progress=lambda *_: None, **settings):
    task = BuildTask(
        inputs=tuple(map(str, inputs)),
        folder=folder,
        languages=PAIR,
        config=Config(**settings),
        settings={},
    )
    return build_corpus(task, progress=progress)


def contents(folder):
    crawl = read_crawl(folder)
    documents = sorted(document.key for document in crawl.documents())
    return documents, sorted((pair.first, pair.second) for pair in crawl.pairs())


def expected(letters=LETTERS):
    urls = sorted(f"{SITE}/{code}/{name}" for name in letters for code in ("es", "eu"))
    return urls, [(f"{SITE}/es/{name}", f"{SITE}/eu/{name}") for name in letters]


def counted(folder, *names):
    report = json.loads((folder / "crawl.json").read_text())
    return {name: report[name] for name in names}


def ended(report):
    return {outcome: each["count"] for outcome, each in report["urls_ended"].items()}


def test_a_recording_becomes_a_folder_like_that_of_a_crawl(tmp_path):
    english = b"<p>The council has opened the library again, and the neighbours are glad of it.</p>"
    other = exchange(f"{SITE}/en/a", b"<html><body>" + english * 4)
    gone = exchange(f"{SITE}/es/z", b"", status=404)
    warc = recording(
        tmp_path / "site.warc.gz", LETTERS, other, gone, redirect(f"{SITE}/x", "/es/a")
    )
    built = build(tmp_path / "out", warc)
    assert contents(tmp_path / "out") == expected()
    report = built.report
    assert (report["state"], report["langs"], report["pages"]) == ("finished", "spa-eus", 17)
    assert ended(report) == {"stored": 16, "off_language": 1}
    assert report["off_language"] == {"eng": 1}
    assert report["skipped"] == {"status 404": 1}
    assert report["built_from"] == [str(warc)]
    assert json.loads((tmp_path / "out" / "crawl.json").read_text()) == json.loads(
        json.dumps(report)
    )


def test_documents_have_the_date_of_their_record(tmp_path):
    build(tmp_path / "out", recording(tmp_path / "site.warc.gz", "a"))
    dates = {document.fetched_at for document in read_crawl(tmp_path / "out").documents()}
    assert dates == {"2023-11-14T22:13:20+00:00"}


@pytest.mark.parametrize("after", [1, 5, 16])
def test_a_killed_build_goes_on_and_counts_every_page_once(tmp_path, monkeypatch, after):
    monkeypatch.setattr("bilingual_crawler.corpus.build.CHECKPOINT_PAGES", 2)
    gone = exchange(f"{SITE}/es/z", b"", status=404)
    first = recording(tmp_path / "one.warc.gz", "abcd", gone)
    second = recording(tmp_path / "two.warc.gz", "efgh", gone)

    def kill(pages, _pairs):
        if pages == after:
            raise KilledError

    with pytest.raises(KilledError):
        build(tmp_path / "out", first, second, progress=kill)
    build(tmp_path / "out", first, second)
    build(tmp_path / "whole", first, second)
    names = ("pages", "documents", "pairs", "urls_ended", "skipped", "built_from")
    assert counted(tmp_path / "out", *names) == counted(tmp_path / "whole", *names)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole") == expected()


def test_a_second_build_reads_nothing_that_has_not_changed(tmp_path):
    warc = recording(tmp_path / "site.warc.gz")
    before = build(tmp_path / "out", warc)
    pages = []
    again = build(tmp_path / "out", warc, progress=lambda *counts: pages.append(counts))
    assert (before.is_unchanged, again.is_unchanged) == (False, True)
    assert not pages
    assert again.report == json.loads((tmp_path / "out" / "crawl.json").read_text())


def test_another_input_adds_to_the_corpus(tmp_path):
    build(tmp_path / "out", recording(tmp_path / "one.warc.gz", "abc"))
    build(tmp_path / "out", recording(tmp_path / "two.warc.gz", "cde"))
    assert contents(tmp_path / "out") == expected("abcde")


def test_a_directory_is_read_again_and_its_pages_count_once(tmp_path):
    mirror = tmp_path / "mirror"
    for code in ("es", "eu"):
        (mirror / code).mkdir(parents=True)
        (mirror / code / "a.html").write_bytes(page(code, 0))
    build(tmp_path / "out", mirror)
    for code in ("es", "eu"):
        (mirror / code / "b.html").write_bytes(page(code, 1))
    report = build(tmp_path / "out", mirror).report
    assert (report["pages"], report["pairs"]) == (4, 2)
    assert ended(report) == {"stored": 4}


def test_a_page_in_both_languages_counts_once(tmp_path):
    def prose(code):
        return b"".join(page(code, number).partition(b"<body>")[2] for number in (1, 2))

    both = b"<html><body>" + prose("es").replace(b"</body></html>", b"") + prose("eu")
    warc = write_warc(tmp_path / "site.warc.gz", [exchange(f"{SITE}/bi", both)])
    report = build(tmp_path / "out", warc).report
    assert (report["pages"], report["split_pages"], report["pairs"]) == (1, 1, 1)
    assert ended(report) == {"stored": 1}


def test_copies_are_dropped(tmp_path):
    copy = exchange(f"{SITE}/es/copia", page("es", 0))
    report = build(tmp_path / "out", recording(tmp_path / "site.warc.gz", LETTERS, copy)).report
    assert ended(report) == {"stored": 16, "duplicate": 1}
    assert contents(tmp_path / "out") == expected()


@pytest.mark.parametrize(
    ("header", "outcome"),
    [((b"X-Robots-Tag", b"noai"), "noai"), ((b"TDM-Reservation", b"1"), "tdm_reserved")],
)
def test_opt_outs_in_headers_are_honoured(tmp_path, header, outcome):
    closed = exchange(f"{SITE}/es/h", page("es", 7), headers=(*HTML, header))
    warc = recording(tmp_path / "site.warc.gz", "abc", closed)
    report = build(tmp_path / "out", warc).report
    assert ended(report) == {"stored": 6, outcome: 1}
    assert any("1 of the pages opt out" in each for each in report["explanation"])
    assert report["opt_out_hosts"] == {"www.example.org": {outcome: 1}}
    everything = build(tmp_path / "all", warc, honour=()).report
    assert ended(everything) == {"stored": 7}


def test_a_list_of_files_says_which_belong_together(tmp_path):
    for name, code in (("one", "es"), ("two", "eu")):
        (tmp_path / f"{name}.html").write_bytes(page(code, 0))
    (tmp_path / "files.tsv").write_text(f"{tmp_path}/one.html\t{tmp_path}/two.html\n")
    report = build(tmp_path / "out", tmp_path / "files.tsv").report
    assert report["pairs"] == 1
    assert report["pairs_by_detector"]["alternates"] == 1


def test_the_documents_of_a_crawl_are_an_input(tmp_path):
    build(tmp_path / "one", recording(tmp_path / "site.warc.gz"))
    build(tmp_path / "two", tmp_path / "one")
    assert contents(tmp_path / "two") == expected()


def test_urls_without_texts_are_refused(tmp_path):
    (tmp_path / "urls.txt").write_text(f"{SITE}/es/a\n{SITE}/eu/a\n")
    with pytest.raises(ConfigurationError, match="a corpus needs texts"):
        build(tmp_path / "out", tmp_path / "urls.txt")
    assert not (tmp_path / "out").exists()


def test_the_folder_of_a_crawl_is_left_alone(tmp_path):
    folder = CrawlFolder(tmp_path / "crawl", "spa-eus")
    Corpus(folder, lambda _url: PAIR)
    folder.facts["finished"] = "yes"
    folder.close()
    with pytest.raises(ConfigurationError, match="holds a crawl"):
        build(tmp_path / "crawl", recording(tmp_path / "site.warc.gz", "a"))
    again = CrawlFolder(tmp_path / "crawl", "spa-eus")
    assert again.was_finished
    again.close()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(ConfigurationError, match="something other than a corpus"):
        build(tmp_path / "home", recording(tmp_path / "site.warc.gz", "a"))


def test_a_corpus_without_pairs_says_why(tmp_path):
    made = [exchange(f"{SITE}/es/{name}", page("es", at)) for at, name in enumerate("abc")]
    report = build(tmp_path / "out", write_warc(tmp_path / "site.warc.gz", made)).report
    assert any("does the site have Basque pages" in each for each in report["explanation"])


def test_a_build_that_is_killed_by_the_system_goes_on(tmp_path):
    warc = recording(tmp_path / "site.warc.gz")
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from bilingual_crawler.corpus import build as module\n"
        "from tests.corpus.test_build import build\n"
        "module.CHECKPOINT_PAGES = 2\n"
        "end = lambda pages, _: pages == 7 and os.kill(os.getpid(), signal.SIGKILL)\n"
        "build(Path(sys.argv[1]), sys.argv[2], progress=end)\n"
    )
    words = [sys.executable, "-c", program, tmp_path / "out", warc]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    pages = []
    report = build(tmp_path / "out", warc, progress=lambda count, _: pages.append(count)).report
    assert pages == list(range(7, 17)), "what was taken in before is not read again"
    assert (report["pages"], ended(report)) == (16, {"stored": 16})
    assert contents(tmp_path / "out") == expected()


PLAIN = ((b"Content-Type", b"text/plain; charset=utf-8"),)
NOTICES = {
    "es": (
        "La biblioteca cierra los lunes por la tarde y abre los sábados por la mañana.",
        "El agua de la fuente vieja no se puede beber hasta que terminen los análisis.",
    ),
    "eu": (
        "Liburutegia astelehen arratsaldetan itxita dago eta larunbat goizetan zabalik.",
        "Iturri zaharreko ura ezin da edan harik eta azterketak amaitu arte.",
    ),
}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_files_are_paired_by_their_place_on_paired_pages(tmp_path, order):
    """The names say nothing, and no number or name says which texts belong together."""
    names = {"es": ("/f/k3.txt", "/f/z9.txt"), "eu": ("/f/q1.txt", "/f/m7.txt")}
    links = {"es": names["es"], "eu": tuple(names["eu"][at] for at in order)}
    made = [exchange(f"{SITE}/{code}/", page(code, 1, to(*links[code]))) for code in names]
    for code, paths in names.items():
        for path, text in zip(paths, NOTICES[code], strict=True):
            made.append(exchange(SITE + path, f"{text}\n\n{text}".encode(), headers=PLAIN))
    build(tmp_path / "out", write_warc(tmp_path / "site.warc.gz", made))
    _, pairs = contents(tmp_path / "out")
    assert set(pairs) == {
        (f"{SITE}/es/", f"{SITE}/eu/"),
        *((SITE + one, SITE + other) for one, other in zip(*links.values(), strict=True)),
    }


def test_the_evidence_of_files_names_their_places(tmp_path):
    made = [
        exchange(f"{SITE}/{code}/", page(code, 1, to(f"/f/{name}.txt")))
        for code, name in (("es", "k"), ("eu", "q"))
    ]
    for code, name in (("es", "k"), ("eu", "q")):
        text = "\n\n".join(NOTICES[code])
        made.append(exchange(f"{SITE}/f/{name}.txt", text.encode(), headers=PLAIN))
    build(tmp_path / "out", write_warc(tmp_path / "site.warc.gz", made))
    reasons = {
        pair.first: [each.why for each in pair.evidence if each.detector == "alternates"]
        for pair in read_crawl(tmp_path / "out").pairs()
    }
    assert "by their places on two paired pages" in reasons[f"{SITE}/f/k.txt"][0]
