"""Two queues take turns: the scheduler of the paper's frontier."""

import pytest

from bilingual_crawler.discovery.learner import Queue
from bilingual_crawler.discovery.turns import TwoQueues

HUB, SITE = Queue.BACKLINK, Queue.FORWARD


def taken(queues, links):
    """Take every link in order; `links` has the queue of each."""
    order, waiting = [], set(links)
    while (head := queues.head(waiting.__contains__)) is not None:
        order.append(head[0])
        waiting.remove(head[0])
        queues.took(links[head[0]])
    return order


def test_the_two_queues_take_turns_and_each_has_its_own_order():
    queues = TwoQueues()
    chances = {1: -0.1, 2: -3.0, 3: -2.0, 11: -9.0, 12: -8.0}
    links = {number: HUB if number > 10 else SITE for number in chances}
    for number, chance in chances.items():
        queues.add(links[number], number, chance)
    assert taken(queues, links) == [12, 1, 11, 3, 2], "a poor hub comes before a good site"


def test_a_queue_that_is_empty_gives_up_its_turn():
    queues = TwoQueues()
    for number in (1, 2, 3):
        queues.add(SITE, number, -1.0)
    assert taken(queues, dict.fromkeys((1, 2, 3), SITE)) == [1, 2, 3], "first come, first served"
    assert queues.head(lambda _: True) is None


def test_a_link_that_is_added_again_comes_in_its_better_place_once():
    queues = TwoQueues()
    queues.add(SITE, 1, -5.0)
    queues.add(SITE, 2, -3.0)
    queues.add(SITE, 1, -1.0)
    assert taken(queues, {1: SITE, 2: SITE}) == [1, 2]


def test_links_can_be_ordered_anew():
    queues = TwoQueues()
    queues.add(SITE, 1, -1.0)
    queues.add(SITE, 2, -2.0)
    queues.clear()
    queues.add(SITE, 1, -2.0)
    queues.add(SITE, 2, -1.0)
    assert queues.head(lambda _: True) == pytest.approx((2, -1.0))
