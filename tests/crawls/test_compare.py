"""`scrapy compare`: whole comparisons, on a served site and on a recording."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.support import processes
from tests.support.crawling import FAST, ROOT
from tests.support.processes import HANG
from tests.support.recordings import ARTICLES, opaque_site, write_warc
from tests.support.servers import serve_demo
from tests.support.typed_commands import typed

pytestmark = pytest.mark.crawl

SITE = "127.0.0.1"
ARMS = ("breadth_first", "adaptive")


def compare(*words, status=0):
    process = begin(*words)
    try:
        out, err = process.communicate(timeout=HANG)
    finally:
        processes.end(process)
    assert process.returncode == status, err
    return out, err


def begin(*words):
    command = [sys.executable, "-m", "scrapy", "compare", "-a", "langs=spa-eus", "--json"]
    settings = [word for name, value in FAST.items() for word in ("-s", f"{name}={value}")]
    return processes.start(
        [*command, *map(str, words), *settings],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )


def figures(out):
    return {line["site"]: line["arms"] for line in map(json.loads, out.splitlines())}


def test_arms_are_compared_on_a_served_site_and_go_on_after_a_stop(tmp_path):
    with serve_demo() as server:
        words = ["-a", f"seeds={server.url}", "--pages", "60", "--out", tmp_path / "out"]
        words += ["--arms", ",".join(ARMS)]
        server.hold(after=20)
        stopped = begin(*words)
        server.wait_for_requests(20, stopped)
        stopped.send_signal(signal.SIGINT)
        server.release()
        stopped.communicate(timeout=HANG)
        assert not list((tmp_path / "out").glob(f"{SITE}/*/downloads.txt"))
        out, err = compare(*words)
        asked = len(server.paths())
        again, _ = compare(*words)
        assert len(server.paths()) == asked, "what has ended is not crawled again"
    assert figures(again) == figures(out)
    found = figures(out)[SITE]
    assert figures(out)["all"] == found
    for arm in ARMS:
        assert f"{SITE}, {arm}: begins" in err
        assert 0 < found[arm]["downloads"] <= 60
        assert found[arm]["sentences"][-1] >= found[arm]["documents"][-1] > 0
    assert found["adaptive"]["documents"][-1] > found["breadth_first"]["documents"][-1]
    assert (tmp_path / "out" / "figures.png").stat().st_size > 0
    with pytest.raises(AssertionError, match="holds a comparison with other arms"):
        compare(*words[:-1], "language", status=0)


def test_recordings_are_replayed_and_judged_by_the_same_corpus(tmp_path):
    recording = write_warc(tmp_path / "opaque.warc.gz", opaque_site())
    words = ("--recordings", recording, "--arms", "breadth_first,rules", "--out", tmp_path / "out")
    out, _ = compare(*words)
    found = figures(out)["opaque"]
    assert found["breadth_first"]["downloads"] == found["rules"]["downloads"]
    assert found["breadth_first"]["documents"][-1] == found["rules"]["documents"][-1] >= ARTICLES
    assert sum(found["rules"]["documents"]) > sum(found["breadth_first"]["documents"])
    assert figures(compare(*words)[0]) == figures(out)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--out", "x"], "say how long each arm may crawl each site"),
        (["--pages", "5"], "name the folder of the comparison"),
        (["--pages", "5", "--out", "x", "--arms", "fast"], "There is no arm 'fast'"),
        (["--pages", "5", "--out", "x", "-a", "output=y"], "-a output is not an argument"),
    ],
)
def test_a_mistake_is_explained(capsys, words, sentence):
    status, out, err = typed(capsys, "compare", "-a", "langs=spa-eus", *words)
    assert status != 0
    assert sentence in f"{status}{out}{err}"
