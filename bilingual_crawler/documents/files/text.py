"""The text of a file, as its reader hands it over: blocks in reading order."""

from dataclasses import dataclass, field
from typing import Any, Self

from bilingual_crawler.documents.document import ParagraphKind


@dataclass(slots=True)
class FileBlock:
    """A paragraph, a heading or an item of a list."""

    text: str
    kind: ParagraphKind = "paragraph"


@dataclass(slots=True)
class FileText:
    """The text of a file, and what it says about itself."""

    blocks: list[FileBlock] = field(default_factory=list)
    title: str = ""
    language: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the text for JSON."""
        blocks = [(each.text, each.kind) for each in self.blocks]
        return {"title": self.title, "language": self.language, "blocks": blocks}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Return the text from the result of `to_dict`."""
        blocks = [FileBlock(text, kind) for text, kind in fields["blocks"]]
        return cls(blocks, str(fields["title"]), str(fields["language"]))


class FileProblemError(Exception):
    """A file without a text that can be read; `reason` is the code that is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
