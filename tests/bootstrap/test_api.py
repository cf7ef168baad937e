"""How a server is asked: one question after the other, again when it says so, within limits."""

import socket
import time
from email.utils import formatdate

import pytest

from bilingual_crawler.bootstrap import api_wiki
from bilingual_crawler.bootstrap.api_wiki import ApiClient, RequestPolicy
from bilingual_crawler.errors import ConfigurationError
from tests.support.wiki_world import WikiServer

MANNERS = RequestPolicy(user_agent="test", delay=0.0, retries=2, first_wait=3.0, requests=10)
LAGGED = {"error": {"code": "maxlag", "info": "Waiting for db1: 7 seconds lagged", "lag": 7}}


def client(server, waits, policy=MANNERS):
    return ApiClient(server.url.replace("{lang}", "en"), policy, sleep=waits.append)


def titles(asked):
    query = {"list": "categorymembers", "cmtitle": "Category:Ballet", "cmtype": "page"}
    parts = asked.query(**query)
    return [each["title"] for part in parts for each in part["categorymembers"]]


def refused(server, sentence, policy=MANNERS):
    with pytest.raises(ConfigurationError, match=sentence):
        titles(client(server, [], policy))


def waited(waits):
    return [wait for wait in waits if wait]


def test_an_answer_in_parts_is_asked_for_to_its_end():
    with WikiServer() as server:
        found = titles(client(server, []))
    assert found == ["Ballet", "Choreography", "List of ballets", "Pointe shoe", "Balet"]
    assert [asked.get("cmcontinue") for _, asked, _ in server.asked] == [None, "2", "4"]
    assert all(asked["maxlag"] == "5" for _, asked, _ in server.asked)


@pytest.mark.parametrize(
    "trouble",
    [
        (200, {"Retry-After": "7"}, LAGGED),
        (429, {"Retry-After": "7"}, b"slow down"),
        (503, {"Retry-After": "7"}, b""),
    ],
)
def test_a_server_that_says_when_is_asked_again_then(trouble):
    waits: list[float] = []
    with WikiServer([trouble]) as server:
        assert titles(client(server, waits))
    assert waited(waits) == [7.0]


def test_a_date_is_understood_as_well():
    waits: list[float] = []
    later = formatdate(time.time() + 60, usegmt=True)
    with WikiServer([(503, {"Retry-After": later}, b"")]) as server:
        assert titles(client(server, waits))
    assert 30 < waited(waits)[0] <= 61


def test_without_a_time_each_wait_is_twice_the_last():
    waits: list[float] = []
    with WikiServer([(500, {}, b""), (200, {}, b"<html>no JSON")]) as server:
        assert titles(client(server, waits))
    assert waited(waits) == [3.0, 6.0]


def test_a_server_that_never_answers_is_given_up_in_a_sentence():
    with (
        WikiServer([(503, {}, b"")] * 3) as server,
        pytest.raises(ConfigurationError, match=r"no answer in 3 attempts \(it answered 503"),
    ):
        titles(client(server, []))
    assert len(server.asked) == 3


def test_a_server_that_is_not_there_is_told_in_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nobody = ApiClient(f"http://127.0.0.1:{port}/w/api.php", MANNERS, sleep=lambda _: None)
    with pytest.raises(ConfigurationError, match="no answer in 3 attempts"):
        titles(nobody)


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ((404, {}, b""), "is it the api.php of a MediaWiki"),
        ((200, {}, {"error": {"code": "badvalue", "info": "No such list"}}), "No such list"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(trouble, sentence):
    with WikiServer([trouble]) as server:
        refused(server, sentence)
    assert len(server.asked) == 1


def test_two_questions_are_as_far_apart_as_is_wanted():
    waits: list[float] = []
    policy = RequestPolicy(user_agent="test", delay=5.0)
    with WikiServer() as server:
        titles(client(server, waits, policy))
    assert len(waited(waits)) == 2
    assert all(4.0 < wait <= 5.0 for wait in waited(waits))


def test_the_limit_of_questions_ends_it():
    policy = RequestPolicy(user_agent="test", delay=0.0, requests=2)
    with (
        WikiServer() as server,
        pytest.raises(ConfigurationError, match="limit of 2 requests is reached"),
    ):
        titles(client(server, [], policy))
    assert len(server.asked) == 2


def test_an_answer_that_bursts_when_it_is_unpacked_is_refused(monkeypatch):
    monkeypatch.setattr(api_wiki, "LARGEST_ANSWER", 1000)
    with (
        WikiServer([(200, {}, b" " * 100_000)] * 3) as server,
        pytest.raises(ConfigurationError, match="no answer in 3 attempts"),
    ):
        titles(client(server, []))
