"""Make the weights of pairing from recorded sites, and measure them on sites left out.

    python -m tools.train_pairing FOLDER [--out FILE] [--models models]

FOLDER holds NAME.warc.gz and NAME.gold.tsv (url, url, language, language). The pages are stripped
of what they declare about translations. Each site is measured with weights learned from all
others; the weights that are written are learned from all.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.lab.evaluation.document_pairs import Judge, PairFigures
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import strip_body
from bilingual_crawler.lab.training.pairs import Lesson, fit, lessons
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.model import PairModel
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.profile import Embedder
from bilingual_crawler.pairing.resources import PairingAids, UrlModel
from bilingual_crawler.scoring.classifier import ParallelUrls

PAIRS_PER_SITE, LEAST_PAIRS = 3, 4


class Material(NamedTuple):
    """The pages of a site in two languages, and the pairs among them that are known."""

    site: str
    pair: LanguagePair
    pages: list[tuple[PairingPage, str]]
    aliases: list[Urls]
    true: set[Urls]


def read_site(warc: Path, embedder: Embedder | None = None) -> list[Material]:
    """The largest language pairs of a recorded site, its declarations stripped."""
    recording = Recording(warc)
    gold: defaultdict[str, set[Urls]] = defaultdict(set)
    for line in warc.with_name(f"{recording.name}.gold.tsv").read_text().splitlines():
        one, other, language, other_language = line.split("\t")
        gold[f"{language}-{other_language}"].add((one, other))
    largest = sorted(gold.items(), key=lambda each: -len(each[1]))[:PAIRS_PER_SITE]
    found = []
    for langs, true in largest:
        if len(true) >= LEAST_PAIRS:
            pair = LanguagePair.parse(langs)
            pages = _pages(recording, pair, embedder)
            found.append(Material(recording.name, pair, pages, list(recording.aliases()), true))
    return found


def _pages(
    recording: Recording, pair: LanguagePair, embedder: Embedder | None
) -> list[tuple[PairingPage, str]]:
    pages = []
    for url in recording.pages:
        answer = recording.answer(url)
        if answer is None:
            continue
        document = build_document(
            url,
            strip_body(answer.body),
            content_type=answer.header("Content-Type"),
            hints=pair.codes,
        )
        if document.language in pair:
            pages.append((page_of(document, embedder), url))
    return pages


def measure(material: Material, model: PairModel, url_model: UrlModel | None) -> PairFigures:
    """Return how many of the known pairs a model finds, and how many it gets wrong."""
    matcher = Matcher(material.pair, aids=PairingAids(model, url_model))
    for source, target in material.aliases:
        matcher.alias(source, target)
    matcher.restore(material.pages)
    return Judge(material.true).figures((pair.first, pair.second) for pair in matcher.pairs)


def main() -> None:
    """Read, learn, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bilingual_crawler/data/pairing.json"))
    parser.add_argument("--models", type=Path, default=Path("models"))
    options = parser.parse_args()
    url_model = ParallelUrls(options.models / "parallel").probabilities
    given: list[tuple[Material, list[Lesson]]] = []
    for warc in sorted(options.folder.glob("*.warc.gz")):
        for material in read_site(warc):
            learned = lessons(
                material.site, material.pair, material.pages, material.true, url_model
            )
            given.append((material, list(learned)))
            print(material.site, material.pair, len(material.pages), file=sys.stderr, flush=True)
    figures: dict[str, list[PairFigures]] = defaultdict(list)
    print("| site | languages | known pairs | precision | recall | unjudged |")
    print("|---|---|---:|---:|---:|---:|")
    for site in dict.fromkeys(material.site for material, _ in given):
        others = [each for m, learned in given if m.site != site for each in learned]
        model = fit(others, {})
        for material in (m for m, _ in given if m.site == site):
            found = measure(material, model, url_model)
            figures[site].append(found)
            shown = f"{_precision(found):.3f} | {found.recall:.3f} | {found.unjudged}"
            print(f"| {site} | {material.pair} | {found.gold} | {shown} |", flush=True)
    about = _summary(figures)
    print(json.dumps(about))
    everything = [each for _, learned in given for each in learned]
    options.out.write_text(fit(everything, about).to_json(), encoding="utf-8")


def _summary(figures: dict[str, list[PairFigures]]) -> dict[str, object]:
    totals = [PairFigures(*map(sum, zip(*each, strict=True))) for each in figures.values()]
    everything = PairFigures(*map(sum, zip(*totals, strict=True)))
    return {
        "measured on": f"{len(totals)} sites, each with weights learned from the others, "
        "declared translations stripped",
        "known pairs": everything.gold,
        "precision": round(_precision(everything), 4),
        "recall": round(everything.recall, 4),
        "mean precision of sites": round(sum(map(_precision, totals)) / len(totals), 4),
        "mean recall of sites": round(sum(t.recall for t in totals) / len(totals), 4),
    }


def _precision(figures: PairFigures) -> float:
    return figures.precision or 0.0


if __name__ == "__main__":
    main()
