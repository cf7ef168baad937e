"""What the words that a crawl teaches itself add to pairing, on recorded sites that were read.

    python -m benchmarks.lexicon FOLDER [NAME:LANGS ...]

FOLDER holds NAME.warc.gz with NAME.gold.tsv, .also.tsv, .uncertain.tsv and .wrong.tsv, and READ.tsv
with the language pairs that were read; others may be named. Declarations are stripped. Each
pair of languages is matched with addresses, switches and images visible, and with all of them
hidden: every URL is a number, and no page has another name. Four times each: without a lexicon,
with what the sure pairs of the site taught (under the same hiding), with what the other sites of
the two languages taught (everything but declarations visible, as in an earlier crawl), and with
both.

A pair counts as right if it is in the gold list, a copy of such a page counts too, and uncertain
pairs are not judged. Where a language pair was read, all others are wrong; elsewhere only those
with a page that is in the list. No model of parallel URLs is asked.
"""

import argparse
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast

from bilingual_crawler.alignment.word_links import Block, blocks_of
from bilingual_crawler.corpus.lexicon_learning import LexiconLearner
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document, Paragraph, ParagraphKind
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import strip_body
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.lexicon import TranslationLexicon, of_languages
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.urls.hosts import host_of

SMALL = frozenset({"eus", "isl", "est", "slv", "cat", "cym", "glg", "fin", "lit"})
Urls = tuple[str, str]


class Bitext(NamedTuple):
    """The pages of a site in two languages."""

    site: str
    pair: LanguagePair
    pages: list[tuple[PairingPage, Document]]
    aliases: list[Urls]


class Figures(NamedTuple):
    gold: int = 0
    right: int = 0
    wrong: int = 0

    def __str__(self) -> str:
        precision = self.right / ((self.right + self.wrong) or 1)
        return f"{precision:.3f} / {self.right / (self.gold or 1):.3f}"


class ReadGold:
    """Judges pairs by lists that were read."""

    def __init__(self, folder: Path, site: str, pair: LanguagePair, *, is_read: bool) -> None:
        self._is_read = is_read
        self._canonical = dict(row[:2] for row in _rows(folder / f"{site}.also.tsv"))
        self._true = {
            frozenset(row[:2])
            for row in _rows(folder / f"{site}.gold.tsv")
            if set(row[2:4]) == set(pair.codes)
        }
        self._uncertain = {frozenset(row[:2]) for row in _rows(folder / f"{site}.uncertain.tsv")}
        self._refused = {frozenset(row[:2]) for row in _rows(folder / f"{site}.wrong.tsv")}
        self._pages = frozenset(url for urls in self._true for url in urls)

    def figures(self, pairs: Iterable[Urls]) -> Figures:
        found = set()
        wrong = 0
        for urls in pairs:
            both = frozenset(urls)
            canonical = frozenset(self._canonical.get(url, url) for url in urls)
            if canonical in self._true or both in self._true:
                found.add(canonical)
            elif not {canonical, both} & self._uncertain:
                is_refused = bool({canonical, both} & self._refused)
                wrong += self._is_read or is_refused or bool(canonical & self._pages)
        return Figures(len(self._true), len(found), wrong)


def _rows(file: Path) -> list[list[str]]:
    if not file.exists():
        return []
    return [line.split("\t") for line in file.read_text().splitlines()]


def read_bitexts(warc: Path, pairs: Iterable[str], cache: Path | None) -> list[Bitext]:
    """Return the pages of a site for each pair; a `cache` keeps them for the next time."""
    name = warc.name.removesuffix(".warc.gz")
    wanted = [LanguagePair.parse(langs) for langs in pairs]
    kept = None if cache is None else cache / f"{name}.pickle"
    if kept is not None and kept.exists():
        rows, aliases = pickle.loads(kept.read_bytes())
    else:
        rows, aliases = read_pages(warc, wanted)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps((rows, aliases)))
    pages = [(page, text_of(page.url, page.language, blocks)) for page, blocks in rows]
    return [
        Bitext(name, pair, [each for each in pages if each[0].language in pair], aliases)
        for pair in wanted
    ]


def read_pages(
    warc: Path, pairs: Iterable[LanguagePair]
) -> tuple[list[tuple[PairingPage, list[Block]]], list[Urls]]:
    recording = Recording(warc)
    hints = tuple(dict.fromkeys(code for pair in pairs for code in pair.codes))
    rows = []
    for url in recording.pages:
        answer = recording.answer(url)
        if answer is not None:
            content_type = answer.header("Content-Type")
            body = strip_body(answer.body)
            document = build_document(url, body, content_type=content_type, hints=hints)
            if document.language in hints:
                rows.append((page_of(document), blocks_of(document.main_paragraphs)))
    return rows, list(recording.aliases())


