"""Terms found in any form, and page scores, thresholds and link scores worked out by hand."""

from threading import Thread

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.topic_definition import Term
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document, Link, Paragraph, Relevance, TermHits
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import find_language, parse_languages
from bilingual_crawler.languages.stemming import ALGORITHMS, LONGEST_WORD, Stems, stems_of
from bilingual_crawler.scoring.rules import TO_THE_OTHER_LANGUAGE
from bilingual_crawler.scoring.scorer import NothingYet, default_scorer, make_scorer
from bilingual_crawler.scoring.topical import BELIEVED, USUAL, TopicalScorer
from bilingual_crawler.topics import NO_TOPIC, TermIndex, Topic

TERMS = (
    Term("puerto", 3.0, "mar", "spa"),
    Term("barco de pesca", 5.0, "pesca", "spa"),
    Term("lonja", 2.0, "pesca", "spa"),
    Term("portua", 3.0, "itsasoa", "eus"),
)
TOPIC = Topic(TERMS)
HOST = "https://itsasoa.example"
HTML = """<html lang="es"><head><title>El puerto de Bermeo</title>
<meta name="Description" content="El puerto y su lonja.">
<meta name="keywords" content="puerto, puertos, vela"></head><body>
<nav><a href="/">puerto</a> <a href="/x">lonja</a></nav>
<h1>El puerto</h1>
<p>En el puerto de la villa amarran cada tarde los barcos de pesca que vuelven con el bonito y la
anchoa del verano, y los vecinos bajan a verlos llegar como han hecho siempre.</p>
<p>Después se vende todo en otra parte de la villa, a la que los compradores acuden muy temprano
para elegir el mejor pescado de la noche anterior.</p></body></html>""".encode()


def found(language, terms, text):
    index = TermIndex(map(Term, terms), stems_of(language))
    return [term.text for term in index.find(text)]


@pytest.mark.parametrize(
    ("language", "term", "text"),
    [
        ("spa", "accidente laboral", "Los ACCIDENTES laborales de ayer"),
        ("eng", "library", "two Libraries"),
        ("eus", "liburutegi", "liburutegietan"),
        ("ita", "infortunio sul lavoro", "gli infortuni sul lavoro"),
        ("fra", "contrôle d'accès", "les contrôles d\u2019accès"),
        ("deu", "Häfen", "im HAFEN"),
        ("tur", "ışık", "IŞIKLAR"),
        ("hin", "किताब", "दो किताबें हैं"),
        ("rus", "порт", "в порту"),
    ],
)
def test_a_term_is_found_in_its_other_forms_where_there_is_a_stemmer(language, term, text):
    assert found(language, [term], text) == [term]


@pytest.mark.parametrize(
    ("term", "text", "is_there"),
    [
        ("Höfn", "til HÖFN á morgun", True),
        ("höfn", "í höfnina", False),
        ("ár", "ar", False),
        ("ár", "a\u0301r", True),
    ],
)
def test_without_a_stemmer_words_are_compared_without_case_and_with_accents(term, text, is_there):
    assert "isl" not in ALGORITHMS
    assert bool(found("isl", [term], text)) == is_there


def test_in_scripts_without_spaces_a_term_is_found_anywhere():
    assert found("jpn", ["港", "東京港"], "昨日は東京港へ行った。") == ["東京港", "港"]
    assert found("zho", ["北京 市"], "在北京市") == ["北京 市"]


def test_terms_that_overlap_or_lie_in_one_another_all_count():
    terms = ["prevenzione degli infortuni", "infortunio sul lavoro", "lavoro"]
    assert found("ita", terms, "la prevenzione degli infortuni sul lavoro") == terms


def test_a_term_counts_as_often_as_it_stands():
    assert found("eng", ["port", "port port"], "port, port; ports") == [
        *("port", "port port", "port", "port port", "port"),
    ]


def test_a_term_is_no_part_of_a_word():
    assert found("eng", ["port"], "sport, airport, port_1, port-au-prince") == ["port", "port"]


