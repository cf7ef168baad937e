"""The user's validations: minimums, weights and thresholds of Almeida's comparisons by file type.

A file of TOML has a table for each type of file that differs from the paper's first experiment; the
table `all` is the default of all types:

    [all]
    minimums = { size = 0.4 }

    [pdf]
    accept = 0.7
    weights = { name = 2, links = 0, images = 0 }

What a table does not name stays as it is. The whole file is checked, and every problem reported.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from bilingual_crawler.config.checks import read_utf8
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.almeida import DEFAULTS, Heuristic, Validation

ALL = "all"
_HEURISTICS: tuple[Heuristic, ...] = get_args(Heuristic)
_KEYS = ("weights", "minimums", "accept")
LARGEST_WEIGHT = 1_000.0
_LAYOUT = f"It is TOML with tables such as [{ALL}] and [html], each with {', '.join(_KEYS)}."


def read_validations(file: Path) -> Mapping[str, Validation]:
    """Return the validation of every file type; raise a ConfigurationError for a faulty file."""
    text = read_utf8(file, f"The validations {file}", _LAYOUT)
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not TOML: {error}. {_LAYOUT}") from None
    problems = list(_problems(tables))
    if problems:
        raise ConfigurationError(*(f"{file}, {each}" for each in problems))
    common = tables.get(ALL, {})
    return MappingProxyType(
        {
            kind: _changed(_changed(validation, common), tables.get(kind, {}))
            for kind, validation in DEFAULTS.items()
        }
    )


def _changed(validation: Validation, table: Mapping[str, Any]) -> Validation:
    return replace(
        validation,
        weights=MappingProxyType({**validation.weights, **table.get("weights", {})}),
        minimums=MappingProxyType({**validation.minimums, **table.get("minimums", {})}),
        accept=float(table.get("accept", validation.accept)),
    )


def _problems(tables: Mapping[str, Any]) -> Iterator[str]:
    for kind, table in tables.items():
        if kind != ALL and kind not in DEFAULTS:
            yield f"[{kind}]: there is no such type of file; write {ALL}, {', '.join(DEFAULTS)}."
        elif not isinstance(table, dict):
            yield f"{kind}: this must be a table, [{kind}] with {', '.join(_KEYS)} below it."
        else:
            yield from (f"[{kind}] {each}" for each in _problems_of(table))
    if any(
        isinstance(table, dict) and _adds_up_to_nothing(table.get("weights"))
        for table in tables.values()
    ):
        yield "weights: all are 0, so that nothing decides; leave one above 0."


def _adds_up_to_nothing(weights: Any) -> bool:
    return isinstance(weights, dict) and all(weights.get(name) == 0 for name in _HEURISTICS)


def _problems_of(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if key not in _KEYS:
            yield f"{key}: there is no such key; write {', '.join(_KEYS)}."
        elif key == "accept":
            if not _is_number(value, 1.0):
                yield f"accept: it must be a number from 0 to 1, not {value!r}."
        elif not isinstance(value, dict):
            yield f"{key}: write a number for each comparison, such as {{ size = 0.5 }}."
        else:
            most = 1.0 if key == "minimums" else LARGEST_WEIGHT
            for name, each in value.items():
                if name not in _HEURISTICS:
                    yield f"{key}: there is no {name!r}; write {', '.join(_HEURISTICS)}."
                elif not _is_number(each, most):
                    yield f"{key}: {name} must be a number from 0 to {most:g}, not {each!r}."


def _is_number(value: Any, most: float) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= most
