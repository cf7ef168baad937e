"""A private redis-server for tests, on a socket in a temporary folder."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests.support import processes
from tests.support.processes import HANG, wait_until

WITHOUT = "there is no redis-server here: install it with sudo apt-get install redis-server"
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason=WITHOUT)


class RedisServer:
    """A server that can be stopped, restarted and paused."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.url = f"unix://{folder}/redis.sock"
        self.client = Redis.from_url(self.url)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server with its data on disk, and wait until it answers."""
        command = ["redis-server", "--port", "0", "--unixsocket", f"{self.folder}/redis.sock"]
        command += ["--dir", str(self.folder), "--save", "", "--appendonly", "yes", *self.options]
        self.process = processes.start(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(self._answers, self.process)

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except RedisError:
            return False

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the server, whatever state it is in."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(HANG)
            processes.end(self.process)
            self.process = None

    @contextlib.contextmanager
    def held_up(self) -> Iterator[None]:
        """Pause the server: it exists but does not answer."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)


@contextlib.contextmanager
def serve_redis(*options: str) -> Iterator[RedisServer]:
    """Run a server for the length of a block; the path of its socket must be short."""
    with tempfile.TemporaryDirectory(prefix="redis-") as name:
        server = RedisServer(Path(name), *options)
        try:
            server.start()
            yield server
        finally:
            server.stop()
            server.client.close()