def test_of_terms_with_one_stem_the_heaviest_counts():
    terms = [Term("ports", 1.0), Term("port", 3.0), Term("porting", 2.0)]
    index = TermIndex(terms, stems_of("eng"))
    assert len(index) == 1
    assert [term.weight for term in index.find("the port")] == [3.0]


def test_every_stemmer_is_there_and_for_a_language_that_is_known():
    assert set(ALGORITHMS.values()) <= set(snowballstemmer.algorithms())
    assert all(find_language(code).code == code for code in ALGORITHMS)


def test_words_that_are_no_words_stay_as_they_are():
    long = "ports" * 1_000
    assert len(long) > LONGEST_WORD
    assert stems_of("eng").of(f"{long} ports") == [long, "port"]


def test_two_threads_may_ask_one_stemmer():
    """A stemmer keeps the word that it works on, so two at once would mix them up."""
    words = [f"{head}{tail}" for head in ("nation", "librar", "port") for tail in ("s", "al", "y")]
    words = [f"{word}{end}" for word in words for end in ("", "ing", "ly", "ness")] * 20
    stems, wrong = Stems("eng"), []
    fresh = {word: Stems("eng").of(word) for word in set(words)}

    def ask():
        for word in words:
            stems._stem.cache_clear()
            if stems.of(word) != fresh[word]:
                wrong.append(word)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12)
SOME_TERMS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3), max_size=5
)


@given(SOME_TERMS, WORDS)
def test_what_is_found_is_what_comparing_all_with_all_would_find(terms, words):
    terms = {" ".join(term): term for term in terms}
    expected = [
        " ".join(words[at : at + length])
        for at in range(len(words))
        for length in range(1, 4)
        if at + length <= len(words) and " ".join(words[at : at + length]) in terms
    ]
    assert found(None, terms, " ".join(words)) == expected


def judged(topic=TOPIC, **fields):
    document = Document(f"{HOST}/es", language="spa", **fields)
    topic.annotate(document)
    return document.topic


def text(*paragraphs):
    return {"paragraphs": [Paragraph(each) for each in paragraphs]}


def test_the_score_is_occurrences_times_weight_of_term_times_weight_of_place():
    document = build_document(f"{HOST}/es", HTML, hints=("spa",))
    TOPIC.annotate(document)
    assert document.topic.hits == (
        TermHits("puerto", 3.0, "mar", title=1, metadata=1, keywords=2, text=2),
        TermHits("lonja", 2.0, "pesca", metadata=1),
        TermHits("barco de pesca", 5.0, "pesca", text=1),
    )
    assert [hit.score for hit in document.topic.hits] == [
        3 * (10 + 4 + 2 * 2 + 2 * 1),
        2 * 4,
        5 * 1,
    ]
    assert document.topic.score == 60 + 8 + 5
    assert document.topic.unique_terms == 2
    assert document.topic.on_topic
    assert document.topic.subdomains == {"mar": round(60 / 73, 4), "pesca": round(13 / 73, 4)}


def test_paragraphs_of_the_content_carry_their_terms_and_menus_do_not():
    document = build_document(f"{HOST}/es", HTML, hints=("spa",))
    TOPIC.annotate(document)
    assert [(each.boilerplate, each.topic) for each in document.paragraphs] == [
        (True, []),
        (False, ["puerto"]),
        (False, ["puerto", "barco de pesca"]),
        (False, []),
    ]


def test_what_was_found_is_in_the_json_of_the_document_and_read_back():
    document = build_document(f"{HOST}/es", HTML, hints=("spa",))
    TOPIC.annotate(document)
    fields = document_to_dict(document)
    assert fields["topic"]["score"] == 73
    assert fields["topic"]["terms"][1] == {
        "term": "lonja", "weight": 2.0, "subdomain": "pesca", "metadata": 1,
    }  # fmt: skip
    assert [each.get("topic") for each in fields["paragraphs"]][2] == ["puerto", "barco de pesca"]
    again = document_from_dict(fields)
    assert again.topic == document.topic
    assert again.paragraphs == document.paragraphs


