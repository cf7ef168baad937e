"""Annotated XML as ILSP-FC exports it: one file per document and one per document pair.

Every paragraph is there. `crawlinfo` says why one is not content (boilerplate, or ooi-lang for
a language other than the document's), `type` whether it is a title, heading or list item, and
`topic` which terms of the topic it has; the header has the score and the parts of the topic.
A pair file names its two documents, as cesAlign.
File names consist of the language and a hash, without any part of the URL.
"""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from bilingual_crawler import __version__
from bilingual_crawler.config.topic_definition import BETWEEN
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.safe_text import DECLARATION, XmlText
from bilingual_crawler.export.source import Account, CorpusSource, DocumentPairRow
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.sentence_pair import pair_id

DOCUMENTS, PAIRS = "documents", "pairs"
NAMESPACE = "http://www.xces.org/schema/2003"
UNKNOWN = "und"
MISSING = "pairs without one of their documents"
TWICE = "documents that came again later"


class AnnotatedXml(Exporter):
    """The annotated XML of ILSP-FC."""

    name = "xml"
    about = "a folder: annotated XML of ILSP-FC, one file per document and per pair"
    documents = True
    topics = True
    one_language = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the documents, then the pairs whose documents are there."""
        safe = XmlText(account.changed)
        for name in (DOCUMENTS, PAIRS):
            (path / name).mkdir()
        for document in source.documents():
            file = path / DOCUMENTS / document_name(document.key, document.language)
            if file.exists():
                account.left_out[TWICE] += 1
            else:
                account.written["documents"] += 1
            file.write_text(document_xml(document, safe), encoding="utf-8", newline="\n")
        for pair in source.document_pairs():
            names = document_name(pair.url1, pair.lang1), document_name(pair.url2, pair.lang2)
            if not all((path / DOCUMENTS / name).exists() for name in names):
                account.left_out[MISSING] += 1
                continue
            file = path / PAIRS / f"{pair_id(pair.url1, pair.url2)}.xml"
            account.written["document pairs"] += not file.exists()
            file.write_text(pair_xml(pair, names, safe), encoding="utf-8", newline="\n")


def document_name(url: str, language: str | None) -> str:
    """Return the file name of a document, the same in every export."""
    digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{language or UNKNOWN}-{digest}.xml"


def document_xml(document: Document, safe: XmlText) -> str:
    """Return a document with its header."""
    text = safe.text
    language = document.language or UNKNOWN
    title = text(" ".join(document.title.split()))
    return (
        f'{DECLARATION}<cesDoc xmlns="{NAMESPACE}" version="0.4">\n<cesHeader version="0.4">\n'
        f"<fileDesc>\n<titleStmt><title>{title}</title>"
        "<respStmt><resp><type>crawled and cleaned by</type>"
        f"<name>bilingual-crawler {__version__}</name></resp></respStmt></titleStmt>\n"
        "<publicationStmt><distributor/><availability/></publicationStmt>\n"
        f"<sourceDesc><biblStruct><monogr><title>{title}</title><imprint>"
        f"<format>text/html</format><pubDate>{text(str(document.fetched_at))}</pubDate>"
        f"<eAddress>{text(document.url)}</eAddress>"
        "</imprint></monogr></biblStruct></sourceDesc>\n</fileDesc>\n"
        f'<profileDesc><langUsage><language iso639="{safe.attribute(language)}"/></langUsage>'
        f"{_text_class(document, safe)}</profileDesc>\n</cesHeader>\n"
        f'<text xml:lang="{safe.attribute(language_tag(language))}">\n<body>\n'
        f"{''.join(_paragraphs(document, safe))}</body>\n</text>\n</cesDoc>\n"
    )


def _text_class(document: Document, safe: XmlText) -> str:
    """Return what the document is about, if the crawl had a topic."""
    topic = document.topic
    if topic is None:
        return ""
    terms = "".join(f"<keyTerm>{safe.text(hit.term)}</keyTerm>" for hit in topic.hits)
    parts = "".join(
        f'<subdomain share="{share:g}">{safe.text(name)}</subdomain>'
        for name, share in topic.subdomains.items()
    )
    return (
        f'<textClass><keywords>{terms}</keywords><domain score="{topic.score:g}"/>{parts}'
        "</textClass>"
    )


def _paragraphs(document: Document, safe: XmlText) -> Iterator[str]:
    for number, paragraph in enumerate(document.paragraphs, 1):
        attributes = f'id="p{number}"'
        if info := crawlinfo(paragraph, document.language):
            attributes += f' crawlinfo="{info}"'
        if paragraph.kind != "paragraph":
            attributes += f' type="{safe.attribute(paragraph.kind)}"'
        if paragraph.topic:
            attributes += f' topic="{safe.attribute(BETWEEN.join(paragraph.topic))}"'
        yield f"<p {attributes}>{safe.text(paragraph.text)}</p>\n"


def crawlinfo(paragraph: Paragraph, language: str | None) -> str:
    """Return why a paragraph is not content; "" if it is."""
    if paragraph.boilerplate:
        return "boilerplate"
    return "" if paragraph.language in {None, language} else "ooi-lang"


def pair_xml(pair: DocumentPairRow, names: tuple[str, str], safe: XmlText) -> str:
    """Return the file that says that two documents are translations of each other."""
    translations = "".join(
        f'<translation trans.loc="../{DOCUMENTS}/{name}" '
        f'xml:lang="{safe.attribute(language_tag(language))}" wsd="UTF-8" n="{number}"/>\n'
        for number, (name, language) in enumerate(
            zip(names, (pair.lang1, pair.lang2), strict=True), 1
        )
    )
    return (
        f'{DECLARATION}<cesAlign xmlns="{NAMESPACE}" version="1.0" type="doc">\n'
        '<cesHeader version="1.0">\n'
        f"<profileDesc>\n<translations>\n{translations}</translations>\n</profileDesc>\n"
        "</cesHeader>\n</cesAlign>\n"
    )
