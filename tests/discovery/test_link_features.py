"""What a link looks like to the predictor, case by case."""

from bilingual_crawler.discovery.link_predictor import announced_beside, link_features
from bilingual_crawler.documents.document import Link
from bilingual_crawler.languages import LanguagePair

PAGE = "https://www.example.org/es/noticias/1"
PAIR = LanguagePair.parse("spa-eus")


def features(*links, page=PAGE, pair=PAIR, language="spa"):
    return [set(each) for each in link_features(links, page, pair, language)]


def feature(link, **options):
    return features(link, **options)[0]


def test_a_name_of_a_language_counts_by_what_the_language_is_to_who_seeks():
    link = Link("https://www.example.org/x", "Euskara")
    assert "anchor <wanted>" in feature(link)
    assert "anchor <own>" in feature(link, language="eus")
    assert "anchor <foreign>" in feature(link, pair=LanguagePair.parse("spa-fin"))


def test_no_name_of_a_language_is_a_word():
    found = feature(Link("https://www.example.org/eu/x", "Euskara", "Castellano | Euskara"))
    assert not any("euskara" in each or "castellano" in each for each in found)
    assert "url eu" not in found


def test_words_are_tagged_with_their_context():
    link = Link(
        "https://www.example.org/contacto",
        "Escribe aquí",
        "Para saber más: Escribe aquí",
        image_alt="sobre",
        image_src="https://www.example.org/img/carta.png",
    )
    assert {"url contacto", "anchor escribe", "around saber", "alt sobre", "src carta"} <= feature(
        link
    )


def test_the_words_of_the_anchor_are_not_counted_again_around_it():
    assert "around escribe" not in feature(Link(PAGE, "Escribe", "Para saber más: Escribe"))


def test_a_url_that_differs_in_its_language_alone_is_seen():
    found = feature(Link("https://www.example.org/eu/noticias/1", "x"))
    assert {"url <same but for its language>", "url <announces wanted>"} <= found


def test_a_home_page_and_a_page_elsewhere_are_told_apart():
    home = feature(Link("https://www.example.org/eu/", "x"))
    assert "url <home, announces wanted>" in home
    elsewhere = feature(Link("https://www.example.org/eu/berriak", "x"))
    assert "url <elsewhere, announces wanted>" in elsewhere


def test_another_site_and_a_translating_proxy_are_seen():
    assert "url <other site>" in feature(Link("https://www.example.com/eu/", "Euskara"))
    proxy = "https://www-example-org.translate.goog/es/noticias/1?_x_tr_tl=eu"
    assert "url <translating proxy>" in feature(Link(proxy, "Euskara"))
    google = "https://translate.google.com/translate?u=https://www.example.org/"
    assert "url <translating proxy>" in feature(Link(google, "Euskara"))


def test_the_host_that_two_pages_share_announces_nothing():
    assert announced_beside("https://blog.example.eu/2024/x", "blog.example.eu") == frozenset()
    assert announced_beside("https://eu.example.org/x", "www.example.org") == {"eus"}
    assert announced_beside("https://blog.example.eu/es/", "blog.example.eu") == {"spa"}


def test_a_flag_names_a_language():
    flag = Link(
        "https://www.example.org/x", image_src="https://www.example.org/flags/eu.png", image_alt=""
    )
    assert {"src <wanted>", "names <wanted>"} <= feature(flag)


def test_links_that_name_the_same_language_are_counted():
    one, *_ = features(*(Link(f"https://www.example.org/{n}", "Euskara") for n in range(2)))
    assert "names <wanted>, 2 links do" in one


def test_a_list_of_codes_around_a_link_is_a_list_of_languages():
    found = feature(Link("https://www.example.org/x", "EU", "ES | EU | EN"))
    assert {"around <wanted>", "around <own>", "around <foreign>", "around <3 languages>"} <= found


def test_a_declared_language_counts():
    link = Link("https://www.example.org/x", "otra", hreflang="eu-ES")
    assert "hreflang <wanted>" in feature(link)


def test_the_url_tells_the_language_of_a_page_of_which_it_is_not_known():
    link = Link("https://www.example.org/x", "Castellano")
    assert "anchor <own>" in feature(link, language="")
    nowhere = "https://www.example.org/1"
    assert "anchor <wanted>" in feature(link, language="", page=nowhere)


def test_addresses_that_nobody_can_read_do_no_harm():
    assert features(Link("http://[", "x"), Link("https://www.example.org/\udcff", "y"))
