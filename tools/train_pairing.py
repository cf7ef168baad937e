"""Make the weights of pairing from recorded sites, and measure them on sites left out.

    python -m tools.train_pairing FOLDER [--cache FOLDER] [--declared] [--all] [--half A|B]

FOLDER holds NAME.warc.gz and NAME.gold.tsv (url, url, language, language), and beside them, where
the pages were read, NAME.also.tsv, NAME.uncertain.tsv, NAME.wrong.tsv and READ.tsv. The pages are
stripped of what they declare about translations; `--declared` measures them with it. Each site is
measured with weights learned from all others that are not of its family, both those that find
counterparts and those that refuse them for want of translated content. The weights that are written
are learned from all. Only language pairs that were read teach and are measured; `--all` measures
others as well, judged by what their sites declare.

Each language pair is measured three times: without learned words, with the words that its sure
pairs teach, as in a crawl, and with these words where nothing but content is left (addresses,
switches and images hidden, no model of URLs). `--half` measures half of the sites with
weights learned from the other half, and writes nothing: so changes can be tried on half A and
checked on half B.

Sites are parsed once, into the folder that `--cache` names.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.simulate_sites import FAMILIES, half_of
from bilingual_crawler.corpus.lexicon_learning import LexiconLearner
from bilingual_crawler.lab.evaluation.read_gold import ReadFigures
from bilingual_crawler.lab.training.pairs import Lesson, fit, lessons
from bilingual_crawler.lab.training.substance import SubstanceLesson, fit_substance
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.model import PairModel
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.resources import PairingAids, UrlModel
from bilingual_crawler.pairing.substance import SubstanceModel
from bilingual_crawler.scoring.classifier import ParallelUrls
from tools.recorded_material import Material, materials, without_ties

DATA = Path("bilingual_crawler/data")
Models = tuple[PairModel, SubstanceModel]
WITHOUT, WITH, CONTENT = "without words", "with words", "content alone"
"""The ways of measuring."""


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


def learn_words(material: Material, matcher: Matcher) -> None:
    """Learn words from the sure pairs of a site and match it once more, as a crawl does."""
    learner = LexiconLearner(material.pair)
    for document in material.documents:
        learner.read(document)
    lexicon = learner.finish(matcher.standing, lambda _: None)
    if lexicon is not None:
        matcher.use_lexicon(lexicon)
        matcher.finish()


def substance_lesson(material: Material, matcher: Matcher) -> SubstanceLesson | None:
    """Return the counterparts of a site that a reader has judged, found or not."""
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


def measure(material: Material, models: Models, url_model: UrlModel) -> dict[str, ReadFigures]:
    """Return how the pairs of a site that is not among the teachers are judged, in three ways."""
    pair_model, substance = models
    found = {}
    matcher = matched(material, PairingAids(pair_model, url_model, substance=substance))
    found[WITHOUT] = _judged(material, matcher, {})
    learn_words(material, matcher)
    found[WITH] = _judged(material, matcher, {})
    hidden, real = without_ties(material)
    matcher = matched(hidden, PairingAids(pair_model, substance=substance))
    learn_words(hidden, matcher)
    found[CONTENT] = _judged(material, matcher, real)
    return found


def _judged(material: Material, matcher: Matcher, real: dict[str, str]) -> ReadFigures:
    urls = ((each.first, each.second) for each in matcher.pairs)
    return material.gold.judge((real.get(a, a), real.get(b, b)) for a, b in urls).figures


def main() -> None:
    """Read, learn, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--models", type=Path, default=Path("models"))
    default = Path(tempfile.gettempdir()) / "bilingual-recorded-sites"
    parser.add_argument("--cache", type=Path, default=default)
    parser.add_argument("--declared", action="store_true", help="measure with declarations")
    parser.add_argument("--half", choices=("A", "B"), default="")
    parser.add_argument("--all", action="store_true", help="measure sites that were not read too")
    options = parser.parse_args()
    url_model = RememberedUrls(ParallelUrls(options.models / "parallel").probabilities)
    learned: dict[str, list[Lesson]] = defaultdict(list)
    judged: dict[str, list[SubstanceLesson]] = defaultdict(list)
    read_only = not options.all
    given = list(materials(options.folder, options.cache, read_only=read_only))
    for material in filter(lambda each: each.gold.is_read, given):
        matcher = matched(material, PairingAids(url_model=url_model, thin_pairs=True))
        learned[material.site] += lessons(material.site, matcher, material.gold)
        lesson = substance_lesson(material, matcher)
        if lesson is not None:
            judged[material.site].append(lesson)
        print(material.site, material.pair, len(material.pages), file=sys.stderr, flush=True)
    if options.declared:
        given = list(materials(options.folder, options.cache, declared=True, read_only=read_only))
    teachers = Teachers(learned, judged)
    if options.half:
        given = [each for each in given if half_of(each.site) == options.half]
    about = report(given, teachers, url_model, half=options.half)
    if not options.half:
        pair_model, substance = teachers.models(lambda _: True, about)
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "pairing.json").write_text(pair_model.to_json(), encoding="utf-8")
        (options.out / "substance.json").write_text(substance.to_json(), encoding="utf-8")


class Teachers(NamedTuple):
    """What the pages of each site teach."""

    learned: dict[str, list[Lesson]]
    judged: dict[str, list[SubstanceLesson]]

    def models(self, teaches: Callable[[str], bool], about: dict[str, object]) -> Models:
        """Return the models that some of the sites teach."""
        learned = (each for site, some in self.learned.items() if teaches(site) for each in some)
        judged = (each for site, some in self.judged.items() if teaches(site) for each in some)
        return fit(learned, about), fit_substance(judged, about)


def report(
    given: Iterable[Material], teachers: Teachers, url_model: UrlModel, *, half: str = ""
) -> dict[str, object]:
    """Print the figures of each site, measured with what the others teach; return the sums."""
    ways = (WITHOUT, WITH, CONTENT)
    print(f"| site | languages | {' | '.join(ways)} | unjudged | |")
    print("|---|---|---:|---:|---:|---:|---|")
    totals, models = dict.fromkeys(ways, ReadFigures()), dict[str, Models]()
    for material in given:
        out = half or FAMILIES.get(material.site, material.site)
        if out not in models:
            group_of = half_of if half else lambda site: FAMILIES.get(site, site)
            models[out] = teachers.models(lambda site: group_of(site) != out, {})  # noqa: B023 - called at once
        found = measure(material, models[out], url_model)
        shown = " | ".join(" ".join(map(str, found[way][:4])) for way in ways)
        by = "read" if material.gold.is_read else "judged by declarations"
        unjudged = found[WITH].unjudged
        print(f"| {material.site} | {material.pair} | {shown} | {unjudged} | {by} |", flush=True)
        if material.gold.is_read:
            totals = {way: totals[way].plus(found[way]) for way in ways}
    about: dict[str, object] = {
        "measured on": f"{len(teachers.judged)} sites whose pages were read, each with weights"
        " learned from the other sites, declared translations stripped"
    }
    for way, total in totals.items():
        about[way] = {
            **total._asdict(),
            "precision": round(total.precision or 0.0, 4),
            "recall": round(total.recall or 0.0, 4),
        }
    print(json.dumps(about, indent=1))
    return about


if __name__ == "__main__":
    main()
