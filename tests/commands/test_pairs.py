"""`scrapy pairs` and `scrapy train pairs`, as they are typed."""

import gzip
import io
import json

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from tests.support import many_languages
from tests.support.bilingual_texts import BASQUE, SPANISH
from tests.support.fasttext_models import model_bytes
from tests.support.recordings import SITE, claims, exchange, page, redirect, slug, write_warc
from tests.support.typed_commands import status_of

LANGS = ("--langs", "spa-eus")
LETTERS = "abcdefgh"


@pytest.fixture
def scrapy(capsys, monkeypatch):
    """Run a command; its status, its output and its messages."""

    def run(*words, command="pairs", stdin=b""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", command, *map(str, words)], settings)
        printed = capsys.readouterr()
        return status_of(end.value), printed.out, printed.err

    return run


def answer(scrapy, *words, **options):
    status, printed, told = scrapy(*words, "--json", **options)
    assert status == 0, told
    return json.loads(printed)


@pytest.fixture
def site(tmp_path):
    """Four pages in each language under telling URLs, one in English, one that moved."""
    made = [
        exchange(f"{SITE}/{code}/{name}", page(code, number))
        for number, name in enumerate(LETTERS[:4])
        for code in ("es", "eu")
    ]
    english = b"<p>The council has opened the library again, and the neighbours are glad of it.</p>"
    made.append(exchange(f"{SITE}/en/a", b"<html><body>" + english * 4))
    made.append(redirect(f"{SITE}/es/viejo", "/es/a"))
    return write_warc(tmp_path / "site.warc.gz", made)


def test_pages_that_opt_out_are_not_kept_unless_the_user_says_so(scrapy, tmp_path):
    def answer_of(url, body, *headers):
        return exchange(url, body, headers=((b"Content-Type", b"text/html"), *headers))

    closed = (b"X-Robots-Tag", b"noai"), (b"tdm-reservation", b"1")
    made = [answer_of(f"{SITE}/{code}/a", page(code, 0)) for code in ("es", "eu")]
    for name, header in zip("bc", closed, strict=True):
        made.append(answer_of(f"{SITE}/es/{name}", page("es", "abc".index(name)), header))
        made.append(answer_of(f"{SITE}/eu/{name}", page("eu", "abc".index(name))))
    warc = write_warc(tmp_path / "site.warc.gz", made)
    found = answer(scrapy, warc, *LANGS, "--out", tmp_path / "kept")
    assert found["pages"] == {"eus": 3, "spa": 1}
    assert found["skipped"] == {"noai": 1, "tdm_reserved": 1}
    assert found["pairs"] == 1
    words = ("--out", tmp_path / "all", "-s", "BILINGUAL_HONOUR=")
    assert answer(scrapy, warc, *LANGS, *words)["pairs"] == 3
    assert answer(scrapy, warc, *LANGS)["pairs"] == 3, "nothing is kept"


def test_pairs_of_a_recording_are_printed_line_by_line(scrapy, site):
    status, printed, told = scrapy(site, *LANGS)
    assert status == 0
    rows = sorted(line.split("\t") for line in printed.splitlines())
    assert [row[:2] for row in rows] == [
        [f"{SITE}/es/{name}", f"{SITE}/eu/{name}"] for name in LETTERS[:4]
    ]
    assert all(float(row[2]) >= 0.5 for row in rows)
    assert "url_key" in rows[0][3]
    assert "Pages: 4 in Spanish, 4 in Basque." in told
    assert "1 skipped, in another language: eng" in told


def test_the_summary_counts_pages_skips_and_detectors(scrapy, site):
    counts = answer(scrapy, site, *LANGS)
    assert counts["langs"] == "spa-eus"
    assert counts["pages"] == {"eus": 4, "spa": 4}
    assert counts["skipped"] == {"in another language: eng": 1}
    assert (counts["pairs"], counts["pairs_per_detector"]["url_key"]) == (4, 4)
    assert counts["candidates"] >= 4


def test_the_identifier_of_the_settings_is_asked(scrapy, site, tmp_path):
    words = dict.fromkeys(("la", "el", "de", "los", "que"), "__label__eng_Latn")
    words |= {"eta": "__label__eus_Latn", "xyz": "__label__spa_Latn"}
    model = tmp_path / "model.bin"
    model.write_bytes(model_bytes(words))
    counts = answer(scrapy, site, *LANGS, "-s", f"BILINGUAL_IDENTIFIER=fasttext:{model}")
    assert counts["pages"].get("spa", 0) < 4, "CLD2 finds four"
    assert counts["skipped"]["in another language: eng"] > 1


def test_a_folder_gets_pairs_with_evidence_and_a_report(scrapy, site, tmp_path):
    out = tmp_path / "out"
    status, printed, _ = scrapy(site, *LANGS, "--out", out)
    assert (status, printed) == (0, "")
    lines = [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]
    assert len(lines) == 4
    assert {"url1", "url2", "lang1", "lang2", "score", "evidence"} <= set(lines[0])
    assert lines[0]["evidence"][0]["why"]
    first = (out / "pairs.tsv").read_text().splitlines()[0].split("\t")
    assert first == [lines[0]["url1"], lines[0]["url2"]]
    assert json.loads((out / "pairs.json").read_text())["pairs"] == 4


def gold(tmp_path, *rows):
    path = tmp_path / "gold.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


def test_gold_gives_figures_and_the_reasons_of_misses(scrapy, site, tmp_path):
    true = gold(
        tmp_path,
        (f"{SITE}/eu/a", f"{SITE}/es/viejo/", "eus", "spa"),
        (f"{SITE}/es/b", f"{SITE}/eu/b", "spa", "eus"),
        (f"{SITE}/es/c", f"{SITE}/eu/d", "spa", "eus"),
        (f"{SITE}/es/z", f"{SITE}/eu/z", "spa", "eus"),
        (f"{SITE}/es/y", f"{SITE}/en/a", "spa", "eng"),
    )
    figures = answer(scrapy, site, *LANGS, "--gold", true, "--ablation")
    assert figures["gold"] == 4, "the row in other languages does not count"
    assert (figures["found"], figures["correct"], figures["wrong"]) == (4, 2, 2)
    assert (figures["precision"], figures["recall"], figures["f1"]) == (0.5, 0.5, 0.5)
    assert figures["unjudged"] == 0
    assert figures["detectors"]["url_key"]["recall"] == 0.5
    assert set(figures["ablation"]) == set(figures["detectors"])
    reasons = {miss["reason"] for miss in figures["misses"]}
    assert "page not in the input" in reasons
    assert len(figures["misses"]) == 2


def test_gold_without_languages_is_of_any(scrapy, site, tmp_path):
    true = gold(tmp_path, (f"{SITE}/es/a", f"{SITE}/eu/a"))
    figures = answer(scrapy, site, *LANGS, "--gold", true)
    assert (figures["recall"], figures["unjudged"]) == (1.0, 3)
    status, printed, _ = scrapy(site, *LANGS, "--gold", true)
    assert status == 0
    assert "combined" in printed


def test_a_gold_list_of_other_languages_is_refused(scrapy, site, tmp_path):
    true = gold(tmp_path, (f"{SITE}/es/y", f"{SITE}/en/a", "spa", "eng"))
    status, _, told = scrapy(site, *LANGS, "--gold", true)
    assert status
    assert "no pair of Spanish (spa) and Basque (eus)" in told


def test_claims_of_the_site_can_be_hidden(scrapy, tmp_path):
    made = [
        exchange(SITE + slug(code, number), page(code, number, "", claims(number)))
        for number in range(3)
        for code in ("es", "eu")
    ]
    path = write_warc(tmp_path / "opaque.warc.gz", made)
    assert answer(scrapy, path, *LANGS)["pairs_per_detector"]["alternates"] == 3
    hidden = answer(scrapy, path, *LANGS, "--strip-alternates")
    assert "alternates" not in hidden["pairs_per_detector"]


def site_map(at=SITE):
    """A sitemap that names the translations of three pages whose addresses tell nothing."""
    links = [
        "".join(
            f'<link rel="alternate" hreflang="{code}" href="{at}{slug(code, number)}"/>'
            for code in ("es", "eu")
        )
        for number in range(3)
    ]
    entries = (
        f"<url><loc>{at}{slug(code, number)}</loc>{links[number]}</url>"
        for number in range(3)
        for code in ("es", "eu")
    )
    return f"<urlset>{''.join(entries)}</urlset>".encode()


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sitemap_in_a_recording_declares_translations(scrapy, tmp_path, first, pack):
    made = [
        exchange(SITE + slug(code, number), page(code, 10 * number))
        for number in range(3)
        for code in ("es", "eu")
    ]
    declared = exchange(f"{SITE}/map?all", pack(site_map()), headers=())
    made.insert(0 if first else len(made), declared)
    path = write_warc(tmp_path / "opaque.warc.gz", made)
    alone = (path, *LANGS, "--detectors", "alternates")
    counts = answer(scrapy, *alone)
    assert (counts["sitemaps"], counts["pairs"], counts["skipped"]) == (1, 3, {})
    _, printed, told = scrapy(*alone)
    assert f"{SITE}{slug('es', 1)}\t{SITE}{slug('eu', 1)}\t0.95" in printed
    assert "Sitemaps: 1." in told
    hidden = answer(scrapy, *alone, "--strip-alternates")
    assert (hidden["sitemaps"], hidden["pairs"], hidden["skipped"]) == (0, 0, {"status 404": 1})


def test_a_sitemap_in_a_directory_declares_translations(scrapy, tmp_path):
    root = tmp_path / "mirror"
    for number in range(3):
        for code in ("es", "eu"):
            path = root / slug(code, number)[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            canonical = f'<link rel="canonical" href="{SITE}{slug(code, number)}">'
            path.write_bytes(page(code, 10 * number, "", canonical))
    (root / "sitemap_index.xml").write_bytes(site_map())
    counts = answer(scrapy, root, *LANGS, "--detectors", "alternates")
    assert (counts["sitemaps"], counts["pairs"], counts["skipped"]) == (1, 3, {})


def test_a_sitemap_counts_when_a_detector_is_left_out(scrapy, tmp_path):
    made = [exchange(f"{SITE}/sitemap.xml", site_map())]
    made += [exchange(SITE + slug(code, 0), page(code, 10)) for code in ("es", "eu")]
    path = write_warc(tmp_path / "opaque.warc.gz", made)
    true = gold(tmp_path, (SITE + slug("es", 0), SITE + slug("eu", 0)))
    asked = ("--detectors", "alternates,url_key", "--gold", true, "--ablation")
    ablation = answer(scrapy, path, *LANGS, *asked)["ablation"]
    assert (ablation["url_key"]["recall"], ablation["alternates"]["recall"]) == (1.0, 0.0)


def test_one_detector_can_be_asked_alone(scrapy, site):
    counts = answer(scrapy, site, *LANGS, "--detectors", "alternates")
    assert counts["pairs"] == 0
    status, _, told = scrapy(site, *LANGS, "--detectors", "magic")
    assert status
    assert "There is no detector 'magic': write some of" in told


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for number, name in enumerate(LETTERS[:3]):
        for code in ("es", "eu"):
            path = root / code / f"{name}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(page(code, 100 + number))
    return root


def test_files_of_a_directory_are_paired(scrapy, tree, tmp_path):
    true = gold(tmp_path, (str(tree / "es" / "a.html"), str(tree / "eu" / "a.html")))
    figures = answer(scrapy, tree, *LANGS, "--gold", true)
    assert (figures["pairs"], figures["recall"]) == (3, 1.0)


def test_rules_for_folders_restrict_the_pairs(scrapy, tree):
    assert answer(scrapy, tree, *LANGS, "--folders", "level=1")["pairs"] == 3
    assert answer(scrapy, tree, *LANGS, "--folders", "same=2,parent=2")["pairs"] == 0


def test_listed_files_get_a_verdict(scrapy, tree, tmp_path):
    lines = [
        f"{tree}/es/a.html\t{tree}/eu/a.html",
        f"{tree}/es/a.html\t{tree}/es/b.html",
        f"{tree}/es/a.html\t{tree}/eu/none.html",
        "only one",
    ]
    listed = tmp_path / "files.tsv"
    listed.write_text("\n".join(lines) + "\n")
    status, printed, told = scrapy(listed, *LANGS)
    assert status == 0
    rows = [line.split("\t") for line in printed.splitlines()]
    assert [row[4] for row in rows] == [
        "accepted",
        "rejected: both are in spa",
        f"rejected: {tree}/eu/none.html: it cannot be read",
    ]
    assert "1 skipped, not two paths separated by a tab: line 4" in told
    assert "1 skipped, no such file" in told
    out = tmp_path / "out"
    counts = answer(scrapy, listed, *LANGS, "--out", out)
    assert counts["file_pairs"] == {"accepted": 1, "rejected": 2}
    lines = (out / "pairs.jsonl").read_text().splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["accepted", "rejected", "rejected"]


URLS = f"""\
{SITE}/es/x
{SITE}/eu/x
{SITE}/y\tspa
https://udala.example/y\teus
{SITE}/en/z\teng
not a url
"""


def test_a_list_of_urls_is_paired_without_fetching(scrapy):
    status, printed, told = scrapy("-", *LANGS, stdin=URLS.encode())
    assert status == 0
    assert printed.splitlines() == [f"{SITE}/es/x\t{SITE}/eu/x\t0.9000\turl_key"]
    assert "1 skipped, not a URL: line 6" in told
    counts = answer(scrapy, "-", *LANGS, "--across-hosts", stdin=gzip.compress(URLS.encode()))
    assert (counts["urls"], counts["pairs"]) == (4, 2)
    assert counts["skipped"] == {"in another language: eng": 1, "not a URL": 1}


def test_pairs_of_a_list_are_judged_too(scrapy, tmp_path):
    urls = tmp_path / "urls.txt"
    urls.write_text(URLS)
    true = gold(
        tmp_path,
        (f"{SITE}/es/x", f"{SITE}/eu/x"),
        (f"{SITE}/y", "https://udala.example/y"),
        (f"{SITE}/es/none", f"{SITE}/eu/x"),
    )
    figures = answer(scrapy, urls, *LANGS, "--gold", true)
    assert (figures["correct"], figures["wrong"]) == (1, 0)
    reasons = [miss["reason"] for miss in figures["misses"]]
    assert sorted(reasons) == ["never a candidate", "page not in the input"]


def test_several_inputs_go_together(scrapy, site, tree, tmp_path):
    urls = tmp_path / "urls.txt"
    urls.write_text(URLS)
    assert answer(scrapy, site, tree, urls, *LANGS)["pairs"] == 4 + 3 + 1


def test_pages_with_one_text_are_paired_each_where_it_is(scrapy, tree, tmp_path):
    for code in ("es", "eu"):
        (tmp_path / "copy" / code).mkdir(parents=True)
        (tmp_path / "copy" / code / "a.html").write_bytes(page(code, 100))
    assert answer(scrapy, tree, tmp_path / "copy", *LANGS)["pairs"] == 4


def test_a_page_in_both_languages_is_a_pair_and_known_again(scrapy, tmp_path):
    both = "".join(f"<p>{each}</p>" for side in (SPANISH, BASQUE) for each in side)
    path = write_warc(tmp_path / "a.warc.gz", [exchange(f"{SITE}/bando", both.encode())])
    counts = answer(scrapy, path, path, *LANGS)
    assert (counts["split_pages"], counts["pages"]) == (1, {"eus": 1, "spa": 1})
    assert counts["skipped"] == {"the same URL again": 1}


def test_a_page_that_is_in_two_inputs_counts_once(scrapy, site):
    counts = answer(scrapy, site, site, *LANGS)
    assert counts["pages"] == {"eus": 4, "spa": 4}
    assert counts["skipped"]["the same URL again"] == 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the inputs"),
        (("x.warc.gz",), "--langs eng-fra"),
        (("x.warc.gz", *LANGS), "There is no file or directory x.warc.gz"),
        (("x.warc.gz", "--langs", "spa"), "--langs spa: "),
        (("x.warc.gz", *LANGS, "--ablation"), "--gold FILE"),
        (("x.warc.gz", *LANGS, "--folders", "near"), "same=2, level=1"),
        (("-", "-", *LANGS), "write - once"),
        (("x.warc.gz", *LANGS, "--golden"), "unknown option --golden"),
    ],
)
def test_a_mistake_is_answered_with_what_to_write(scrapy, words, message):
    status, printed, told = scrapy(*words)
    assert status
    assert message in told + printed
    assert "Traceback" not in told


