"""The form from which a crawl is started: its fields, and the order that it makes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bilingual_crawler.config.settings import SCORERS, Config
from bilingual_crawler.urls.addresses import split_addresses
from bilingual_crawler.web.runs.order import FILES, CrawlOrder, Problems
from bilingual_crawler.web.runs.runs import Runs

MAX_BYTES = 200_000
"""The largest form: one argument of a command has 131,072 bytes at most."""
MAX_VALUE = 100_000
LONG = ("seeds", "settings")
ON = "1"


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of the form; its name is that of the argument or setting."""

    name: str
    label: str
    hint: str = ""
    kind: str = "text"
    """text, number, area, choice or switch"""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields that belong together; only the first group is open at first."""

    title: str
    fields: tuple[FormField, ...]


GROUPS = (
    FieldGroup(
        "The crawl",
        (
            FormField(
                "langs", "Languages", "Codes or English names, such as spa-eus; one alone is a"
                " crawl without translations.",
            ),
            FormField("output", "Output", "A name for the folder; the one of a crawl resumes it."),
            FormField(
                "BILINGUAL_CONTACT", "Contact", "Web address or e-mail that site owners see."
            ),
            FormField(
                "seeds", "Seeds", "Where to start, one address on each line. Without any, the"
                " project's own list for the languages.", "area",
            ),
        ),
    ),
    FieldGroup(
        "Budget",
        (
            FormField(
                "BILINGUAL_SITE_PAGES", "Pages per site", "10,000 by default; 0: no limit.",
                "number",
            ),
            FormField(
                "BILINGUAL_HOST_PAGES", "Pages per host in this run", "By default no limit.",
                "number",
            ),
            FormField(
                "CLOSESPIDER_PAGECOUNT", "Pages in this run", "By default no limit.", "number"
            ),
            FormField(
                "CLOSESPIDER_TIMEOUT", "Seconds of this run", "By default no limit.", "number"
            ),
            FormField(
                "DOWNLOAD_DELAY", "Seconds between requests to a host", "By default 1.", "number"
            ),
        ),
    ),
    FieldGroup(
        "What to look for",
        (
            FormField("BILINGUAL_SCORER", "Links are ranked by", "", "choice", tuple(SCORERS)),
            FormField(
                "BILINGUAL_FOLLOW", "Links are followed within", "", "choice", ("site", "host")
            ),
            FormField(
                "BILINGUAL_RENDER", "Pages are rendered", "", "choice", ("never", "auto", "always")
            ),
            FormField(
                "BILINGUAL_REVISIT", "Fetch pages again after", "Such as 30d; by default never."
            ),
            FormField("BILINGUAL_TYPES", "Types of files", "html, or html,pdf and others."),
            FormField("discover", "Search for bilingual sites from the seeds", "", "switch"),
            FormField("BILINGUAL_SITEMAPS", "Read sitemaps", "", "switch"),
            FormField("BILINGUAL_NEGOTIATE", "Ask hosts for the other language", "", "switch"),
            FormField("BILINGUAL_ALIGN", "Align sentences too", "", "switch"),
            FormField("BILINGUAL_WARC", "Keep everything in WARC files", "", "switch"),
        ),
    ),
    FieldGroup(
        "Files and further settings",
        (
            FormField("seeds_file", "File with seeds", "A path below the served folder."),
            FormField("sites", "Rules for sites", "A TOML file below the served folder."),
            FormField("topic", "Topic", "A table of terms below the served folder."),
            FormField(
                "settings", "Settings", "One NAME=VALUE on each line; none that names code,"
                " programs, files or servers.", "area",
            ),
        ),
    ),
)  # fmt: skip
FIELDS = {each.name: each for group in GROUPS for each in group.fields}


def read_form(
    form: Mapping[str, str], runs: Runs, output: Path | None = None
) -> tuple[CrawlOrder, Problems]:
    """Return what a form orders, and what is wrong with it, by field.

    Without an `output`, the form names it.
    """
    problems: Problems = {}
    values = {name: form.get(name, "").replace("\r", "").strip() for name in FIELDS}
    for name, value in values.items():
        if problem := _unfit(name, value):
            problems[name] = [problem]
            values[name] = ""
    arguments, settings = _sorted_out(values, runs.root)
    order = CrawlOrder(output or _output(values, runs, problems), arguments, settings)
    for name, found in runs.check(order).items():
        field = name if name in FIELDS and name not in runs.fixed else "settings"
        problems[field] = [*problems.get(field, []), *found]
    return order, problems


def _unfit(name: str, value: str) -> str:
    if len(value.encode("utf-8", "replace")) > MAX_VALUE:
        return f"This is too long: at most {MAX_VALUE:,} bytes are allowed."
    printed = value.replace("\n", "") if name in LONG else value
    return "" if printed.isprintable() else "This has characters that cannot be printed."


def _sorted_out(values: Mapping[str, str], root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the arguments and the settings of a form."""
    arguments: dict[str, str] = {}
    settings: dict[str, str] = {}
    for name, value in values.items():
        if not value or name in {"output", "settings"}:
            continue
        if name == "seeds":
            arguments[name] = ",".join(split_addresses(value.replace("\n", " ")))
        elif name in FILES:
            arguments[name] = str(root / value)
        elif name.islower():
            arguments[name] = value
        else:
            settings[name] = value
    for line in values["settings"].splitlines():
        name, _, value = line.partition("=")
        if name.strip():
            settings[name.strip()] = value.strip()
    return arguments, settings


def _output(values: Mapping[str, str], runs: Runs, problems: Problems) -> Path:
    now = datetime.now().astimezone()
    name = values["output"] or f"{values['langs'].strip() or 'crawl'}-{now:%Y%m%d-%H%M%S}"
    try:
        return runs.folder_of(name)
    except ValueError as error:
        problems["output" if values["output"] else "langs"] = [str(error)]
        return runs.root / f"crawl-{now:%Y%m%d-%H%M%S}"


def form_of_order(order: CrawlOrder, root: Path) -> dict[str, str]:
    """Return the fields of a form that orders the same."""
    fields = {"output": _below(str(order.output), root)}
    for name, value in order.arguments.items():
        fields[name] = _below(value, root) if name in FILES else value
    fields["seeds"] = fields.get("seeds", "").replace(",", "\n")
    others = []
    for name, value in order.settings.items():
        if name in FIELDS:
            fields[name] = ON if value in {"True", "true"} else value
        else:
            others.append(f"{name}={value}")
    fields["settings"] = "\n".join(others)
    return fields


def _below(path: str, root: Path) -> str:
    place = Path(path)
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else path


def defaults() -> dict[str, str]:
    """Return what the choices are if nothing is chosen."""
    usual = Config()
    return {
        each.name: str(getattr(usual, each.name.removeprefix("BILINGUAL_").lower()))
        for each in FIELDS.values()
        if each.kind == "choice"
    }


def is_open(group: FieldGroup, given: Mapping[str, Any], problems: Problems) -> bool:
    """Return True if something in a group was filled in, or is wrong."""
    return any(given.get(each.name) or each.name in problems for each in group.fields)
