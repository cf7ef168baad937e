"""Which pages are not complete until their scripts have run."""

import os
from pathlib import Path

import pytest

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.lab.replay.recording import Recording
from tests.support.bilingual_texts import SPANISH
from tests.support.scripted_site import prose, shell

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared"))
RECORDED = ("irhpc", "112revelats", "arima-blog")
BUNDLE = '<script src="/bundle.js"></script>'
TEXT = prose(SPANISH)


def needs(markup, codes=("spa", "eus")):
    return build_document("https://example.org/", markup.encode(), hints=codes).needs_scripts


@pytest.mark.parametrize(
    "markup",
    [
        shell(),
        f'<div id="root"></div>{BUNDLE}',
        f"<app-root></app-root>{BUNDLE}",
        '<body></body><script type="module" src="/assets/index.js"></script>',
        f"<noscript>Please enable JavaScript.</noscript>{BUNDLE}",
        "<script>window.location.replace(isBasque ? '/eu/' : '/es/');</script>",
        f'<div id="__next"><p>Loading the page, one moment please</p></div>{BUNDLE}',
    ],
)
def test_text_is_missing_where_scripts_would_bring_it(markup):
    assert needs(markup) == "text"


@pytest.mark.parametrize(
    "markup",
    [
        TEXT,
        f'<div id="app">{TEXT}</div>{BUNDLE}<noscript>Enable JavaScript for comments.</noscript>',
        '<div id="app"></div>',
        "<p>Egun on</p><script>if (location.hash == '#top') scrollTo(0, 0);</script>",
        f"<script>location.href = '/es/';</script>{TEXT}",
        "<script>location = '/es/';</script><a href='/es/'>Click here</a>",
        f"<p>Egun on</p>{BUNDLE}",
        f'<noscript><img src="/pixel.gif"></noscript><p>Kontaktua</p>{BUNDLE}',
        "",
    ],
)
def test_one_sign_alone_is_none(markup):
    assert needs(markup) == ""


@pytest.mark.parametrize(
    "control",
    [
        "<button>Euskara</button>",
        "<button><span>Euskara</span></button>",
        '<button data-lang="eu"><img src="flag.png"></button>',
        '<a href="#" class="lang-switch">EU</a>',
        "<a href=\"javascript:setLang('eu')\">Euskara</a>",
        '<a href="#">ES</a> | <a href="#">EU</a>',
        '<a onclick="go()" title="Basque"><img src="x.png"></a>',
        '<select name="language"><option>Español</option><option>Euskara</option></select>',
        '<div style="display: none"><button>Euskara</button></div>',
    ],
)
def test_a_switch_without_an_address_needs_scripts(control):
    assert needs(control + TEXT) == "switch"


@pytest.mark.parametrize(
    "control",
    [
        '<a href="/eu/">Euskara</a>',
        '<button>Euskara</button><a href="/eu/">Euskara</a>',
        '<link rel="alternate" hreflang="eu" href="/eu/"><button>Euskara</button>',
        "<button>Español</button>",
        "<button>English</button><button>Français</button>",
        "<button>EU</button>",
        '<a href="#euskara">Euskara</a>',
        "<select name=country><option>ES</option><option>EU</option></select>",
        "<button>Euskara ikasteko ikastaroak eta beste jarduera asko</button>",
        '<div id="google_translate_element"></div><button>Euskara</button>',
        "<button>",
    ],
)
def test_other_controls_do_not(control):
    assert needs(control + TEXT) == ""


def test_the_language_that_a_page_declares_is_not_missing():
    assert needs(f"<html lang=eu><button>Euskara</button>{TEXT}") == ""


@pytest.mark.parametrize("name", RECORDED)
def test_no_page_of_ordinary_sites_is_taken_for_scripted(name):
    path = SHARED / "sites" / f"{name}.warc.gz"
    if not path.exists():
        pytest.skip("the recorded sites are not here; BILINGUAL_SHARED says where they are")
    gold = path.with_name(f"{name}.gold.tsv").read_text().splitlines()[0].split("\t")
    recording = Recording(path)
    for url in recording.pages:
        answer = recording.answer(url)
        document = build_document(url, answer.body, hints=(gold[2], gold[3]))
        assert document.needs_scripts == "", url
