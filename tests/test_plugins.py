"""Classes of a user: found by name or import path, and refused in words where they do not fit."""

from abc import ABC, abstractmethod
from typing import Protocol

import pytest

from bilingual_crawler.config.settings import Config
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import parse_languages
from bilingual_crawler.plugins import PluginKind, is_import_path
from bilingual_crawler.scoring.scorer import NothingYet, make_scorer
from tests.support.plugin import install


class Greeter(Protocol):
    def greet(self) -> str: ...
    def part(self) -> str: ...


class Counter(ABC):
    @abstractmethod
    def count(self) -> int: ...


class Polite:
    def greet(self) -> str:
        return "hello"

    def part(self) -> str:
        return "goodbye"


class Curt:
    def greet(self) -> str:
        return "hi"


class Needy(Polite):
    def __init__(self, name: str) -> None:
        self.name = name


class Lazy(Counter):
    pass


class Three(Counter):
    def count(self) -> int:
        return 3


GREETERS = PluginKind(
    "a greeter", "bilingual_crawler.greeters", Greeter, {"polite": "tests.test_plugins.Polite"}
)
COUNTERS = PluginKind("a counter", "bilingual_crawler.counters", Counter)


def test_a_class_is_found_by_built_in_name_and_by_either_form_of_import_path():
    for name in ("polite", "tests.test_plugins.Polite", "tests.test_plugins:Polite"):
        assert GREETERS.load(name, "GREETER") is Polite
    assert COUNTERS.load("tests.test_plugins.Three", "COUNTER") is Three


def test_a_class_is_found_by_the_entry_point_of_an_installed_package(tmp_path, monkeypatch):
    source = "class Two:\n    greet = part = str\n"
    install(tmp_path, monkeypatch, "greeting_pack", source, greeters="two = greeting_pack:Two")
    assert GREETERS.names() == ("polite", "two")
    assert GREETERS.load("two", "GREETER").__name__ == "Two"


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (GREETERS, "polit", "GREETER names polit, but there is no greeter .* did you mean polite?"),
        (GREETERS, "zzz", "known are: polite. .*package.module.Class"),
        (COUNTERS, "zzz", "none is installed"),
        (GREETERS, "no.such.Thing", "cannot be loaded: No module named 'no'"),
        (GREETERS, "tests.test_plugins.Missing", "no attribute 'Missing'"),
        (GREETERS, "tests.test_plugins.Curt", "is not a greeter: it has no part; give it what"),
        (COUNTERS, "tests.test_plugins.Curt", "inherits from tests.test_plugins.Counter"),
        (COUNTERS, "tests.test_plugins.PREFIX", "no attribute"),
        (COUNTERS, "tests.test_plugins.GREETERS", "inherits from tests.test_plugins.Counter"),
        (GREETERS, "tests.test_plugins:Polite.Missing", "no attribute 'Missing'"),
        (GREETERS, "tests.test_plugins.Needy", "without arguments: TypeError: .*'name'"),
        (COUNTERS, "tests.test_plugins.Lazy", "it has no count; write what"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(kind, name, message):
    with pytest.raises(ConfigurationError, match=message):
        kind.make(name, "GREETER")


def test_a_module_that_fails_on_import_says_how(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "broken_pack", "1 / 0\n")
    with pytest.raises(ConfigurationError, match="raised ZeroDivisionError: division by zero"):
        GREETERS.load("broken_pack.Thing", "GREETER")


@pytest.mark.parametrize("text", ["word", "a b.c", "../x.y", "a.", ".a", "", "a..b", "a.1"])
def test_what_is_no_import_path_is_known(text):
    assert not is_import_path(text)


def test_an_installed_scorer_can_be_named_in_the_settings(tmp_path, monkeypatch):
    source = (
        "from bilingual_crawler.scoring.scorer import LinkScorer\n"
        "class Flat(LinkScorer):\n"
        "    def score(self, document, links):\n"
        "        return [0.5] * len(links)\n"
    )
    install(tmp_path, monkeypatch, "flat_pack", source, scorers="flat = flat_pack:Flat")
    config = Config.from_settings({"BILINGUAL_SCORER": "flat"})
    scorer = make_scorer(config.scorer, parse_languages("en,fr"), NothingYet(), config)
    assert type(scorer).__name__ == "Flat"


def test_a_scorer_that_is_not_installed_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="must be one of adaptive, smart"):
        Config.from_settings({"BILINGUAL_SCORER": "flat"})
