"""A real scrapyd on loopback, with authentication, in a folder of its own."""

import base64
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.support import processes
from tests.support.processes import HANG, wait_until
from tests.support.projects import ROOT

PROJECT = "bilingual_crawler"
USERNAME, PASSWORD = "crawler", "only for tests"


@dataclass(frozen=True)
class Scrapyd:
    url: str
    folder: Path

    def ask(self, service, *, password=PASSWORD, **question):
        """What a service answers; a question with values is sent as `curl -d` sends it."""
        return self._call(f"{service}.json?{urllib.parse.urlencode(question)}", None, password)

    def tell(self, service, *settings, **values):
        """Send a form, with `setting=NAME=VALUE` for each setting."""
        form = [*values.items(), *(("setting", each) for each in settings)]
        return self._call(f"{service}.json", urllib.parse.urlencode(form).encode(), PASSWORD)

    def _call(self, what, data, password):
        request = urllib.request.Request(self.url + what, data)
        secret = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
        request.add_header("Authorization", f"Basic {secret}")
        with urllib.request.urlopen(request, timeout=HANG) as response:
            return json.load(response)

    def wait_until(self, job, state):
        """Poll until a job is pending, running or finished, as a user does."""
        try:
            wait_until(lambda: self.ask("status", job=job).get("currstate") == state)
        except AssertionError as error:
            raise AssertionError(f"the job is not {state}:\n{self.log(job)}") from error

    def is_up(self):
        try:
            return self.ask("daemonstatus")
        except OSError:
            return False

    def log(self, job):
        path = self.folder / "logs" / PROJECT / "bilingual" / f"{job}.log"
        return path.read_text() if path.exists() else "(no log)"


@contextlib.contextmanager
def serve_scrapyd(folder):
    """The shipped configuration, on a free port and polling more often than a user needs."""
    folder.mkdir()
    shutil.copy(ROOT / "deploy" / "scrapyd.conf", folder)
    conf = folder / "scrapyd.conf"
    conf.write_text(re.sub(r"(?m)^(poll_interval *=).*", r"\1 0.2", conf.read_text()))
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    with (
        (folder / "scrapyd.log").open("w") as log,
        processes.started(
            [sys.executable, "-m", "scrapyd", "--pidfile="],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "SCRAPYD_HTTP_PORT": str(port),
                "SCRAPYD_USERNAME": USERNAME,
                "SCRAPYD_PASSWORD": PASSWORD,
            },
        ) as process,
    ):
        server = Scrapyd(url, folder)
        wait_until(server.is_up, process)
        yield server


def deploy(server, project, version):
    """What `make deploy` does, from a copy of the project."""
    cfg = project / "scrapy.cfg"
    cfg.write_text(cfg.read_text().replace("http://127.0.0.1:6800/", server.url))
    return subprocess.run(
        [sys.executable, "-m", "scrapyd_client.deploy", "--version", version],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SCRAPYD_USERNAME": USERNAME, "SCRAPYD_PASSWORD": PASSWORD},
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
