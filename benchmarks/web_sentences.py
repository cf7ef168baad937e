"""How good the sentence pairs of real web pages are: counts per cleaning rule, and samples to read.

python -m benchmarks.web_sentences build DIR        crawl folders from the recorded sites
python -m benchmarks.web_sentences align DIR NAME   align each of them into NAME.jsonl.gz
python -m benchmarks.web_sentences counts DIR NAME [NAME]   kept and dropped, rule by rule
python -m benchmarks.web_sentences sample DIR NAME [--rule RULE] [--rows 60] [--seed 1]

A folder holds the pages of one site (BILINGUAL_SHARED) in two languages and the pairs that our own
pairing finds among them, right or wrong, as after a crawl. A third of the sites, chosen by a hash
of their names, is for the final reading; nothing is tuned on those (--half tune or test).
Run `align` with an older version of the package first to compare with it.
"""

import argparse
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.sentence_pair import SentencePair, read_sentences

TEST_SHARE = 3


def is_test(site: str) -> bool:
    """Return True for a site of the final reading."""
    return blake2b(site.encode(), digest_size=1).digest()[0] % TEST_SHARE == 0


def pages(warc: Path) -> Iterator[Document]:
    """Yield the pages of a site, with the time they were recorded."""
    with warc.open("rb") as stream:
        for record in ArchiveIterator(stream):
            headers = record.http_headers
            if record.rec_type == "response" and headers.get_statuscode() == "200":
                about = record.rec_headers
                document = build_document(
                    about.get_header("WARC-Target-URI"),
                    record.content_stream().read(),
                    content_type=headers.get_header("Content-Type") or "",
                )
                yield replace(document, fetched_at=about.get_header("WARC-Date") or "")


def languages() -> dict[str, list[str]]:
    """Return the language pairs of each site: those that were read, or the largest one."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in (SHARED / "sites" / "READ.tsv").read_text().splitlines():
        site, langs = line.split("\t")
        found[site].append(langs)
    for gold in sorted((SHARED / "sites").glob("*.gold.tsv")):
        site = gold.name.removesuffix(".gold.tsv")
        if site not in found:
            rows = (line.split("\t") for line in gold.read_text().splitlines())
            ((largest, _),) = Counter(f"{row[2]}-{row[3]}" for row in rows).most_common(1)
            found[site] = [largest]
    return found


def build(out: Path) -> None:
    """Write a crawl folder for each site and language pair."""
    for site, wanted in languages().items():
        if all((out / f"{site}.{langs}" / PAIRS).exists() for langs in wanted):
            continue
        read = list(pages(SHARED / "sites" / f"{site}.warc.gz"))
        for langs in wanted:
            pair = LanguagePair.parse(langs)
            search = PairSearch(pair)
            kept: dict[str, Document] = {}
            for page in read:
                search.take(page)
                for document in split_mixed(page, pair) or (page,):
                    if document.language in pair:
                        kept.setdefault(document.key, document)
            search.finish()
            folder = out / f"{site}.{langs}"
            folder.mkdir(parents=True, exist_ok=True)
            with gzip.open(folder / DOCUMENTS, "wt", encoding="utf-8", compresslevel=3) as file:
                for document in kept.values():
                    file.write(json.dumps(document_to_dict(document), ensure_ascii=False) + "\n")
            lines = [json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in search.pairs]
            (folder / PAIRS).write_text("".join(lines), encoding="utf-8")
            print(folder.name, len(kept), "pages", len(lines), "pairs", flush=True)


def folders(root: Path, half: str) -> Iterator[Path]:
    """Yield the folders of one half of the sites, or of all."""
    for folder in sorted(root.iterdir()):
        if (folder / PAIRS).exists() and (
            half == "all" or is_test(folder.name.partition(".")[0]) == (half == "test")
        ):
            yield folder


def rows(root: Path, name: str, half: str) -> Iterator[tuple[str, SentencePair]]:
    """Yield every aligned sentence pair with the name of its folder."""
    for folder in folders(root, half):
        for each in read_sentences(folder / f"{name}.jsonl.gz"):
            yield folder.name, each


def counts(root: Path, names: list[str], half: str) -> None:
    """Print how many sentence pairs each rule drops, side by side."""
    found = [
        Counter(each.dropped or "kept" for _, each in rows(root, name, half)) for name in names
    ]
    for rule in sorted({rule for each in found for rule in each}, key=lambda rule: -found[0][rule]):
        print(f"| {rule} |", " | ".join(f"{each[rule]:,}" for each in found), "|")
    print("| all |", " | ".join(f"{each.total():,}" for each in found), "|")


def sample(options: argparse.Namespace) -> None:
    """Print random rows, the same number from each site while there are enough."""
    root, name, half, rule = options.root, options.names[0], options.half, options.rule
    by_site: defaultdict[str, list[SentencePair]] = defaultdict(list)
    for folder, each in rows(root, name, half):
        if each.dropped == rule:
            by_site[folder].append(each)
    chance = random.Random(options.seed)
    for found in by_site.values():
        chance.shuffle(found)
    chosen: list[tuple[str, SentencePair]] = []
    sites = sorted(by_site)
    while len(chosen) < options.rows and any(by_site.values()):
        chance.shuffle(sites)
        chosen += [(site, by_site[site].pop()) for site in sites if by_site[site]]
    for number, (site, each) in enumerate(chosen[: options.rows], 1):
        print(f"{number}. [{site}] {each.score} {each.kind} {each.beads}")
        print(f"   {each.text1}\n   {each.text2}")


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("step", choices=("build", "align", "counts", "sample"))
    parser.add_argument("root", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--half", choices=("tune", "test", "all"), default="tune")
    parser.add_argument("--rule", default="", help="a cleaning rule; rows that are kept if empty")
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.step == "build":
        build(options.root)
    elif options.step == "align":
        for folder in folders(options.root, options.half):
            found = align_folder(folder, folder / f"{options.names[0]}.jsonl.gz")
            print(folder.name, json.dumps(found.to_dict()), flush=True)
    elif options.step == "counts":
        counts(options.root, options.names, options.half)
    else:
        sample(options)


if __name__ == "__main__":
    main()
