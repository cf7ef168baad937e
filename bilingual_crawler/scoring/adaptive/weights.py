"""The numbers of the adaptive scorer, all in one place.

They are priors: what is believed of a site before it has shown its own habits, and how many pages
that belief is worth. They were set by hand. `python -m benchmarks.adaptive_weights` learns others
from recorded sites, which were hardly better on sites left out (docs/experiments/adaptive.md).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace


@dataclass(slots=True)
class ValueWeights:
    """Every number that a search may change; `WEIGHTS` are those in use."""

    # How likely two tied URLs are translations, by the kind of their tie.
    tie_slug: float = 0.4
    tie_model: float = 0.7
    tie_key: float = 0.8
    tie_rule: float = 0.8
    tie_switch: float = 0.85
    tie_declared: float = 0.95
    mutual_switch: float = 0.95
    contradiction: float = 0.85
    """How much is lost when a page of a site with good language switches names no such tie."""
    tie_prior: float = 3.0
    """How many ties of the site that is worth."""
    silence_prior: float = 2.0
    silence: float = 0.2
    """How likely two tied pages are translations though pairing has not paired them."""

    # The first guess of a page's language.
    sure_declared: float = 0.95
    sure_anchor: float = 0.9
    sure_token: float = 0.85
    stays: float = 0.75
    """How often a link without a sign of language stays in its page's."""
    stays_prior: float = 4.0
    guess_right: float = 0.2
    """How often the URL model guesses a language right."""
    guess_prior: float = 5.0
    language_prior: float = 1.5

    # What the sections of a site have shown.
    first_yield: float = 0.5
    """The share of pages with a translation."""
    yield_prior: float = 2.0
    side_prior: float = 4.0
    others: float = 0.25
    """What a page that came with a sign of a translation says about one without."""
    kept_at_first: float = 0.95
    """The share of promised translations that exist."""
    kept_prior: float = 1.5
    fresh_at_first: float = 0.8
    """The share of text that no other page has."""
    fresh_prior: float = 2.0

    # What a page is worth.
    half: float = 0.5
    """The share of a pair that its first page is worth, while its counterpart is unseen."""
    findable: float = 0.8
    """How often the counterpart of a page that opens a pair is found."""
    stale_worth: float = 0.5
    """The worth of a page that only repeats what other pages say."""
    least_purity: float = 0.3
    """The worth of a page that is half in another language."""
    text_prior: float = 10.0
    feed_worth: float = 0.1
    """The worth of an address that serves programs: a feed, a login."""
    floor: float = 0.001
    """The value of a page without hope."""

    grain: float = 0.1
    """Values of pages that open a pair are equal if they differ by less, relative to their size."""

    # What `rules` say of a link, as the value of its page, and how much that counts.
    rule_declared: float = 0.7
    rule_translation: float = 0.6
    rule_other: float = 0.35
    rule_undecided: float = 0.2
    rule_same: float = 0.15
    rule_foreign: float = 0.01
    rule_prior: float = 5.0
    """How many pages of the site that is worth."""
    rule_at_first: float = 0.5
    """The share of the rule in a value before any page has come."""
    rule_in_the_end: float = 0.1
    """The same once a site has shown its habits."""
    rule_pages: float = 10.0
    """After how many pages it is half way."""


WEIGHTS = ValueWeights()


def use(weights: ValueWeights) -> None:
    """Use other values from now on, in this process."""
    for name, value in asdict(weights).items():
        setattr(WEIGHTS, name, value)


@contextmanager
def using(weights: ValueWeights) -> Iterator[None]:
    """Use other values in the block: to learn them."""
    before = replace(WEIGHTS)
    use(weights)
    try:
        yield
    finally:
        use(before)
