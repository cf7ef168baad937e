"""What the image and the compose file say fits the project, and is safe as it stands.

No image is built here: that takes a Docker daemon. What can be read is checked.
"""

import argparse
import configparser
import fnmatch
import os
import re
import subprocess
import tomllib
from dataclasses import fields

import pytest
from scrapy.settings import Settings

from bilingual_crawler.commands.serve import ServeCommand
from bilingual_crawler.config.settings import Config
from bilingual_crawler.frontier.shared.link import PASSWORD
from tests.support.processes import HANG
from tests.support.projects import ROOT

yaml = pytest.importorskip("yaml")

DOCKERFILE = (ROOT / "Dockerfile").read_text()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def requirements(extra):
    """What an extra installs, with the extras that it names itself."""
    for each in EXTRAS[extra]:
        if inner := re.fullmatch(r"bilingual-crawler\[(.+)\]", each):
            for name in inner[1].split(","):
                yield from requirements(name)
        else:
            yield re.match(r"[\w.-]+", each)[0].lower()


def test_the_image_installs_extras_that_exist_and_nothing_that_trains():
    extras = [*re.search(r"extras=(\S+)", DOCKERFILE)[1].split(","), "render"]
    installed = {name for extra in extras for name in requirements(extra)}
    assert {"scrapyd", "redis", "prometheus-client", "onnxruntime"} <= installed
    assert installed.isdisjoint({"torch", "transformers"})


def test_what_the_image_copies_is_there_and_not_ignored():
    *_, last = (ROOT / ".dockerignore").read_text().partition("*\n")
    let_in = {line[1:] for line in last.splitlines() if line.startswith("!")}
    kept_out = [line for line in last.splitlines() if line[:1] not in ("!", "#", "")]
    for words in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        for source in words.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert source.partition("/")[0] in let_in, source
            assert not any(fnmatch.fnmatch(source, pattern) for pattern in kept_out)


def test_the_image_runs_as_nobody_in_particular_and_on_loopback():
    lines = DOCKERFILE.splitlines()
    user = lines.index("USER 10001")
    assert any(line.startswith("RUN useradd --uid 10001") for line in lines[:user])
    assert not any(line.startswith("USER") for line in lines[user + 1 :])
    assert "BIND_ADDRESS=" not in DOCKERFILE
    assert "PASSWORD=" not in DOCKERFILE


def test_the_project_of_the_image_is_the_one_that_is_deployed():
    cfg, image = configparser.ConfigParser(interpolation=None), configparser.ConfigParser()
    cfg.read(ROOT / "scrapy.cfg")
    image.read(ROOT / "deploy" / "image.conf")
    assert dict(image["settings"]) == {cfg["deploy"]["project"]: cfg["settings"]["default"]}


def test_systemd_tells_the_crawls_and_gives_them_their_time():
    unit = configparser.ConfigParser(interpolation=None)
    unit.read(ROOT / "deploy" / "scrapyd.service")
    service = unit["Service"]
    assert service["KillMode"] == "control-group"
    assert float(service["TimeoutStopSec"]) > Config().stop_seconds
    assert service["ReadWritePaths"] == service["WorkingDirectory"]
    assert "User" in service
    assert "Environment" not in service


def test_redis_has_a_password_forgets_nothing_and_is_reached_by_neighbours_alone(services):
    redis = services["redis"]
    command = redis["command"][-1]
    for option in ("--appendonly yes", "--maxmemory-policy noeviction", "--requirepass"):
        assert option in command
    assert "ports" not in redis
    assert redis["volumes"] == ["redis:/data"]


def test_every_port_is_published_on_loopback_alone(services):
    ports = [port for each in services.values() for port in each.get("ports", ())]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_nothing_starts_without_a_password(services):
    given = {
        name: value
        for each in services.values()
        for name, value in each.get("environment", {}).items()
    }
    assert given["SCRAPYD_PASSWORD"].startswith("${SCRAPYD_PASSWORD:?")
    assert given[PASSWORD].startswith("${REDIS_PASSWORD:?")


def test_containers_of_the_crawler_can_write_their_data_and_nothing_else(services):
    for name in ("scrapyd", "web"):
        service = services[name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["volumes"] == ["data:/data"]
    assert int(services["scrapyd"]["stop_grace_period"].removesuffix("s")) > Config().stop_seconds


def test_the_web_page_is_started_with_options_that_it_has(services):
    scrapy, serve, *words = services["web"]["command"]
    parser = argparse.ArgumentParser()
    command = ServeCommand()
    command.settings = Settings()
    command.add_options(parser)
    known, others = parser.parse_known_args(words)
    assert [scrapy, serve, *others] == ["scrapy", "serve", "/data/crawls/${CRAWL:-}"]
    assert (known.port, known.no_browser, known.token) == (8000, True, "${WEB_TOKEN:-}")


def test_workers_of_the_manifest_have_what_they_name_and_are_not_complete_if_stopped(tmp_path):
    parts = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text()))
    kinds = {each["kind"]: each for each in parts}
    pod = kinds["Job"]["spec"]["template"]["spec"]
    (worker,) = pod["containers"]
    named = {text.partition("=")[0] for text in worker["args"] if text.startswith("BILINGUAL_")}
    assert {name.removeprefix("BILINGUAL_").lower() for name in named} <= {
        field.name for field in fields(Config)
    }
    assert {each["name"] for each in worker["volumeMounts"]} == {
        each["name"] for each in pod["volumes"]
    }
    script = tmp_path / "scrapy"
    script.write_text(
        "#!/bin/sh\n"
        "trap 'kill $!; exit 0' TERM\n"
        'echo "$@"\n'
        'if [ -n "$4" ]; then sleep 60 & wait; fi\n'
    )
    script.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([*worker["command"], "-a"], env=path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"crawl bilingual -a\n")
    words = [*worker["command"], "-a", "busy"]
    with subprocess.Popen(words, env=path, stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        busy.terminate()
        assert busy.wait(HANG) == 143
    (redis,) = kinds["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    assert {"--appendonly", "--requirepass", "noeviction"} <= set(redis["args"])
