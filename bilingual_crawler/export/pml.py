"""Paragraph Markup Language of Almeida et al.: a file a language, nothing but paragraphs in it.

The documents of all pairs stand one after the other in `file` elements, in the same order and
with the same ids on both sides: an aligner that synchronises on the id of `file` never
aligns across documents. Which HTML becomes a paragraph was decided when the page was read;
boilerplate and text in other languages are left out.
"""

from pathlib import Path
from typing import TextIO

from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.account import Account
from bilingual_crawler.export.ilsp import MISSING
from bilingual_crawler.export.paired import paired_documents
from bilingual_crawler.export.source import CorpusSource
from bilingual_crawler.export.xml_text import DECLARATION, XmlText
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.sentence_pair import pair_id
from bilingual_crawler.store.target import text_file

SCRATCH = "documents.sqlite"


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write LANG1.pml and LANG2.pml."""
    first = next(source.document_pairs(), None)
    if first is None:
        raise ConfigurationError(
            "There are no document pairs to export, and without one there are no two languages."
        )
    languages = first.lang1, first.lang2
    safe = XmlText(account.changed)
    with (
        text_file(path / f"{languages[0]}.pml") as one,
        text_file(path / f"{languages[1]}.pml") as two,
    ):
        for file, language in zip((one, two), languages, strict=True):
            file.write(f'{DECLARATION}<pml xml:lang="{language_tag(language)}">\n')
        for found in paired_documents(source, path / SCRATCH):
            if not isinstance(found, tuple):
                account.left_out[MISSING] += 1
                continue
            pair, *documents = found
            if (pair.lang1, pair.lang2) != languages:
                account.left_out[f"languages other than {'-'.join(languages)}"] += 1
                continue
            name = pair_id(pair.url1, pair.url2)
            for file, document in zip((one, two), documents, strict=True):
                _write_document(file, name, document, safe)
            account.written["document pairs"] += 1
        for file in (one, two):
            file.write("</pml>\n")


def _write_document(file: TextIO, name: str, document: Document, safe: XmlText) -> None:
    file.write(f'<file id="{name}" url="{safe.attribute(document.url)}">\n')
    file.writelines(f"<p>{safe.text(each.text)}</p>\n" for each in document.main_paragraphs)
    file.write("</file>\n")
