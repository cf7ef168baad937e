"""Alignment of a whole crawl: a first pass to learn a lexicon, a second one that uses it.

The first pass samples documents at random until it has seen enough sentences that it is sure of; in
a large crawl that is a small part. The second goes through all documents in order. Its pairs are
cleaned one by one, set aside in a temporary file, and written when it is known which of them
repeat. The same folder gives the same file, byte for byte.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from bilingual_crawler.alignment.aligner import Aligner, Encoder, Scored
from bilingual_crawler.alignment.cleaning import Repeats, Rule, broken_rule, rules
from bilingual_crawler.alignment.documents import (
    PairedDocuments,
    PairOfTexts,
    sole_writer,
    to_line,
    write_sentences,
)
from bilingual_crawler.alignment.frames import SETTLED, KnownFrames
from bilingual_crawler.alignment.language_models import LanguageModelFiles, LikelySide
from bilingual_crawler.alignment.overlap import MOST_PAIRS, Lexicon, learn_lexicon, words
from bilingual_crawler.alignment.splitting import Segment
from bilingual_crawler.alignment.vocabularies import Vocabularies
from bilingual_crawler.alignment.word_shares import Words
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.store.marks import CorpusMarks
from bilingual_crawler.store.sentence_pair import SentencePair, pair_id

SURE = 0.9
"""The least score of first-pass pairs to learn from."""
UNSPACED = frozenset({"zho", "yue", "jpn"})
"""Languages without a space between sentences."""
LEAST_PAIRS = 50
"""The fewest pairs to learn from; with fewer there is only the first pass."""

Languages = tuple[str, str]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and the total."""


@dataclass
class AlignmentCounts:
    """The result of aligning a folder, in numbers."""

    document_pairs: int = 0
    sentences1: int = 0
    sentences2: int = 0
    sentence_pairs: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    lexicon_entries: dict[str, int] = field(default_factory=dict)
    unreadable_lines: int = 0
    too_large_documents: int = 0
    is_unfinished: bool = False

    def add(self, pair: SentencePair) -> None:
        """Count a pair, kept or dropped."""
        self.sentence_pairs += 1
        if pair.dropped:
            self.dropped[pair.dropped] += 1
        else:
            self.kept += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        return {
            "document_pairs": self.document_pairs,
            "sentences1": self.sentences1,
            "sentences2": self.sentences2,
            "sentence_pairs": self.sentence_pairs,
            "kept": self.kept,
            "dropped": dict(sorted(self.dropped.items())),
            "lexicon_entries": dict(sorted(self.lexicon_entries.items())),
            "unreadable_lines": self.unreadable_lines,
            "too_large_documents": self.too_large_documents,
            "is_unfinished": self.is_unfinished,
        }


@dataclass
class Learned:
    """What the first pass learned about two languages."""

    pairs: list[tuple[Words, Words]] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    characters1: int = 0
    characters2: int = 0
    lexicon: Lexicon | None = None
    vocabularies: Vocabularies = field(default_factory=lambda: Vocabularies("", ""))
    texts: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    """The sentences of each side, for models of their languages."""

    @property
    def ratio(self) -> float:
        """The characters of the second language per character of the first."""
        return self.characters2 / self.characters1 if self.characters1 else 1.0

    @property
    def is_enough(self) -> bool:
        """True if more pairs would change little."""
        return len(self.pairs) >= MOST_PAIRS

    def add(self, text1: str, text2: str) -> None:
        """Add a pair, once."""
        digest = blake2b(f"{text1}\n{text2}".encode("utf-8", "replace"), digest_size=8).digest()
        if digest not in self.seen:
            self.seen.add(digest)
            self.pairs.append((words(text1), words(text2)))
            for texts, text in zip(self.texts, (text1, text2), strict=True):
                texts.append(text)
            self.characters1 += len(text1)
            self.characters2 += len(text2)


