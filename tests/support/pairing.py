"""Pages for the detectors of pairs: made by hand, or of any content at all."""

from hypothesis import strategies as st

from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.pairing.profile import Profile, hashes

SITE = "https://www.udala.example"


def packed(*texts):
    return hashes(texts, 1_000)


def page(path="/es/agenda", language="spa", **profile):
    return PairingPage(SITE + path, language, profile=Profile(**profile))


_sizes = st.integers(0, 10**12)
_hashes = st.sets(st.text(max_size=3), max_size=600).map(lambda texts: hashes(texts, 500))
_profiles = st.builds(
    Profile,
    size=_sizes,
    characters=_sizes,
    words=_sizes,
    paragraphs=_sizes,
    fingerprint=st.lists(st.integers(-5, 10**7), max_size=600).map(tuple),
    tags=st.text("abcdefgh", max_size=2_000),
    punctuation=st.text("!?.", max_size=1_000),
    title=st.text(max_size=20),
    vocabulary=_hashes,
    images=_hashes,
    links=_hashes,
)
_parts = st.sampled_from(
    ["es", "eu", "en", "index.html", "agenda.php", "a.xyz", "ñ", "%zz", ".", ""]
)
_urls = st.one_of(
    st.lists(_parts, max_size=6).map(lambda parts: "/".join([SITE, *parts])),
    st.text(max_size=60),
    st.sampled_from(["http://[", "http://[::1", "//", "?", "http://a" + "/b" * 3_000]),
)
pages = st.builds(
    PairingPage,
    _urls,
    st.sampled_from(["spa", "eus", ""]),
    profile=st.one_of(st.just(Profile()), _profiles),
)
"""Any page: empty, huge, with a broken URL."""
