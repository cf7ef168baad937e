"""No regular expression of the package takes longer than its input is long.

Many patterns are harmless on real text and take minutes on a page that was made for them. Each
is tried on thousands of such strings, in a process of its own, because the worst never return.
"""

import re
import subprocess
import sys
import time

import pytest

from bilingual_crawler.export import safe_text
from bilingual_crawler.languages import normal_forms
from bilingual_crawler.scoring import preprocess
from tests.support.crawling import ROOT
from tests.support.pattern_attacks import Used, attacks, patterns_used

TRUSTED = tuple(f"bilingual_crawler.{name}" for name in ("lab", "config.site", "commands"))
"""What reads settings, sites.toml, command lines and training data alone."""
BOUNDED = {
    "documents.machine._TRANSLATED_TAG": 2_000,  # LONGEST_VALUE of an attribute
    "documents.sitemap._NAME": 4_000,  # LONGEST_URL
}
"""Patterns that are quadratic, and the longest text that they are given."""
MADE_LATER = (
    Used("safe_text._pattern", safe_text._pattern(), frozenset({"finditer"})),
    Used("preprocess._all_parts", preprocess._all_parts(), frozenset({"findall"})),
    *(
        Used("languages.normal_forms", each, frozenset({"sub"}))
        for each in normal_forms._patterns()
    ),
)
SIZE = 10_000
LARGER = 4
SUSPICIOUS = 0.015
"""Seconds of processor time. Ordinary patterns take a tenth of it on `SIZE` characters."""
MOST_GROWTH = 8
"""A linear pattern takes 4 times as long on a text that is 4 times as long, a quadratic one 16."""
PATIENCE = 900
ENDINGS = ("", "\n\0\n")


def slowest(used: Used, size: int = SIZE) -> str:
    """The attack for which a pattern takes too long, "" if there is none."""
    for piece in attacks(used.pattern):
        for ending in ENDINGS:
            end = ending if isinstance(piece, str) else ending.encode()
            if _seconds(used, piece, end, size) < SUSPICIOUS:
                continue
            short = min(_seconds(used, piece, end, size) for _ in range(3))
            long = min(_seconds(used, piece, end, LARGER * size) for _ in range(2))
            if short > SUSPICIOUS / 3 and long > MOST_GROWTH * short:
                times = f"{short:.3f} s for {size} characters, {long:.3f} s for {LARGER * size}"
                return f"{used.name}: {piece!r} before {end!r} takes {times}"
    return ""


def _seconds(used, piece, end, size):
    text = piece * (size // len(piece) + 1) + end
    began = time.process_time()
    used.attack(text)
    return time.process_time() - began


def test_all_patterns_are_linear():
    tried = subprocess.run(
        [sys.executable, "-m", "tests.project.test_patterns_linear"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    *names, last = tried.stdout.splitlines()
    assert (tried.returncode, last) == (0, "done"), (last, tried.stderr[-2000:])
    assert len(names) > 100


@pytest.mark.parametrize(
    ("text", "size"), [(r"[\w.+-]+@[\w-]+", 5_000), ("<a[^>]*>x", 20_000), ("-t-.*t0", 20_000)]
)
def test_the_attacks_find_patterns_that_are_not(text, size):
    assert slowest(Used("tried", re.compile(text), frozenset({"search"})), size)


if __name__ == "__main__":
    for each in (*patterns_used(skipped=TRUSTED), *MADE_LATER):
        print(each.name, flush=True)
        if each.name not in BOUNDED and (problem := slowest(each)):
            print(problem, flush=True)
            sys.exit(1)
    print("done")
