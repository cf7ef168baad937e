"""Numbers and currencies that do not match, and those that only look different."""

import pytest

from bilingual_crawler.alignment.figures import currencies_differ, numbers_differ, without_digits


@pytest.mark.parametrize(
    ("text1", "text2"),
    [
        ("Costs 1,200.50 euros", "Cuesta 1.200,50 euros"),
        ("On 30/07/2024", "July 30, 2024"),
        ("Open at 14:30", "Open at 2:30 pm"),
        ("In the 1990s", "1990eko hamarkadan"),
        ("Two of 25", "2 de 25"),
        ("Chapter 7", "Chapter 8"),
        ("25 people", "some people"),
        ("Ends with 442 people [32]", "Acaba con 442 personas [36]"),
        ("See https://a.example/55", "See https://a.example/66"),
        ("\u0661\u0662 books", "12 books"),
        ("0800 123 456", "0800-123-456"),
    ],
)
def test_numbers_that_match_or_may_be_left_out(text1, text2):
    assert not numbers_differ(text1, text2)
    assert not numbers_differ(text2, text1)


@pytest.mark.parametrize(
    ("text1", "text2"),
    [
        ("Tickets for 12 euros", "Entradas por 15 euros"),
        ("Deadline: 18 February 2015", "Plazo: 12 de febrero de 2016"),
        ("A 20-gallon tank", "Un tanque de 75 litros"),
    ],
)
def test_numbers_that_each_side_has_alone(text1, text2):
    assert numbers_differ(text1, text2)


def test_currencies_are_compared_by_sign_and_code():
    assert currencies_differ("$25 a month", "25 EUR al mes")
    assert not currencies_differ("\u20ac25 a month", "25 EUR al mes")
    assert not currencies_differ("$25 (\u20ac23)", "23 euros (23 \u20ac)")
    assert not currencies_differ("25 a month", "25 EUR al mes")


def test_dates_prices_and_versions_are_masked_as_one():
    assert without_digits("On 12.05.2024 at 10:30") == without_digits("On 1.5.1999 at 9:05")
    assert without_digits("no digits") == "no digits"
