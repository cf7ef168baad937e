"""The work of a cluster: one site per task gives what a build in one process gives."""

import json
from collections import Counter
from dataclasses import replace
from random import Random

from bilingual_crawler.api import read_crawl
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.build import BuildTask, build_corpus
from bilingual_crawler.corpus.cluster.near_copies import SIMILAR, bands_of, signature_of, similarity
from bilingual_crawler.corpus.cluster.site_harvest import harvest_site, scratch_folder
from bilingual_crawler.corpus.cluster.site_parts import keys_of, parts_of
from bilingual_crawler.corpus.cluster.source_rows import rows_of
from bilingual_crawler.corpus.cluster.spark_build import ClusterTask
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.documents.identifiers.taught_folder import write_taught
from bilingual_crawler.documents.identifiers.teaching import teach
from bilingual_crawler.languages import LanguagePair
from tests.support.recordings import SITE, exchange, opaque_site, page, write_warc
from tests.support.taught import AGAINST, CODE, OTHER, TAUGHT

SPA_EUS = LanguagePair.parse("spa-eus")
TOKENS = SPA_EUS.first.tokens | SPA_EUS.second.tokens
CONFIG = Config()


def pairs_of_process(warc, out, languages=SPA_EUS):
    task = BuildTask(
        inputs=(str(warc),),
        folder=out,
        languages=languages,
        config=CONFIG,
        settings={},
        aids=pairing_aids(CONFIG),
    )
    build_corpus(task)
    return {(pair.first, pair.second) for pair in read_crawl(out).pairs()}


def pairs_of_tasks(warc, languages=SPA_EUS):
    """The pairs that a task per site finds, and the counts of all."""
    counts: Counter[str] = Counter()
    sites: dict[str, list[tuple[str, str]]] = {}
    for row in rows_of(str(warc), [languages], CONFIG, counts):
        sites.setdefault(row.site, []).append((row.kind, row.data))
    found = set()
    for things in sites.values():
        harvest = harvest_site(things, languages, CONFIG, pairing_aids(CONFIG))
        counts += harvest.counts
        for each in harvest.pairs:
            pair = json.loads(each.pair)
            found.add((pair["url1"], pair["url2"]))
            assert json.loads(each.first)["url"] == pair["url1"]
    return found, counts


def test_a_task_finds_the_pairs_of_a_site_that_one_process_finds(tmp_path):
    closed = exchange("https://www.example.org/cerrado", page("es", 3000, head=NOINDEX))
    english = exchange("https://www.example.org/en", b"<html lang=en><p>" + ENGLISH)
    warc = write_warc(tmp_path / "site.warc.gz", [*opaque_site(), closed, english])
    found, counts = pairs_of_tasks(warc)
    assert found == pairs_of_process(warc, tmp_path / "out")
    assert len(found) >= 6
    assert counts["pages: noindex"] == 1
    assert counts["pages: off_language"] == 1


def test_a_task_identifies_taught_languages_and_reads_lines_as_a_build_does(tmp_path):
    write_taught(tmp_path / "taught", teach(CODE, TAUGHT, {"spa": AGAINST}))
    text = "\n".join(OTHER).encode()
    plain = exchange(f"{SITE}/a.txt", text, headers=((b"Content-Type", b"text/plain"),))
    warc = write_warc(tmp_path / "site.warc.gz", [plain])
    config = replace(CONFIG, taught=str(tmp_path / "taught"), text_lines=True)
    (row,) = rows_of(str(warc), [LanguagePair.parse(f"{CODE}-spa")], config, Counter())
    document = json.loads(row.data)
    assert document["language"] == CODE
    assert len(document["paragraphs"]) == len(OTHER)


NOINDEX = '<meta name="robots" content="noindex">'
ENGLISH = b"The council has opened this week the file on the library of the old town. " * 5


def test_pages_that_may_be_translations_stay_together_when_a_site_is_split():
    site = "https://www.example.org"
    pages: dict[str, tuple[str, ...]] = {
        f"{site}/{code}/{number}": () for number in range(60) for code in ("es", "eu")
    }
    for number in range(60):  # translated names: each page declares the next, all lead home
        pages[f"{site}/museo-{number}"] = (f"{site}/erakustoki-{number}", f"{site}/es")
        pages[f"{site}/erakustoki-{number}"] = (f"{site}/pinacoteca-{number}", f"{site}/es")
        pages[f"{site}/pinacoteca-{number}"] = ("https://other.example/x", f"{site}/es")
    keys = [keys_of(url, claimed, TOKENS) for url, claimed in pages.items()]
    part = dict(zip(pages, parts_of(keys, 4), strict=True))
    assert Counter(part.values()).keys() == set(range(4))
    for number in range(60):
        assert part[f"{site}/es/{number}"] == part[f"{site}/eu/{number}"]
        names = ("museo", "erakustoki", "pinacoteca")
        assert len({part[f"{site}/{name}-{number}"] for name in names}) == 1


def test_the_signatures_of_near_copies_agree_and_share_a_band():
    text = " ".join(f"palabra{number}" for number in range(400))
    near, other = text.replace("palabra7 ", "otra "), text.upper()[::-1]
    assert similarity(signature_of(text), signature_of(near)) >= SIMILAR
    assert set(bands_of(signature_of(text))) & set(bands_of(signature_of(near)))
    assert similarity(signature_of(text), signature_of(other)) < 0.2
    assert len(signature_of("")) == len(signature_of(text))


def test_signatures_estimate_the_share_of_common_runs_of_words():
    draw = Random(1)
    words = [f"palabra{draw.randrange(3000)}" for _ in range(1000)]
    errors = []
    for changes in (5, 20, 60, 150, 400):
        other = list(words)
        for _ in range(changes):
            other[draw.randrange(len(other))] = f"otra{draw.randrange(3000)}"
        one, two = ({tuple(each[at : at + 4]) for at in range(997)} for each in (words, other))
        estimate = similarity(signature_of(" ".join(words)), signature_of(" ".join(other)))
        errors.append(abs(estimate - len(one & two) / len(one | two)))
    assert max(errors) < 0.2  # three standard deviations of 64 draws


def test_pages_say_which_of_the_wanted_languages_they_are_in(tmp_path):
    warc = write_warc(
        tmp_path / "site.warc.gz",
        [exchange(f"{SITE}/{code}", page(code, 1)) for code in ("es", "eu")],
    )
    pairs = [LanguagePair.parse(langs) for langs in ("eng-spa", "spa-eus")]
    rows = rows_of(str(warc), pairs, CONFIG, Counter())
    assert [row.sides for row in rows] == [[1, 2], [3]]


def test_a_site_that_does_not_fit_into_memory_is_worked_on_elsewhere():
    assert scratch_folder(1 << 60) is None


def test_a_new_file_of_a_pattern_makes_another_build(tmp_path):
    inputs = (str(tmp_path / "*.warc.gz"),)
    task = ClusterTask(inputs=inputs, out=str(tmp_path / "out"), pairs=(SPA_EUS,), config=CONFIG)
    (tmp_path / "a.warc.gz").touch()
    before = task.stamp
    assert task.stamp == before
    (tmp_path / "b.warc.gz").touch()
    assert task.stamp != before