def text_of(url: str, language: str, blocks: Iterable[Block]) -> Document:
    paragraphs = [Paragraph(text, cast("ParagraphKind", kind)) for kind, text in blocks]
    return Document(url, language=language, paragraphs=paragraphs)


def hide(bitext: Bitext) -> tuple[Bitext, dict[str, str]]:
    """Return the pages under numbers, without switches and images, and their real addresses."""
    hidden, real = [], {}
    for page, document in bitext.pages:
        name = blake2b(page.url.encode(), digest_size=6).hexdigest()
        url = f"https://{host_of(page.url)}/{name}"
        real[url] = page.url
        profile = replace(page.profile, images=b"")
        known = replace(page, url=url, names=(), switches=(), profile=profile)
        hidden.append((known, replace(document, url=url, variant="")))
    return Bitext(bitext.site, bitext.pair, hidden, []), real


def matched(
    bitext: Bitext, given: TranslationLexicon | None, *, learns: bool
) -> tuple[Matcher, list[TranslationLexicon], bool]:
    """Return the matcher, what it has learned, and whether a lexicon was used."""
    matcher = Matcher(bitext.pair, aids=PairingAids(lexicons=() if given is None else (given,)))
    learner = LexiconLearner(bitext.pair, given)
    for source, target in bitext.aliases:
        matcher.alias(source, target)
    for page, document in bitext.pages:
        matcher.hold(page)
        learner.read(document)
    matcher.finish()
    saved: list[TranslationLexicon] = []
    lexicon = given
    if learns:
        lexicon = learner.finish(matcher.standing, saved.append)
        matcher.use_lexicon(lexicon)
        matcher.finish()
    return matcher, saved, lexicon is not None and lexicon.is_trusted


def figures(gold: ReadGold, matcher: Matcher, real: dict[str, str]) -> Figures:
    return gold.figures(
        (real.get(pair.first, pair.first), real.get(pair.second, pair.second))
        for pair in matcher.pairs
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("pairs", nargs="*", default=[], metavar="NAME:LANGS")
    parser.add_argument("--cache", type=Path, help="folder for the pages of the sites, once read")
    options = parser.parse_args()
    was_read = {tuple(row[:2]) for row in _rows(options.folder / "READ.tsv")}
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for site, langs in [each.split(":") for each in options.pairs] or was_read:
        wanted[site].add(langs)
    bitexts = [
        bitext
        for site in sorted(wanted)
        for bitext in read_bitexts(
            options.folder / f"{site}.warc.gz", sorted(wanted[site]), options.cache
        )
    ]
    taught: dict[tuple[str, str], TranslationLexicon] = {}
    for bitext in bitexts:
        for lexicon in matched(bitext, None, learns=True)[1]:
            taught[bitext.site, str(bitext.pair)] = lexicon
    totals: Counter[tuple[str, str, str, int]] = Counter()
    print("| site | languages | pairs | hidden | without | own | tested | others | both |")
    print("|---|---|---:|---|---|---|---|---|---|")
    for bitext in bitexts:
        name = bitext.site, str(bitext.pair)
        gold = ReadGold(options.folder, *name[:1], bitext.pair, is_read=name in was_read)
        others = of_languages(
            bitext.pair.codes,
            (lexicon for (site, _), lexicon in taught.items() if site != bitext.site),
        )
        for hidden in ("declarations", "all ties"):
            known, real = (bitext, {}) if hidden == "declarations" else hide(bitext)
            runs = {
                "without": matched(known, None, learns=False),
                "own": matched(known, None, learns=True),
                "others": matched(known, others, learns=False),
                "both": matched(known, others, learns=True),
            }
            cells = {}
            for kind, (matcher, _, is_used) in runs.items():
                found = figures(gold, matcher, real)
                cells[kind] = f"{found}{'' if is_used or kind == 'without' else ' (silent)'}"
                groups = ["read" if name in was_read else "not read"]
                groups += ["small"] if SMALL & set(bitext.pair.codes) else []
                for group in groups:
                    for at, number in enumerate(found):
                        totals[group, hidden, kind, at] += number
            own = runs["own"][1]
            tested = f"{own[-1].test.won} of {own[-1].test.tested}" if own else "-"
            known_pairs = figures(gold, runs["without"][0], real).gold
            row = [*name, str(known_pairs), hidden, cells["without"], cells["own"], tested]
            print(f"| {' | '.join([*row, cells['others'], cells['both']])} |", flush=True)
    for group, hidden, kind in dict.fromkeys(key[:3] for key in totals):
        numbers = Figures(*(totals[group, hidden, kind, at] for at in range(3)))
        print(group, hidden, kind, numbers, tuple(numbers), sep="\t")


if __name__ == "__main__":
    main()
