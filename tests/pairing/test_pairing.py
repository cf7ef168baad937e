"""Pairs from URL keys and mutual claims, one-to-one, whatever the order of arrival."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.one_to_one import OneToOne, rank_of
from bilingual_crawler.pairing.pair import Evidence, PairingPage, combined_score
from bilingual_crawler.urls.language_tokens import url_key

PAIR = LanguagePair.parse("spa-eus")
TOKENS = PAIR.first.tokens | PAIR.second.tokens
SITE = "https://www.udala.example"


def key(url):
    return url_key(url, TOKENS).key


@pytest.mark.parametrize(
    ("spanish", "basque"),
    [
        (f"{SITE}/es/agenda", f"{SITE}/eu/agenda"),
        (f"{SITE}/agenda", f"{SITE}/eu/agenda"),
        (f"{SITE}/es/", f"{SITE}/eu/index.html"),
        (f"{SITE}/ruta_es.html", f"{SITE}/ruta_eu.html"),
        (f"{SITE}/ruta.es.html", f"{SITE}/ruta.eu.html"),
        (f"{SITE}/ver?id=3&lang=es", f"{SITE}/ver?lang=eu&id=3"),
        (f"{SITE}/es-ES/agenda", f"{SITE}/eu-ES/agenda"),
        (f"{SITE}/es_ES/agenda", f"{SITE}/eu_ES/agenda"),
        (f"{SITE}/castellano/agenda", f"{SITE}/euskara/agenda"),
        ("https://es.udala.example/agenda", "https://eu.udala.example/agenda"),
        ("https://www.udala.es/agenda", "https://www.udala.eus/agenda"),
        (f"{SITE}/ES/Agenda", f"{SITE}/EU/Agenda"),
        (f"{SITE}/espa%C3%B1ol/agenda", f"{SITE}/euskara/agenda"),
    ],
)
def test_urls_that_differ_in_language_tokens_have_one_key(spanish, basque):
    assert key(spanish) == key(basque)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{SITE}/es/agenda", f"{SITE}/eu/berriak"),
        (f"{SITE}/en/agenda", f"{SITE}/eu/agenda"),
        (f"{SITE}/es/agenda?id=1", f"{SITE}/eu/agenda?id=2"),
        ("https://one.example/es/agenda", "https://two.example/eu/agenda"),
        (f"{SITE}/es/a/b", f"{SITE}/eu/ab"),
    ],
)
def test_urls_that_differ_otherwise_have_two_keys(one, other):
    assert key(one) != key(other)


@given(st.text(max_size=200))
def test_a_key_is_made_of_any_url(text):
    assert key(f"https://host.example/{text}")
    assert key(f"https://{text}") is not None


def pages(*triples):
    return [
        PairingPage(f"{SITE}{path}", language, tuple(claims)) for path, language, *claims in triples
    ]


def pairs_of(given_pages):
    matcher = Matcher(PAIR)
    for page in given_pages:
        matcher.add(page)
    return {(pair.first, pair.second) for pair in matcher.pairs}


def test_a_pair_says_why_it_was_accepted():
    matcher = Matcher(PAIR)
    matcher.add(PairingPage(f"{SITE}/eu/agenda", "eus"))
    (pair,) = matcher.add(PairingPage(f"{SITE}/es/agenda", "spa")).found.values()
    assert (pair.first, pair.second) == (f"{SITE}/es/agenda", f"{SITE}/eu/agenda")
    assert pair.score == pytest.approx(0.9)
    key, similarity = pair.to_dict()["evidence"]
    assert key == {
        "detector": "url_key",
        "score": 0.9,
        "why": "URLs differ only in the tokens 'es' and 'eu'",
    }
    assert similarity["detector"] == "url_similarity"


def test_pages_of_one_language_are_no_pair():
    assert pairs_of(pages(("/es/a", "spa"), ("/eu/a", "spa"))) == set()


def test_a_page_is_in_one_pair_only_and_the_plainest_token_wins():
    found = pairs_of(pages(("/es/a", "spa"), ("/a", "spa"), ("/eu/a", "eus")))
    assert found == {(f"{SITE}/es/a", f"{SITE}/eu/a")}


def test_mutual_claims_make_a_pair_of_translated_slugs():
    found = pairs_of(
        pages(
            ("/es/mercado", "spa", (f"{SITE}/eu/azoka", "eus")),
            ("/eu/azoka", "eus", (f"{SITE}/es/mercado", "spa")),
        )
    )
    assert found == {(f"{SITE}/es/mercado", f"{SITE}/eu/azoka")}


def test_a_claim_that_is_not_returned_makes_no_pair():
    found = pairs_of(
        pages(("/es/mercado", "spa", (f"{SITE}/eu/azoka", "eus")), ("/eu/azoka", "eus"))
    )
    assert found == set()


def test_a_claim_that_leads_through_a_redirect_counts():
    matcher = Matcher(PAIR)
    matcher.add(PairingPage(f"{SITE}/es/mercado", "spa", ((f"{SITE}/viejo", "eus"),)))
    matcher.add(PairingPage(f"{SITE}/eu/azoka", "eus", ((f"{SITE}/es/mercado", "spa"),)))
    assert not matcher.pairs
    changes = matcher.alias(f"{SITE}/viejo", f"{SITE}/eu/azoka")
    assert [pair.first for pair in changes.found.values()] == [f"{SITE}/es/mercado"]


def test_a_redirect_known_before_its_target_counts():
    matcher = Matcher(PAIR)
    matcher.alias(f"{SITE}/viejo", f"{SITE}/eu/azoka")
    matcher.add(PairingPage(f"{SITE}/es/mercado", "spa", ((f"{SITE}/viejo", "eus"),)))
    changes = matcher.add(PairingPage(f"{SITE}/eu/azoka", "eus", ((f"{SITE}/es/mercado", "spa"),)))
    assert len(changes.found) == 1


def test_better_evidence_displaces_a_pair_and_the_partner_finds_another():
    matcher = Matcher(PAIR)
    matcher.add(PairingPage(f"{SITE}/a", "spa"))
    matcher.add(PairingPage(f"{SITE}/eu/a", "eus"))
    assert [pair.first for pair in matcher.pairs] == [f"{SITE}/a"]
    changes = matcher.add(PairingPage(f"{SITE}/es/a", "spa"))
    assert list(changes.lost) == [(f"{SITE}/a", f"{SITE}/eu/a")]
    assert list(changes.found) == [(f"{SITE}/es/a", f"{SITE}/eu/a")]
    matcher.add(PairingPage(f"{SITE}/euskara/a", "eus"))
    assert len(matcher.pairs) == 2


def test_pages_with_one_text_are_paired_once_under_their_best_url():
    matcher = Matcher(PAIR)
    matcher.add(PairingPage(f"{SITE}/a", "spa"))
    matcher.add(PairingPage(f"{SITE}/eu/a", "eus"))
    changes = matcher.add(PairingPage(f"{SITE}/es/a", "spa"), node=f"{SITE}/a")
    assert list(changes.lost) == [(f"{SITE}/a", f"{SITE}/eu/a")]
    assert list(changes.found) == [(f"{SITE}/es/a", f"{SITE}/eu/a")]
    assert matcher.paired_url(f"{SITE}/a") == f"{SITE}/es/a"
    matcher.add(PairingPage(f"{SITE}/euskara/a", "eus"), node=f"{SITE}/eu/a")
    assert len(matcher.pairs) == 1


def test_both_evidences_add_up():
    one, other = Evidence("a", 0.9, ""), Evidence("b", 0.95, "")
    assert combined_score([one, other]) == pytest.approx(0.995)


RANKS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.sampled_from([0.2, 0.5, 0.6, 0.7, 0.8]),
    max_size=10,
)


@given(RANKS, st.data())
@settings(max_examples=300)
def test_one_to_one_is_the_greedy_choice_in_any_order(scores, data):
    edges = {(f"e{two}", f"s{one}"): score for (one, two), score in scores.items()}
    standing = set()
    pairs = OneToOne(
        lambda *nodes: standing.add(frozenset(nodes)),
        lambda *nodes: standing.remove(frozenset(nodes)),
    )
    for edge in data.draw(st.permutations(sorted(edges))):
        pairs.raise_rank(edge[0], edge[1], rank_of(edge, edges[edge]))
    assert standing == greedy(edges)
    redone = data.draw(st.sets(st.sampled_from([f"s{number}" for number in range(4)])))
    lower = {edge: data.draw(st.sampled_from([0.3, 0.9])) for edge in edges if edge[1] in redone}
    ranks = [(*edge, rank_of(edge, score)) for edge, score in lower.items()]
    pairs.replace(ranks, redone)
    assert all(len(nodes) == 2 for nodes in standing)
    assert (
        len({node for nodes in standing for node in nodes}) == 2 * len(standing) == 2 * len(pairs)
    )
    everything = {edge[side] for edge in edges for side in (0, 1)}
    known = edges | lower
    pairs.replace([(*edge, rank_of(edge, known[edge])) for edge in known], everything)
    assert standing == greedy(known)


def greedy(edges):
    chosen: set[frozenset[str]] = set()
    used: set[str] = set()
    for edge in sorted(edges, key=lambda e: rank_of(e, edges[e]), reverse=True):
        if edges[edge] >= 0.5 and not set(edge) & used:
            used |= set(edge)
            chosen.add(frozenset(edge))
    return chosen


def test_changes_add_up_to_the_pairs():
    some = pages(("/es/a", "spa"), ("/a", "spa"), ("/eu/a", "eus"), ("/euskara/a", "eus"))
    for order in permutations(some):
        matcher = Matcher(PAIR)
        known: set[tuple[str, str]] = set()
        for page in order:
            changes = matcher.add(page)
            assert known >= set(changes.lost)
            known = (known - set(changes.lost)) | set(changes.found)
        assert known == {(pair.first, pair.second) for pair in matcher.pairs}
