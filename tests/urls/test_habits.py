"""The habits of sites that redirect."""

import pytest

from bilingual_crawler.urls.habits import UrlHabits, are_spellings

SITE = "https://site.example"


@pytest.mark.parametrize(
    ("redirects", "link", "form"),
    [
        ((("/a", "/a/"), ("/b", "/b/")), "/c", "/c/"),
        ((("/a/", "/a"), ("/b/", "/b")), "/c/", "/c"),
        ((("/a/index.html", "/a/"), ("/index.html", "/")), "/c/index.html", "/c/"),
        ((("/A", "/a"), ("/Bb/C", "/bb/c")), "/C", "/c"),
    ],
)
def test_two_redirects_of_one_kind_are_a_habit(redirects, link, form):
    habits = UrlHabits()
    first, second = redirects
    habits.learn(SITE + first[0], SITE + first[1])
    assert habits.form(SITE + link) == SITE + link
    habits.learn(SITE + second[0], SITE + second[1])
    assert habits.form(SITE + link) == SITE + form


def test_hosts_and_schemes_are_habits_too():
    habits = UrlHabits()
    for name in "ab":
        habits.learn(f"http://site.example/{name}.html", f"https://www.site.example/{name}.html")
    assert habits.form("http://site.example/c.html") == "https://www.site.example/c.html"


def test_a_habit_that_fails_is_unlearned():
    habits = UrlHabits()
    for name in "ab":
        habits.learn(f"{SITE}/{name}", f"{SITE}/{name}/")
    habits.stayed(f"{SITE}/c")
    assert habits.form(f"{SITE}/d") == f"{SITE}/d"


def test_the_habits_of_a_site_are_its_own():
    habits = UrlHabits()
    for name in "ab":
        habits.learn(f"{SITE}/{name}", f"{SITE}/{name}/")
    assert habits.form("https://other.example/a") == "https://other.example/a"


def test_spellings_differ_in_nothing_else():
    assert are_spellings(f"{SITE}/a", "http://www.site.example/A/index.html")
    assert not are_spellings(f"{SITE}/a", f"{SITE}/b")
