"""The link predictor with plain words, as in its paper, beside ours: links of sites left out.

    python -m benchmarks.plain_links FOLDER [--sites a,b] [--pages 100]

FOLDER has NAME.warc.gz and NAME.gold.tsv. Plain words are those of the five contexts, each tagged
with its context and nothing else: "español" is a word like any other. Links are used as they are
and without text, as in `benchmarks.site_detector`; each site is judged by a predictor that was
trained on the others.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from bilingual_crawler.discovery import link_predictor
from bilingual_crawler.documents.document import Link
from bilingual_crawler.lab.training import links as training
from bilingual_crawler.languages import LanguagePair

THRESHOLD = 0.8


def plain_features(
    links: Sequence[Link],
    _page_url: str,
    _pair: LanguagePair,
    _language: str = "",
) -> list[list[str]]:
    """Return the words of five contexts."""
    found = []
    for link in links:
        words = {
            "url": link_predictor._path_words(link.url),  # noqa: SLF001 - the same words as ours
            "anchor": link_predictor._words(link.anchor, "anchor"),  # noqa: SLF001
            "around": link_predictor._words(link.context, "around"),  # noqa: SLF001
            "alt": link_predictor._words(link.image_alt, "alt"),  # noqa: SLF001
            "src": link_predictor._file_words(link.image_src),  # noqa: SLF001
        }
        tagged = (f"{context} {word}" for context, some in words.items() for word in some)
        found.append(list(dict.fromkeys(tagged)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", default="")
    parser.add_argument("--pages", type=int, default=100, help="pages per site")
    options = parser.parse_args()
    wanted = options.sites.split(",") if options.sites else None
    labelled: dict[str, list[training.LabelledLink]] = {"ours": [], "plain words": []}
    with patch.object(training, "PAGES_PER_SITE", options.pages):
        for warc in sorted(options.folder.glob("*.warc.gz")):
            if wanted is not None and warc.name.removesuffix(".warc.gz") not in wanted:
                continue
            site = training.LabelledSite(warc)
            labelled["ours"] += site.labelled()
            with patch.object(training, "link_features", plain_features):
                labelled["plain words"] += site.labelled()
            print(warc.name, len(labelled["ours"]), "links", flush=True)
    print("| features | variant | recall | precision | F | best F | at |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, links in labelled.items():
        predictors = dict(training.left_out(links))
        for variant, about in ((0, "as they are"), (1, "without hreflang"), (2, "without text")):
            some = [each for each in links if each.variant == variant]
            figures = training.measure(predictors, some)
            (usual,) = (each for each in figures if each.threshold == THRESHOLD)
            best = max(figures, key=lambda each: each.f)
            print(
                f"| {name} | {about} | {usual.recall:.2f} | {usual.precision:.2f} | {usual.f:.2f} |"
                f" {best.f:.2f} | {best.threshold} |"
            )


if __name__ == "__main__":
    main()
