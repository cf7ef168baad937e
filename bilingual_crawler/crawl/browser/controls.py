"""The buttons of a page in the browser with which a reader changes its language.

Our scripts run in a world of their own (`isolated_world`), so what comes back is as short as they
make it. The page is a stranger's all the same: nothing is trusted to be of any type.
"""

from typing import Any, NamedTuple

from bilingual_crawler.crawl.browser.isolated_world import IsolatedWorld
from bilingual_crawler.documents.scripted import (
    LONGEST_LABEL,
    MOST_CONTROLS,
    languages_of_control,
    switched_by,
)

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


class Button(NamedTuple):
    """A control that can be pressed: where it is in its list, what it says, what it means."""

    at: int
    label: str
    languages: frozenset[str]


class Controls:
    """The controls of a page at one moment; pressing one may make them out of date."""

    def __init__(self, world: IsolatedWorld, elements: str, buttons: list[Button]) -> None:
        self._world = world
        self._elements = elements
        self._buttons = buttons

    @classmethod
    async def of(cls, world: IsolatedWorld) -> "Controls":
        """The controls that a page has now and that name a language."""
        elements = await world.keep(_COLLECT, MOST_CONTROLS)
        wanted = list(ATTRIBUTES), LONGEST_LABEL + 1
        described = await world.ask_kept(elements, _DESCRIBE, *wanted)
        return cls(world, elements, read_buttons(described))

    def for_language(self, code: str) -> Button | None:
        """The first control that switches to a language."""
        return next((each for each in self._buttons if code in each.languages), None)

    async def press(self, button: Button) -> None:
        """Click a control, or choose it where it is one of several options."""
        await self._world.ask_kept(self._elements, _PRESS, button.at)


def read_buttons(described: Any) -> list[Button]:
    """The controls that name a language; whatever a page says instead of them is none."""
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
