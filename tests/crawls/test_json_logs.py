"""The log as JSON: an object a line, from the first line on, whatever is logged."""

import json
import logging

import pytest

from bilingual_crawler.crawl.extensions.logs import MAX_FIELD, JsonFormatter

HOSTILE = 'a\n{"level": "CRITICAL"}\r\u2028\u202e\x1b[2J\x00\ud800"\\'


def line_of(message, *arguments, error=None, **extra):
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("a.logger", logging.WARNING, "", 1, message, arguments, info)
    record.__dict__.update(extra)
    return JsonFormatter().format(record)


def test_a_record_has_its_time_in_utc_its_level_its_logger_and_its_message():
    record = logging.LogRecord("a.logger", logging.INFO, "", 1, "%d pages", (3,), None)
    record.created = 1_700_000_000.25
    assert json.loads(JsonFormatter().format(record)) == {
        "time": "2023-11-14T22:13:20.250+00:00",
        "level": "INFO",
        "logger": "a.logger",
        "message": "3 pages",
    }


def test_text_of_strangers_stays_within_its_line_and_is_readable_in_it():
    line = line_of("%s", HOSTILE)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["message"] == HOSTILE


def test_an_exception_is_a_field():
    with pytest.raises(ValueError, match="CRITICAL") as raised:
        raise ValueError(HOSTILE)
    found = json.loads(line_of("failed", error=raised.value))
    assert found["exception"] == f"ValueError: {HOSTILE}"
    assert found["traceback"].startswith("Traceback (most recent call last)")


class Request:
    url = "https://www.example.org/es/a?b"


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        ([{"status": 200, "request": Request()}], {}),
        ([Request()], {}),
        (["https://other.example/"], {"url": Request.url}),
    ],
)
def test_the_url_of_a_record_is_found_where_it_is(arguments, extra):
    found = json.loads(line_of("a line %.0s", *arguments, **extra))
    assert (found["url"], found["host"]) == (Request.url, "www.example.org")


def test_a_record_whose_arguments_do_not_fit_is_written_all_the_same():
    assert json.loads(line_of("%d pages", "no number"))["message"] == "%d pages ('no number',)"


def test_a_message_without_end_is_cut():
    assert len(json.loads(line_of("x" * 10 * MAX_FIELD))["message"]) == MAX_FIELD