def labels(tmp_path, count=24):
    """Each page with its translation, and with that of the next."""
    made, rows = [], []
    for n in range(count):
        made += [
            exchange(f"{SITE}/{code}/{n}", page(code, n, f"<p>{'x ' * (n * n % 97)}</p>"))
            for code in ("es", "eu")
        ]
        rows += [
            (f"{SITE}/es/{n}", f"{SITE}/eu/{n}", "1"),
            (f"{SITE}/es/{n}", f"{SITE}/eu/{(n + 1) % count}", "0", "further column"),
        ]
    rows += [(f"{SITE}/es/gone", f"{SITE}/eu/0", "0"), ("a", "b", "maybe")]
    path = tmp_path / "labels.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path, write_warc(tmp_path / "site.warc.gz", made)


def test_own_labels_train_the_models_of_pairing(scrapy, tmp_path):
    pytest.importorskip("sklearn", reason="training needs scikit-learn: pip install '.[train]'")
    labelled, warc = labels(tmp_path)
    out = tmp_path / "models" / "mine.json"
    words = ("pairs", "--labelled", labelled, "--input", warc, *LANGS, "--out", out)
    status, printed, told = scrapy(*words, command="train")
    assert status == 0
    figures = dict(line.split("\t") for line in printed.splitlines())
    assert (figures["pairs"], figures["translations"]) == ("48", "24")
    assert json.loads(out.read_text())
    assert "1 line skipped" in told
    assert f"1 labelled pages are in none of the inputs, first {SITE}/es/gone" in told


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a\tb\t1"] * 3, "at least 10 of each are needed"),
        (["a\tb\t1", "b\ta\t0"], "both as translations and as not translations"),
        (["a\tb"], "has no labels"),
    ],
)
def test_labels_that_teach_nothing_are_refused(scrapy, site, tmp_path, rows, message):
    pytest.importorskip("sklearn", reason="training needs scikit-learn: pip install '.[train]'")
    path = tmp_path / "labels.tsv"
    path.write_text("\n".join(rows) + "\n")
    words = ("pairs", "--labelled", path, "--input", site, *LANGS, "--out", tmp_path / "m.json")
    status, _, told = scrapy(*words, command="train")
    assert status
    assert message in told


