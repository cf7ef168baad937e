"""Scripts of ours in a page of a stranger, where the page cannot answer in their place.

A page may replace every function and property that a script finds in it: it can say that it is
small and then hand over half a gigabyte. An isolated world, as browser extensions have one,
shares the document of the page and nothing else: the built-in functions in it are the browser's.

Elements with well-chosen names still shadow properties of the document and of forms, in every
world. Where an answer must be true, scripts take the getters from the prototypes.
"""

from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

NAME = "bilingual-crawler"


class IsolatedWorld:
    """A world of our own in a page, also after the page was loaded again."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession | None = None
        self._frame = ""

    async def ask(self, function: str, *arguments: Any) -> Any:
        """What a function returns, by value."""
        where = {"executionContextId": await self._enter()}
        return (await self._call(function, arguments, where, by_value=True)).get("value")

    async def keep(self, function: str, *arguments: Any) -> str:
        """The handle of an object that a function returns; the object stays in the page."""
        where = {"executionContextId": await self._enter()}
        return str((await self._call(function, arguments, where, by_value=False))["objectId"])

    async def ask_kept(self, handle: str, function: str, *arguments: Any) -> Any:
        """What a function returns, by value, whose `this` is an object that was kept."""
        where = {"objectId": handle}
        return (await self._call(function, arguments, where, by_value=True)).get("value")

    async def _enter(self) -> int:
        """The number of our world; the browser makes one where the page has none yet."""
        if self._session is None:
            self._session = await self._page.context.new_cdp_session(self._page)
            target = await self._session.send("Target.getTargetInfo")
            self._frame = target["targetInfo"]["targetId"]  # the main frame has the same
        world = await self._session.send(
            "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": NAME}
        )
        return int(world["executionContextId"])

    async def _call(
        self, function: str, arguments: tuple[Any, ...], where: dict[str, Any], *, by_value: bool
    ) -> dict[str, Any]:
        assert self._session is not None
        answer = await self._session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "arguments": [{"value": each} for each in arguments],
                "returnByValue": by_value,
                "userGesture": True,
                **where,
            },
        )
        if "exceptionDetails" in answer:
            raise PlaywrightError(f"A script failed: {answer['exceptionDetails'].get('text')}")
        result: dict[str, Any] = answer["result"]
        return result
