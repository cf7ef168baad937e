"""The rules of the search: which links are followed, which pages are hubs, what is learned."""

import math

import pytest

from bilingual_crawler.discovery.graph import MOST_LINKS, out_links
from bilingual_crawler.discovery.learner import NO_PRIORITY, REMEMBERED, HubWorth, Queue, priority
from bilingual_crawler.discovery.site_records import Approach, SiteRecord, Standing
from bilingual_crawler.documents.document import Document, Link
from tests.support.discovery import close, open_search, to, urls, verdict

SEED, HUB = "http://seed.example/", "http://hub.example/links"
A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


@pytest.fixture
def search(tmp_path):
    search, journal = open_search(tmp_path)
    yield search
    close(search, journal)


def never(_url):
    return False


def always(_url):
    return True


def test_only_links_that_leave_the_site_are_edges_and_one_leads_to_a_site():
    document = Document(
        "http://www.own.org/",
        links=[
            Link("http://news.own.org/x"),
            Link(B, "B"),
            Link(f"{B}deeper", "more of B"),
            Link(C),
        ],
    )
    assert [(link.url, link.site) for link in out_links(document)] == [
        (f"{B}deeper", "b.example"),
        (C, "c.example"),
    ]


def test_a_page_that_links_everywhere_has_a_bounded_number_of_edges():
    links = [Link(f"http://s{number}.example/") for number in range(2 * MOST_LINKS)]
    assert len(out_links(Document(A, links=links))) == MOST_LINKS


def test_the_links_of_a_seed_are_followed(search):
    search.seed(SEED)
    assert urls(search.read(SEED, to(A, B))) == [A, B]


def test_the_links_of_a_forward_page_are_not_followed(search):
    search.seed(SEED)
    search.read(SEED, to(A))
    assert search.read(A, to(B, C)) == []


def test_the_backlinks_of_a_bilingual_site_are_read_as_hubs(search):
    verdict(search, A, True)
    (candidate,) = search.backlinks("a.example", [HUB], never)
    assert candidate.queue is Queue.BACKLINK
    assert candidate.approach.url == HUB
    assert urls(search.read(HUB, to(A, B, C))) == [B, C]


def test_a_page_of_the_site_itself_is_no_backlink(search):
    assert search.backlinks("own.org", ["http://www.own.org/about"], never) == []


def test_a_backlink_page_that_was_read_is_not_fetched_again(search):
    search.seed(SEED)
    search.read(SEED, to(A))
    search.read(A, to(B, C))
    verdict(search, B, True)
    assert search.graph.sources_of("b.example", 10) == [A]
    candidates = search.backlinks("b.example", [A], always)
    assert [(each.queue, each.approach.url) for each in candidates] == [(Queue.FORWARD, C)]


def test_a_hub_is_read_once(search):
    assert search.backlinks("a.example", [HUB], never)
    search.read(HUB, to(C))
    assert search.backlinks("b.example", [HUB], never) == []


def test_a_site_is_examined_once(search):
    search.seed(SEED)
    search.read(SEED, to(A))
    search.backlinks("x.example", [HUB], never)
    assert urls(search.read(HUB, to(f"{A}other", B))) == [B]


@pytest.mark.parametrize("strategy", ["forward", "focused"])
def test_the_forward_strategies_follow_the_links_of_every_page(tmp_path, strategy):
    search, journal = open_search(tmp_path, strategy)
    assert urls(search.read(A, to(B))) == [B]
    assert urls(search.read(B, to(C, f"{A}other"))) == [C, f"{A}other"]
    close(search, journal)


def test_before_anything_is_learned_no_link_comes_before_another(tmp_path):
    search, journal = open_search(tmp_path, "classifier", learn_after=10)
    for number in range(20):
        verdict(search, f"http://s{number}.example/", number % 2 == 0, (f"anchor:w{number % 2}",))
    assert search.priority(Queue.FORWARD, Approach("http://x.org/", ("anchor:w0",))) == NO_PRIORITY
    assert [search.learner.page_read() for _ in range(20)] == ([False] * 9 + [True]) * 2
    good, bad = (search.priority(Queue.FORWARD, Approach(A, (f"anchor:w{n}",))) for n in (0, 1))
    assert good > bad
    close(search, journal)


def test_without_classifiers_nothing_is_ever_learned(search):
    for number in range(20):
        verdict(search, f"http://s{number}.example/", number % 2 == 0, (f"anchor:w{number % 2}",))
        assert not search.learner.page_read()
    assert search.priority(Queue.FORWARD, Approach("http://x.org/", ("anchor:w0",))) == NO_PRIORITY


def hub_labels(search):
    """What the classifier of backlinks was taught: bad hubs, good hubs."""
    return search.learner._classifiers[Queue.BACKLINK].examples


def classifier_search(tmp_path):
    search, journal = open_search(tmp_path, "classifier")
    search.backlinks("cause.example", [HUB], never)
    return search, journal


