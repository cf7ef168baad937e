"""Our scripts in a page of the browser: an isolated world, and the page's language controls.

A page may replace every function and property that a script finds in it: it can claim to be
small and then return half a gigabyte. An isolated world, as browser extensions have one, shares
only the document with the page: the built-in functions in it are the browser's own.

Elements with well-chosen names still shadow properties of the document and of forms, in every
world. Where a result must be reliable, scripts take the getters from the prototypes. And since
the page is untrusted, no result is assumed to have any type.
"""

from typing import Any, NamedTuple

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from bilingual_crawler.documents.scripted import (
    LONGEST_LABEL,
    MOST_CONTROLS,
    languages_of_control,
    switched_by,
)

NAME = "bilingual-crawler"

ATTRIBUTES = (
    *("id", "class", "name", "title", "alt", "aria-label", "onclick", "onchange"),
    *("lang", "hreflang", "data-lang", "data-language", "data-locale"),
)
_COLLECT = """(most) => Array.from(Document.prototype.querySelectorAll.call(document, [
    'button', '[role=button]', '[role=menuitem]', '[role=option]', '[role=tab]', '[role=link]',
    'a:not([href])', 'a[href=""]', 'a[href="#"]', 'a[href="#!"]', 'a[href^="javascript:" i]',
    'input[type=button]', 'select option', '[onclick]:not(a)', '[data-lang]:not(html, a[href])',
    '[data-language]:not(html, a[href])', '[data-locale]:not(html, a[href])',
].join(','))).slice(0, most)"""
_DESCRIBE = """function (attributes, longest) { return this.map((element) => {
    const found = {};
    for (const name of attributes) {
        const value = element.getAttribute(name);
        if (value) found[name] = value.slice(0, 200);
    }
    const choice = element.tagName === 'OPTION' ? element.closest('select') : null;
    if (choice) {
        const about = [choice.id, choice.className, choice.name, choice.getAttribute('aria-label')];
        found.class = about.filter(Boolean).join(' ').slice(0, 200);
    }
    const image = element.querySelector('img[alt]');
    const label = (element.textContent || element.value || '').trim() || (image ? image.alt : '');
    return {label: label.slice(0, longest), option: Boolean(choice), attributes: found};
}); }"""
_PRESS = """function (at) {
    const element = this[at];
    const choice = element.tagName === 'OPTION' ? element.closest('select') : null;
    if (!choice) { element.click(); return; }
    choice.value = element.value;
    choice.dispatchEvent(new Event('input', {bubbles: true}));
    choice.dispatchEvent(new Event('change', {bubbles: true}));
}"""


class IsolatedWorld:
    """A JavaScript world of our own in a page, which survives reloads."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession | None = None
        self._frame = ""

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call a function and return its result by value."""
        where = {"executionContextId": await self._enter()}
        return (await self._call(function, arguments, where, by_value=True)).get("value")

    async def keep(self, function: str, *arguments: Any) -> str:
        """Call a function and return a handle of its result, which stays in the page."""
        where = {"executionContextId": await self._enter()}
        return str((await self._call(function, arguments, where, by_value=False))["objectId"])

    async def ask_kept(self, handle: str, function: str, *arguments: Any) -> Any:
        """Call a function with a kept object as `this`, and return its result by value."""
        where = {"objectId": handle}
        return (await self._call(function, arguments, where, by_value=True)).get("value")

    async def _enter(self) -> int:
        """Return the ID of our world; the browser creates it if the page has none yet."""
        if self._session is None:
            self._session = await self._page.context.new_cdp_session(self._page)
            target = await self._session.send("Target.getTargetInfo")
            self._frame = target["targetInfo"]["targetId"]  # the main frame has the same ID
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


class Button(NamedTuple):
    """A language control: its position in the list, its label and its languages."""

    at: int
    label: str
    languages: frozenset[str]


class Controls:
    """The language controls of a page at one moment; pressing one may invalidate them."""

    def __init__(self, world: IsolatedWorld, elements: str, buttons: list[Button]) -> None:
        self._world = world
        self._elements = elements
        self._buttons = buttons

    @classmethod
    async def of(cls, world: IsolatedWorld) -> "Controls":
        """Return the controls of a page that name a language."""
        elements = await world.keep(_COLLECT, MOST_CONTROLS)
        wanted = list(ATTRIBUTES), LONGEST_LABEL + 1
        described = await world.ask_kept(elements, _DESCRIBE, *wanted)
        return cls(world, elements, read_buttons(described))

    def for_language(self, code: str) -> Button | None:
        """Return the first control that switches to a language."""
        return next((each for each in self._buttons if code in each.languages), None)

    async def press(self, button: Button) -> None:
        """Click a control, or select it if it is an option."""
        await self._world.ask_kept(self._elements, _PRESS, button.at)


def read_buttons(described: Any) -> list[Button]:
    """Return the controls that name a language, from untrusted descriptions of them."""
    found = []
    for at, each in enumerate(described[:MOST_CONTROLS] if isinstance(described, list) else ()):
        if not isinstance(each, dict) or not isinstance(each.get("attributes"), dict):
            continue
        label = " ".join(str(each.get("label", ""))[: LONGEST_LABEL + 1].split())
        attributes = {str(k): str(v)[:200] for k, v in list(each["attributes"].items())[:20]}
        named = languages_of_control(label, attributes)
        if each.get("option") is True:
            named = [language for language in named if language.plainly]
        found.append((at, label, named))
    switched = switched_by(language for _, _, named in found for language in named)
    return [
        Button(at, label, frozenset(each.code for each in named) & switched)
        for at, label, named in found
        if named
    ]
