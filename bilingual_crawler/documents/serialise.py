"""Documents as JSON: the lines of documents.jsonl.gz.

Opt-outs are left out, and so are all links but those that name a language, which pairing needs:
the crawl has used them already, and they would double the size.
"""

from typing import Any

from bilingual_crawler.documents.document import (
    Alternate,
    Document,
    DocumentKey,
    Image,
    Link,
    Paragraph,
    Relevance,
)
from bilingual_crawler.documents.switches import languages_of_link

_PLAIN = (
    *("url", "language", "language_source", "title", "canonical", "html_language"),
    *("encoding", "declared_encoding", "depth", "requested_url", "fetched_at"),
)
_SINCE_LATER = (
    *("variant", "machine_translated", "translation_service", "tags"),
    *("description", "keywords", "licence"),
)
"""Keys that the files of early versions do not have."""


def document_to_dict(document: Document) -> dict[str, Any]:
    """Return a document for JSON, with keys in a fixed order."""
    return {
        "url": document.url,
        "variant": document.variant,
        "language": document.language,
        "language_source": document.language_source,
        "language_shares": [[code, percent] for code, percent in document.language_shares],
        "title": document.title,
        "description": document.description,
        "keywords": document.keywords,
        "topic": document.topic and document.topic.to_dict(),
        "paragraphs": list(map(_paragraph, document.paragraphs)),
        "images": [{"src": image.src, "alt": image.alt} for image in document.images],
        "switches": [_link(link) for link in document.links if languages_of_link(link)],
        "tags": document.tags,
        "size": document.size,
        "alternates": list(map(_alternate, document.alternates)),
        "canonical": document.canonical,
        "encoding": document.encoding,
        "declared_encoding": document.declared_encoding,
        "html_language": document.html_language,
        "machine_translated": document.machine_translated,
        "translation_service": document.translation_service,
        "licence": document.licence,
        "rendered": document.rendered,
        "depth": document.depth,
        "requested_url": document.requested_url,
        "fetched_at": document.fetched_at,
    }


def _paragraph(paragraph: Paragraph) -> dict[str, Any]:
    """Return a paragraph for JSON; with the terms of the topic only if it has any."""
    found: dict[str, Any] = {
        "text": paragraph.text,
        "kind": paragraph.kind,
        "boilerplate": paragraph.boilerplate,
        "language": paragraph.language,
    }
    return found | {"topic": paragraph.topic} if paragraph.topic else found


def _link(link: Link) -> dict[str, str]:
    return {
        "url": link.url,
        "anchor": link.anchor,
        "context": link.context,
        "rel": link.rel,
        "hreflang": link.hreflang,
        "image_alt": link.image_alt,
        "image_src": link.image_src,
    }


def _alternate(alternate: Alternate) -> dict[str, str | None]:
    return {
        "url": alternate.url,
        "hreflang": alternate.hreflang,
        "language": alternate.language,
    }


def key_of(fields: dict[str, Any]) -> str:
    """Return the key of the document in a line, without building it."""
    return str(DocumentKey(str(fields["url"]), str(fields.get("variant", ""))))


def document_from_dict(fields: dict[str, Any]) -> Document:
    """Return the document from the result of `document_to_dict`, with the links it kept."""
    return Document(
        **{name: fields[name] for name in _PLAIN},
        **{name: fields.get(name, "") for name in _SINCE_LATER},
        language_shares=[(code, percent) for code, percent in fields["language_shares"]],
        paragraphs=[Paragraph(**each) for each in fields["paragraphs"]],
        images=[Image(**each) for each in fields["images"]],
        links=[Link(**each) for each in fields.get("switches", ())],
        size=fields.get("size", 0),
        rendered=bool(fields.get("rendered", False)),
        alternates=[Alternate(**each) for each in fields["alternates"]],
        topic=Relevance.from_dict(topic) if (topic := fields.get("topic")) else None,
    )