def test_a_hub_is_good_if_it_links_to_another_bilingual_site(tmp_path):
    search, journal = classifier_search(tmp_path)
    verdict(search, B, True)
    search.read(HUB, to("http://cause.example/", B))
    assert hub_labels(search) == (0, 1)
    close(search, journal)


def test_the_site_it_was_found_by_does_not_make_a_hub_good(tmp_path):
    search, journal = classifier_search(tmp_path)
    verdict(search, "http://cause.example/", True)
    search.read(HUB, to("http://cause.example/"))
    assert hub_labels(search) == (1, 0)
    close(search, journal)


def test_a_hub_is_good_when_one_of_its_links_turns_out_bilingual_and_bad_when_none_does(tmp_path):
    search, journal = classifier_search(tmp_path)
    search.read(HUB, to(A, B, C))
    verdict(search, A, False, via=HUB)
    assert hub_labels(search) == (0, 0)
    verdict(search, B, True, via=HUB)
    verdict(search, C, False, via=HUB)
    assert hub_labels(search) == (0, 1)
    other = "http://other-hub.example/"
    search.backlinks("b.example", [other], never)
    search.read(other, to("http://d.example/"))
    verdict(search, "http://d.example/", False, via=other)
    assert hub_labels(search) == (1, 1)
    # At first one find in two downloads; then the hub and two sites, with one find; then a site.
    first, then = math.exp(-3 / REMEMBERED), math.exp(-1 / REMEMBERED)
    expected = ((1 * first + 1) * then) / ((2 * first + 3) * then + 1)
    assert search.hubs.worth.per_download == pytest.approx(expected)
    close(search, journal)


def test_the_queues_are_chosen_between_by_what_a_download_is_expected_to_find():
    worth = HubWorth()
    assert worth.per_download == 0.5, "before any hub is known"
    hub = priority(Queue.BACKLINK, math.log(0.8), worth)  # 0.8 * 0.5
    assert hub == pytest.approx(math.log(0.4))
    assert priority(Queue.FORWARD, math.log(0.5), worth) > hub
    assert priority(Queue.FORWARD, math.log(0.3), worth) < hub
    worth.add(found=0, downloads=10)
    assert priority(Queue.FORWARD, math.log(0.3), worth) > priority(
        Queue.BACKLINK, math.log(0.8), worth
    )


def test_what_hubs_were_worth_long_ago_is_forgotten():
    worth = HubWorth()
    for _ in range(50):
        worth.add(found=10, downloads=20)
    assert worth.per_download == pytest.approx(0.5, abs=0.01)
    for _ in range(50):
        worth.add(found=1, downloads=20)
    assert worth.per_download == pytest.approx(0.05, abs=0.01)


def test_a_site_that_waits_is_raised_when_a_better_place_links_to_it(tmp_path):
    search, journal = open_search(tmp_path, "classifier", learn_after=1)
    for number in range(200):
        word = "anchor:hotel" if number % 4 == 0 else "anchor:shop"
        search.learner.teach(Queue.FORWARD, (word,), number % 4 == 0)
    search.learner.page_read()
    search.seed(SEED)
    (first,) = search.read(SEED, to(A, words=("anchor:shop",)))
    search.backlinks("x.example", [HUB, "http://worse.example/"], never)
    (better,) = search.read(HUB, to(f"{A}other", words=("anchor:hotel",)))
    assert better.approach.url == A, "under the address at which it waits"
    assert better.priority > first.priority
    assert search.best_approach(Queue.FORWARD, first.approach) == better.approach
    assert search.read("http://worse.example/", to(A, words=("anchor:shop",))) == []
    close(search, journal)


def test_a_hub_that_more_bilingual_sites_name_is_more_promising(tmp_path):
    search, journal = open_search(tmp_path, "classifier", learn_after=1)
    for number in range(200):
        word = "hub:2" if number % 4 == 0 else "hub:1"
        search.learner.teach(Queue.BACKLINK, (word,), number % 4 == 0)
    search.learner.page_read()
    (first,) = search.backlinks("a.example", [HUB], never)
    assert search.backlinks("a.example", [HUB], never) == [], "the same site counts once"
    (again,) = search.backlinks("b.example", [HUB], never)
    assert again.priority > first.priority
    close(search, journal)


def test_links_of_a_hub_know_how_many_bilingual_sites_stand_beside_them(tmp_path):
    search, journal = open_search(tmp_path, "classifier")
    verdict(search, A, True)
    verdict(search, B, True)
    search.backlinks("a.example", [HUB], never)
    (candidate,) = search.read(HUB, to(A, B, C))
    assert candidate.approach.words == ("anchor:x", "hub:2")
    close(search, journal)


