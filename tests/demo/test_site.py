"""The sample site is what its table and its truth say, seen with a plain link walker."""

import http.client
import re
import time
import urllib.request
from collections import Counter
from itertools import combinations, product
from urllib.parse import urljoin, urlsplit

import pytest

import demo
from demo import content
from demo.server import DemoServer
from demo.site import endless, pages
from demo.site.texts import PROSE, read_topic
from tests.support.processes import HANG
from tests.support.servers import serve_demo
from tests.support.walker import fetch, walk


def share(one, other):
    """The share of equal blocks in the shorter page."""
    common = (Counter(one) & Counter(other)).total()
    return common / min(len(one), len(other))


def key(url):
    """The URL without its language token; the independent half of the proof of pairs."""
    parts = urlsplit(url)
    path = re.sub(r"^/(es|eu|en)(?=/)", "", parts.path)
    path = re.sub(r"_(es|eu|en)\.html$", ".html", path)
    return path, re.sub(r"lang=(es|eu|en)", "", parts.query)


@pytest.fixture(scope="module")
def base():
    with DemoServer() as server:
        yield server.url


@pytest.fixture(scope="module")
def site(base):
    return walk(base)


@pytest.fixture(scope="module")
def page(base):
    def get(path):
        answered = fetch(urljoin(base, path))
        return fetch(answered.url) if answered.status == 500 else answered

    return get


@pytest.fixture(scope="module")
def stored(base, page):
    """The pages that a crawl must store, without their copies."""
    originals = {content.original(min(group)) for group in content.storable_pages(base)}
    return {url: page(url) for url in originals}


def test_every_storable_page_is_reached_by_links(base, site):
    missing = [group for group in content.storable_pages(base) if not group & site.keys()]
    assert missing == []


def test_every_spanish_or_basque_page_reached_is_storable_or_withheld(base, site):
    known = set().union(*content.storable_pages(base)) | content.withheld_urls(base)
    unknown = [url for url, found in site.items() if found.status == 200 and url not in known]
    assert unknown == []


def test_no_page_is_in_two_groups(base):
    groups = content.storable_pages(base)
    assert sum(map(len, groups)) == len(set().union(*groups))


def test_no_storable_page_is_forbidden_or_withheld(base):
    storable = set().union(*content.storable_pages(base))
    assert not storable & (content.forbidden_urls(base) | content.withheld_urls(base))


def test_cld2_is_sure_of_the_language_of_every_stored_page(stored):
    assert {found.language for found in stored.values()} == {"es", "eu"}


def test_the_english_pages_are_english(base, site):
    english = [found for url, found in site.items() if urlsplit(url).path.startswith("/en/")]
    assert len(english) > 10
    assert {found.language for found in english} == {"en"}


@pytest.mark.parametrize("topic", sorted(path.stem for path in PROSE.iterdir()))
def test_every_text_has_at_least_120_words_in_four_paragraphs(topic):
    for text in read_topic(topic).values():
        assert text.words >= 120
        assert len(text.paragraphs) >= 4


def test_every_expected_pair_is_spanish_and_basque(base, site):
    languages = {(site[es].language, site[eu].language) for es, eu in content.expected_pairs(base)}
    assert languages == {("es", "eu")}


def test_expected_pairs_are_one_to_one(base):
    pairs = content.expected_pairs(base)
    assert len({es for es, _ in pairs}) == len({eu for _, eu in pairs}) == len(pairs) == 17


def test_expected_pairs_are_exactly_what_keys_and_mutual_alternates_prove(base, stored):
    spanish = {url: found for url, found in stored.items() if found.language == "es"}
    basque = {url: found for url, found in stored.items() if found.language == "eu"}
    proven = {
        (es, eu)
        for es, eu in product(spanish, basque)
        if key(es) == key(eu)
        or (spanish[es].alternates.get("eu") == eu and basque[eu].alternates.get("es") == es)
    }
    assert proven == content.expected_pairs(base)


def test_translations_show_the_same_images(base, site):
    for es, eu in content.expected_pairs(base):
        images = [site[url].tree.xpath("//main//img/@src") for url in (es, eu)]
        assert images[0] == images[1] != []


def test_different_pages_do_not_look_like_duplicates_even_with_their_navigation(stored):
    blocks = [found.blocks for found in stored.values()]
    assert max(share(one, other) for one, other in combinations(blocks, 2)) < 0.8


def test_copies_and_near_copies_have_more_than_four_fifths_in_common(base, site):
    for group in content.storable_pages(base):
        mains = [site[url].tree.xpath("//main")[0] for url in sorted(group & site.keys())]
        texts = [[p.text_content() for p in main.xpath(".//h1 | .//p")] for main in mains]
        assert all(share(texts[0], other) > 0.8 for other in texts)


