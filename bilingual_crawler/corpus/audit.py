"""An audit: a person reads a sample of the sentence pairs, and the precision of all is estimated.

The sample is stratified by bands of the score, and each band is spread over the sites in
proportion to their pairs. The order in which pairs are asked is fixed by the texts and a seed, so
an audit can be resumed, and any number of answers is a sample. Answers are kept by the texts that
were judged: they hold when the corpus is aligned again.

The interval is Wilson's, with the number of answers replaced by the number that a simple sample
of the same variance would need (Korn and Graubard 1998). tests/corpus/test_audit.py simulates how
often it covers the truth, including that one stops when it is narrow enough.
"""

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from heapq import heappush, heapreplace, merge
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.input_files import Damage, read_json_lines
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.urls.hosts import host_of, site_of

ANSWERS, RESULT = "audit.jsonl", "audit.json"
BANDS = (0.0, 0.5, 0.8, 0.95)
"""The least score of each band; a precision is given for each of them and above."""
MARGIN = 0.05
"""The half-width of the interval at which an audit may stop."""
FEWEST = 50
"""The fewest answers: with less, an interval that looks narrow is luck."""
FEWEST_IN_BAND = 3
MOST_IN_BAND = 1_000
"""Pairs of a band that can be asked; a margin of 2 points never needs more."""
Z = 1.959964
"""The quantile of the normal distribution for 95% confidence."""