def test_training_of_pairs_says_what_it_needs(scrapy):
    status, _, told = scrapy("pairs", "--out", "m.json", command="train")
    assert status
    assert "scrapy train pairs --labelled FILE --input INPUT..." in told


def test_pages_in_three_languages_are_paired_by_two_and_make_clusters(scrapy, tmp_path):
    made = [exchange(SITE + path, body) for path, body in many_languages.pages().items()]
    warc, out = write_warc(tmp_path / "site.warc.gz", made), tmp_path / "out"
    summary = answer(scrapy, warc, "--langs", "spa-eus-eng", "--out", out)
    assert (summary["langs"], summary["pairs"]) == ("spa-eus-eng", 18)
    clusters = map(json.loads, (out / "clusters.jsonl").read_text().splitlines())
    found = [each["versions"] for each in clusters]
    assert sorted(found, key=str) == sorted(many_languages.true_versions(SITE), key=str)


def test_listed_urls_are_paired_for_every_two_languages(scrapy):
    urls = "".join(f"{SITE}/{code}/{name}\n" for code in ("es", "eu", "en") for name in "ab")
    assert answer(scrapy, "-", "--langs", "spa-eus-eng", stdin=urls.encode())["pairs"] == 6
    status, _, told = scrapy("-", "--langs", "all", stdin=urls.encode())
    assert status != 0
    assert "such as --langs spa-eus-eng, instead of all" in told


def test_the_system_of_a_paper_takes_two_languages(scrapy, site):
    status, _, told = scrapy(site, "--langs", "spa-eus-eng", "--system", "almeida")
    assert status != 0
    assert "pairs two languages, and these are Spanish, Basque and English" in told