def test_every_address_of_the_table_answers(page):
    described = set(
        re.findall(
            r"(?<![\w.:/])/(?:es|eu|en|agenda|rutas|servicios|calendario"
            r"|documentos|img|privado)[\w/?=&.-]*[\w/]",
            demo.__doc__,
        )
    )
    described -= {"/es/articulos/0", "/eu/articulos/0", "/es/articulos/indice/0"}
    answers = {path: page(path).status for path in described}
    assert len(answers) > 50
    assert {path for path, status in answers.items() if status != 200} == {pages.MISSING}


def test_every_quirk_copy_and_redirect_is_in_the_table():
    table = " ".join(demo.__doc__.split())
    special = [*pages.QUIRKS, *pages.COPIES, *pages.NEAR_COPIES, *pages.REDIRECTS, *pages.REFRESHES]
    assert [path for path in special if path not in table] == []


def test_translated_slugs_have_different_keys(base):
    different = {(es, eu) for es, eu in content.expected_pairs(base) if key(es) != key(eu)}
    assert len(different) == 6


def test_pages_without_a_translation_switch_to_the_home_page(base, page):
    assert urljoin(base, "/eu/") in page("/es/bando").links
    assert urljoin(base, "/") in page("/eu/bertsolariak").links


def test_a_lying_alternate_does_not_point_back(base, page):
    claimed = page("/es/alojamiento").alternates["eu"]
    assert claimed == urljoin(base, "/eu/bertsolariak")
    assert page(claimed).alternates == {}
    assert (urljoin(base, "/es/alojamiento"), claimed) not in content.expected_pairs(base)


def test_a_true_translation_is_claimed_by_one_side_alone(base, page):
    [(es, eu)] = content.optional_pairs(base)
    assert page(es).alternates["eu"] == eu
    assert page(eu).alternates == {}


@pytest.mark.parametrize("path", ["/es/kultura-etxea", "/agenda?id=9&lang=es"])
def test_a_spanish_token_can_be_on_a_basque_page(page, path):
    assert page(path).language == "eu"
    assert page(path).tree.get("lang") == "es"


def test_the_calendar_goes_on_both_ways(page):
    targets = {urlsplit(link).path for link in page("/calendario/2099/12").links}
    assert {"/calendario/2100/01", "/calendario/2099/11"} <= targets


def test_the_session_number_is_new_in_each_link(page):
    path, met = endless.first_session(), set()
    for _ in range(5):
        [path] = [link for link in page(path).links if "sid=" in link]
        met.add(path)
    assert len(met) == 5


def test_relative_links_lead_ever_deeper(page):
    path = endless.MAZE
    for _ in range(5):
        [path] = [link for link in page(path).links if "laberinto" in link]
    assert path.endswith("/es/laberinto/subir/bajar/subir/bajar/subir/")


def test_tracking_parameters_change_nothing(page):
    assert page("/es/museo?utm_source=compartir").body == page("/es/museo").body


def test_a_print_copy_has_no_navigation(base, page):
    copy = page("/es/imprimir/museo")
    assert copy.text == page("/es/museo").text
    assert copy.tree.xpath("//nav") == []
    assert copy.tree.xpath("//link[@rel='canonical']/@href") == ["/es/museo"]


def test_old_addresses_redirect_for_good(base):
    connection = http.client.HTTPConnection(urlsplit(base).netloc)
    connection.request("GET", "/es/piscina-municipal")
    response = connection.getresponse()
    assert (response.status, response.headers["Location"]) == (301, "/es/piscina")
    connection.close()


def test_the_welcome_page_refreshes_to_the_history(page):
    [refresh] = page("/es/bienvenida").tree.xpath("//meta[@http-equiv='refresh']/@content")
    assert refresh == "0; url=/es/historia"


def test_a_dead_link_is_not_found(base, page):
    assert urljoin(base, pages.MISSING) in page("/es/ayuntamiento").links
    assert page(pages.MISSING).status == 404


def test_one_page_fails_the_first_time_alone():
    with DemoServer() as server:
        url = f"{server.url}agenda?id=2&lang=eu"
        assert [fetch(url).status for _ in range(3)] == [500, 200, 200]


def test_a_latin_1_page_says_so_in_its_header(page):
    found = page("/es/noticias/pasarela-nueva")
    assert found.headers.get_content_charset() == "iso-8859-1"
    assert "mediados de diciembre" in found.body.decode("latin-1")
    assert "rodeo de casi dos kilómetros" in found.body.decode("latin-1")


def test_another_latin_1_page_claims_to_be_utf_8(page):
    found = page("/rutas/cascada_es.html")
    assert found.headers.get_content_charset() == "utf-8"
    with pytest.raises(UnicodeDecodeError):
        found.body.decode()


