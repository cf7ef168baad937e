"""Write the pages of docs/ that are generated from the code: `make docs`."""

import argparse
import ast
import inspect
import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from bilingual_crawler import api
from bilingual_crawler.commands.crawl import CrawlCommand
from bilingual_crawler.commands.main import GROUPS
from bilingual_crawler.config.settings import PREFIX, Config, scrapy_defaults
from bilingual_crawler.config.site_keys import KEYS
from bilingual_crawler.crawl.request_state import STORED, RequestState
from bilingual_crawler.outcomes import LinkRefusal, Outcome

DOCS = Path(__file__).parents[1] / "docs"

SETTINGS = """# Settings

This page is generated from `bilingual_crawler/config/settings.py` by `make docs`.

Every setting can be given on the command line (`-s NAME=VALUE`), in the settings module of
a project, or in the `custom_settings` of a spider. All of them are read and checked when a
crawl starts: an unknown name or a bad value is refused, with a suggestion.
[Site rules](site-rules.md) override some of them for single sites.

## Settings of this project

| setting | default | meaning |
|---|---|---|
"""

SCRAPY = """
## Scrapy settings with other defaults

The add-on sets these at add-on priority, so a project or `-s` can override them.

| setting | value | why |
|---|---|---|
"""

COMMANDS = """# Commands

This page is generated from the commands' own help by `make docs`.

Every command exists twice: as `scrapy COMMAND` in a clone or in a project with the add-on, and as
`bilingual-crawler COMMAND` in any folder. `COMMAND --help` prints what is here, and Scrapy's own
options (`-s NAME=VALUE`, `--logfile`, `--loglevel`, ...), which work with all of them.
`bilingual-crawler --version` prints the versions; `bilingual-crawler completion bash` (or `zsh`)
prints a completion script.
"""
META = """# Request meta

This page is generated from `bilingual_crawler/crawl/request_state.py` by `make docs`.

The crawler keeps what it knows about a request under one key of its `meta`, `bilingual`: a frozen
`RequestState`. Read it with `RequestState.of(request)` or `RequestState.of(response)`, which also
works for requests that have none. Fields that are *stored* survive a restart, and travel with the
request through Redis.

```python
from bilingual_crawler.crawl.request_state import RequestState

state = RequestState.of(response)
if state.probe:
    ...
```

| field | type | default | stored | meaning |
|---|---|---|---|---|
"""
SCRAPYS_META = """
Scrapy's own keys work as usual: `depth`, `download_slot`, `download_timeout`, `download_maxsize`,
`dont_retry`, `max_retry_times`, `redirect_urls`, `retry_times`. Nothing that is read back from disk
or from Redis can choose a proxy, a download slot or an exemption from robots.txt.
"""

OUTCOMES = """# Outcomes

This page is generated from `bilingual_crawler/outcomes.py` by `make docs`.

Every URL ends with one of these codes, and every link that is not followed has one. The code is in
`crawl.json` (`urls_ended`, `links_refused`), in the [statistics](stats.md), in the frontier
(`scrapy frontier`) and in the metrics; the sentence is what people read. The status of a server is
a code too: `http_404`, `http_503`. Components of a project may use codes of their own.

## How URLs end

A URL that *failed* gave no page; `scrapy frontier requeue --outcome CODE` tries such URLs again.

| code | failed | meaning |
|---|---|---|
"""
REFUSALS = """
## Why links are not followed

| code | meaning |
|---|---|
"""
API = """# Python API

This page is generated from the docstrings of `bilingual_crawler.api` by `make docs`. These names
are public: they stay, or change with a note in the changelog.

"""
SCRAPYS_GROUPS = frozenset({"positional arguments", "options", "Global Options"})


def settings_page() -> str:
    """Return the page that lists every setting."""
    ours = [
        f"| `{PREFIX}{each.name.upper()}` | {_shown(each.metadata['default'])} "
        f"| {each.metadata['meaning']} |\n"
        for each in fields(Config)
    ]
    theirs = [
        f"| `{each.name}` | {_shown(each.value)} | {each.why} |\n" for each in scrapy_defaults
    ]
    return SETTINGS + "".join(ours) + SCRAPY + "".join(theirs)


def site_rules_page() -> str:
    """Return the page of the site rules with its table of keys made anew."""
    rows = "".join(
        f"| `{name}` | {f'`{key.scrapy_name}` ' if key.scrapy_name else ''}| {key.meaning} |\n"
        for name, key in KEYS.items()
    )
    table = "| key | Scrapy name | meaning |\n|---|---|---|\n" + rows
    return _replaced("reference/site-rules.md", "keys", table)


def commands_page() -> str:
    """Return the page that lists every command with its options."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    ours = project["project"]["entry-points"]["scrapy.commands"]
    commands: dict[str, ScrapyCommand] = {
        name: EntryPoint(name, place, "scrapy.commands").load()() for name, place in ours.items()
    }
    commands["crawl"] = CrawlCommand()
    page = COMMANDS
    for title, names in GROUPS.items():
        page += f"\n## {title}\n"
        for name in names:
            page += _command(name, commands.pop(name))
    assert not commands, f"in no group: {', '.join(commands)}"
    return page


def meta_page() -> str:
    """Return the page that lists the fields of a request's state."""
    meanings = _attribute_docstrings(RequestState)
    rows = [
        f"| `{each.name}` | `{_typed(each.type)}` | `{each.default!r}` "
        f"| {'yes' if each.name in STORED else ''} | {meanings[each.name]} |\n"
        for each in fields(RequestState)
    ]
    return META + "".join(rows) + SCRAPYS_META


