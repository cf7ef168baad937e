"""What a user may want for one site."""

import re
from dataclasses import dataclass, fields, replace
from typing import Self

from bilingual_crawler.languages import LanguagePair


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRules:
    """What a user wants for one site; None is "as everywhere else".

    0 is no limit for `depth`, `pages` and `max_size`. An empty `include` or `exclude`
    takes back what a shorter name or `["*"]` has said.
    """

    delay: float | None = None
    concurrency: int | None = None
    jitter: float | None = None
    autothrottle: bool | None = None
    timeout: float | None = None
    max_size: int | None = None
    retries: int | None = None
    user_agent: str | None = None
    depth: int | None = None
    pages: int | None = None
    include: tuple[re.Pattern[str], ...] | None = None
    exclude: tuple[re.Pattern[str], ...] | None = None
    render: str | None = None
    negotiate: bool | None = None
    languages: LanguagePair | None = None
    honour: tuple[str, ...] | None = None

    def admits(self, url: str) -> bool:
        """Whether `include` and `exclude` let a URL be fetched; `exclude` has the last word."""
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return False
        return not (self.exclude and any(pattern.search(url) for pattern in self.exclude))

    def overlaid(self, narrower: Self) -> Self:
        """These rules, but for everything that `narrower` says itself."""
        said = {each.name: getattr(narrower, each.name) for each in fields(narrower)}
        return replace(self, **{name: value for name, value in said.items() if value is not None})
