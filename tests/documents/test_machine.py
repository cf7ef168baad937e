"""Machine-translated pages: what says that a page is machine output, and what does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.machine import MachineMarks

SPANISH = (
    "<p>La universidad comenzará el nuevo curso en septiembre y los estudiantes tendrán abierto "
    "el plazo de inscripción hasta finales de julio, como en los años anteriores.</p>"
)
ENGLISH = (
    "<p>The university will begin the new year in September, and the students may enrol until "
    "the end of July, as they did in the years before.</p>"
)
URL = "https://www.example.org/es/curso"
GTRANSLATE = (
    '<script>window.gtranslateSettings = {"default_language":"en","url_structure":"%s",'
    '"languages":["en","es"],"wrapper_selector":".gtranslate_wrapper"}</script>'
)
WEGLOT = (
    '<script type="application/json" id="weglot-data">'
    '{"language_from":"en","languages":[{"language_to":"es"}]}</script>'
)
LINGUISE = '<script>var linguise_configs = {"vars":{"configs":{"default_language":"en"}}}</script>'
BABLIC = (
    "<script data-bablic-m=\"[0,'en','en',1,['es'],0]\" src='//cdn2.bablic.com/js/bablic.3.9.js'>"
    "</script>"
)
CONVEYTHIS = (
    '<script src="//cdn.conveythis.com/javascript/conveythis-initializer.js"></script>'
    '<script>ConveyThis_Initializer.init({api_key: "pub_1", source_language: "en"})</script>'
)


def page(head="", text=SPANISH, html='lang="es"', url=URL, end=""):
    markup = f"<html {html}><head>{head}</head><body>{text * 3}</body></html>{end}"
    return build_document(url, markup.encode())


def stats(translated, by_people):
    counts = {
        "total_phrases": 120,
        "translated_phrases": translated,
        "human_translated_phrases": by_people,
    }
    return f"<meta name='translation-stats' content='{json.dumps(counts)}'/>"


def test_an_ordinary_page_has_no_mark():
    document = page('<meta name="generator" content="WordPress 6.5"><script src="/js/app.js">')
    assert (document.machine_translated, document.translation_service) == ("", "")


@pytest.mark.parametrize(
    ("head", "mark"),
    [
        (
            '<link rel="alternate machine-translated-from" hreflang="en" href="/en/">',
            "machine_translated_from",
        ),
        ('<meta http-equiv="X-Translated-By" content="Google">', "x_translated_by"),
        ('<meta name="ms.translationtype" content="MT">', "ms_translationtype"),
        ('<meta name="generator" content="Google Translate">', "meta_generator"),
        ('<meta name="translator" content="machine translation">', "meta_translator"),
        (stats(118, 3), "translation_stats"),
    ],
)
def test_what_a_page_says_in_its_head_is_believed(head, mark):
    assert page(head).machine_translated == mark


@pytest.mark.parametrize(
    ("html", "mark"),
    [
        ('lang="es" class="no-js translated-ltr"', "google_class"),
        ('lang="ar" class="translated-rtl"', "google_class"),
        ('lang="es-x-mtfrom-en"', "language_tag"),
        ('lang="es-t-en-t0-und"', "language_tag"),
    ],
)
def test_the_html_element_may_say_so(html, mark):
    assert page(html=html).machine_translated == mark


@pytest.mark.parametrize(
    "html", ['lang="es" class="untranslated-ltrs"', 'lang="es-MX"', 'lang="es-x-private"']
)
def test_other_classes_and_tags_say_nothing(html):
    assert page(html=html).machine_translated == ""


def test_a_translation_by_people_is_no_machine_translation():
    assert page('<meta name="ms.translationtype" content="HT">').machine_translated == ""
    assert page('<meta name="translator" content="Ane Etxeberria">').machine_translated == ""
    assert page(stats(118, 110)).machine_translated == ""


@pytest.mark.parametrize("content", ["", "{", "[]", '{"translated_phrases": null}', "[" * 9_000])
def test_the_original_among_counted_translations_is_no_machine_translation(content):
    document = page(f"<meta name='translation-stats' content='{content}'>")
    assert document.machine_translated == ""
    assert document.translation_service == "transposh"


@pytest.mark.parametrize(
    "url",
    [
        "https://www-example-org.translate.goog/curso?_x_tr_sl=en&_x_tr_tl=es",
        "https://translate.googleusercontent.com/translate_c?u=http://example.org/",
    ],
)
def test_a_page_of_a_translating_proxy_is_its_output(url):
    assert page(url=url).machine_translated == "translating_proxy"


def test_a_page_about_a_translating_proxy_is_not():
    assert page(url="https://example.org/translate.goog").machine_translated == ""
    assert page(url="https://nottranslate.goog.example.org/").machine_translated == ""


def test_the_scaffolding_of_google_is_recognised():
    font = '<font style="vertical-align: inherit;">'
    text = f"<p>{font}{font}El museo abre los domingos.</font></font></p>"
    assert page(text=SPANISH + text).machine_translated == "google_scaffolding"


def test_one_word_out_of_a_translator_does_not_make_a_page_its_output():
    font = '<font style="vertical-align: inherit;">'
    document = build_document(URL, f"{SPANISH * 3}<p>{font}{font}Hola</font></font>".encode())
    assert document.machine_translated == ""


def test_an_old_page_with_fonts_is_not_machine_translated():
    assert page(text='<p><font color="red" style="vertical-align: top">Hola</font>' * 9)
    assert page(text=f'<font face="Arial">{SPANISH}</font>').machine_translated == ""


def test_the_signature_of_a_proxy_is_read():
    end = "<!-- delivered by GTranslate v8.0.11 in 96ms visit https://gtranslate.io -->"
    assert page(end=end).machine_translated == "gtranslate_proxy"


@pytest.mark.parametrize(
    ("head", "service"),
    [
        (GTRANSLATE % "sub_directory", "gtranslate"),
        (GTRANSLATE % "sub_domain", "gtranslate"),
        (WEGLOT, "weglot"),
        (LINGUISE, "linguise"),
        (BABLIC, "bablic"),
        (CONVEYTHIS, "conveythis"),
    ],
)
def test_a_page_is_the_output_of_a_service_where_it_is_not_in_the_language_of_origin(head, service):
    translated = page(head)
    original = page(head, text=ENGLISH, html='lang="en"', url="https://www.example.org/")
    assert (translated.machine_translated, translated.translation_service) == (service, service)
    assert (original.machine_translated, original.translation_service) == ("", service)


def test_a_wrong_declaration_does_not_make_the_original_a_translation():
    assert page(WEGLOT, text=ENGLISH, html='lang="es"').machine_translated == ""
    assert page(WEGLOT, text=SPANISH, html='lang="en"').machine_translated == ""


def test_a_page_without_a_declaration_is_judged_by_its_text():
    assert page(WEGLOT, html="").machine_translated == "weglot"
    assert page(WEGLOT, text=ENGLISH, html="").machine_translated == ""


def test_a_widget_in_the_browser_never_makes_the_page_as_it_is_fetched():
    document = page(GTRANSLATE % "none")
    assert (document.machine_translated, document.translation_service) == ("", "gtranslate")


@pytest.mark.parametrize(
    ("markup", "service"),
    [
        ('<div id="google_translate_element"></div>', "google"),
        ('<script src="//translate.google.com/translate_a/element.js?cb=x"></script>', "google"),
        ('<div class="gtranslate_wrapper"></div>', "gtranslate"),
        ('<div class="gt_float_switcher"></div>', "gtranslate"),
        ('<a href="/fr/" data-gt-lang="fr">Français</a>', "gtranslate"),
        ('<script src="https://cdn.weglot.com/weglot.min.js"></script>', "weglot"),
        ('<link id="trp-language-switcher-style-css" href="/a.css">', "translatepress"),
        ('<script src="https://global.localizecdn.com/localize.js"></script>', "localize"),
        ('<script src="/wp-content/plugins/transposh-x/js/transposh.js"></script>', "transposh"),
    ],
)
def test_a_widget_is_an_offer_and_no_more(markup, service):
    document = page(text=SPANISH + markup)
    assert (document.machine_translated, document.translation_service) == ("", service)


def test_what_is_not_to_be_translated_says_nothing_of_the_rest():
    document = page(
        '<meta name="google" content="notranslate">', text=f'{SPANISH}<i class="notranslate">x</i>'
    )
    assert (document.machine_translated, document.translation_service) == ("", "")


def test_the_tools_of_translators_are_no_mark():
    document = page('<meta name="generator" content="WPML ver:4.6.3 stt:1,2;">')
    assert (document.machine_translated, document.translation_service) == ("", "")


@given(st.text(), st.text(), st.text())
def test_no_text_raises(one, other, content):
    marks = MachineMarks()
    marks.read_html({"class": one, "lang": other})
    marks.read_meta("translation-stats", content)
    marks.read_link({"rel": one, "id": other, "href": content})
    marks.read_script({"data-bablic-m": one, "src": other})
    marks.read_script_text(f"gtranslateSettings {one} language_from: {other}")
    marks.read_comment(content)
    marks.mark_of(one, other, content)
