"""What a page in the browser may ask for: what its text is made of, and nothing else."""

from enum import Enum

from bilingual_crawler.urls.hosts import host_of, site_of

FETCHED = frozenset(("script", "xhr", "fetch"))
TRACKERS = frozenset(
    (
        *("google-analytics.com", "googletagmanager.com", "doubleclick.net", "hotjar.com"),
        *("googlesyndication.com", "googleadservices.com", "facebook.net", "facebook.com"),
        *("clarity.ms", "newrelic.com", "nr-data.net", "sentry.io", "segment.com", "mixpanel.com"),
        *("cookiebot.com", "onetrust.com", "cookielaw.org", "addthis.com", "sharethis.com"),
        *("linkedin.com", "twitter.com", "tiktok.com", "criteo.com", "cloudflareinsights.com"),
    )
)
"""Sites whose scripts count readers, advertise or ask for consent, and bring no text."""


class Treatment(Enum):
    """What becomes of a wish."""

    FETCH = "fetch"
    EMPTY = "empty"
    REFUSE = "refuse"


def treatment_of(kind: str, method: str, url: str) -> Treatment:
    """What becomes of a request of `kind`, as browsers name it (script, image, font, ...).

    Scripts and the data that they fetch are fetched, with GET alone: a crawler asks and does
    not send. A style sheet is answered with an empty one, because pages wait for theirs and some
    give up without it. Images, fonts, media, frames, beacons and streams are refused.
    """
    if kind == "stylesheet":
        return Treatment.EMPTY
    if kind in FETCHED and method == "GET" and url.startswith(("http://", "https://")):
        return Treatment.REFUSE if site_of(host_of(url)) in TRACKERS else Treatment.FETCH
    return Treatment.REFUSE
