"""Crawl folders filled by code, page by page, with the crawler's own corpus."""

from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.documents.document import Alternate, Document, Paragraph
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.crawling import documents, pairs

PAIR = LanguagePair.parse("spa-eus")
SITE = "https://www.udala.example"
WORDS = {
    "spa": "el texto de este párrafo es propio y no breve",
    "eus": "paragrafo honek bere testua du, ez oso laburra",
}
TEXTS = {
    language: [f"{language} paragraph {n}: {words} {words}" for n in range(20)]
    for language, words in WORDS.items()
}


def page(path, language, *texts, alternates=(), topic=None):
    """A page whose paragraphs are numbers of the text, or texts of their own."""
    paragraphs = [
        Paragraph(TEXTS[language][text] if isinstance(text, int) else text) for text in texts
    ]
    claims = [Alternate(SITE + url, code, code) for url, code in alternates]
    return Document(
        SITE + path, language=language, paragraphs=paragraphs, alternates=claims, topic=topic
    )


class Crawl:
    """A corpus in a folder that can be closed and opened again."""

    def __init__(self, path, wanted=PAIR, langs=None):
        self.path = path
        self.langs = langs or str(wanted)
        self.wanted = wanted
        self.open()

    def open(self):
        self.folder = CrawlFolder(self.path, self.langs)
        self.corpus = Corpus(self.folder, lambda _url: self.wanted)

    def close(self, *, tidy=True):
        if tidy:
            self.corpus.tidy()
        self.folder.close()

    def restart(self, *, tidy=True):
        self.close(tidy=tidy)
        self.open()

    def add(self, *pages):
        return [self.corpus.add(each) for each in pages]

    def files(self):
        return files(self.path)


def files(path):
    """The paths of the documents and of the pairs in a crawl's folder."""
    stored = [document["url"].removeprefix(SITE) for document in documents(path)]
    return sorted(stored), sorted(
        (pair["url1"].removeprefix(SITE), pair["url2"].removeprefix(SITE)) for pair in pairs(path)
    )
