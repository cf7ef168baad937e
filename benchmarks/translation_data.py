"""Sentence pairs of recorded sites, with every cleaning rule that each of them breaks.

python -m benchmarks.translation_data DIR --langs eng-spa [--sites a,b]

Writes DIR/SITE.jsonl.gz for each recorded site (BILINGUAL_SHARED) with pages in both languages: the
pairs that our own pairing finds, aligned as `scrapy align` does it. That records the first rule
that a pair breaks; here all of them are, so that a rule can be left out without the others. A site
that has its file is skipped, so the command can be interrupted and run again.
"""

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.recorded_pairs import SHARED
from benchmarks.web_sentences import pages
from bilingual_crawler.alignment.aligner import Aligner
from bilingual_crawler.alignment.cleaning import Repeats, rules
from bilingual_crawler.alignment.documents import PairedDocuments
from bilingual_crawler.alignment.two_passes import first_pass, sentence_pairs
from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SentencePair

LARGEST = 15_000_000
"""Bytes of a recording; one site is larger, and is a database of figures."""


@dataclass(frozen=True)
class HarvestedPair:
    """A sentence pair, the pages that it is from, and all rules that it breaks."""

    site: str
    url1: str
    url2: str
    text1: str
    text2: str
    score: float
    broken: tuple[str, ...]


def read(root: Path) -> Iterator[HarvestedPair]:
    """Yield the pairs of all sites."""
    for file in sorted(root.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                fields = json.loads(line)
                fields["broken"] = tuple(fields["broken"])
                yield HarvestedPair(**fields)


def harvest(warc: Path, pair: LanguagePair, folder: Path) -> None:
    """Write the documents and the pairs of a site as a crawl would."""
    search, kept = PairSearch(pair), dict[str, Document]()
    for page in pages(warc):
        search.take(page)
        for document in split_mixed(page, pair) or (page,):
            if document.language in pair:
                kept.setdefault(document.key, document)
    search.finish()
    with gzip.open(folder / DOCUMENTS, "wt", encoding="utf-8", compresslevel=1) as file:
        for document in kept.values():
            file.write(json.dumps(document_to_dict(document), ensure_ascii=False) + "\n")
    lines = [json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in search.pairs]
    (folder / PAIRS).write_text("".join(lines), encoding="utf-8")


def aligned(folder: Path, site: str) -> Iterator[HarvestedPair]:
    """Align the content of a folder's documents; name the rules that each pair breaks.

    Of repeated pairs, the copies after the first break `duplicate`, `boilerplate` or
    `only_digits_differ`, whatever else they break.
    """
    documents, repeats = PairedDocuments(folder, lambda _done, _all: None), Repeats()
    learned = first_pass(documents.at_random())
    found = list[tuple[SentencePair, list[str]]]()
    for number, texts in enumerate(documents.in_order()):
        about = learned[texts.lang1, texts.lang2]
        asked = rules(about.ratio, about.vocabularies)
        aligner = Aligner(about.lexicon)
        beads = aligner.align(texts.first, texts.second)
        for each in sentence_pairs(texts, beads, {}):
            broken = [name for name, rule in asked.items() if rule(each)]
            repeats.add(len(found), number, each)
            found.append((each, broken))
    for number, (each, broken) in enumerate(found):
        again = repeats.broken_rule(number, each)
        yield HarvestedPair(
            site,
            each.url1,
            each.url2,
            each.text1,
            each.text2,
            each.score,
            (*broken, again) if again else tuple(broken),
        )
    repeats.close()
    documents.close()


def main() -> None:
    """Harvest the sites that have no file yet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--langs", default="eng-spa")
    parser.add_argument("--sites", default="", help="some of the sites")
    options = parser.parse_args()
    pair = LanguagePair.parse(options.langs)
    options.root.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in options.sites.split(",") if name]
    for warc in sorted((SHARED / "sites").glob("*.warc.gz")):
        site = warc.name.removesuffix(".warc.gz")
        out = options.root / f"{site}.jsonl.gz"
        if out.exists() or warc.stat().st_size > LARGEST or (wanted and site not in wanted):
            continue
        gold = warc.with_name(f"{site}.gold.tsv").read_text().splitlines()
        if not any(set(pair.codes) == set(line.split("\t")[2:4]) for line in gold):
            continue
        with tempfile.TemporaryDirectory() as name:
            harvest(warc, pair, Path(name))
            found = list(aligned(Path(name), site))
        with replacing(out) as fresh, gzip.open(fresh, "wt", encoding="utf-8") as file:
            for each in found:
                file.write(json.dumps(vars(each), ensure_ascii=False) + "\n")
        good = sum(not each.broken for each in found)
        print(f"{site}: {len(found)} sentence pairs, {good} break no rule", flush=True)


if __name__ == "__main__":
    main()
