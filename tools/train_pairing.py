"""Make the weights of pairing from recorded sites, and measure them on sites left out.

    python -m tools.train_pairing FOLDER [--cache FOLDER] [--declared] [--all]

FOLDER holds NAME.warc.gz and NAME.gold.tsv (url, url, language, language), and beside them, where
the pages were read, NAME.also.tsv, NAME.uncertain.tsv, NAME.wrong.tsv and READ.tsv. The pages are
stripped of what they declare about translations; `--declared` measures them with it. Each site is
measured with weights learned from all others, both those that find counterparts and those that
refuse them for want of translated content. The weights that are written are learned from all.
Only language pairs that were read teach and are measured; `--all` measures others as well, judged
by what their sites declare.

Sites are parsed once, into the folder that `--cache` names.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from bilingual_crawler.lab.evaluation.read_gold import ReadFigures
from bilingual_crawler.lab.training.pairs import Lesson, fit, lessons
from bilingual_crawler.lab.training.substance import SubstanceLesson, fit_substance
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.model import PairModel
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.resources import PairingAids, UrlModel
from bilingual_crawler.pairing.substance import SubstanceModel
from bilingual_crawler.scoring.classifier import ParallelUrls
from tools.recorded_material import Material, materials

DATA = Path("bilingual_crawler/data")
Models = tuple[PairModel, SubstanceModel]


class RememberedUrls:
    """The parallel-URL model, asked once about each pair of URLs."""

    def __init__(self, ask: UrlModel) -> None:
        self._ask = ask
        self._said: dict[Urls, float] = {}

    def __call__(self, pairs: Sequence[Urls]) -> list[float]:
        """Return the probability of each pair."""
        new = [each for each in dict.fromkeys(pairs) if each not in self._said]
        if new:
            self._said.update(zip(new, map(float, self._ask(new)), strict=True))
        return [self._said[each] for each in pairs]


def matched(material: Material, aids: PairingAids) -> Matcher:
    """Return the matcher with all pages of a site."""
    matcher = Matcher(material.pair, aids=aids)
    for source, target in material.aliases:
        matcher.alias(source, target)
    matcher.restore(material.pages)
    return matcher


def substance_lesson(material: Material, url_model: UrlModel) -> SubstanceLesson | None:
    """Return the counterparts of a site that a reader has judged, found or not."""
    if not material.gold.is_read:
        return None
    matcher = matched(material, PairingAids(url_model=url_model, thin_pairs=True))
    urls = {page.url for page, _ in material.pages}
    found = {(each.first, each.second) for each in matcher.pairs}
    found |= {both for both in material.gold.right.values() if urls.issuperset(both)}
    rows, labels = [], []
    for both in sorted(found):
        label, substance = material.gold.label(*both), matcher.substance(both)
        if label in ("right", "wrong") and substance is not None:
            rows.append(substance.features)
            labels.append(label == "right")
    return SubstanceLesson(material.site, np.array(rows), np.array(labels)) if rows else None


def measure(material: Material, models: Models, url_model: UrlModel) -> ReadFigures:
    """Return how the pairs of a site that is not among the teachers are judged."""
    pair_model, substance = models
    matcher = matched(material, PairingAids(pair_model, url_model, substance=substance))
    return material.gold.judge((each.first, each.second) for each in matcher.pairs).figures


def main() -> None:
    """Read, learn, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--models", type=Path, default=Path("models"))
    default = Path(tempfile.gettempdir()) / "bilingual-recorded-sites"
    parser.add_argument("--cache", type=Path, default=default)
    parser.add_argument("--declared", action="store_true", help="measure with declarations")
    parser.add_argument("--all", action="store_true", help="measure sites that were not read too")
    options = parser.parse_args()
    url_model = RememberedUrls(ParallelUrls(options.models / "parallel").probabilities)
    learned: dict[str, list[Lesson]] = defaultdict(list)
    judged: dict[str, list[SubstanceLesson]] = defaultdict(list)
    given = list(materials(options.folder, options.cache, read_only=not options.all))
    for material in filter(lambda each: each.gold.is_read, given):
        learned[material.site] += lessons(
            material.site, material.pair, material.pages, material.gold, url_model
        )
        lesson = substance_lesson(material, url_model)
        if lesson is not None:
            judged[material.site].append(lesson)
        print(material.site, material.pair, len(material.pages), file=sys.stderr, flush=True)
    if options.declared:
        given = list(
            materials(options.folder, options.cache, declared=True, read_only=not options.all)
        )
    about = report(given, learned, judged, url_model)
    pair_model, substance = _models(learned, judged, about)
    (options.out / "pairing.json").write_text(pair_model.to_json(), encoding="utf-8")
    (options.out / "substance.json").write_text(substance.to_json(), encoding="utf-8")


def report(
    given: Iterable[Material],
    learned: dict[str, list[Lesson]],
    judged: dict[str, list[SubstanceLesson]],
    url_model: UrlModel,
) -> dict[str, object]:
    """Print the figures of each site, measured with what the others teach; return the sums."""
    print("| site | languages | right | wrong | repeated | missed | unjudged | |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    total, models = ReadFigures(), dict[str, Models]()
    for material in given:
        site = material.site
        if site not in models:
            models[site] = _models(
                {name: each for name, each in learned.items() if name != site},
                {name: each for name, each in judged.items() if name != site},
                {},
            )
        found = measure(material, models[site], url_model)
        shown = " | ".join(map(str, (found.right, found.wrong, found.repeated, found.missed)))
        by = "read" if material.gold.is_read else "judged by declarations"
        print(f"| {site} | {material.pair} | {shown} | {found.unjudged} | {by} |", flush=True)
        if material.gold.is_read:
            total = total.plus(found)
    print(total)
    about: dict[str, object] = {
        "measured on": f"{len(judged)} sites whose pages were read, each with weights learned from"
        " the other sites, declared translations stripped",
        **total._asdict(),
        "precision": round(total.precision or 0.0, 4),
        "recall": round(total.recall or 0.0, 4),
    }
    print(json.dumps(about))
    return about


def _models(
    learned: dict[str, list[Lesson]],
    judged: dict[str, list[SubstanceLesson]],
    about: dict[str, object],
) -> Models:
    return (
        fit((each for some in learned.values() for each in some), about),
        fit_substance((each for some in judged.values() for each in some), about),
    )


if __name__ == "__main__":
    main()