def align_folder(
    folder: Path,
    out: Path,
    encoder: Encoder | None = None,
    progress: Progress = lambda _what, _done, _all: None,
    langs: ParallelLanguages | None = None,
    *,
    learned: Mapping[Languages, Learned] | None = None,
    models: LanguageModelFiles | None = None,
) -> AlignmentCounts:
    """Align the document pairs of a crawl's folder and write their sentences to `out`.

    With `langs` only the pairs of these languages are aligned. With `models`, sentences that are
    unlikely in their language are dropped as well. `learned` is what a first pass over more than
    this folder has learned; without it there is one over this folder.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder}: name the folder of a crawl.")
    if not out.parent.is_dir():
        raise ConfigurationError(f"There is no folder {out.parent} to write {out.name} to.")
    with sole_writer(out):
        documents = PairedDocuments(
            folder, lambda done, size: progress("reading", done, size), langs
        )
        repeats, marks = Repeats(), CorpusMarks(folder)
        try:
            size = len(documents)
            if learned is None:
                learned = first_pass(
                    documents.at_random(), encoder, lambda done: progress("first pass", done, size)
                )
            counts = AlignmentCounts(
                unreadable_lines=documents.reading.unreadable_lines,
                too_large_documents=documents.reading.too_large_documents,
                is_unfinished=documents.reading.is_unfinished,
                lexicon_entries={
                    "-".join(langs): len(about.lexicon or ()) for langs, about in learned.items()
                },
            )
            with writing(out), tempfile.TemporaryFile(dir=out.parent) as file:
                aside = _Aside(file, repeats, marks)
                _second_pass(documents, _tools(learned, encoder, models), aside, counts, progress)
                write_sentences(out, aside.cleaned(counts, progress))
        finally:
            repeats.close()
            documents.close()
    return counts


def first_pass(
    documents: Iterable[PairOfTexts],
    encoder: Encoder | None = None,
    progress: Callable[[int], None] = lambda _done: None,
) -> dict[Languages, Learned]:
    """Return what can be learned about each two languages from surely paired sentences."""
    aligner, learned = Aligner(encoder=encoder), dict[Languages, Learned]()
    for number, pair in enumerate(documents, 1):
        progress(number)
        langs = pair.lang1, pair.lang2
        about = learned.setdefault(langs, Learned(vocabularies=Vocabularies(*langs)))
        if not about.is_enough:
            about.vocabularies.learn(
                (each.text for each in pair.first), (each.text for each in pair.second)
            )
            for text1, text2 in confident(aligner.align(pair.first, pair.second), pair):
                about.add(text1, text2)
        elif len(learned) == 1:
            break
    for about in learned.values():
        if len(about.pairs) >= LEAST_PAIRS:
            about.lexicon = learn_lexicon(about.pairs)
        about.pairs.clear()
        about.seen.clear()
    return learned


def confident(found: list[Scored], pair: PairOfTexts) -> Iterator[tuple[str, str]]:
    """Yield one-to-one beads that the aligner is sure of, among others like them."""
    single = [each.bead.shape == (1, 1) for each in found]
    for number, (bead, score) in enumerate(found):
        if score >= SURE and all(single[max(0, number - 1) : number + 2]):
            yield pair.first[bead.start1].text, pair.second[bead.start2].text


class _Aside:
    """Sentence pairs in a temporary file, until it is known which of them repeat."""

    def __init__(self, file: IO[bytes], repeats: Repeats, marks: CorpusMarks) -> None:
        self._file, self._repeats, self._size = file, repeats, 0
        self.marks = marks

    def add(self, document: int, pair: SentencePair) -> None:
        """Set aside a pair from the document pair with this number."""
        if not pair.dropped:
            self._repeats.add(self._size, document, pair)
        self._file.write(to_line(pair))
        self._size += 1

    def cleaned(self, counts: AlignmentCounts, progress: Progress) -> Iterator[SentencePair]:
        """Yield every pair again, with the rule that it broke, and count it."""
        self._file.seek(0)
        for number, line in enumerate(self._file):
            progress("writing", number + 1, self._size)
            pair = SentencePair.from_dict(json.loads(line))
            if not pair.dropped:
                accepted = bool(self.marks.of_sentences(pair.text1, pair.text2))
                rule = self._repeats.broken_rule(number, pair, accepted=accepted)
                pair = replace(pair, dropped=rule) if rule else pair
            counts.add(pair)
            yield pair


_Tools = tuple[Aligner, Mapping[str, Rule]]


def _tools(
    learned: Mapping[Languages, Learned],
    encoder: Encoder | None,
    models: LanguageModelFiles | None,
) -> dict[Languages, _Tools]:
    tools = dict[Languages, _Tools]()
    for langs, about in learned.items():
        asked = rules(about.ratio, about.vocabularies, _likely(langs, about, models))
        tools[langs] = Aligner(about.lexicon, encoder), asked
        for texts in about.texts:
            texts.clear()
    return tools


def _likely(
    langs: Languages, about: Learned, models: LanguageModelFiles | None
) -> tuple[LikelySide, LikelySide] | None:
    if models is None:
        return None
    (first, second), (texts1, texts2) = langs, about.texts
    return models.side(first, texts1), models.side(second, texts2)


def _second_pass(
    documents: PairedDocuments,
    tools: Mapping[Languages, _Tools],
    aside: _Aside,
    counts: AlignmentCounts,
    progress: Progress,
) -> None:
    frames = KnownFrames()
    for document, pair in enumerate(documents.in_order(), 1):
        progress("second pass", document, len(documents))
        langs = pair.lang1, pair.lang2
        aligner, asked = tools[langs]
        counts.document_pairs += 1
        counts.sentences1 += len(pair.first)
        counts.sentences2 += len(pair.second)
        at = 0
        for each in (pair, _frame(pair, frames)):
            beads = aligner.align(each.first, each.second)
            beads = aligner.with_crossing(each.first, each.second, beads)
            for found in sentence_pairs(each, beads, asked, aside.marks, at):
                at = found.at + 1
                if each is not pair and found.score >= SETTLED:
                    frames.settle(found.text1, langs, 0)
                    frames.settle(found.text2, langs, 1)
                aside.add(document, found)


def _frame(pair: PairOfTexts, frames: KnownFrames) -> PairOfTexts:
    """Return the text around the content of two documents, as far as it is new."""
    langs = pair.lang1, pair.lang2
    first, second = frames.fresh(pair.frame1, langs, 0), frames.fresh(pair.frame2, langs, 1)
    return pair._replace(first=first, second=second)


def sentence_pairs(
    pair: PairOfTexts,
    found: Iterable[Scored],
    asked: Mapping[str, Rule],
    marks: CorpusMarks | None = None,
    start: int = 0,
) -> Iterator[SentencePair]:
    """Yield the beads with text on both sides, with the single-pair rule that each breaks."""
    name, at = pair_id(pair.url1, pair.url2), start
    for bead, score in found:
        if not bead.is_paired:
            continue
        made = SentencePair(
            pair=name,
            at=at,
            url1=pair.url1,
            url2=pair.url2,
            lang1=pair.lang1,
            lang2=pair.lang2,
            text1=_joined(pair.first[bead.start1 : bead.end1], pair.lang1),
            text2=_joined(pair.second[bead.start2 : bead.end2], pair.lang2),
            beads="-".join(map(str, bead.shape)),
            kind=pair.first[bead.start1].kind,
            score=score,
            fetched1=pair.about1.fetched,
            fetched2=pair.about2.fetched,
            licence1=pair.about1.licence,
            licence2=pair.about2.licence,
            machine1=pair.about1.machine,
            machine2=pair.about2.machine,
            pair_score=pair.score,
            evidence=pair.evidence,
            paragraph1=pair.first[bead.start1].paragraph,
            paragraph2=pair.second[bead.start2].paragraph,
            sentence1=pair.first[bead.start1].number,
            sentence2=pair.second[bead.start2].number,
        )
        rule = broken_rule(made, asked, marks)
        yield replace(made, dropped=rule) if rule else made
        at += 1


def _joined(segments: list[Segment], language: str) -> str:
    """Return sentences as one text; some languages have no space between them."""
    return ("" if language in UNSPACED else " ").join(each.text for each in segments)
