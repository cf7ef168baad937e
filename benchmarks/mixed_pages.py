"""Which pages of recorded sites are split into two documents, and which are marked.

    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.mixed_pages

The folder holds `sites/NAME.warc.gz`. A page is tried with every two languages that it contains.
Nearly all pages of these sites are in one language or half translated, so look at every URL that is
printed: it is a page in two languages, or a mistake.

Then pages are made from the gold pairs (`sites/NAME.gold.tsv`), at most 20 per site and language
pair: the text of a page and of its translation, one after the other or alternating, which should be
split; and the text of a page and of the translation of another, which should not. Pages with fewer
paragraphs than a split needs are counted separately.
"""

import os
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, zip_longest
from pathlib import Path

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.language import detect_page, label_paragraphs
from bilingual_crawler.documents.mixed import LEAST_ANSWERS, split_mixed
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.languages import LanguagePair

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[2] / "shared"))
MOST_PAIRS = 20
HEADERS = ("site", "pages", "in two languages", "split", "machine-translated", "with a service")


def count(path: Path) -> Counter[str]:
    """Return the counts of one site, and print the pages that are split."""
    recording = Recording(path)
    counts: Counter[str] = Counter()
    for url in recording.pages:
        answer = recording.answer(url)
        if answer is None:
            continue
        document = build_document(url, answer.body, content_type=answer.header("Content-Type"))
        pairs = [
            LanguagePair.parse("-".join(codes))
            for codes in combinations([code for code, _ in document.language_shares], 2)
        ]
        split = [str(pair) for pair in pairs if split_mixed(document, pair) is not None]
        labels = {each.language for each in document.paragraphs} - {None}
        counts.update(
            {
                "pages": 1,
                "in two languages": len(labels) > 1,
                "split": bool(split),
                "machine-translated": bool(document.machine_translated),
                "with a service": bool(document.translation_service),
            }
        )
        if split:
            print(f"split: {url} ({', '.join(split)})")
    return counts


def made_of(one: Document, other: Document, *, in_turns: bool) -> Document:
    """Return a page with the text of two."""
    sides = [
        [replace(each, language=None) for each in page.main_paragraphs if each.kind != "title"]
        for page in (one, other)
    ]
    rows = zip_longest(*sides) if in_turns else sides
    paragraphs = [each for row in rows for each in row if each is not None]
    language = detect_page(paragraphs)
    label_paragraphs(paragraphs, language)
    return Document(
        one.url, language=language.code, language_shares=language.shares, paragraphs=paragraphs
    )


def count_made(path: Path) -> Counter[str]:
    """Return how many made pages of each kind are split."""
    recording = Recording(path)
    rows = defaultdict(list)
    gold = path.with_name(path.name.replace(".warc.gz", ".gold.tsv"))
    for line in gold.read_text("utf-8").splitlines():
        first, second, *codes = line.split("\t")
        rows["-".join(codes)].append((first, second))
    counts: Counter[str] = Counter()
    for langs, urls in rows.items():
        pages = [
            [build_document(url, answer.body) for url in pair if (answer := recording.answer(url))]
            for pair in urls[:MOST_PAIRS]
        ]
        whole = [each for each in pages if len(each) == 2]
        for (one, translation), (_, stranger) in zip(whole, whole[1:] + whole[:1], strict=True):
            if stranger is translation:
                continue
            for kind, other, in_turns in (
                ("one after the other", translation, False),
                ("in turns", translation, True),
                ("strangers", stranger, False),
                ("strangers in turns", stranger, True),
            ):
                page = made_of(one, other, in_turns=in_turns)
                labels = Counter(each.language for each in page.paragraphs)
                if min(labels[code] for code in langs.split("-")) < LEAST_ANSWERS:
                    counts[f"{kind}, too few"] += 1
                    continue
                split = split_mixed(page, LanguagePair.parse(langs)) is not None
                counts.update({kind: 1, f"{kind}, split": split})
    return counts


def main() -> None:
    """Print one row per site and their sum."""
    paths = sorted((SHARED / "sites").glob("*.warc.gz"))
    if not paths:
        sys.exit(f"There are no recorded sites in {SHARED / 'sites'}: set BILINGUAL_SHARED.")
    total: Counter[str] = Counter()
    rows = []
    for path in paths:
        counts = count(path)
        total += counts
        rows.append((path.name.partition(".")[0], counts))
    print(f"{HEADERS[0]:20}", *(f"{header:>18}" for header in HEADERS[1:]))
    for name, counts in [*rows, ("all", total)]:
        print(f"{name:20}", *(f"{counts[header]:>18}" for header in HEADERS[1:]))
    made = sum((count_made(path) for path in paths), Counter())
    for kind in ("one after the other", "in turns", "strangers", "strangers in turns"):
        few = made[f"{kind}, too few"]
        print(f"{kind:20} {made[kind]:6} made {made[f'{kind}, split']:6} split {few:6} too few")


if __name__ == "__main__":
    main()
