"""Programs that are forked from a process which has imported Scrapy and this package already.

Most of what a short crawl costs is its start: a second of processor time for imports. Here a
process imports once, and then forks for each program that a test starts. Such a program has what
a new process has: a number, session, environment, folder, standard streams and exit status of its
own, and it is a child of the tests. Two processes fork in turn, because each has its own seed for
hashes: a crawl that is resumed must not depend on the one it was begun with.

Programs that need a start of their own get one: those with limits or with settings of the
interpreter, and all of them on systems without `prctl` or with TESTS_FORK=0.
"""

import ctypes
import gc
import importlib
import io
import itertools
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAMS = {"scrapy", "demo.server", "tests.support.hostile", "tests.support.synthetic_web.server"}
MODULES = ["twisted.internet.asyncioreactor", "scrapy.cmdline", "scrapy.logformatter", "rich.live"]
MODULES += ["scrapy.extensions.telnet", "scrapy.extensions.throttle", "bilingual_crawler.addon"]
PACKAGES = [
    *("scrapy.commands", "scrapy.downloadermiddlewares", "scrapy.spidermiddlewares"),
    *("bilingual_crawler.commands", "bilingual_crawler.crawl", "bilingual_crawler.spiders"),
    *("bilingual_crawler.crawl.extensions", "bilingual_crawler.crawl.fetching"),
    *("bilingual_crawler.reporting", "bilingual_crawler.scoring"),
    *("bilingual_crawler.scoring.adaptive", "tokenizers"),
]
"""None of them starts a thread; onnxruntime does, so it is left to those who need it."""
OPTIONS = {"cwd", "env", "stdin", "stdout", "stderr", "text"}
READ_ONCE = ("PYTHON", "LANG", "LC_", "LD_", "OMP_")
"""How variables begin that interpreters and libraries read when they start."""
SERVERS = 2
LARGEST = 180_000
"""Bytes of a message with arguments and environment: what one packet holds."""
_PARENT_DEATH_SIGNAL, _CHILD_SUBREAPER = 1, 36  # of prctl


def can_fork(command, **options):
    """Return True for a program that is prepared, and is started without peculiarities."""
    environment = options.get("env")
    return (
        len(command) > 2
        and [*command[:2]] == [sys.executable, "-m"]
        and command[2] in PROGRAMS
        and options.keys() <= OPTIONS
        and os.environ.get("TESTS_FORK") != "0"
        and sys.platform == "linux"
        and _read_once(os.environ if environment is None else environment) == _servers().read_once
    )


class Forked(subprocess.Popen[Any]):
    """A process that is forked by a server; whoever has it sees no difference."""

    def _execute_child(self: Any, args, *given):
        cwd, env, pipes = given[4], given[5], given[9:15]  # see subprocess.py
        ends = (pipes[0], pipes[3], pipes[5])
        request = {
            "args": args[2:],
            "cwd": os.fspath(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
        }
        streams = [own if end == -1 else end for own, end in enumerate(ends)]
        self.pid = _servers().fork(request, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)


class _Servers:
    """The processes that fork, in turn; they end with this one, which closes their channels."""

    def __init__(self):
        self._environment = dict(os.environ)
        self.read_once = _read_once(self._environment)
        self.processes = {}
        self._turns = itertools.cycle(range(SERVERS))
        self._one_at_a_time = Lock()
        self._channels = {}

    def fork(self, request, streams):
        """Let the next server fork; the number of the new process, which is a child of ours."""
        with self._one_at_a_time:
            number = next(self._turns)
            if number not in self._channels:
                self._channels[number] = self._start(number)
            channel = self._channels[number]
            prctl(_CHILD_SUBREAPER, 1)  # for this moment, or other orphans would come to us too
            try:
                socket.send_fds(channel, [json.dumps(request).encode()], streams)
                answer = channel.recv(100)
            finally:
                prctl(_CHILD_SUBREAPER, 0)
        if not answer:
            raise RuntimeError("the process that forks programs for tests has ended")
        return int(answer)

    def end(self):
        for channel in self._channels.values():
            channel.close()
        for process in self.processes.values():
            process.kill()
            process.wait()
        self._channels.clear()
        self.processes.clear()

    def _start(self, number):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.processes[number] = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        return ours


@cache
def _servers():
    return _Servers()


def servers():
    """The numbers of the processes that fork: they may stay until the tests are over."""
    return {process.pid for process in _servers().processes.values()}


def end_servers():
    """End the processes that fork."""
    _servers().end()


def prctl(option, value):
    """Set an attribute of this process."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl failed")


def _read_once(environment):
    return {name: value for name, value in environment.items() if name.startswith(READ_ONCE)}


def _serve(channel):
    """Fork for each request; returns in the forked process alone, with what it is to run."""
    tests = os.getppid()
    for name in [*MODULES, *_modules_of(PACKAGES)]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        message, streams, _, _ = socket.recv_fds(channel, LARGEST, 3)
        if not message:
            sys.exit()
        reading, writing = os.pipe()
        if not (between := os.fork()):
            if forked := os.fork():
                os.write(writing, str(forked).encode())
                os._exit(0)
            channel.detach()  # closed with everything else
            request = json.loads(message)
            _become(request, streams, tests)
            return request["args"]
        os.close(writing)
        os.waitpid(between, 0)  # now the forked one is an orphan, and comes to the tests
        channel.send(os.read(reading, 100))
        for each in (reading, *streams):
            os.close(each)


def _become(request, streams, tests):
    """Make this process what a new one would be."""
    while os.getppid() != tests:
        time.sleep(0.0005)
    prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    _open_standard_streams()
    sys.path[0] = request["cwd"]
    sys.orig_argv = [sys.executable, "-m", *request["args"]]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]


def _open_standard_streams():
    """Text streams like those that this interpreter began with."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        raw: Any = io.FileIO(number, "w" if number else "r", closefd=False)
        if not old.write_through:
            raw = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        stream = io.TextIOWrapper(
            raw,
            old.encoding,
            old.errors,
            line_buffering=number == 2 or os.isatty(number),
            write_through=old.write_through,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _modules_of(packages):
    for name in packages:
        package = importlib.import_module(name)
        yield from (each.name for each in pkgutil.iter_modules(package.__path__, f"{name}."))


if __name__ == "__main__":
    sys.argv = _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
