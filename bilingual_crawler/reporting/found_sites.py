"""What a search for bilingual sites has to tell: how many there are, and what each cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilingual_crawler.discovery.site_records import Standing

if TYPE_CHECKING:
    from bilingual_crawler.discovery.site_records import SiteRecords
    from bilingual_crawler.reporting.counts import Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSites:
    """The sites of a search, over all runs."""

    bilingual: int = 0
    other: int = 0
    """Sites that were examined and are not bilingual, or not surely."""
    unreachable: int = 0
    waiting: int = 0
    downloads: int = 0
    """Pages that it took to examine them."""

    @classmethod
    def of(cls, sites: "SiteRecords") -> "FoundSites":
        """The figures of the records."""
        counts = sites.counts
        return cls(
            bilingual=counts[Standing.BILINGUAL],
            other=counts[Standing.OTHER],
            unreachable=counts[Standing.UNREACHABLE],
            waiting=counts[Standing.WAITING] + counts[Standing.EXAMINING],
            downloads=sites.downloads,
        )

    @property
    def examined(self) -> int:
        """Sites of which there is a verdict."""
        return self.bilingual + self.other

    @property
    def downloads_a_site(self) -> float:
        """Pages that a verdict takes."""
        return round(self.downloads / self.examined, 2) if self.examined else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The figures as they stand in crawl.json."""
        return {
            "bilingual": self.bilingual,
            "examined": self.examined,
            "unreachable": self.unreachable,
            "waiting": self.waiting,
            "downloads": self.downloads,
            "downloads_a_site": self.downloads_a_site,
        }

    def __str__(self) -> str:
        """The figures in a few words."""
        return (
            f"{self.bilingual:,} of {_sites(self.examined)} bilingual"
            f" ({self.downloads_a_site:.1f} downloads a site)"
        )


def explain_sites(counts: "Counts") -> Iterator[str]:
    """Sentences about a search that has found no bilingual site."""
    sites = counts.sites
    if sites is None or sites.bilingual:
        return
    first, second = counts.langs
    if sites.examined:
        yield (
            f"{_sites(sites.examined).capitalize()} {_was(sites.examined)} examined, and none has"
            f" both {first.name} and {second.name} pages."
        )
    if sites.unreachable:
        yield f"{_sites(sites.unreachable).capitalize()} gave no page."
    yield (
        "A search goes from bilingual sites to the pages that link to them: begin with some that"
        " you know, or with pages that list such sites."
    )


def _sites(number: int) -> str:
    return f"{number:,} site{'' if number == 1 else 's'}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"
