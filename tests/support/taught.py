"""A language that no identifier knows: Spanish in another spelling, with a private code."""

import re
from pathlib import Path

import demo.site
from bilingual_crawler.documents.language import sure_language

CODE = "qaa"
RULES = (
    *(("qu(?=[ei])", "k"), ("c(?=[aouáóúrlt])", "k"), ("c(?=[eiéí])|z", "x"), ("v", "b")),
    *(("ll", "y"), (r"\bh", ""), (r"os\b", "us"), (r"o\b", "u"), (r"ción\b", "xon")),
    *((r"as\b", "es"), (r"\bel\b", "il"), (r"\by\b", "e")),
)


def respelt(text):
    """Return Spanish as the language writes it."""
    for before, after in RULES:
        text = re.sub(before, after, text)
    return text


def _paragraphs():
    for file in sorted(Path(demo.site.__file__).parent.glob("prose/*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if len(line) > 60 and sure_language(line) == "spa":
                yield line


_ALL = list(dict.fromkeys(_paragraphs()))
SPANISH, AGAINST = _ALL[:20], _ALL[20:60]
TAUGHT = [respelt(each) for each in _ALL[60:110]]
OTHER = [respelt(each) for each in _ALL[110:130]]