def test_pdf_image_mail_fragment_and_offsite_links_are_there(base, site):
    hrefs = {
        href for found in site.values() if found.is_html for href in found.tree.xpath("//a/@href")
    }
    assert {pages.PDF, pages.PICTURE, "#arriba", pages.OFFSITE} <= hrefs
    assert any(href.startswith("mailto:") for href in hrefs)
    assert site[urljoin(base, pages.PDF)].body.startswith(b"%PDF-")
    assert site[urljoin(base, pages.PICTURE)].body.startswith(b"\x89PNG")


def test_forbidden_pages_are_linked_but_an_obedient_walk_never_asks_for_them(base, site):
    linked = {link for found in site.values() if found.is_html for link in found.links}
    forbidden = content.forbidden_urls(base) - {urljoin(base, "/__log__")}
    assert forbidden <= linked
    assert not forbidden & site.keys()


def test_the_log_is_linked_nowhere_and_disallowed(base, site, page):
    linked = {link for found in site.values() if found.is_html for link in found.links}
    assert urljoin(base, "/__log__") not in linked
    assert b"Disallow: /__log__\n" in page("/robots.txt").body


def test_opt_outs_are_declared(page):
    assert page("/es/poemas").headers["tdm-reservation"] == "1"
    assert "noai" in page("/eu/cuentos").robots
    assert page("/es/mapa").robots == "noindex"
    assert page("/es/enlaces").robots == "nofollow"


@pytest.mark.parametrize(
    ("target", "only_from"),
    [(path, "/es/mapa") for path in content.BEHIND_NOINDEX]
    + [(content.BEHIND_ENGLISH, "/en/visitors"), ("/es/cantera", "/es/enlaces")],
)
def test_some_pages_have_one_entrance_alone(base, site, target, only_from):
    family = {content.original(urljoin(base, target))}
    family |= {
        urljoin(base, other)
        for topic in pages.TOPICS
        if target in topic.paths.values()
        for other in topic.paths.values()
    }
    sources = {
        urlsplit(url).path
        for url, found in site.items()
        if found.is_html
        and content.original(url) not in family
        and any(content.original(link) in family for link in found.links)
    }
    assert sources == {only_from}


def test_original_maps_every_reached_address_to_one_of_its_group(base, site):
    for group in content.storable_pages(base):
        assert len({content.original(url) for url in group}) == 1
        assert content.original(min(group)) in group


def test_generated_articles_are_all_reached_and_paired():
    with DemoServer(pages=250) as server:
        site = walk(server.url, depth=5)
        pairs = content.expected_pairs(server.url, pages=250)
        assert len(pairs) == 17 + 250 + 13
        assert {url for pair in pairs for url in pair} <= site.keys()
        generated = [found for url, found in site.items() if "/articulos/" in url]
        assert {found.language for found in generated} == {"es", "eu"}
        assert min(len(found.text.split()) for found in generated) >= 120
        assert len({found.text for found in generated}) == len(generated) == 2 * (250 + 13)


def test_generated_articles_do_not_look_like_duplicates():
    with DemoServer(pages=60) as server:
        blocks = [fetch(f"{server.url}es/articulos/{number}").blocks for number in range(60)]
    assert max(share(one, other) for one, other in combinations(blocks, 2)) < 0.8


def test_generated_articles_are_the_same_on_every_run():
    with DemoServer(pages=3) as one, serve_demo(pages=3) as other:
        bodies = [fetch(f"{server.url}eu/articulos/2").body for server in (one, other)]
    assert bodies[0] == bodies[1]


def test_there_are_no_generated_articles_unless_asked_for(base, page):
    assert page("/es/articulos/0").status == 404
    assert page("/es/articulos/indice/0").status == 404


def test_the_log_tells_paths_and_times_of_all_requests():
    before = time.time()
    with serve_demo() as server:
        fetch(f"{server.url}es/museo?utm_source=x")
        fetch(f"{server.url}robots.txt")
        first, second = server.log()
        assert server.paths() == ["/es/museo?utm_source=x"]
    assert (first["path"], second["path"]) == ("/es/museo?utm_source=x", "/robots.txt")
    assert before <= first["time"] <= second["time"] <= time.time()


def test_a_delay_holds_back_every_answer():
    with serve_demo(delay=0.2) as server:
        start = time.monotonic()
        fetch(server.url)
        assert time.monotonic() - start >= 0.2


def test_a_connection_serves_many_requests(base):
    connection = http.client.HTTPConnection(urlsplit(base).netloc)
    for _ in range(50):
        connection.request("GET", "/es/museo")
        response = connection.getresponse()
        assert response.version == 11
        response.read()
        assert response.headers["Connection"] != "close"
    connection.close()


def test_a_head_request_has_no_body(base):
    request = urllib.request.Request(urljoin(base, "/es/museo"), method="HEAD")
    with urllib.request.urlopen(request, timeout=HANG) as response:
        assert int(response.headers["Content-Length"]) > 1000
        assert response.read() == b""


def test_the_server_process_is_gone_after_use():
    with serve_demo() as server:
        assert server.process.poll() is None
    assert server.process.poll() is not None
