"""Progress: the line in the log, the live display, and who gets which."""

import contextlib
import io
import logging
import os
import pty
import re
import select
import signal
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import pytest
import scrapy.utils.log
from rich.console import Console
from scrapy.settings import Settings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.extensions.reporter import LogDisplay, make_display
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.reporting.forecast import CrawlForecast, Forecast, Range
from bilingual_crawler.reporting.progress import (
    ConsoleHandler,
    LiveDisplay,
    Pace,
    Progress,
    Throttled,
    progress_line,
    render,
)
from bilingual_crawler.reporting.terminal import duration, plain
from tests.support import processes
from tests.support.crawling import ROOT, command
from tests.support.processes import HANG
from tests.support.servers import serve_demo

LANGS = LanguagePair.parse("spa-eus")
HOSTILE = "http://a.org/[red]\x1b[2J\x1b]0;owned\x07\r\n\u202e"
PROGRESS = Progress(
    langs=LANGS,
    pages=120,
    pages_a_second=3.21,
    waiting=45,
    documents={"eus": 48, "spa": 60},
    other_pages=12,
    pairs=37,
    best=("https://a.org/eu/", 0.8),
    last_pair=("https://a.org/es/1", "https://a.org/eu/1"),
    seconds=3723,
)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def drawn(progress, width=80, **options):
    console: Any = Console(file=io.StringIO(), width=width, highlight=False, **options)
    console.print(render(progress))
    return console.file.getvalue()


# The line


def test_the_line_tells_pages_queue_languages_pairs_and_what_comes_next():
    assert progress_line(PROGRESS) == (
        "120 pages (3.2/s), 45 waiting, spa 60, eus 48, 37 pairs (30.8 per 100 pages),"
        " best waiting https://a.org/eu/ (0.80)"
    )


def test_a_crawl_that_meets_only_redirects_does_not_look_hung():
    busy = replace(PROGRESS, pages_a_second=0.0, answers_a_second=7.5)
    assert "(0.0/s, 7.5 redirects and errors/s)" in progress_line(busy)
    assert "redirects" not in progress_line(replace(PROGRESS, answers_a_second=7.5))


def test_the_line_before_the_first_page_has_both_languages():
    assert progress_line(Progress(langs=LANGS)) == (
        "0 pages (0.0/s), 0 waiting, spa 0, eus 0, 0 pairs (0.0 per 100 pages)"
    )


def test_the_line_and_the_display_have_the_forecast():
    expected = Forecast(Range(180, 220, 260), Range(700, 900, 1200))
    progress = replace(PROGRESS, forecast=CrawlForecast(expected, {"a.org": expected}, 0))
    assert ", forecast 180-260 pairs in about 900 pages, best" in progress_line(progress)
    assert "180-260 pairs in about 900 pages" in drawn(progress)


def test_before_there_is_a_forecast_only_the_display_says_when():
    progress = replace(PROGRESS, forecast=CrawlForecast(None, {}, 1))
    assert "forecast" not in progress_line(progress)
    assert "after 24 pages of a site" in drawn(progress)


def test_a_waiting_seed_is_called_a_seed():
    assert progress_line(Progress(langs=LANGS, best=("http://a.org/", float("inf")))).endswith(
        "best waiting http://a.org/ (seed)"
    )


def test_a_hostile_url_stays_on_its_line():
    line = progress_line(Progress(langs=LANGS, best=(HOSTILE, 1.0)))
    assert line.isprintable()


# Figures


def test_the_pace_is_that_of_the_last_half_minute():
    clock = Clock()
    pace = Pace(clock)
    for second in range(1, 101):
        clock.now += 1
        rate = pace.at(10 * second)
    assert rate == pytest.approx(10)
    for _ in range(40):
        clock.now += 1
        rate = pace.at(1000)
    assert rate == 0


def test_the_pace_before_any_time_has_passed_is_nothing():
    assert Pace(Clock()).at(5) == 0.0


def test_a_figure_is_not_found_anew_within_its_time():
    clock = Clock()
    figure = Throttled(partial(next, count(1)), 1.0, clock)
    values = []
    for _ in range(20):
        values.append(figure())
        clock.now += 0.125
    assert values == [1] * 8 + [2] * 8 + [3] * 4


