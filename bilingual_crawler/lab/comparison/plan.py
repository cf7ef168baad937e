"""What is compared: arms, sites and limits, and where everything is kept.

The folder of a comparison has a folder per site, and in it one per arm (`SITE/ARM/crawl`, a crawl
like any other). `comparison.json` has the plan, so that the same command goes on after a stop and
another one is refused.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.recording import site_name
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.durable import replacing_file
from bilingual_crawler.urls.hosts import host_of, site_of

PLAN = "comparison.json"
JUDGED = "judged"
ARMS = ("breadth_first", "language", "smart", "adaptive")
"""Those of SBFC, and ours: every link in turn; pages in other languages discarded; URL models."""


@dataclass(frozen=True, slots=True)
class ComparedSite:
    """A site of a comparison: its seeds on the web, or its recording."""

    name: str
    seeds: tuple[str, ...] = ()
    recording: Path | None = None


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """What to compare."""

    langs: LanguagePair
    arms: tuple[str, ...]
    sites: tuple[ComparedSite, ...]
    out: Path
    hours: float = 0.0
    """Limit per arm and site; 0 is none."""
    pages: int = 0
    """Limit per arm and site; 0 is none."""
    settings: tuple[str, ...] = ()
    """NAME=VALUE, for every crawl."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The same settings as values, for replays."""

    def place(self, site: ComparedSite, arm: str) -> Path:
        """Return the folder of one arm on one site."""
        return self.out / site.name / arm

    def to_dict(self) -> dict[str, Any]:
        """Return what must be the same when a comparison goes on."""
        return {
            "langs": str(self.langs),
            "arms": list(self.arms),
            "sites": {
                site.name: [str(site.recording)] if site.recording else list(site.seeds)
                for site in self.sites
            },
            "hours": self.hours,
            "pages": self.pages,
            "settings": list(self.settings),
        }

    def claim_folder(self) -> None:
        """Write the plan into a new folder; refuse a folder of another plan, or of anything else.

        More sites may be added to a comparison; what it has done stays.
        """
        file, mine = self.out / PLAN, self.to_dict()
        if file.is_file():
            theirs = _earlier(file)
            changed = [name for name in mine if name != "sites" and theirs.get(name) != mine[name]]
            changed += [
                f"the seeds of {name}"
                for name, seeds in theirs["sites"].items()
                if name in mine["sites"] and mine["sites"][name] != seeds
            ]
            if changed:
                raise ConfigurationError(
                    f"{self.out} holds a comparison with other {', '.join(changed)}: give the same"
                    " arguments to go on with it, or choose another folder with --out."
                )
        elif self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir())):
            raise ConfigurationError(
                f"{self.out} holds something other than a comparison: choose a new folder with"
                " --out."
            )
        self.out.mkdir(parents=True, exist_ok=True)
        with replacing_file(file) as part:
            part.write_text(json.dumps(mine, ensure_ascii=False, indent=2) + "\n")


def _earlier(file: Path) -> dict[str, Any]:
    try:
        plan = json.loads(file.read_text("utf-8"))
        if isinstance(plan["sites"], dict):
            return dict(plan)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ConfigurationError(
        f"{file} is not the plan of a comparison: choose another folder with --out."
    )


def sites_of_seeds(seeds: tuple[str, ...]) -> tuple[ComparedSite, ...]:
    """Return the sites that seeds belong to, each with its seeds."""
    found: dict[str, list[str]] = {}
    for seed in seeds:
        found.setdefault(site_of(host_of(seed)), []).append(seed)
    return tuple(ComparedSite(_file_name(name), tuple(each)) for name, each in found.items())


def sites_of_recordings(files: tuple[Path, ...]) -> tuple[ComparedSite, ...]:
    """Return recorded sites, named by their files."""
    names = [site_name(file) for file in files]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ConfigurationError(f"Two recordings have the name {repeated}: rename one of them.")
    missing = next((file for file in files if not file.is_file()), None)
    if missing is not None:
        raise ConfigurationError(f"There is no recording {missing}.")
    return tuple(
        ComparedSite(_file_name(name), recording=file)
        for name, file in zip(names, files, strict=True)
    )


def _file_name(text: str) -> str:
    """Return a name for a folder; an IPv6 address has colons."""
    return "".join(each if each.isalnum() or each in "-._" else "_" for each in text)
