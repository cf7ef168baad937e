"""Pairs found on recorded real sites, under three rules for duplicates.

Each site is read from its WARC file, page by page in the order of the file, for its three
largest language pairs. A found pair is wrong if one of its pages has another partner in
the gold list; pairs of pages outside the list are not judged. The rules:

    keep all   duplicates are paired like any page
    plain      near-duplicates are dropped before pairing, as in ILSP-FC
    ours       a near-duplicate that has its own translation is kept

    python -m benchmarks.recorded_pairs [FOLDER WITH NAME.warc.gz AND NAME.gold.tsv]
"""

import argparse
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.dedup import DuplicateIndex, paragraph_hashes
from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.folder import CrawlFolder

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[2] / "shared"))
PAIRS_PER_SITE = 3
Urls = set[tuple[str, str]]


def documents(warc: Path) -> Iterator[Document]:
    with warc.open("rb") as stream:
        for record in ArchiveIterator(stream):
            headers = record.http_headers
            if record.rec_type == "response" and headers.get_statuscode() == "200":
                yield build_document(
                    record.rec_headers.get_header("WARC-Target-URI"),
                    record.content_stream().read(),
                    content_type=headers.get_header("Content-Type") or "",
                )


def gold(file: Path) -> list[tuple[LanguagePair, Urls]]:
    pairs: defaultdict[str, Urls] = defaultdict(set)
    for line in file.read_text().splitlines():
        one, other, language, other_language = line.split("\t")
        pairs[f"{language}-{other_language}"].add((one, other))
    largest = sorted(pairs.items(), key=lambda item: -len(item[1]))[:PAIRS_PER_SITE]
    return [(LanguagePair.parse(langs), urls) for langs, urls in largest]


def matched(pages: list[Document], pair: LanguagePair, *, drop: bool) -> Urls:
    matcher, index = Matcher(pair), DuplicateIndex()
    replaced: set[str] = set()
    for document in pages:
        if drop:
            verdict = index.add(document.url, paragraph_hashes(document))
            if verdict.duplicate_of is not None:
                continue
            replaced |= set(verdict.supersedes)
        alternates = tuple((a.url, a.language) for a in document.alternates if a.language)
        names = (document.canonical,) if document.canonical else ()
        matcher.add(PairingPage(document.url, document.language or "", alternates, names))
    found = {(each.first, each.second) for each in matcher.pairs}
    return {urls for urls in found if not replaced & set(urls)}


def harvested(pages: list[Document], pair: LanguagePair) -> Urls:
    with tempfile.TemporaryDirectory() as name:
        folder = CrawlFolder(Path(name), str(pair))
        corpus = Corpus(folder, lambda _url: pair)
        for document in pages:
            corpus.add(document)
        found = {(each.first, each.second) for each in corpus.pairs}
        folder.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    print("| site | gold pairs | keep all | plain | ours | wrong, ours |")
    print("|---|---:|---:|---:|---:|---:|")
    for warc in sorted(parser.parse_args().folder.glob("*.warc.gz")):
        name = warc.name.removesuffix(".warc.gz")
        pages = list(documents(warc))
        site: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for pair, true in gold(warc.with_name(f"{name}.gold.tsv")):
            known = {url for urls in true for url in urls}
            some = [document for document in pages if document.language in pair]
            for rule, found in (
                ("keep all", matched(some, pair, drop=False)),
                ("plain", matched(some, pair, drop=True)),
                ("ours", harvested(some, pair)),
            ):
                wrong = sum(1 for urls in found - true if known & set(urls))
                site[rule].update(gold=len(true), hit=len(found & true), wrong=wrong)
        hits = " | ".join(str(site[rule]["hit"]) for rule in ("keep all", "plain", "ours"))
        print(f"| {name} | {site['ours']['gold']} | {hits} | {site['ours']['wrong']} |", flush=True)
        for rule, counts in site.items():
            totals[rule].update(counts)
    for rule, counts in totals.items():
        recall = counts["hit"] / counts["gold"]
        precision = counts["hit"] / (counts["hit"] + counts["wrong"])
        print(f"{rule}: recall {recall:.3f}, precision {precision:.3f} of judged pairs")


if __name__ == "__main__":
    main()
