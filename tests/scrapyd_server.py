"""A real scrapyd on loopback, with authentication, in a folder of its own."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.projects import ROOT

PROJECT = "bilingual_crawler"
USERNAME, PASSWORD = "crawler", "only for tests"
START_SECONDS = 30


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
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def wait_until(self, job, state, seconds=60):
        """Poll until a job is pending, running or finished, as a user does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.ask("status", job=job).get("currstate")
            if found == state:
                return
            time.sleep(0.2)
        raise AssertionError(f"the job is {found} after {seconds} s:\n{self.log(job)}")

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
    with (folder / "scrapyd.log").open("w") as log:
        process = subprocess.Popen(
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
            start_new_session=True,
        )
    try:
        server = Scrapyd(url, folder)
        wait_until_up(server, process)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the crawls that it started
        process.wait()


def wait_until_up(server, process):
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            server.ask("daemonstatus")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError((server.folder / "scrapyd.log").read_text())


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
