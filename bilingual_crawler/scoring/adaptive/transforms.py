"""How the URLs of a site's translations differ, learned from its confirmed pairs.

Two URLs are cut into words and separators. What is left between their common beginning and their
common end is the difference: `en` instead of `es`, nothing instead of `es/`, `fish` instead of
`es/peces`, `2` instead of `1` as the value of a parameter. A difference that holds for several
pairs is a rule, and predicts the counterpart of pages that were never linked to. Every confirmed
pair shows how good a rule is, because the rule is asked first.
"""

import re
from typing import NamedTuple

MOST_RULES = 200
MOST_ASKED = 3
LONGEST_SIDE = 8
LEAST_SUPPORT = 2

_PARTS = re.compile(r"[^\W_]+|[\W_]")


class UrlTransform(NamedTuple):
    """Replace `old` by `new` after `before`, or at a fixed place."""

    before: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    place: int
    """The parts of the URL before it, if something is only added; -1 if `old` gives the place."""

    def __str__(self) -> str:
        old, new = "".join(self.old), "".join(self.new)
        return f"'{self.before}{old}' becomes '{self.before}{new}'"


class Record:
    """The record of a rule: pairs that showed it, times it was asked, times it was right."""

    __slots__ = ("asked", "right", "support")

    def __init__(self, support: int = 0, asked: int = 0, right: int = 0) -> None:
        self.support = support
        self.asked = asked
        self.right = right

    @property
    def trust(self) -> float:
        """The expected share of right answers."""
        return (self.right + 1.0) / (self.asked + 2.0)


class Prediction(NamedTuple):
    """Where the counterpart of a page should be."""

    url: str
    rule: UrlTransform
    trust: float
    support: int


class Transforms:
    """The rules of one site, for one direction."""

    def __init__(self) -> None:
        self.rules: dict[UrlTransform, Record] = {}

    def learn(self, source: str, target: str) -> None:
        """Learn from a confirmed pair, after the rules have been asked about it."""
        for prediction in self.predict(source):
            self.judge(prediction.rule, right=prediction.url == target)
        rule = difference(source, target)
        if rule is None:
            return
        record = self.rules.get(rule)
        if record is None:
            if len(self.rules) >= MOST_RULES:
                self._forget()
            record = self.rules[rule] = Record()
        record.support += 1

    def judge(self, rule: UrlTransform, *, right: bool) -> None:
        """Record how a prediction came out."""
        record = self.rules.get(rule)
        if record is not None:
            record.asked += 1
            record.right += right

    def predict(self, url: str) -> list[Prediction]:
        """Return where the counterpart may be, the best rules first."""
        if not self.rules:
            return []
        parts = _PARTS.findall(url)
        found: dict[str, Prediction] = {}
        ranked = sorted(
            ((rule, record) for rule, record in self.rules.items() if record.support > 1),
            key=lambda each: (-each[1].trust * each[1].support, each[0]),
        )
        for rule, record in ranked:
            answer = apply(rule, parts)
            if answer is not None and answer != url:
                found.setdefault(answer, Prediction(answer, rule, record.trust, record.support))
                if len(found) >= MOST_ASKED:
                    break
        return list(found.values())

    def _forget(self) -> None:
        """Make room: drop rules that only one pair has shown, the oldest first."""
        lonely = [rule for rule, record in self.rules.items() if record.support < LEAST_SUPPORT]
        for rule in (lonely or list(self.rules))[: MOST_RULES // 4]:
            del self.rules[rule]


def difference(source: str, target: str) -> UrlTransform | None:
    """Return the one place where two URLs differ; None if they differ too much."""
    old, new = _PARTS.findall(source), _PARTS.findall(target)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    removed, added = tuple(old[start : len(old) - end]), tuple(new[start : len(new) - end])
    if max(len(removed), len(added)) > LONGEST_SIDE or not (removed or added):
        return None
    place = -1 if removed else start
    return UrlTransform(_before(old, start), removed, added, place)


def apply(rule: UrlTransform, parts: list[str]) -> str | None:
    """Return the URL that a rule makes of another; None if it does not apply."""
    size = len(rule.old)
    if not size:
        if rule.place > len(parts) or _before(parts, rule.place) != rule.before:
            return None
        return "".join((*parts[: rule.place], *rule.new, *parts[rule.place :]))
    for at in range(len(parts) - size + 1):
        if tuple(parts[at : at + size]) == rule.old and _before(parts, at) == rule.before:
            return "".join((*parts[:at], *rule.new, *parts[at + size :]))
    return None


def _before(parts: list[str], at: int) -> str:
    """Return what comes before a place: a separator, and for a value its parameter too."""
    if at <= 0:
        return ""
    if parts[at - 1] == "=" and at > 1:
        return "".join(parts[at - 2 : at])
    return parts[at - 1]
