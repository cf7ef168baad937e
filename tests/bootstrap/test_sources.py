"""A topic gathered from Wikipedia, whichever way it is read."""

import gzip

import pytest

from bilingual_crawler.bootstrap.api_wiki import RequestPolicy
from bilingual_crawler.bootstrap.dump_wiki import Damages
from bilingual_crawler.bootstrap.harvest import Limits, harvest
from bilingual_crawler.bootstrap.run import open_wikis
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from tests.support.wiki_world import WikiServer, write_dumps, write_pages

PAIR = LanguagePair.parse("eng-spa")
MANNERS = RequestPolicy(user_agent="test", delay=0.0, first_wait=0.0)
SOURCES = ("old dump", "new dump", "dump with text", "api")
SHALLOW, DEEP = Limits(depth=2), Limits(depth=3)


def gather(source, topic="Ballet", limits=SHALLOW, pair=PAIR, damages=None):
    watch = []
    told = Damages() if damages is None else damages
    with open_wikis(str(source), pair, MANNERS, told, lambda *now: watch.append(now)) as wikis:
        found = harvest(topic, wikis, pair, limits)
    assert watch, "progress was told"
    assert damages is not None or not told.count
    return found


@pytest.fixture(scope="module", params=SOURCES)
def source(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    if request.param == "api":
        with WikiServer() as server:
            yield server.url
    elif request.param == "dump with text":
        yield write_pages(write_dumps(folder, leave_out=("externallinks",)))
    else:
        yield write_dumps(folder, request.param.removesuffix(" dump"))


@pytest.fixture(scope="module")
def found(source):
    return gather(source)


def test_titles_are_terms_with_a_weight_by_depth_and_how_specific_they_are(found):
    assert {
        (each.term, each.weight, each.subdomain) for each in found.topic if each.language == "eng"
    } == {
        ("pointe shoe", 100.0, "Ballet"),
        ("choreography", 88.0, "Ballet"),  # in two categories of the topic
        ("ballet", 80.0, "Ballet"),
        ("pas de deux", 75.0, "Ballet technique"),
        ("tour en l'air", 56.2, "Ballet technique"),
        ("pirouette", 45.0, "Ballet technique"),
        ("barre", 30.0, "Ballet technique"),  # a word with other meanings
    }


def test_interlanguage_links_give_the_translations(found):
    assert {(one, other) for one, other, _ in found.pairs} == {
        ("ballet", "ballet"),
        ("choreography", "coreografía"),
        ("barre", "barra"),
        ("pas de deux", "paso a dos"),
        ("pirouette", "pirueta"),
    }
    assert {each.term for each in found.topic if each.language == "spa"} == {
        other for _, other, _ in found.pairs
    }


def test_what_is_no_term_is_counted_by_its_reason(found):
    assert found.skipped == {
        "list": 1,
        "name": 1,
        "abbreviation": 1,
        "disambiguation": 2,
        "maintenance_category": 1,
    }


def test_external_links_of_both_articles_are_seeds(found):
    assert set(found.seeds) == {
        "https://example.org/en/ballet",
        "https://example.org/es/ballet",
        "https://example.org/en/steps",
        "http://danza.example.es/libro",
        "http://turns.example.com:8080/p?x=1&y=%272%27",
        "http://turns.example.com/es",
        "http://once.example.com/",
        "https://company.example.net/about",
    }
    assert found.seeds[0] == "https://example.org/en/steps", "the weightiest article first"


def test_sites_are_ranked_by_what_speaks_for_two_languages(found):
    best = found.sites[0].to_dict()
    assert best == {
        "site": "example.org",
        "bilingual": "candidate",
        "score": 12.0,  # 3 for an article in both, 2 for a language each, 5 for tokens, log2(4)
        "articles": {"eng": 2, "spa": 1},
        "evidence": [
            "1 articles link to it in both languages",
            "2 articles in eng link to it: Ballet, Choreography",
            "1 articles in spa link to it: Ballet",
            "its addresses name eng and spa",
        ],
        "entry_pages": {
            "eng": "https://example.org/en/steps",
            "spa": "https://example.org/es/ballet",
        },
    }
    assert [site.site for site in found.sites] == ["example.org", "example.com"]


def test_a_cycle_ends_and_the_depth_is_kept(source):
    shallow, deep = (gather(source, limits=limits) for limits in (SHALLOW, DEEP))
    assert shallow.categories == 4
    assert deep.categories == 5
    assert {each.term for each in deep.topic} - {each.term for each in shallow.topic} == {
        "too deep"
    }


def test_names_and_abbreviations_are_kept_where_that_is_wanted(source):
    found = gather(source, limits=Limits(names=True))
    assert {"Royal Ballet", "ABT"} <= {each.term for each in found.topic}


def test_limits_cut_off_what_is_furthest_and_are_told(source):
    found = gather(source, limits=Limits(categories=2, articles=3))
    assert found.categories == 2
    assert found.articles <= 3
    assert found.reached == ["--categories 2", "--articles 3"]
    assert "choreography" in {each.term for each in found.topic}


def test_a_topic_may_be_named_in_either_language_and_in_small_letters(source):
    assert gather(source, "ballet").category == "Ballet"
    assert gather(source, "Danza clásica").pairs == []


def test_a_topic_that_is_no_category_is_told_with_those_that_are_like_it(source):
    with pytest.raises(ConfigurationError, match=r"no category 'Ballets'.*did you mean.*Ballet"):
        gather(source, "Ballets")


def test_a_file_that_breaks_off_is_read_up_to_there_and_told(tmp_path):
    write_dumps(tmp_path)
    file = tmp_path / "enwiki-20260101-externallinks.sql.gz"
    file.write_bytes(file.read_bytes()[:-40])
    damages = Damages()
    assert gather(tmp_path, damages=damages).pairs
    assert damages.count == 1
    assert "externallinks.sql.gz ends early, after row" in damages.first[0]


def test_a_damaged_row_is_told_with_its_place_and_the_others_are_read(tmp_path):
    write_dumps(tmp_path)
    file = tmp_path / "enwiki-20260101-langlinks.sql.gz"
    whole = gzip.decompress(file.read_bytes())
    broken = whole.replace(b"'es','Paso a dos'", b"'es,Paso a dos'")
    file.write_bytes(gzip.compress(broken))
    damages = Damages()
    found = gather(tmp_path, damages=damages)
    assert ("pirouette", "pirueta") in {pair[:2] for pair in found.pairs}
    assert ("pas de deux", "paso a dos") not in {pair[:2] for pair in found.pairs}
    assert damages.count == 1
    place = broken.rindex(b"(", 0, broken.index(b"Paso"))
    assert f"langlinks.sql.gz is damaged at byte {place:,} (unpacked)" in damages.first[0]


def test_a_file_that_is_missing_is_told_with_where_to_get_it(tmp_path):
    write_dumps(tmp_path, leave_out=("langlinks",))
    with pytest.raises(ConfigurationError, match=r"no file enwiki-DATE-langlinks\.sql\.gz"):
        gather(tmp_path)