def test_what_was_learned_survives(tmp_path):
    search, journal = open_search(tmp_path, "classifier", learn_after=1)
    search.backlinks("cause.example", [HUB], never)
    search.read(HUB, to(A, B, *(f"http://s{n}.example/" for n in range(6))))
    verdict(search, A, True, ("anchor:hotel",), via=HUB)
    for number in range(6):
        url = f"http://s{number}.example/"
        verdict(search, url, number < 3, ("anchor:hotel" if number < 3 else "anchor:shop",), HUB)
    search.learner.page_read()
    examples = {queue: search.learner._classifiers[queue].examples for queue in Queue}
    counts = search.sites.counts
    close(search, journal)
    again, journal = open_search(tmp_path, "classifier", learn_after=1, pages=1)
    assert {queue: again.learner._classifiers[queue].examples for queue in Queue} == examples
    hotel, shop = (
        again.priority(Queue.FORWARD, Approach(C, (f"anchor:{word}",)))
        for word in ("hotel", "shop")
    )
    assert hotel > shop
    assert +again.sites.counts == +counts
    assert again.sites.waiting("b.example") is not None
    assert again.sites.downloads == 14
    assert again.graph.sources_of("a.example", 5) == [HUB]
    assert urls(again.read("http://new.example/", to(C))) == []
    worth = again.hubs.worth.per_download
    verdict(again, B, True, via=HUB)
    assert again.hubs.worth.per_download > worth
    close(again, journal)


def test_what_was_cut_short_is_told_after_a_restart(tmp_path):
    search, journal = open_search(tmp_path)
    verdict(search, A, True)
    verdict(search, B, True)
    search.sites.note_backlinks("b.example")
    search.sites.note(SiteRecord("c.example", Standing.EXAMINING, Approach(C, ("anchor:c",), HUB)))
    close(search, journal)
    again, journal = open_search(tmp_path)
    cut_short = {record.site: record for record in again.unfinished}
    assert cut_short.keys() == {"a.example", "c.example"}
    assert cut_short["c.example"].approach == Approach(C, ("anchor:c",), HUB)
    close(again, journal)


def test_backlinks_are_known_before_and_after_they_are_on_disk(tmp_path):
    search, journal = open_search(tmp_path)
    search.read(A, to(C))
    assert search.graph.sources_of("c.example", 5) == [A]
    journal.checkpoint(wait=True)
    search.read(B, to(C))
    assert set(search.graph.sources_of("c.example", 5)) == {A, B}
    journal.checkpoint(wait=True)
    journal.checkpoint(wait=True)
    assert set(search.graph.sources_of("c.example", 5)) == {A, B}
    assert len(search.graph.sources_of("c.example", 1)) == 1
    assert search.graph.links_of(A) == to(C)
    close(search, journal)


def test_with_two_queues_a_hub_is_not_compared_with_the_links_to_sites(tmp_path):
    search, journal = open_search(tmp_path, "classifier", learn_after=1, compares_queues=False)
    for number in range(200):
        word = "hub:2" if number % 4 == 0 else "hub:1"
        search.learner.teach(Queue.BACKLINK, (word,), number % 4 == 0)
    search.learner.page_read()
    (first,) = search.backlinks("a.example", [HUB], never)
    search.hubs.worth.add(found=0, downloads=1_000)
    assert search.priority(Queue.BACKLINK, first.approach) == first.priority
    close(search, journal)


def test_a_focused_crawl_follows_the_links_of_pages_on_topic_only(tmp_path):
    search, journal = open_search(tmp_path, "focused", focused=True)
    assert urls(search.read(A, to(B), on_topic=True)) == [B]
    assert search.read(B, to(C), on_topic=False) == []
    close(search, journal)


def test_a_focused_crawl_learns_which_links_lead_to_its_topic_and_remembers_it(tmp_path):
    search, journal = open_search(tmp_path, "focused", learn_after=1, focused=True)
    for number in range(8):
        word, url = f"anchor:w{number % 2}", f"http://s{number}.example/"
        search.classified(Approach(url, (word,)), number % 2 == 0)
        verdict(search, url, number % 2 == 1, (word,))  # bilingual sites are those off topic
    search.learner.page_read()
    chances = {n: search.priority(Queue.FORWARD, Approach(A, (f"anchor:w{n}",))) for n in (0, 1)}
    assert chances[0] > chances[1]
    close(search, journal)
    again, journal = open_search(tmp_path, "focused", learn_after=1, pages=1, focused=True)
    for number, chance in chances.items():
        words = (f"anchor:w{number}",)
        assert again.priority(Queue.FORWARD, Approach(A, words)) == pytest.approx(chance, abs=0.2)
    close(again, journal)


def test_other_crawls_do_not_care_for_a_topic(tmp_path):
    search, journal = open_search(tmp_path, "focused")
    search.classified(Approach(A, ("anchor:x",)), True)
    assert urls(search.read(A, to(B), on_topic=False)) == [B]
    assert search.learner._classifiers[Queue.FORWARD].examples == (0, 0)
    close(search, journal)
