"""What holds for every test: it leaves no process behind, and no clock makes it fail.

Hypothesis measures how long examples take, and fails tests that are slow. That says more about
the machine than about the code, so no test has a deadline. Where CI is set, examples are drawn
the same way each time: a change is to blame when its build fails, not a new draw. Everywhere
else they are new each time, and `make fuzz` looks much further.
"""

import os
import uuid

import pytest
from hypothesis import HealthCheck, settings

from tests.support import forked, processes

settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("steady-ci", settings.get_profile("steady"), derandomize=True)
settings.load_profile("steady-ci" if os.environ.get("CI") else "steady")


def pytest_configure(config):
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads that wait for each other slow others
    config.began_the_run = processes.MARK not in os.environ
    os.environ.setdefault(processes.MARK, uuid.uuid4().hex)


def pytest_collection_modifyitems(items):
    """Run files with whole crawls first: what takes longest should not be begun last."""
    crawling = {item.path for item in items if item.get_closest_marker("crawl")}
    items.sort(key=lambda item: item.path not in crawling)


@pytest.fixture(autouse=True, scope="module")
def _leaves_no_process_behind():
    """Fail when a file leaves a process behind, and end it."""
    before = processes.descendants()
    yield
    after = processes.descendants()
    if left := processes.kill(each for pid, each in after.items() if pid not in before):
        pytest.fail("processes were left behind:\n" + "\n".join(left))


@pytest.fixture(autouse=True)
def _ends_what_it_starts():
    """End the processes that a test has started, whether it passes or fails.

    Fixtures that are shared by many tests are made before this one, so theirs stay.
    """
    before = processes.known()
    yield
    processes.end_all(but=before)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail when a process of this run is left anywhere, even an orphan of a killed worker."""
    forked.end_servers()
    if not session.config.began_the_run:
        return
    if left := processes.kill(processes.of_run(os.environ[processes.MARK])):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print("\nProcesses were left behind:", *left, sep="\n")  # noqa: T201
