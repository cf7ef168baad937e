"""Made texts in two languages that never were, and crawl folders that hold them."""

import gzip
import json
import random

from bilingual_crawler.alignment.costs import Bead
from bilingual_crawler.alignment.splitting import Segment
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu")
ENDINGS = ("tik", "ren", "arekin", "an")


def spelt(number):
    """A word for a number; words of near numbers look nothing alike."""
    number = number * 7919 % 99_991
    return "".join(SYLLABLES[int(digit)] for digit in str(number))


def sentence(chance):
    """A sentence and its translation: other words in another order, of other lengths."""
    meaning = [chance.randrange(1, 300) for _ in range(chance.randint(3, 14))]
    one = " ".join(spelt(word) for word in meaning)
    two = " ".join(spelt(word + 1000) + chance.choice(ENDINGS) for word in reversed(meaning))
    return f"{one.capitalize()}.", f"{two.capitalize()}."


def texts(seed, size=30, missing=0.12):
    """Two texts as segments, with sentences missing on both sides, and their true beads."""
    chance, first, second, true = random.Random(seed), [], [], set()
    for _ in range(size):
        one, two = sentence(chance)
        lost = chance.random()
        if lost > missing:
            first.append(Segment(one))
        if lost < missing / 2 or lost > missing * 3 / 2:
            second.append(Segment(two))
        if lost > missing * 3 / 2:
            true.add(Bead(len(first) - 1, len(first), len(second) - 1, len(second)))
    return first, second, true


def document(url, language, *paragraphs):
    return Document(
        url,
        language,
        paragraphs=[
            each if isinstance(each, Paragraph) else Paragraph(each) for each in paragraphs
        ],
    )


def line(made):
    return json.dumps(document_to_dict(made), ensure_ascii=False) + "\n"


def write_crawl(folder, pairs):
    """The files of a crawl with these pairs of documents."""
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / "documents.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(line(made) for pair in pairs for made in pair)
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as file:
        for first, second in pairs:
            named = {"url1": first.url, "url2": second.url, "score": 0.9, "evidence": []}
            named |= {"lang1": first.language, "lang2": second.language}
            file.write(json.dumps(named) + "\n")
    return folder


def made_crawl(folder, count=12):
    """A crawl of made texts, a paragraph of three sentences each."""
    pairs = []
    for number in range(count):
        sides = texts(number)[:2]
        pair = [
            document(
                f"https://site.example/{language}/{number}",
                language,
                *(
                    " ".join(each.text for each in side[at : at + 3])
                    for at in range(0, len(side), 3)
                ),
            )
            for language, side in zip(("spa", "eus"), sides, strict=True)
        ]
        pairs.append(tuple(pair))
    return write_crawl(folder, pairs)
