"""Why a page is on topic or not, for people to read."""

from collections.abc import Iterator
from typing import Any

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.relevance import LOCATIONS, Relevance, TermHits
from bilingual_crawler.topics.topic import Topic

MOST_TERMS = 12


def lines(document: Document, topic: Topic) -> Iterator[str]:
    """The verdict on a page that was judged, and the terms that it comes from."""
    found = _relevance(document)
    verdict = "on topic" if found.on_topic else "off topic"
    yield (
        f"{document.key} ({document.language or 'language unknown'}): {verdict},"
        f" score {found.score:g} (more than {topic.least_score:g} wanted),"
        f" different terms in the text {found.unique_terms}"
        f" (more than {topic.least_terms} wanted)"
    )
    for hit in found.hits[:MOST_TERMS]:
        yield f"  {hit.score:8g}  {hit.term}: weight {hit.weight:g}, {_places(hit)}"
    if rest := found.hits[MOST_TERMS:]:
        yield f"  {sum(hit.score for hit in rest):8g}  {len(rest)} more terms"
    if parts := found.subdomains:
        yield "  " + ", ".join(f"{name} {share:.0%}" for name, share in parts.items())


def as_dict(document: Document) -> dict[str, Any]:
    """The same for programs."""
    return {
        "url": document.url,
        "variant": document.variant,
        "language": document.language,
        **_relevance(document).to_dict(),
    }


def _places(hit: TermHits) -> str:
    there = ((name, int(getattr(hit, name)), weight) for name, weight in LOCATIONS.items())
    return ", ".join(
        f"{number} in {name}" + (f" (times {weight:g})" if weight != 1 else "")
        for name, number, weight in there
        if number
    )


def _relevance(document: Document) -> Relevance:
    return document.topic or Relevance(on_topic=False)