class Verdict(StrEnum):
    """What a reader says about a sentence pair."""

    PARALLEL = "parallel"
    BORDERLINE = "borderline"
    WRONG = "wrong"
    SKIPPED = "skipped"
    """The reader cannot tell; it does not count."""


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence pair to be judged."""

    digest: str
    """Identifies its texts."""
    row: SentencePair
    band: int


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimated share and where it lies with 95% confidence."""

    share: float
    low: float
    high: float
    answers: int

    @property
    def half_width(self) -> float:
        """Half of the interval, the ± of the estimate."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        """Return the estimate as it is cited."""
        return f"{_short(self.share)} ± {_short(self.half_width)}"


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


@dataclass(frozen=True, slots=True)
class Band:
    """The pairs of a band, the answers to some of them, and how many of these count as right."""

    pairs: int
    answers: int = 0
    right: int = 0


def estimate(bands: Iterable[Band]) -> Interval:
    """Return the share of right pairs in all bands together."""
    asked = [band for band in bands if band.pairs and band.answers]
    total, answers = sum(band.pairs for band in asked), sum(band.answers for band in asked)
    if not answers:
        return Interval(0.0, 0.0, 1.0, 0)
    share = smoothed = variance = 0.0
    for band in asked:
        weight = band.pairs / total
        near = (band.right + 1) / (band.answers + 2)  # never certain after a few answers
        unread = 1 - band.answers / band.pairs
        share += weight * band.right / band.answers
        smoothed += weight * near
        variance += weight**2 * unread * near * (1 - near) / band.answers
    if variance <= 0:  # everything was read
        return Interval(share, share, share, answers)
    size = smoothed * (1 - smoothed) / variance
    centre = (share + Z**2 / (2 * size)) / (1 + Z**2 / size)
    spread = math.sqrt(share * (1 - share) / size + (Z / (2 * size)) ** 2) * Z / (1 + Z**2 / size)
    return Interval(share, max(0.0, centre - spread), min(1.0, centre + spread), answers)


def sample_size(pairs: int, margin: float = MARGIN) -> int:
    """Return how many answers are enough for 95% confidence, whatever the precision is.

    Cochran's formula for the worst case, a precision of a half, as ILSP-FC was evaluated
    (Papavassiliou et al. 2013: 95% confidence, a margin of 10%).
    """
    endless = Z**2 / 4 / margin**2
    return math.ceil(endless / (1 + (endless - 1) / pairs)) if pairs else 0


class Sample:
    """The pairs to ask, in the order in which they are asked, and the sizes of the bands.

    `rows` is called twice and must give the same sentence pairs; dropped ones do not count.
    """

    def __init__(self, rows: Callable[[], Iterable[SentencePair]], seed: int = 0) -> None:
        self._seed = seed
        self._sizes: Counter[tuple[int, str]] = Counter()
        for row in _kept(rows()):
            self._sizes[band_of(row.score), _site(row)] += 1
        self.pairs = [0] * len(BANDS)
        for (band, _), size in self._sizes.items():
            self.pairs[band] += size
        self.questions = list(_in_proportion(self._drawn(rows()), self.pairs))

    def _drawn(self, rows: Iterable[SentencePair]) -> list[list[Question]]:
        """Return the questions of each band, in an order that is spread over its sites."""
        heaps: defaultdict[tuple[int, str], list[tuple[float, str, Question]]] = defaultdict(list)
        for row in _kept(rows):
            digest = digest_of(row)
            place = band_of(row.score), _site(row)
            most = math.ceil(MOST_IN_BAND * self._sizes[place] / self.pairs[place[0]])
            entry = (
                -self._chance(digest),
                f"{digest}{row.pair}{row.at}",
                Question(digest, row, place[0]),
            )
            if len(heaps[place]) < most:
                heappush(heaps[place], entry)
            elif entry > heaps[place][0]:
                heapreplace(heaps[place], entry)
        ordered: list[list[list[tuple[float, str, Question]]]] = [[] for _ in BANDS]
        for (band, site), heap in heaps.items():
            size, begin = self._sizes[band, site], self._chance(f"{band} {site}")
            ordered[band].append(
                [
                    ((number + begin) / size, name, question)
                    for number, (_, name, question) in enumerate(sorted(heap, reverse=True))
                ]
            )
        return [
            [question for _, _, question in merge(*lists, key=lambda each: each[:2])]
            for lists in ordered
        ]

    def _chance(self, text: str) -> float:
        """Return a number from 0 to 1 that depends on nothing but a text and the seed."""
        digest = blake2b(f"{self._seed} {text}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64


def _in_proportion(bands: Sequence[list[Question]], sizes: Sequence[int]) -> Iterator[Question]:
    """Yield the questions so that each prefix has each band by its size, after a few of each."""
    asked = [0] * len(bands)
    while True:
        left = [band for band, questions in enumerate(bands) if asked[band] < len(questions)]
        if not left:
            return
        few = [band for band in left if asked[band] < FEWEST_IN_BAND]
        band = few[0] if few else max(left, key=lambda each: sizes[each] / (asked[each] + 1))
        yield bands[band][asked[band]]
        asked[band] += 1


def _kept(rows: Iterable[SentencePair]) -> Iterator[SentencePair]:
    return (row for row in rows if not row.dropped)


def _site(row: SentencePair) -> str:
    return site_of(host_of(row.url1))


def band_of(score: float) -> int:
    """Return the number of the band of a score."""
    return max((number for number, least in enumerate(BANDS) if score >= least), default=0)


def digest_of(row: SentencePair) -> str:
    """Return what identifies the texts of a pair, wherever they are."""
    key = f"{row.lang1}\n{row.lang2}\n{row.text1}\n{row.text2}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(slots=True)
class Audit:
    """A sample, the answers so far, and what they say."""

    sample: Sample
    answers: dict[str, Verdict] = field(default_factory=dict)
    margin: float = MARGIN

    def next_question(self) -> Question | None:
        """Return the next pair to ask; None if all were asked."""
        return next(
            (each for each in self.sample.questions if each.digest not in self.answers), None
        )

    def precision(self, least: float = 0.0, *, lenient: bool = False) -> Interval:
        """Return the share of parallel pairs with a score of at least `least`, a bound of a band.

        With `lenient`, borderline pairs count as right.
        """
        right = {Verdict.PARALLEL, Verdict.BORDERLINE} if lenient else {Verdict.PARALLEL}
        return estimate(
            Band(
                self.sample.pairs[band],
                len(verdicts),
                sum(verdict in right for verdict in verdicts),
            )
            for band, verdicts in enumerate(self._by_band())
            if BANDS[band] >= least
        )

    def _by_band(self) -> list[list[Verdict]]:
        """Return the answers of each band up to the first question that is still open."""
        found: list[list[Verdict]] = [[] for _ in BANDS]
        for question in self.sample.questions:
            verdict = self.answers.get(question.digest)
            if verdict is None:
                break
            if verdict is not Verdict.SKIPPED:
                found[question.band].append(verdict)
        return found

    @property
    def verdicts(self) -> Counter[Verdict]:
        """The answers that count, by what they say."""
        return Counter(verdict for band in self._by_band() for verdict in band)

    @property
    def is_enough(self) -> bool:
        """Whether the interval is narrow enough to stop, or nothing is left to ask."""
        interval = self.precision()
        enough = interval.answers >= FEWEST and interval.half_width <= self.margin
        return enough or self.next_question() is None

    def to_dict(self) -> dict[str, Any]:
        """Return the result for audit.json."""
        thresholds = [
            {
                "score": least,
                "pairs": sum(self.sample.pairs[band:]),
                "precision": _rounded(self.precision(least)),
                "precision_with_borderline": _rounded(self.precision(least, lenient=True)),
            }
            for band, least in enumerate(BANDS)
            if sum(self.sample.pairs[band:])
        ]
        counts = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
        return {
            "confidence": 0.95,
            "margin": self.margin,
            "is_enough": self.is_enough,
            "verdicts": {name: count for name, count in counts.items() if name != "skipped"},
            "thresholds": thresholds,
        }


def _rounded(interval: Interval) -> dict[str, Any]:
    return {
        "share": round(interval.share, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "answers": interval.answers,
    }


def read_answers(folder: Path) -> dict[str, Verdict]:
    """Return the answers in a folder; the last one about a pair counts."""
    answers: dict[str, Verdict] = {}
    file = folder / ANSWERS
    if not file.exists():
        return answers
    for _, fields in read_json_lines(file, Damage()):
        digest, verdict = fields.get("digest"), fields.get("verdict")
        if not isinstance(verdict, str):
            continue
        if isinstance(digest, str) and verdict in set(Verdict):
            answers.pop(digest, None)  # the last answer comes last
            answers[digest] = Verdict(verdict)
        elif isinstance(digest, str) and verdict == "":
            answers.pop(digest, None)
    return answers


def write_answer(folder: Path, question: Question, verdict: Verdict | None) -> None:
    """Append an answer, or its withdrawal; it is on disk when this returns.

    A line that a killed process left unfinished is ended first.
    """
    row = question.row
    fields = {
        "digest": question.digest,
        "verdict": verdict.value if verdict else "",
        "pair": row.pair,
        "at": row.at,
        "score": row.score,
    }
    file = folder / ANSWERS
    with writing(file), file.open("ab+") as lines:
        if lines.tell():
            lines.seek(-1, os.SEEK_END)
            if lines.read(1) != b"\n":
                lines.write(b"\n")
        lines.write(json.dumps(fields).encode() + b"\n")
        lines.flush()
        os.fsync(lines.fileno())


def write_result(folder: Path, audit: Audit) -> None:
    """Write what the answers say, for datasheets."""
    file = folder / RESULT
    with writing(file), replacing(file) as fresh:
        fresh.write_text(json.dumps(audit.to_dict(), indent=1) + "\n", encoding="utf-8")


def read_result(folder: Path) -> Mapping[str, Any] | None:
    """Return the result of an audit; None if there is none."""
    try:
        found = json.loads((folder / RESULT).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{folder / RESULT} cannot be read: run scrapy audit {folder} again."
        ) from error
    return found if isinstance(found, dict) else None