def test_a_page_is_judged_by_the_terms_of_its_own_language():
    words = text("portua eta puerto eta lonja eta barco de pesca")
    assert judged(**words).unique_terms == 3
    basque = Document(HOST, language="eus", **words)
    TOPIC.annotate(basque)
    assert [hit.term for hit in basque.topic.hits] == ["portua"]


def test_a_term_without_a_language_is_for_all():
    topic = Topic([Term("MSC"), Term("puerto", language="spa")])
    document = Document(HOST, language="isl", **text("MSC, puerto"))
    topic.annotate(document)
    assert [hit.term for hit in document.topic.hits] == ["MSC"]


@pytest.mark.parametrize(
    ("paragraph", "is_on_topic"),
    [
        ("puerto puerto puerto lonja", False),  # 11 is below 12, 4 times the median weight
        ("puerto puerto puerto puerto lonja lonja", True),
        ("puerto puerto lonja lonja lonja", False),  # 12 is not above 12
        ("puerto puerto puerto puerto puerto", False),  # one term is not more than one
    ],
)
def test_both_thresholds_must_be_exceeded(paragraph, is_on_topic):
    assert judged(**text(paragraph)).on_topic == is_on_topic


def test_terms_in_the_title_raise_the_score_and_are_none_of_the_content():
    found = judged(title="puerto, lonja, barco de pesca", **text("puerto"))
    assert found.score == 103
    assert found.unique_terms == 1
    assert not found.on_topic


def test_the_thresholds_are_settings():
    strict = Topic(TERMS, least_score=10, least_terms=2)
    assert not judged(strict, **text("puerto " * 4 + "lonja " * 2)).on_topic
    assert judged(strict, **text("puerto " * 9 + "lonja, barco de pesca")).on_topic


def test_the_scale_of_the_weights_does_not_count():
    heavy = Topic([Term(t.text, 100 * t.weight, t.subdomain, t.language) for t in TERMS])
    for words in ("puerto puerto puerto lonja", "puerto puerto puerto puerto lonja lonja"):
        assert judged(heavy, **text(words)).on_topic == judged(**text(words)).on_topic


def test_the_length_of_a_page_does_not_count():
    short = judged(**text("puerto " * 4 + "lonja " * 2))
    long = judged(**text("puerto " * 4 + "lonja " * 2, "nada " * 5_000))
    assert short == long


def test_a_crawl_without_a_topic_leaves_documents_as_they_are():
    document = Document(HOST, language="spa", **text("puerto"))
    NO_TOPIC.annotate(document)
    assert document.topic is None
    assert not NO_TOPIC


def scorer(name, langs="spa-eus", topic=TOPIC, **settings):
    return make_scorer(name, parse_languages(langs), NothingYet(), Config(**settings), topic)


def page(links, *, score=0.0, on_topic=False, language="spa"):
    hits = (TermHits("puerto", score, text=1),) if score else ()
    relevance = Relevance(on_topic, hits)
    return Document(f"{HOST}/es/", language=language, links=links, topic=relevance)


def test_the_link_score_is_that_of_the_paper():
    links = [
        Link(f"{HOST}/a", "aquí", "aquí está la lonja del puerto, el puerto viejo"),
        Link(f"{HOST}/b", "Euskara"),
        Link(f"{HOST}/c", image_alt="un barco de pesca"),
        Link(f"{HOST}/d"),
    ]
    assert scorer("ilsp").score(page(links, score=12), links) == [
        12 / 4 + 2 + 3 + 3,
        12 / 4 + TO_THE_OTHER_LANGUAGE * 3,
        12 / 4 + 5,
        12 / 4,
    ]


def test_the_text_of_a_link_counts_once_though_it_is_part_of_what_surrounds_it():
    links = [
        Link(f"{HOST}/a", "el puerto", "Venga a ver el puerto"),
        Link(f"{HOST}/b", "el puerto", "y mucho más"),
    ]
    assert scorer("ilsp").score(page(links), links) == [3.0, 3.0]


def test_links_of_a_page_in_another_language_are_read_in_those_of_the_crawl():
    links = [Link(f"{HOST}/a", "portua"), Link(f"{HOST}/b", "puerto, lonja"), Link(f"{HOST}/c")]
    assert scorer("ilsp").score(page(links, language="eng"), links) == [3.0, 5.0, 0.0]