def outcomes_page() -> str:
    """Return the page that lists the outcomes of URLs and links."""
    ends = [
        f"| `{each.value}` | {'yes' if each.fails else ''} | {each.sentence} |\n"
        for each in Outcome
    ]
    refusals = [f"| `{each.value}` | {each.sentence} |\n" for each in LinkRefusal]
    return OUTCOMES + "".join(ends) + REFUSALS + "".join(refusals)


def api_page() -> str:
    """Return the page that describes the public names."""
    page = API + _prose(api) + "\n"
    named = {name: getattr(api, name) for name in api.__all__}
    functions = [name for name, found in named.items() if not isinstance(found, type)]
    bases = [name for name, found in named.items() if inspect.isabstract(found)]
    others = [name for name in named if name not in {*functions, *bases}]
    for title, names in (
        ("Functions", functions),
        ("Base classes of plug-ins", bases),
        ("Types", others),
    ):
        page += f"\n## {title}\n"
        for name in names:
            page += f"\n### {name}\n\n{_described(named[name])}"
    return page


def _described(found: Any) -> str:
    if not isinstance(found, type):
        return f"```python\n{_signature(found)}\n```\n\n{_prose(found)}\n"
    text = f"{_prose(found)}\n"
    if is_dataclass(found) or hasattr(found, "_fields"):
        text += _fields_table(found)
    elif issubclass(found, Enum):
        return text + "\n[All of them](outcomes.md).\n"
    for name, member in vars(found).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            text += f"\n`{name}`: {_prose(member)}\n"
        method = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(method) and method.__doc__:
            text += f"\n```python\n{_signature(method)}\n```\n\n{_prose(method)}\n"
    return text


def _fields_table(found: Any) -> str:
    meanings = _attribute_docstrings(found)
    hints = found.__annotations__
    names = [each.name for each in fields(found)] if is_dataclass(found) else found._fields
    if not meanings:
        rows = [f"| `{name}` | `{_typed(hints[name])}` |\n" for name in names]
        return "\n| field | type |\n|---|---|\n" + "".join(rows)
    rows = [
        f"| `{name}` | `{_typed(hints[name])}` | {meanings.get(name, '')} |\n" for name in names
    ]
    return "\n| field | type | meaning |\n|---|---|---|\n" + "".join(rows)


def _signature(function: Any) -> str:
    """Return the head of a function as it is written, on one line."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    returns = f" -> {ast.unparse(tree.returns)}" if tree.returns else ""
    return f"def {tree.name}({ast.unparse(tree.args)}){returns}"


def _prose(found: Any) -> str:
    return re.sub(r"<(?=\w)", "&lt;", inspect.getdoc(found) or "")


def _attribute_docstrings(found: type) -> dict[str, str]:
    """Return the string that follows each attribute in the source of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(found))).body
    assert isinstance(tree, ast.ClassDef)
    strings = {}
    for attribute, string in pairwise(tree.body):
        match attribute, string:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                strings[name] = " ".join(str(text).split())
    return strings


def _typed(annotation: object) -> str:
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return re.sub(r"\b(?:typing|collections\.abc|bilingual_crawler[\w.]*)\.", "", name).replace(
        "|", "\\|"
    )


def _command(name: str, command: ScrapyCommand) -> str:
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.settings = Settings()
    command.add_options(parser)
    text = f"\n### {name}\n\n{command.short_desc()}.\n\n"
    text += f"```text\nscrapy {name} {command.syntax()}\n```\n\n"
    if rows := list(_options(parser)):
        text += "| option | meaning |\n|---|---|\n" + "".join(rows) + "\n"
    details = inspect.cleandoc(parser.epilog or "")
    return text + (f"```text\n{details}\n```\n" if details else "")


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for group in parser._action_groups:  # noqa: SLF001 - argparse has no public list of them
        if group.title in SCRAPYS_GROUPS:
            continue
        for action in group._group_actions:  # noqa: SLF001 - as above
            takes = "" if action.nargs == 0 else f" {_metavar(action)}"
            names = ", ".join(action.option_strings)
            meaning = " ".join((action.help or "").split()).replace("|", "\\|")
            yield f"| `{names}{takes}` | {meaning % vars(action)} |\n"


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def _shown(value: object) -> str:
    if value in ("", ()):
        return "(none)"
    if isinstance(value, bool):
        return f"`{int(value)}`"
    return f"`{value}`"


def _replaced(name: str, part: str, text: str) -> str:
    """Return a page with what is between the comments `part: begin` and `part: end` replaced."""
    begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->\n"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    page, found = pattern.subn(lambda _: begin + text + end, (DOCS / name).read_text("utf-8"))
    assert found == 1, f"{name} has no part {part}"
    return page


PAGES = {
    "reference/api.md": api_page,
    "reference/commands.md": commands_page,
    "reference/meta.md": meta_page,
    "reference/outcomes.md": outcomes_page,
    "reference/settings.md": settings_page,
    "reference/site-rules.md": site_rules_page,
}


def main() -> None:
    """Write every generated page."""
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), "utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
