"""Which part of a page an element opens: the main part, or the frame around it.

Three kinds of hint, all the same in every language: HTML's own landmarks, ARIA roles, and
the words that authors use in `class` and `id`. Landmarks and roles are statements, names
are habits; so a block in a merely named part can still be saved by what it looks like.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

NEUTRAL, MAIN, NAMED_FRAME, FRAME = range(4)

LONGEST_NAME = 200

_LANDMARKS = {
    "main": MAIN,
    "article": MAIN,
    "nav": FRAME,
    "footer": FRAME,
    "header": FRAME,
    "aside": FRAME,
    "menu": FRAME,
    "dialog": FRAME,
    "button": FRAME,
    "select": FRAME,
    "textarea": FRAME,
}
_INSIDE_MAIN = {"header": MAIN, "aside": NAMED_FRAME}  # of an article, not of the page
_ROLES = {
    "main": MAIN,
    "article": MAIN,
    **dict.fromkeys(
        (
            *("alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu"),
            *("menubar", "navigation", "search", "toolbar"),
        ),
        FRAME,
    ),
}
_NAMED = frozenset(("div", "section", "ul", "ol", "dl", "p", "table", "td", "form"))
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FRAME_WORDS = frozenset(
    (
        *("nav", "navbar", "navigation", "menu", "submenu", "breadcrumb", "breadcrumbs"),
        *("footer", "sidebar", "topbar", "toolbar", "masthead", "skip", "copyright"),
        *("pagination", "pager", "share", "sharing", "social", "related", "newsletter"),
        *("cookie", "cookies", "consent", "gdpr", "popup", "modal", "advert", "adverts", "ads"),
    )
)
_OPPOSITES = frozenset(("has", "no", "with", "without"))  # of the whole, which has a sidebar


def region_of(tag: str, attributes: Mapping[str, str], outside: int) -> int:
    """The region inside an element, given the one it stands in."""
    if outside == FRAME:
        return FRAME
    role = attributes.get("role")
    region = _ROLES.get(role) if role else None
    if region is None:
        region = _LANDMARKS.get(tag)
        if outside == MAIN:
            region = _INSIDE_MAIN.get(tag, region)
    if region is None and attributes and tag in _NAMED:
        names = attributes.get("class", ""), attributes.get("id", "")
        if any(names) and _names_frame(names[0][:LONGEST_NAME], names[1][:LONGEST_NAME]):
            region = NAMED_FRAME
    return outside if region is None else region


@lru_cache(maxsize=1 << 14)
def _names_frame(classes: str, identifier: str) -> bool:
    names = (_WORDS.findall(name) for name in f"{classes} {identifier}".split())
    return any(
        not _FRAME_WORDS.isdisjoint(map(str.lower, words))
        for words in names
        if words and words[0] not in _OPPOSITES
    )
