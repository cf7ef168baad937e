import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bilingual_crawler
from bilingual_crawler.config.seeds import available_pairs, project_seeds
from bilingual_crawler.languages import LanguagePair, find_language
from bilingual_crawler.urls.addresses import read_address, read_lines, split_addresses
from bilingual_crawler.urls.credentials import without_credentials


def addresses_of(pair):
    text = files("bilingual_crawler.config.seeds").joinpath(f"{pair}.txt").read_text("utf-8")
    return [address for _, address in read_lines(text)]


def test_the_pairs_of_the_evaluation_have_lists():
    assert {"eng-isl", "eng-mlt", "eng-fin", "eus-spa"} <= set(available_pairs())


@pytest.mark.parametrize("pair", available_pairs())
def test_a_list_is_named_by_known_codes_in_the_order_of_the_alphabet(pair):
    first, second = pair.split("-")
    assert first < second
    assert [find_language(code).code for code in (first, second)] == [first, second]


@pytest.mark.parametrize("pair", available_pairs())
def test_a_list_holds_secure_home_pages_in_their_normal_spelling(pair):
    addresses = addresses_of(pair)
    assert 4 <= len(addresses) <= 12
    for address in addresses:
        parts = urlsplit(address)
        assert (parts.scheme, parts.path, parts.query) == ("https", "/", "")
        assert read_address(address) == address


@pytest.mark.parametrize("pair", available_pairs())
def test_a_list_holds_nothing_twice(pair):
    hosts = [urlsplit(address).hostname.removeprefix("www.") for address in addresses_of(pair)]
    assert len(hosts) == len(set(hosts))


@pytest.mark.parametrize("pair", available_pairs())
def test_a_list_says_what_it_is(pair):
    text = files("bilingual_crawler.config.seeds").joinpath(f"{pair}.txt").read_text("utf-8")
    assert text.startswith("# ")
    names = [language.name for language in LanguagePair.parse(pair)]
    assert all(name in text.splitlines()[0] for name in names)


def test_a_list_is_found_in_either_order():
    assert project_seeds(LanguagePair.parse("spa-eus")) == tuple(addresses_of("eus-spa"))
    assert project_seeds(LanguagePair.parse("eus-spa")) == tuple(addresses_of("eus-spa"))


def test_a_pair_without_a_list_has_no_seeds():
    assert project_seeds(LanguagePair.parse("kor-eng")) == ()


def test_lists_are_read_from_a_zip_file_too(tmp_path):
    package = Path(bilingual_crawler.__file__).parent
    shutil.copytree(
        package, tmp_path / "egg" / package.name, ignore=shutil.ignore_patterns("__pycache__")
    )
    egg = shutil.make_archive(str(tmp_path / "project"), "zip", tmp_path / "egg")
    program = (
        f"import sys; sys.path.insert(0, {egg!r})\n"
        "from bilingual_crawler.config import seeds\n"
        "from bilingual_crawler.languages import LanguagePair\n"
        f"assert seeds.__file__.startswith({egg!r}), seeds.__file__\n"
        "print(*seeds.available_pairs(), *seeds.project_seeds(LanguagePair.parse('spa-eus')))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert answer.stdout.split() == [*available_pairs(), *addresses_of("eus-spa")]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("https://a.org/", ["https://a.org/"]),
        ("https://a.org/,https://b.org/", ["https://a.org/", "https://b.org/"]),
        ("https://a.org/1,2,http://b.org/", ["https://a.org/1,2", "http://b.org/"]),
        ("https://a.org/1,2.html", ["https://a.org/1,2.html"]),
        ("https://a.org/?x=1,2", ["https://a.org/?x=1,2"]),
        ("https://a.org/, b.org", ["https://a.org/", "b.org"]),
        ("https://a.org,b.org", ["https://a.org", "b.org"]),
        ("a.org,b.org", ["a.org", "b.org"]),
        ("a.org/es,b.org/eu", ["a.org/es", "b.org/eu"]),
        ("a.org,HTTPS://b.org/1,2", ["a.org", "HTTPS://b.org/1,2"]),
        (" https://a.org/ ,,\n https://b.org/, ", ["https://a.org/", "https://b.org/"]),
        ("", []),
        (",", []),
    ],
)
def test_commas_separate_addresses_unless_they_belong_to_one(text, addresses):
    assert split_addresses(text) == addresses


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org", "https://example.org/"),
        ("http://example.org/a?b=c", "http://example.org/a?b=c"),
        ("example.org", "https://example.org/"),
        ("www.example.org/es/", "https://www.example.org/es/"),
        ("//example.org/es", "https://example.org/es"),
        ("example.org?x=http://y/", "https://example.org/?x=http://y/"),
        ("example.org:8080/a", "https://example.org:8080/a"),
        ("localhost:8000", "https://localhost:8000/"),
        ("localhost", "https://localhost/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[::1]:8000/", "http://[::1]:8000/"),
        ("http://intranet/", "http://intranet/"),
        ("HTTPS://EXAMPLE.org:443/A", "https://example.org/A"),
        ("http://example.org:80", "http://example.org/"),
        ("https://example.org/año", "https://example.org/a%C3%B1o"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://example.org/#/eu", "https://example.org/#/eu"),
    ],
)
def test_an_address_becomes_a_url(text, url):
    assert read_address(text) == url


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://example.org/", "begins with ftp://; only http"),
        ("javascript:alert(1)", "begins with javascript:; only http"),
        ("mailto:a@example.org", "begins with mailto:; only http"),
        ("file:///etc/passwd", "begins with file://; only http"),
        ("https://", "has no host"),
        ("https:///es", "has no host"),
        ("http:example.org", "has no host"),
        ("/es/", "has no host"),
        ("https://a b.org/", "has a space in it"),
        ("https://example.org/\ta", "has a space in it"),
        ("https://user:secret@example.org/", "has a user name in it"),
        ("https://example.org:99999/", "is not a web address"),
        ("https://[::1/", "is not a web address"),
        ("https://1.2.3.4.5/", "is not a web address"),
        ("https://-.example/", "is not a web address"),
        ("seeds", "is not a web address"),
    ],
)
def test_what_is_no_address_is_refused_by_name(text, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        read_address(text)
    assert str(caught.value).startswith(repr(without_credentials(text)))


def verdict(text):
    try:
        return read_address(text), None
    except ValueError as error:
        return None, str(error)


@given(st.lists(st.sampled_from([*"ab1.:/?#@[],%\\ é。-_&=\n", "http://", "https:", "xn--"])))
@example(["https:", "@"])
def test_any_text_is_an_address_or_refused_by_name(pieces):
    for address in split_addresses("".join(pieces)):
        url, refusal = verdict(address)
        if url is None:
            assert refusal.startswith(repr(without_credentials(address)))
        else:
            assert urlsplit(url).hostname
            assert read_address(url) == url


def test_a_list_is_read_line_by_line():
    text = "# head\nhttps://a.org/#part\n\n  b.org  # why\r\n\t# c.org\nd.org"
    assert list(read_lines(text)) == [(2, "https://a.org/#part"), (4, "b.org"), (6, "d.org")]
