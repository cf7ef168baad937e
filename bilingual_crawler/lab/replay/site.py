"""A recorded site as a replay sees it: its responses, stripped or not, and its documents."""

import pickle
from typing import Any

from w3lib.html import get_meta_refresh

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.stripping import without_alternates
from bilingual_crawler.store.warc_reader import OK, RecordedResponse

LONGEST_REFRESH = 100.0
REFRESH_LOOKED_AT = 4_096
"""Characters of a page in which Scrapy's middleware looks for a meta refresh."""
REFRESH_BYTES = 4 * REFRESH_LOOKED_AT


class RecordedSite:
    """Answers requests from a recording, and parses every page once for all crawls of it.

    A page is the same for every scorer, so the documents that were parsed for the graph of the
    site are kept for the crawls that follow, as bytes (a tenth of the page).
    """

    def __init__(
        self, recording: Recording, hints: tuple[str, ...], *, strip: bool = False
    ) -> None:
        self.recording = recording
        self.hints = hints
        self.strip = strip
        self._is_page: dict[str, bool] = {}
        self._read: dict[tuple[str, str, str], bytes] = {}

    def answer(self, url: str) -> RecordedResponse | None:
        """Return the site's response; None if the page does not exist."""
        answer = self.recording.answer(url)
        if answer is None or not self.strip:
            return answer
        return without_alternates(url, answer)

    def is_page(self, url: str) -> bool:
        """Return True if a URL is answered with 200; a sitemap may have been stripped."""
        if not self.strip or not self.recording.is_page(url):
            return self.recording.is_page(url)
        name = self.recording.name_of(url)
        if name not in self._is_page:
            answer = self.answer(name)
            self._is_page[name] = answer is not None and answer.status == OK
        return self._is_page[name]

    def refresh_of(self, url: str, answer: RecordedResponse) -> str | None:
        """Return the target of a meta refresh that Scrapy would follow, or None."""
        if answer.status != OK or b"refresh" not in answer.body[:REFRESH_BYTES].lower():
            return None
        text = answer.body[:REFRESH_BYTES].decode("utf-8", "replace")[:REFRESH_LOOKED_AT]
        interval, target = get_meta_refresh(text, url, "utf-8")
        if target is None or interval is None or interval > LONGEST_REFRESH:
            return None
        return target if target.startswith(("http://", "https://")) else None

    def document(self, url: str, answer: RecordedResponse) -> Document:
        """Return the page at a URL, as the spider parses it."""
        return self.build(
            url,
            answer.body,
            content_type=answer.header("Content-Type"),
            headers_language=answer.header("Content-Language"),
            hints=self.hints,
        )

    def build(self, url: str, body: bytes, **given: Any) -> Document:
        """Do what `build_document` does, once per page."""
        key = (url, given["content_type"], given["headers_language"])
        known = self._read.get(key) if given["hints"] == self.hints else None
        if known is not None:
            read: Document = pickle.loads(known)  # noqa: S301 - our own bytes
            return read
        document = build_document(url, body, **given)
        if given["hints"] == self.hints:
            self._read[key] = pickle.dumps(document, pickle.HIGHEST_PROTOCOL)
        return document
