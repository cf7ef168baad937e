"""The clusters of a crawl for more than two languages: the versions of each page, one per language.

Pairs are a view of clusters, and the other way round: the pairs of pages that are linked with each
other make one cluster. `clusters.jsonl` has one line per cluster.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.languages import LanguageSet, ParallelLanguages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import CLUSTERS


class ClusterLink(NamedTuple):
    """A pair in a cluster: how sure it is, and which detectors speak for it."""

    lang1: str
    lang2: str
    score: float
    detectors: tuple[str, ...]


@dataclass(slots=True)
class PageCluster:
    """The versions of one page, by language, and the pairs among them."""

    versions: dict[str, str]
    links: list[ClusterLink] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as written to clusters.jsonl."""
        links = [each._asdict() | {"detectors": list(each.detectors)} for each in self.links]
        return {"versions": self.versions, "links": links}


class _FoundLink(NamedTuple):
    urls: tuple[str, str]
    link: ClusterLink


def clusters_of(
    pairs: Iterable[DocumentPair], languages: ParallelLanguages | None = None
) -> Iterator[PageCluster]:
    """Yield the clusters that pairs make, in the order of their first pairs.

    The likeliest pairs come first, so that a pair that would give a cluster a second version in a
    language is left out. `languages` give the versions their order.
    """
    found = [
        _FoundLink(
            (pair.first, pair.second),
            ClusterLink(
                *pair.languages,
                round(pair.score, 4),
                tuple(each.detector for each in pair.reasons),
            ),
        )
        for pair in pairs
    ]
    cluster: dict[tuple[str, str], PageCluster] = {}
    for urls, link in sorted(found, key=lambda each: -each.link.score):
        one, other = (
            cluster.setdefault((url, code), PageCluster({code: url}))
            for url, code in zip(urls, link[:2], strict=True)
        )
        if one is not other and one.versions.keys().isdisjoint(other.versions):
            one.versions |= other.versions
            for code, url in other.versions.items():
                cluster[url, code] = one
    for urls, link in found:
        ends = [cluster[url, code] for url, code in zip(urls, link[:2], strict=True)]
        if ends[0] is ends[1]:
            ends[0].links.append(link)
    for each in {id(each): each for each in cluster.values() if each.links}.values():
        yield _in_order(each, languages)


def _in_order(cluster: PageCluster, languages: ParallelLanguages | None) -> PageCluster:
    codes = () if languages is None else languages.codes
    place = {code: at for at, code in enumerate(codes)}
    order = sorted(cluster.versions, key=lambda code: (place.get(code, len(place)), code))
    cluster.versions = {code: cluster.versions[code] for code in order}
    return cluster


def write_clusters(
    folder: Path, pairs: Iterable[DocumentPair], languages: LanguageSet | None
) -> None:
    """Write the clusters of a crawl into its folder; one for two languages has no such file."""
    path = folder / CLUSTERS
    if languages is None:
        path.unlink(missing_ok=True)
        return
    with replacing(path) as fresh, fresh.open("x", encoding="utf-8") as file:
        for cluster in clusters_of(pairs, languages):
            file.write(json.dumps(cluster.to_dict(), ensure_ascii=False) + "\n")
