"""Fit the link predictor to labelled links: a linear SVM and Platt's sigmoid.

Every site counts the same, however many links it has. A word is learned only if several sites have
it, so that the names of one site do not become a rule. The sigmoid is fitted to margins of links
from sites that the SVM has not seen; fitted to those it has seen, it would be far too confident.

Labelled links come from recorded sites whose pairs are known. The label of a link depends on the
sought language: on an English page "Deutsch" is right if German is sought, and wrong if French is.
So each page is used for several languages: some that its site has, and one that it does not have.

A link is *right* if it leads to the known translation of its page, or to the home page of the
sought language, where switches often lead. It is *wrong* if it leads to another site or to a page
in another language. Other links (to a page in the sought language whose counterpart is not known,
or to a page that was not recorded) are not used. The text of a link does not affect its label.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.discovery.link_predictor import LinkPredictor, link_features
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.gold import ENDING, GoldLine, read_gold
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import LanguagePair, find_language
from bilingual_crawler.urls.hosts import host_of, site_of

PAGES_PER_SITE = 100
SOUGHT_PER_PAGE = 4
"""Sought languages per page, of those that its site has."""
WRONG_PER_PAGE = 20
"""Wrong links sampled per page, weighted to stand for all of them. Those that name a language are
the hard ones, and are all kept."""
NEVER_THERE = ("fin", "vie", "swa", "ell", "hun", "tha")
"""Languages from which one that the site does not have is taken."""


@dataclass(frozen=True, slots=True)
class LabelledLink:
    """The features of a link, and its label."""

    site: str
    features: tuple[str, ...]
    is_right: bool
    weight: float = 1.0
    """The number of links that it stands for."""
    variant: int = 0
    """0 for the link as it is; see `VARIANTS`."""


def _as_it_is(link: Link) -> Link:
    return link


def _without_hreflang(link: Link) -> Link:
    return replace(link, hreflang="")


def _without_text(link: Link) -> Link:
    return replace(link, hreflang="", anchor="", context="")


VARIANTS = (_as_it_is, _without_hreflang, _without_text)
"""Versions of each link to learn from: also without what many sites do not provide, so that the
predictor does not rely on a single signal."""


class LabelledSite:
    """A recorded site whose pairs are known; `strip` removes what its pages declare of them."""

    def __init__(self, warc: Path, *, strip: bool = False) -> None:
        self.recording = Recording(warc)
        self.name = self.recording.name
        self._site = RecordedSite(self.recording, (), strip=strip)
        self.gold = read_gold(_gold_list(warc, self.name))
        self._languages: dict[str, str] = {}
        self._partners: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for line in self.gold:
            self._learn(line)
        self.languages = sorted(set(self._languages.values()))
        """The ISO 639-3 codes in the known pairs."""
        self._homes = self._home_pages()

    def document(self, url: str) -> Document | None:
        """Return the page at a recorded URL, or None."""
        answer = self._site.answer(url)
        return None if answer is None else self._site.document(url, answer)

    def page_of(self, url: str) -> str | None:
        """Return the page that a URL leads to, through redirects and meta refreshes, or None."""
        page = self.recording.page_of(url)
        answer = None if page is None else self.recording.answer(page)
        if page is None or answer is None:
            return None
        refresh = self._site.refresh_of(page, answer)
        return (self.recording.page_of(refresh) if refresh else None) or page

    def pages(self) -> list[str]:
        """Return pages to learn from: the home pages, then others in arbitrary order."""
        known = sorted(self._partners, key=lambda url: crc32(url.encode()))
        homes = (self._homes[code] for code in sorted(self._homes))
        return list(dict.fromkeys((*homes, *known)))[:PAGES_PER_SITE]

    def labelled(self) -> Iterator[LabelledLink]:
        """Yield the labelled links of some pages for some sought languages."""
        for number, url in enumerate(self.pages()):
            document = self.document(url)
            language = self.language_of(url)
            if document is None or not language:
                continue
            others = [code for code in self.languages if code != language]
            start = number % max(1, len(others))
            absent = [code for code in NEVER_THERE if code not in self.languages]
            asked = (others[start:] + others[:start])[:SOUGHT_PER_PAGE]
            asked.append(absent[number % len(absent)])
            for code in asked:
                yield from self._of_page(document, language, code)

    def label(self, page: str, link: Link, sought: str) -> bool | None:
        """Return True if a link is right for the sought language; None if that is not known."""
        target = self.recording.page_of(link.url)
        if target is None:
            is_ours = site_of(host_of(link.url)) == site_of(host_of(page))
            return None if is_ours else False
        if target in (self._partners[page].get(sought), self._homes.get(sought)):
            return True
        return None if self.language_of(target) == sought else False

    def _of_page(self, document: Document, language: str, sought: str) -> Iterator[LabelledLink]:
        pair = LanguagePair(find_language(language), find_language(sought))
        labels = [self.label(document.url, link, sought) for link in document.links]
        chosen = dict(_chosen(document.links, labels))
        for variant, change in enumerate(VARIANTS):
            links = [change(link) for link in document.links]
            found = link_features(links, document.url, pair, language)
            for at, weight in chosen.items():
                yield LabelledLink(self.name, tuple(found[at]), bool(labels[at]), weight, variant)

    def _learn(self, line: GoldLine) -> None:
        first, second = (self.recording.page_of(url) or url for url in line[:2])
        one, other = line.languages
        if one and other:
            self._languages |= {first: one, second: other}
            self._partners[first][other] = second
            self._partners[second][one] = first

    def _home_pages(self) -> dict[str, str]:
        homes: dict[str, str] = {}
        for url in self.recording.homes():
            home = self.recording.page_of(url)
            if home is not None:
                homes.setdefault(self.language_of(home), home)
                for code, partner in self._partners[home].items():
                    homes.setdefault(code, partner)
        return {code: url for code, url in homes.items() if code in self.languages}

    def language_of(self, url: str) -> str:
        """Return the language of a recorded page: from the known pairs, or else from its text."""
        if url not in self._languages:
            document = self.document(url)
            self._languages[url] = (document.language if document else None) or ""
        return self._languages[url]


def _gold_list(warc: Path, name: str) -> Path:
    path = warc.with_name(name + ENDING)
    if not path.is_file():
        raise ConfigurationError(
            f"There is no list of known pairs for {warc}.",
            f"Write {path}: URL, URL, language, language on each line, separated by tabs.",
        )
    return path


def _chosen(links: Sequence[Link], labels: Iterable[bool | None]) -> Iterator[tuple[int, float]]:
    """Yield which links of a page are used, and how many links each stands for."""
    easy: list[int] = []
    for at, (link, label) in enumerate(zip(links, labels, strict=True)):
        if label is None:
            continue
        if label or languages_of_link(link):
            yield at, 1.0
        else:
            easy.append(at)
    some = sorted(easy, key=lambda at: crc32(links[at].url.encode()))[:WRONG_PER_PAGE]
    yield from ((at, len(easy) / len(some)) for at in some)


LEAST_SITES = 4
PENALTY = 0.02
"""The cost of an example on the wrong side (C of the SVM)."""
FOLDS = 5
"""The number of folds of sites for fitting the sigmoid."""
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

Numbers = NDArray[np.float64]


class LinkFigures(NamedTuple):
    """Recall and precision of the links above a threshold; every site counts the same."""

    threshold: float
    recall: float
    precision: float

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def fit(given: Iterable[LabelledLink], about: dict[str, Any]) -> LinkPredictor:
    """Fit a predictor to links."""
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - only to train
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - only to train
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 - only to train
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - only to train

    links = list(given)
    counter = CountVectorizer(analyzer=_same, binary=True, vocabulary=vocabulary(links))
    rows = counter.transform([link.features for link in links])
    labels = np.array([link.is_right for link in links])
    sites = np.array([link.site for link in links])
    machine = CalibratedClassifierCV(
        LinearSVC(C=PENALTY, random_state=0),
        method="sigmoid",
        cv=list(GroupKFold(min(FOLDS, len(set(sites)))).split(rows, labels, sites)),
        ensemble=False,
    )
    machine.fit(rows, labels, sample_weight=weights_of(links))
    (fitted,) = machine.calibrated_classifiers_
    (sigmoid,) = fitted.calibrators
    slopes = fitted.estimator.coef_[0]
    names = counter.get_feature_names_out()
    return LinkPredictor(
        weights={str(n): float(w) for n, w in zip(names, slopes, strict=True) if w},
        bias=float(fitted.estimator.intercept_[0]),
        slope=float(sigmoid.a_),
        offset=float(sigmoid.b_),
        about=about,
    )


def vocabulary(links: Iterable[LabelledLink]) -> list[str]:
    """Return the features to learn: those about languages, and words found on several sites."""
    sites: defaultdict[str, set[str]] = defaultdict(set)
    for link in links:
        for feature in link.features:
            sites[feature].add(link.site)
    return sorted(f for f, where in sites.items() if "<" in f or len(where) >= LEAST_SITES)


def weights_of(links: Sequence[LabelledLink]) -> Numbers:
    """Return the weight of each link, so that every site counts the same; 1 on average."""
    totals: defaultdict[str, float] = defaultdict(float)
    for link in links:
        totals[link.site] += link.weight
    share = len(links) / len(totals)
    return np.array([share * link.weight / totals[link.site] for link in links])


def left_out(links: Sequence[LabelledLink]) -> Iterator[tuple[str, LinkPredictor]]:
    """Yield each site with the predictor that is learned from all others."""
    for site in sorted({link.site for link in links}):
        yield site, fit([link for link in links if link.site != site], {})


def measure(
    predictors: dict[str, LinkPredictor], links: Sequence[LabelledLink]
) -> list[LinkFigures]:
    """Return recall and precision by threshold; each site is judged by its own predictor."""
    likelihoods = np.array(
        [
            predictor.probability(predictor.margin(link.features))
            for link in links
            for predictor in (predictors[link.site],)
        ]
    )
    right = np.array([link.is_right for link in links])
    weights = weights_of(links)
    found = []
    for threshold in THRESHOLDS:
        passed = likelihoods >= threshold
        hits = weights[passed & right].sum()
        recall = hits / max(1e-9, weights[right].sum())
        precision = hits / max(1e-9, weights[passed].sum())
        found.append(LinkFigures(threshold, float(recall), float(precision)))
    return found


def _same(features: Sequence[str]) -> Sequence[str]:
    """Return the features as they are."""
    return features
