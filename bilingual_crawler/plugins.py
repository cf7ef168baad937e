"""Classes of a user that take part in a crawl, found by entry-point name or by import path.

A package makes its class known under a short name with an entry point, for example

    [project.entry-points."bilingual_crawler.scorers"]
    focused = "my_package.scorers:FocusedScorer"

Installing such a package changes nothing by itself: a class is used only where a setting or an
option names it. Any class can also be named by its import path, `package.module.Class`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from operator import attrgetter
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.suggestions import hint, nearest


@dataclass(frozen=True, slots=True)
class PluginKind:
    """One kind of plug-in: what it is called, where it is registered and what it must have."""

    noun: str
    """Its name in a sentence, with the article: "a link scorer"."""
    group: str
    """Its entry-point group, such as `bilingual_crawler.scorers`."""
    base: type
    """An abstract base class to inherit from, or a protocol whose members are needed."""
    builtin: Mapping[str, str] = field(default_factory=dict)
    """The import paths of what the crawler brings itself, by name."""

    def names(self) -> tuple[str, ...]:
        """Return the names that can be written: the built-in ones, then the installed ones."""
        return tuple(dict.fromkeys([*self.builtin, *installed_plugins(self.group)]))

    def load(self, name: str, source: str) -> Any:
        """Return the class called `name`, checked; `source` says where the user wrote it.

        Raise a ConfigurationError that tells what to write instead if there is no such class,
        if importing it fails, or if it lacks what the crawler calls.
        """
        installed = {} if name in self.builtin else installed_plugins(self.group)
        path = self.builtin.get(name) or installed.get(name) or name
        if not is_import_path(path):
            known = ", ".join(self.names()) or "none is installed"
            advice = hint(nearest(name, self.names()), f"known are: {known}.")
            raise ConfigurationError(
                f"{source} names {name}, but there is no {self._kind} of that name: {advice}"
                " A class of your own is written package.module.Class."
            )
        found = self._import(path, f"{source}={name}")
        self._check(found, f"{source}={name}")
        return found

    def make(self, name: str, source: str) -> Any:
        """Return an instance of the class called `name`, made without arguments."""
        found = self.load(name, source)
        try:
            return found()
        except Exception as error:
            raise ConfigurationError(
                f"{source}={name} cannot be made without arguments:"
                f" {type(error).__name__}: {error}."
            ) from error

    @property
    def _kind(self) -> str:
        return self.noun.partition(" ")[2]

    def _import(self, path: str, written: str) -> Any:
        module, colon, attributes = path.partition(":")
        if not colon:
            module, _, attributes = path.rpartition(".")
        try:
            return attrgetter(attributes)(import_module(module))
        except Exception as error:
            raise ConfigurationError(
                f"{written} cannot be loaded: {_reason(error)}."
                f" Write the import path of {self.noun}, package.module.Class"
                f"{_or_one_of(self.names())}."
            ) from error

    def _check(self, found: Any, written: str) -> None:
        name = f"{self.base.__module__}.{self.base.__qualname__}"
        if getattr(self.base, "_is_protocol", False):
            missing = [each for each in _members(self.base) if not hasattr(found, each)]
            advice = f"give it what {name} describes"
        else:
            if not (isinstance(found, type) and issubclass(found, self.base)):
                raise ConfigurationError(
                    f"{written} is not {self.noun}: make it a class that inherits from {name}."
                )
            missing = sorted(getattr(found, "__abstractmethods__", ()))
            advice = f"write what {name} leaves open"
        if missing:
            raise ConfigurationError(
                f"{written} is not {self.noun}: it has no {' and no '.join(missing)}; {advice}."
            )


def installed_plugins(group: str) -> dict[str, str]:
    """Return the import path of every installed entry point of a group, by name."""
    return {each.name: each.value for each in sorted(entry_points(group=group))}


def check_plugin_name(name: str, group: str, builtin: Iterable[str] = ()) -> None:
    """Raise a ValueError unless `name` is built in, installed, or an import path.

    Nothing is imported: settings are checked before they are used.
    """
    known = tuple(builtin)
    if name not in known and not is_import_path(name):
        known += tuple(installed_plugins(group))
        if name not in known:
            names = f"one of {', '.join(known)}, or " if known else ""
            raise ValueError(f"must be {names}package.module.Class, not {name}")


def is_import_path(text: str) -> bool:
    """Return True if a text has the form `package.module.Class` or `package.module:Class`."""
    parts = text.replace(":", ".").split(".")
    return len(parts) > 1 and all(part.isidentifier() for part in parts)


def _members(protocol: type) -> list[str]:
    members = {*vars(protocol), *getattr(protocol, "__annotations__", {})}
    return sorted(each for each in members if not each.startswith("_"))


def _or_one_of(names: tuple[str, ...]) -> str:
    return f", or one of {', '.join(names)}" if names else ""


def _reason(error: Exception) -> str:
    """Return what went wrong, with the kind of error where importing ran code that failed."""
    said = str(error).strip().rstrip(".")
    if isinstance(error, ModuleNotFoundError):
        return f"{said} (its folder must be on PYTHONPATH)"
    if isinstance(error, (ImportError, AttributeError)):
        return said
    return f"importing it raised {type(error).__name__}: {said}".rstrip(": ")
