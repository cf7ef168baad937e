"""Finding out how a host chooses the language of its pages: whom to ask what, in which order.

A host that does not choose costs one request more than it would otherwise. What looks like a
choice is asked for again, in the order A B B A, unless the server's headers say that it is one:
a site that shows now this and now that is not taken for one that listens.
"""

from bilingual_crawler.crawl.negotiation.questions import Questions
from bilingual_crawler.crawl.negotiation.signs import (
    common_cookies,
    offers_without_link,
    switches_of,
)
from bilingual_crawler.crawl.negotiation.ways import HostFacts, Way
from bilingual_crawler.documents.document import Document
from bilingual_crawler.urls.fingerprint import canonical_url


class Inquiry:
    """Asks about one host, with a page of it that a stranger got; `other` is what it was not in."""

    def __init__(self, questions: Questions, other: str) -> None:
        self._questions = questions
        self._other = other

    async def of_page(self, document: Document, asked: str) -> tuple[HostFacts | None, str]:
        """What is found out about the host of a page, and the address it has in the other language.

        `asked` is the address that led to the page. None is the answer where there was none.
        """
        other = self._other
        switches = switches_of(document, other)
        known = HostFacts(Way.NONE, asked, document.language or "", switches)
        answer = await self._questions.ask(asked, other)
        if answer is None:
            return None, ""
        if answer.language == other:
            if canonical_url(answer.url) != canonical_url(document.url):
                known.way = Way.REDIRECT
                return known, answer.url
            if answer.says_so or await self._holds(known, {}):
                known.way = Way.HEADER
        elif offers_without_link(document, other):
            await self._try_usual_names(known)
        return known, ""

    async def of_cookies(self, known: HostFacts, cookies: dict[str, str]) -> bool:
        """Whether cookies that the site sets make its pages come in the other language."""
        if not await self._gives(known.page, self._other, cookies):
            return False
        if not await self._holds(known, cookies):
            return False
        known.way, known.cookies = Way.COOKIE, {self._other: cookies}
        return True

    async def _try_usual_names(self, known: HostFacts) -> None:
        """All usual names at once; which of them it is, is only asked where one is heard."""
        cookies = common_cookies(self._other)
        if not await self._gives(known.page, self._other, cookies):
            return
        for name, value in cookies.items():
            if await self.of_cookies(known, {name: value}):
                return

    async def _gives(self, url: str, code: str, cookies: dict[str, str]) -> bool:
        answer = await self._questions.ask(url, code, cookies)
        return answer is not None and answer.language == code

    async def _holds(self, known: HostFacts, cookies: dict[str, str]) -> bool:
        """Whether the same comes when it is asked for again, and the first language for the first.

        A cookie is left out when the first language is asked for: strangers get it without.
        """
        return await self._gives(known.page, self._other, cookies) and await self._gives(
            known.page, known.language, {}
        )