def test_a_costly_figure_is_asked_for_less_often():
    clock, asked = Clock(), []

    def slow():
        asked.append(clock.now)
        clock.now += 0.5

    figure = Throttled(slow, 1.0, clock)
    for _ in range(100):
        figure()
        clock.now += 1.0
    assert len(asked) == 2


def test_durations_read_like_a_clock():
    assert [duration(s) for s in (0.4, 61, 3723)] == ["0:00", "1:01", "1:02:03"]


# The live display


def test_the_display_shows_everything_that_matters():
    text = drawn(PROGRESS)
    for part in (
        "Spanish and Basque",
        "1:02:03",
        "120 pages",
        "3.2/s",
        "45 waiting",
        "37 pairs",
        "30.8 per 100 pages",
        "0.80  https://a.org/eu/",
        "https://a.org/es/1",
        "https://a.org/eu/1",
    ):
        assert part in text
    assert re.search(r"spa +60 .* 50%", text)
    assert re.search(r"other +12 .* 10%", text)


@pytest.mark.parametrize("width", [8, 20, 40, 200])
def test_the_display_fits_any_width_without_wrapping(width):
    lines = drawn(PROGRESS, width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == len(drawn(PROGRESS, 200).splitlines())


def test_the_display_obeys_no_color(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = drawn(PROGRESS, force_terminal=True)
    assert not re.search(r"\x1b\[[\d;]*[34]\d", text)


def test_urls_can_neither_draw_nor_style_the_display():
    hostile = Progress(langs=LANGS, best=(HOSTILE, 1.0), last_pair=(HOSTILE, HOSTILE))
    text = drawn(hostile, width=120)
    assert not set("\x1b\x07\r\u202e") & set(text)
    assert "[red]" in text


def test_plain_text_passes_as_it_is():
    assert plain("https://a.org/ñ?q=日本") == "https://a.org/ñ?q=日本"


# Above the display


def printed(level, message="the message", name="scrapy.core", **options):
    console: Any = Console(file=io.StringIO(), width=80)
    handler = ConsoleHandler(console)
    handler.setLevel(logging.INFO)
    record = logging.LogRecord(name, level, "file", 1, message, (), options.get("exc_info"))
    handler.handle(record)
    return console.file.getvalue()


def test_only_warnings_are_printed_above_the_display():
    assert printed(logging.INFO) == ""
    assert printed(logging.WARNING) == "WARNING: the message\n"


def test_the_answer_to_ctrl_c_is_printed_above_the_display():
    assert "shutting down" in printed(logging.INFO, "shutting down", name="scrapy.crawler")


def test_a_traceback_is_left_to_the_log():
    error = ValueError("broken")
    text = printed(logging.ERROR, exc_info=(ValueError, error, None))
    assert text == "ERROR: the message (the log has the details)\n"


def test_a_warning_with_escapes_is_printed_without_them():
    text = printed(logging.WARNING, f"No page from {HOSTILE}")
    assert not set("\x1b\x07\r\u202e") & set(text)
    assert "[red]" in text


# Who gets which display


def test_the_log_gets_the_progress_where_there_is_no_terminal(tmp_path):
    display = make_display(Config(progress_seconds=7), tmp_path, Settings())
    assert isinstance(display, LogDisplay)
    assert display.seconds == 7


def test_progress_can_be_switched_off(tmp_path):
    assert make_display(Config(progress="off"), tmp_path, Settings()).seconds == 0


def test_asking_for_a_live_display_without_a_terminal_is_answered(tmp_path, caplog):
    display = make_display(Config(progress="live"), tmp_path, Settings())
    assert isinstance(display, LogDisplay)
    assert "needs a terminal" in caplog.text


@contextlib.contextmanager
def terminal(term="xterm"):
    """A stderr that is a terminal, in a process whose log is Scrapy's."""
    leader, follower = pty.openpty()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(follower, "w") as stream:
        patch.setattr("sys.stderr", stream)
        patch.setenv("TERM", term)
        scrapy.utils.log.install_scrapy_root_handler(Settings())
        try:
            yield
        finally:
            scrapy.utils.log._uninstall_scrapy_root_handler()
            for handler in [h for h in logging.root.handlers if isinstance(h, ConsoleHandler)]:
                logging.root.removeHandler(handler)
            LiveDisplay.active = False
            os.close(leader)


def test_a_terminal_gets_the_live_display_and_the_log_goes_to_a_file(tmp_path):
    with terminal():
        display = make_display(Config(), tmp_path, Settings({"LOG_LEVEL": "INFO"}))
        logging.getLogger("scrapy").info("into the file")
    assert isinstance(display, LiveDisplay)
    assert "[scrapy] INFO: into the file" in (tmp_path / "crawl.log").read_text(encoding="utf-8")


def test_two_crawls_of_a_process_do_not_share_the_terminal(tmp_path):
    with terminal():
        make_display(Config(), tmp_path, Settings())
        assert isinstance(make_display(Config(), tmp_path, Settings()), LogDisplay)


def test_a_log_file_of_the_users_own_stays(tmp_path):
    settings = Settings({"LOG_FILE": str(tmp_path / "mine.log")})
    with terminal():
        assert isinstance(make_display(Config(), tmp_path, settings), LiveDisplay)
    assert settings["LOG_FILE"] == str(tmp_path / "mine.log")


def test_a_dumb_terminal_gets_lines(tmp_path):
    with terminal("dumb"):
        assert isinstance(make_display(Config(), tmp_path, Settings()), LogDisplay)


# Whole crawls


def on_a_terminal(arguments, until=None, then=None):
    """Run a command on a pseudo-terminal; when it has printed `until`, press Ctrl-C, do `then`."""
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    process = processes.start(
        arguments, cwd=ROOT, stdin=follower, stdout=follower, stderr=follower, env=environment,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while select.select([leader], [], [], HANG)[0]:
        try:
            data = os.read(leader, 1 << 16)
        except OSError:
            break
        shown += data
        if until is not None and until.search(shown.decode(errors="replace")):
            os.killpg(process.pid, signal.SIGINT)
            until = None
            then()
    os.close(leader)
    assert process.wait(HANG) == 0
    return shown.decode()


@pytest.mark.crawl
def test_a_crawl_on_a_terminal_is_shown_live_and_logged_to_its_folder(tmp_path):
    with serve_demo() as site:
        shown = on_a_terminal(command(site.url, tmp_path, settings={"BILINGUAL_PROGRESS": "auto"}))
    log = (tmp_path / "crawl.log").read_text(encoding="utf-8")
    assert "\x1b[?25l" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    assert "per 100 pages" in shown
    assert "Spider opened" not in shown
    assert "[scrapy.core.engine] INFO: Spider opened" in log
    assert "\x1b" not in log
    assert shown.rindex("crawl.log") > shown.rindex("\x1b[?25h")


@pytest.mark.crawl
def test_ctrl_c_on_the_live_display_is_answered_and_ends_with_the_way_to_go_on(tmp_path):
    settings = {"BILINGUAL_PROGRESS": "auto"}
    with serve_demo(pages=60) as site:
        site.hold(after=80)
        arguments = command(site.url, tmp_path, settings=settings)
        shown = on_a_terminal(arguments, until=re.compile("last pair"), then=site.release)
    assert "Received SIGINT, shutting down gracefully" in shown
    assert "It was stopped by Ctrl-C or a signal. To resume:" in shown
    assert f"output={tmp_path}" in shown[shown.rindex("To resume:") :]


@pytest.mark.crawl
def test_a_crawl_without_a_terminal_logs_its_progress(tmp_path):
    settings = {
        "BILINGUAL_PROGRESS": "auto",
        "BILINGUAL_PROGRESS_SECONDS": 0.5,
        "DOWNLOAD_DELAY": 0.02,
    }
    with serve_demo() as site:
        arguments = command(site.url, tmp_path, settings=settings)
        done = processes.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(
        r"INFO: \d+ pages \(\d+\.\d/s\), \d+ waiting, spa \d+, eus \d+, \d+ pairs", done.stderr
    )
    assert "\x1b" not in done.stderr
    assert not (tmp_path / "crawl.log").exists()
