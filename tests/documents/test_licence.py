"""The licence of a page: which statements count, and which of several."""

import json

import pytest

from bilingual_crawler.documents.builder import build_document

BY = "https://creativecommons.org/licenses/by/4.0/"
BY_SA = "https://creativecommons.org/licenses/by-sa/3.0/es/"


def licence_of(head="", body=""):
    markup = f"<html><head>{head}</head><body><p>Text of the page.</p>{body}</body></html>"
    return build_document("https://example.org/a/b", markup.encode(), content_type="text/html")


def structured(value):
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (f'<link rel="license" href="{BY}">', ""),
        ("", f'<footer><a rel="nofollow License" href="{BY}">CC BY</a></footer>'),
        ("", f'<a itemprop="license" href="{BY}">CC BY</a>'),
        (f'<meta itemprop="license" content="{BY}">', ""),
        (f'<meta name="DCTERMS.license" content="{BY}">', ""),
        ("", f'<p>Published under <a href="{BY}">CC BY</a></p>'),
        (structured({"@type": "WebPage", "license": BY}), ""),
        (structured({"@graph": [{"@type": "Article", "license": {"@id": BY}}]}), ""),
    ],
)
def test_each_way_to_state_a_licence_is_read(head, body):
    assert licence_of(head, body).licence == BY


def test_a_page_without_a_statement_has_no_licence():
    body = '<a href="https://creativecommons.org/about">About</a> <a href="/license">Licence</a>'
    assert licence_of(body=body).licence == ""


def test_a_relative_address_is_made_absolute_and_a_name_stays():
    assert licence_of('<link rel="license" href="../terms">').licence == "https://example.org/terms"
    assert licence_of('<meta name="license" content="CC  BY 4.0">').licence == "CC BY 4.0"


def test_rel_license_outranks_a_mere_link():
    body = f'<a href="{BY}">CC BY</a><a rel="license" href="{BY_SA}">CC BY-SA</a>'
    assert licence_of(body=body).licence == BY_SA


def test_several_licences_of_one_rank_are_all_named():
    body = f'<a rel="license" href="{BY}">text</a><a rel="license" href="{BY_SA}">drawings</a>'
    assert licence_of(body=body).licence == f"{BY} {BY_SA}"


def test_links_to_several_licences_are_an_article_about_licences():
    assert licence_of(body=f'<a href="{BY}">one</a><a href="{BY_SA}">two</a>').licence == ""


def test_links_to_one_licence_in_two_spellings_are_one_statement():
    body = (
        f'<a href="{BY}">one</a><a href="http://creativecommons.org/licenses/by/4.0/deed.es">x</a>'
    )
    assert licence_of(body=body).licence == BY


@pytest.mark.parametrize("kind", ["ImageObject", ["Thing", "Dataset"]])
def test_the_licence_of_a_picture_is_not_that_of_the_page(kind):
    page = {"@type": "WebPage", "image": {"@type": kind, "license": BY}}
    assert licence_of(structured(page)).licence == ""


@pytest.mark.parametrize(
    "script",
    ['{"license": ', '{"license": 5, "a": {"license": [1, null]}}', "[" * 50_000 + '"license"'],
)
def test_broken_structured_data_is_left_out(script):
    head = f'<script type="application/ld+json">{script}</script>'
    assert licence_of(head).licence == ""


def test_a_long_statement_is_no_licence():
    assert (
        licence_of(f'<meta name="license" content="{"all rights reserved " * 50}">').licence == ""
    )


def test_the_licence_of_a_package_in_a_script_is_not_read():
    assert licence_of(f'<script>var about = {{"license": "{BY}"}}</script>').licence == ""
