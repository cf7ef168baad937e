"""A user's own labels for document pairs, with the pages they speak of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from bilingual_crawler.corpus.sources.inputs import documents_from
from bilingual_crawler.corpus.sources.reading import Alias, Reading
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.evaluation.reading import LabelledPair, Skipped, pair_rows
from bilingual_crawler.frontier.fingerprint import url_fingerprint
from bilingual_crawler.pairing.pair import Page, page_of

FOLDS = 10
"""Of the cross-validation; each class must have an example for each."""
ENOUGH = 110
"""Labelled pairs that were enough for PPLocator's tree."""
MOST_STEPS = 10

Example = tuple[Page, Page, bool]
"""Two pages, and whether they are translations."""


@dataclass(slots=True)
class Examples:
    """The labelled pairs whose pages were found, and the URLs that were not."""

    found: list[Example] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def positive(self) -> int:
        """How many are translations."""
        return sum(parallel for _, _, parallel in self.found)


def read_labels(source: str, skipped: Skipped) -> list[LabelledPair]:
    """Rows `url<TAB>url<TAB>1|0`; a pair that is labelled both ways is refused."""
    labels: dict[tuple[str, str], LabelledPair] = {}
    for row in pair_rows(source, skipped):
        pair = min(row.first, row.second), max(row.first, row.second)
        known = labels.setdefault(pair, row)
        if known.parallel != row.parallel:
            raise ConfigurationError(
                f"{source} says of {row.first} and {row.second} both that they are translations"
                " and that they are not: leave one of the two lines out."
            )
    if not labels:
        raise ConfigurationError(
            f"{source} has no label in it: write two URLs and 1 or 0 a line, with tabs between;"
            " 1 is for translations."
        )
    return list(labels.values())


def gather(
    labels: Sequence[LabelledPair],
    sources: Sequence[str],
    reading: Reading,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Examples:
    """Find the labelled pages in the inputs; only those are kept.

    The inputs are read once more if redirects to labelled pages come after the pages.
    """
    pages: dict[int, Page] = {}
    aliases: dict[int, int] = {}
    labelled = {url_fingerprint(url) for row in labels for url in row[:2]}
    wanted = set(labelled)
    while wanted:
        for found in chain.from_iterable(documents_from(source, reading) for source in sources):
            if isinstance(found, Alias):
                aliases.setdefault(url_fingerprint(found.source), url_fingerprint(found.target))
            elif (fingerprint := url_fingerprint(found.url)) in wanted:
                pages.setdefault(fingerprint, page_of(found))
                progress(len(pages), 0)
        ends = {_resolve(each, pages, aliases) for each in labelled}
        wanted = ends - labelled - pages.keys() if wanted == labelled else set()
    examples = Examples()
    missing: dict[str, None] = {}
    for row in labels:
        both = [pages.get(_resolve(url_fingerprint(url), pages, aliases)) for url in row[:2]]
        missing |= {url: None for url, page in zip(row[:2], both, strict=True) if page is None}
        if both[0] is not None and both[1] is not None:
            examples.found.append((both[0], both[1], row.parallel))
    examples.missing = list(missing)
    return examples


def check(examples: Examples) -> None:
    """Refuse labels from which nothing can be learned, and say what is needed."""
    positive, negative = examples.positive, len(examples.found) - examples.positive
    if min(positive, negative) >= FOLDS:
        return
    gone = f" {len(examples.missing):,} labelled pages are in none of the inputs, for instance"
    raise ConfigurationError(
        f"There are {positive:,} translations and {negative:,} other pairs with both pages in the"
        f" inputs; at least {FOLDS} of each are needed to learn from, and about {ENOUGH} pairs"
        " are enough." + (f"{gone} {examples.missing[0]}." if examples.missing else "")
    )


def _resolve(fingerprint: int, pages: dict[int, Page], aliases: dict[int, int]) -> int:
    for _ in range(MOST_STEPS):
        if fingerprint in pages or fingerprint not in aliases:
            break
        fingerprint = aliases[fingerprint]
    return fingerprint
