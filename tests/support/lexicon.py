"""Made-up languages whose words translate one to one, and sites of pages in both of them."""

import random

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.pairing.lexicon import LexiconTest, TranslationLexicon

SITE = "https://www.udala.example"
PROVEN = LexiconTest(20, 20)
CONSONANTS, VOWELS = "bcdfghjklmnpqrstvz", "aeiou"


def word(number, ending):
    """A word of seven letters or so, another one for each number."""
    letters = []
    for _ in range(3):
        number, at = divmod(number, len(CONSONANTS) * len(VOWELS))
        consonant, vowel = divmod(at, len(VOWELS))
        letters.append(CONSONANTS[consonant] + VOWELS[vowel])
    return "".join(letters) + ending


def words(numbers, language):
    return [word(number, "s" if language == "spa" else "k") for number in numbers]


def numbers_of(page, paragraphs=8, length=8, vocabulary=300, least=0):
    """The words of a page, as numbers, by paragraph."""
    chance = random.Random(page)
    return [
        [least + int(vocabulary * chance.random() ** 2) for _ in range(length)]
        for _ in range(paragraphs)
    ]


def text_page(url, language, paragraphs, **more):
    """A page; the words of its paragraphs are in another order in each language."""
    chance = random.Random(url)
    texts = []
    for numbers in paragraphs:
        order = chance.sample(numbers, len(numbers))
        texts.append(Paragraph(" ".join(words(order, language)) + "."))
    return Document(url, language=language, paragraphs=texts, **more)


def lexicon_of(numbers, languages=("spa", "eus"), test=PROVEN):
    """A lexicon that knows some words."""
    numbers = list(numbers)
    spanish, basque = words(numbers, "spa"), words(numbers, "eus")
    together = dict.fromkeys(zip(spanish, basque, strict=True), 10.0)
    seen = dict.fromkeys(spanish, 12.0), dict.fromkeys(basque, 12.0)
    return TranslationLexicon(languages, together, seen, test, pages=30)
