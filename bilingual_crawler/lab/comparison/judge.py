"""The judge of a comparison: what each arm has fetched of the parallel text of a site, and when.

One judge for all arms: everything that they fetched of a site becomes one corpus, paired and
aligned by the same rules. An arm has a document pair once it has downloaded both pages, and then
its sentence pairs too. SBFC used Bitextor for this.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.build import BuildTask, build_corpus
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.lab.comparison.arms import CRAWL, read_order
from bilingual_crawler.lab.comparison.plan import JUDGED, ComparedSite, ComparisonPlan
from bilingual_crawler.lab.replay.curve import DECILES, Pair, summed
from bilingual_crawler.reporting.report import changed_settings
from bilingual_crawler.store.durable import replacing_file
from bilingual_crawler.store.folder import PAIRS
from bilingual_crawler.store.input_files import Damage, read_json_lines
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.urls.fingerprint import canonical_url

FIGURES = "figures.json"


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """What one arm had after each tenth of its downloads."""

    downloads: int
    documents: tuple[int, ...]
    sentences: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            "downloads": self.downloads,
            "documents": list(self.documents),
            "sentences": list(self.sentences),
        }


def deciles_of(order: Sequence[str], pairs: Mapping[Pair, int]) -> ArmFigures:
    """Return document and sentence pairs after each tenth of the downloads of an arm.

    `pairs` has the number of sentence pairs of each document pair. A page that was downloaded
    twice counts when it first came.
    """
    partners: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for (first, second), number in pairs.items():
        partners[canonical_url(first)].append((canonical_url(second), number))
        partners[canonical_url(second)].append((canonical_url(first), number))
    have: set[str] = set()
    documents, sentences = [0], [0]
    for page in map(canonical_url, order):
        new = [] if page in have else [n for mate, n in partners.get(page, ()) if mate in have]
        have.add(page)
        documents.append(documents[-1] + len(new))
        sentences.append(sentences[-1] + sum(new))
    places = [math.ceil(tenth * len(order) / DECILES) for tenth in range(1, DECILES + 1)]
    return ArmFigures(
        len(order),
        tuple(documents[place] for place in places),
        tuple(sentences[place] for place in places),
    )


def together(figures: Iterable[ArmFigures]) -> ArmFigures:
    """Return the sums over sites, decile by decile, as in Figure 7 of SBFC."""
    rows = list(figures)
    return ArmFigures(
        sum(each.downloads for each in rows),
        tuple(summed([each.documents for each in rows])),
        tuple(summed([each.sentences for each in rows])),
    )


def judge_site(plan: ComparisonPlan, site: ComparedSite, config: Config) -> dict[str, ArmFigures]:
    """Return the figures of every arm that has ended on a site; they are kept in its folder."""
    orders = {arm: read_order(plan.place(site, arm)) for arm in plan.arms}
    orders = {arm: order for arm, order in orders.items() if order}
    if not orders:
        return {}
    pairs = pairs_of(_inputs(plan, site, list(orders)), plan, site, config)
    found = {arm: deciles_of(order, pairs) for arm, order in orders.items()}
    with replacing_file(plan.out / site.name / FIGURES) as part:
        part.write_text(json.dumps({arm: each.to_dict() for arm, each in found.items()}) + "\n")
    return found


def _inputs(plan: ComparisonPlan, site: ComparedSite, arms: list[str]) -> list[Path]:
    if site.recording is not None:
        return [site.recording]
    crawls = [plan.place(site, arm) / CRAWL for arm in arms]
    return [file for crawl in crawls for file in sorted(crawl.glob("crawl-*.warc.gz"))]


def pairs_of(
    files: list[Path], plan: ComparisonPlan, site: ComparedSite, config: Config
) -> dict[Pair, int]:
    """Pair and align what is in WARC files; return each document pair with its sentence pairs."""
    folder = plan.out / site.name / JUDGED
    task = BuildTask(
        inputs=tuple(map(str, files)),
        folder=folder,
        languages=plan.langs,
        config=config,
        settings=changed_settings(config),
        aids=pairing_aids(config),
    )
    report = build_corpus(task).report
    if not report.get("pairs"):
        return {}
    align_folder(folder, folder / SENTENCES, None, lambda *_: None)
    damage = Damage()
    sentences = Counter(
        (str(row["url1"]), str(row["url2"]))
        for _, row in read_json_lines(folder / SENTENCES, damage)
        if not row["dropped"]
    )
    rows = (row for _, row in read_json_lines(folder / PAIRS, damage))
    urls = ((str(row["url1"]), str(row["url2"])) for row in rows)
    return {pair: sentences[pair] for pair in urls}
