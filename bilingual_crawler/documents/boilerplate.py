"""Decides which blocks of a page are content, and which are the frame around it.

Only the structure of the blocks counts: the region of a block, how much of it is links, how far
it is from running text. There are no word lists, so the two sides of a translation are treated
alike, and all is linear, so a hostile page costs no more than an ordinary one. Libraries were
measured too: they lose more text, leave more of the frame, or take many times as long:
docs/experiments/boilerplate.md.
"""

import re
from collections.abc import Sequence

from bilingual_crawler.documents.page import FRAME, MAIN, NAMED_FRAME, NEUTRAL, Block

PROSE_LENGTH = 80
DENSE_PROSE_LENGTH = 32
LINKED_SHARE = 0.5
LONG_ANCHOR = 30
SUSPECT_FRAME = 2_000

_DENSE_SCRIPT = re.compile("[\u3040-\u9fff\uac00-\ud7af]")  # one syllable or word per letter


def boilerplate(blocks: Sequence[Block]) -> list[bool]:
    """Return for each block whether it is boilerplate.

    A page that would have nothing left keeps its links outside the frame: it is a listing. If
    there is nothing outside, it keeps the prose and the first-level headings of the frame. A page
    with nothing but menus has no content.
    """
    unframed = _unframed(blocks)
    kept = [
        inside and (block.kind == "heading" or not _is_menu(block))
        for block, inside in zip(blocks, unframed, strict=True)
    ]
    if any(kept):
        kept = _between_prose(blocks, kept)
        kept = [
            each or (block.level == 1 and block.region == NEUTRAL)
            for block, each in zip(blocks, kept, strict=True)
        ]
    elif any(unframed):
        kept = unframed
    else:
        kept = [block.level == 1 or _is_prose(block) for block in blocks]
    return [not each for each in kept]


def _unframed(blocks: Sequence[Block]) -> list[bool]:
    """Return the blocks outside navigation, footers and the like.

    If a declared main part has most of the text, it alone is content. Names that would frame
    more prose than they leave are ignored, and so are landmarks that frame nearly all of it
    (the rest of a page whose `nav` never ends).
    """
    size = [0] * 4
    prose = [0] * 4
    for block in blocks:
        size[block.region] += len(block.text)
        prose[block.region] += len(block.text) * _is_prose(block)
    outermost = MAIN
    if prose[NAMED_FRAME] > size[NEUTRAL] + size[MAIN]:
        outermost = NAMED_FRAME
    if prose[FRAME] > max(SUSPECT_FRAME, 10 * sum(size[: outermost + 1])):
        outermost = FRAME
    if outermost == MAIN and size[MAIN] > size[NEUTRAL]:
        return [block.region == MAIN for block in blocks]
    return [block.region <= outermost for block in blocks]


def _between_prose(blocks: Sequence[Block], kept: list[bool]) -> list[bool]:
    """Drop what comes before the first and after the last prose, apart from it.

    This shows where the content of a page without landmarks begins and ends. Kept blocks next to
    the prose belong to it, and so does a declared main part.
    """
    prose = [at for at, block in enumerate(blocks) if kept[at] and _is_prose(block)]
    if not prose:
        return kept
    first, last = prose[0], prose[-1]
    while first > 0 and kept[first - 1]:
        first -= 1
    while last + 1 < len(blocks) and kept[last + 1]:
        last += 1
    return [
        each and (first <= at <= last or blocks[at].region == MAIN) for at, each in enumerate(kept)
    ]


def _is_menu(block: Block) -> bool:
    """Return True for mostly short links; a sentence that is one link is a sentence."""
    return block.linked > LINKED_SHARE * len(block.text) and (
        block.linked < LONG_ANCHOR * max(1, block.links)
    )


def _is_prose(block: Block) -> bool:
    length = len(block.text)
    if length < PROSE_LENGTH and (
        length < DENSE_PROSE_LENGTH or _DENSE_SCRIPT.search(block.text) is None
    ):
        return False
    return not _is_menu(block)
