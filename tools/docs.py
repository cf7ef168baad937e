"""Write the pages of docs/ that are made from the code: `make docs`."""

from dataclasses import fields
from pathlib import Path

from bilingual_crawler.config.settings import PREFIX, Config, scrapy_defaults

DOCS = Path(__file__).parents[1] / "docs"

HEAD = """# Settings

This page is made from `bilingual_crawler/config/settings.py` by `make docs`.

Every setting can be given on the command line (`-s NAME=VALUE`), in the settings module of
a project, or in the `custom_settings` of a spider. All of them are read and checked when a
crawl starts: an unknown name or a bad value is refused with what to write instead.
Settings for single sites are described in [site-rules.md](site-rules.md).

## Our own

| setting | default | meaning |
|---|---|---|
"""

SCRAPY = """
## Scrapy settings that we change

The add-on sets these at add-on priority, so whatever a project or `-s` says wins.

| setting | value | why |
|---|---|---|
"""


def settings_page() -> str:
    """The page that lists every setting."""
    ours = [
        f"| `{PREFIX}{each.name.upper()}` | {_shown(each.metadata['default'])} "
        f"| {each.metadata['meaning']} |\n"
        for each in fields(Config)
    ]
    theirs = [
        f"| `{each.name}` | {_shown(each.value)} | {each.why} |\n" for each in scrapy_defaults
    ]
    return HEAD + "".join(ours) + SCRAPY + "".join(theirs)


def _shown(value: object) -> str:
    if value == "":
        return "(none)"
    if isinstance(value, bool):
        return f"`{int(value)}`"
    return f"`{value}`"


PAGES = {"reference/settings.md": settings_page}


def main() -> None:
    """Write every generated page."""
    for name, make in PAGES.items():
        (DOCS / name).write_text(make())
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