def test_one_language_alone_has_no_other_to_cross_to():
    links = [Link(f"{HOST}/eu/a", "Euskara"), Link(f"{HOST}/es/b", "Español")]
    assert scorer("ilsp", "spa").score(page(links, score=6), links) == [3.0, 3.0]


def test_the_three_parts_explain_a_link():
    link = Link(f"{HOST}/eu/a", "puerto")
    score, factors = scorer("ilsp").explain(page([link], score=12), link)
    assert score == 3000 + 12 + 3
    assert [(factor.name, factor.value) for factor in factors] == [
        ("language", 3000.0),
        ("page", 12.0),
        ("surroundings", 3.0),
    ]


def test_scorers_of_yields_are_multiplied_by_the_odds_of_a_page_on_topic():
    rules, plain = scorer("rules"), scorer("rules", topic=NO_TOPIC)
    assert isinstance(rules, TopicalScorer)
    assert not isinstance(plain, TopicalScorer)
    links = [Link(f"{HOST}/a", "puerto"), Link(f"{HOST}/b"), Link(f"{HOST}/eu/c", "Euskara")]
    here = page(links, score=1, on_topic=True)
    odds = [USUAL["near"][2], USUAL["plain"][2], USUAL["crossing"][2]]
    expected = [score * share for score, share in zip(plain.score(here, links), odds, strict=True)]
    assert rules.score(here, links) == pytest.approx(expected)
    score, factors = rules.explain(here, links[0])
    assert score == pytest.approx(expected[0])
    assert factors[-1].name == "topic"
    assert factors[-1].why == ("terms of the topic around the link, on a page that is on topic")


def test_the_odds_are_learned_from_the_pages_that_come():
    rules = scorer("rules")
    links = [Link(f"{HOST}/{number}", "puerto") for number in range(10)]
    here = page(links)
    (before, *_) = rules.score(here, links)
    for link in links:
        rules.arrived(Document(link.url, topic=Relevance(on_topic=False)))
    (after,) = rules.score(here, [Link(f"{HOST}/99", "puerto")])
    assert after == pytest.approx(before * BELIEVED / (BELIEVED + 10))


def test_of_several_links_to_a_page_the_most_promising_counts():
    rules = scorer("rules")
    near, plain = Link(f"{HOST}/a", "puerto"), Link(f"{HOST}/a", "ver más")
    here = page([near, plain])
    assert rules.score(here, [near]) == rules.score(here, [plain])


def test_what_was_learned_of_the_topic_survives():
    before, after = scorer("rules"), scorer("rules")
    link = Link(f"{HOST}/a", "puerto")
    here = page([link, Link(f"{HOST}/b", "lonja")])
    before.score(here, here.links)
    before.arrived(Document(f"{HOST}/a", topic=Relevance(on_topic=True)))
    after.restore(before.state())
    assert after.score(here, here.links) == before.score(here, here.links)
    with pytest.raises(ValueError, match="not what a crawl with a topic has learned"):
        after.restore(b"\xc1")


@pytest.mark.parametrize("name", ["adaptive", "smart", "pplocator"])
def test_scorers_of_translations_are_not_for_one_language(name):
    with pytest.raises(ConfigurationError, match="a crawl of Spanish alone looks for none"):
        scorer(name, "spa")


def test_a_crawl_has_a_scorer_that_suits_its_languages():
    for langs in ("spa-eus", "spa-eus-eng", "eng-*", "all"):
        assert default_scorer(parse_languages(langs)) == "adaptive"
    assert default_scorer(parse_languages("spa")) == "rules"
    for name in ("adaptive", "smart", "smart_follow", "rules"):
        for langs in ("spa-eus-eng", "eng-*", "all"):
            scorer(name, langs, NO_TOPIC)


def test_rules_put_the_one_language_first_and_others_last():
    links = [Link(f"{HOST}/{path}") for path in ("eu/a", "a", "es/a")]
    found = scorer("rules", "spa", NO_TOPIC).score(page(links), links)
    assert sorted(found) == found
    assert len(set(found)) == 3
