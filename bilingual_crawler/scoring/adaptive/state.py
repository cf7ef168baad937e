"""What was learned about a site as bytes, and back: small, and read as untrusted input."""

import struct
from collections.abc import Callable
from typing import Any

import msgpack

from bilingual_crawler.scoring.adaptive.page import Certainty, Fate, KnownUrl, Tie
from bilingual_crawler.scoring.adaptive.site import SiteModel
from bilingual_crawler.scoring.adaptive.transforms import Record, Transforms, UrlTransform

FORMAT = 3
PARTNER = 8
"""The index of the partner's number in the row of a page."""


def pack(sites: dict[str, SiteModel]) -> bytes:
    """Return everything learned, site by site."""
    packed: bytes = msgpack.packb(
        [FORMAT, [_site(site) for site in sites.values()]], unicode_errors="surrogatepass"
    )
    return packed


def unpack(data: bytes, make: Callable[[str], SiteModel]) -> dict[str, SiteModel]:
    """Return the sites that `pack` packed; raise ValueError for any other bytes."""
    try:
        version, rows = msgpack.unpackb(data, unicode_errors="surrogatepass")
        if version != FORMAT:
            raise ValueError(f"format {version} instead of {FORMAT}")
        sites = [_read_site(row, make(row["name"])) for row in rows]
    except (msgpack.UnpackException, LookupError, TypeError, AttributeError, struct.error) as error:
        raise ValueError(f"not the state of an adaptive scorer: {error}") from error
    return {site.name: site for site in sites}


def _site(site: SiteModel) -> dict[str, Any]:
    memory = site.memory
    number = {page: at for at, page in enumerate(memory.urls.values())}
    ties = [
        (number[page], number[mate], tie)
        for page in number
        for mate, tie in page.ties.items()
        if mate in number and number[page] < number[mate]
    ]
    switches = [
        (number[page], number[mate], language)
        for page in number
        for mate, language in page.switches.items()
        if mate in number
    ]
    texts = sorted(site.texts)
    return {
        "name": site.name,
        "urls": [_page(page, number) for page in number],
        "ties": ties,
        "switches": switches,
        "languages": {name: each.counts for name, each in memory.language_sections.items()},
        "yields": {
            name: (each.paired, each.lone, each.kept, each.fresh, each.sides)
            for name, each in memory.yield_sections.items()
        },
        "evidence": [site.evidence.ties[tie] for tie in Tie],
        "paired": site.evidence.paired,
        "switching": site.evidence.switching,
        "slots": site.switches.slots,
        "rules": [_rules(each) for each in site.transforms],
        "texts": struct.pack(f"<{len(texts)}I", *texts),
        "stays": site.stays,
        "guesses": site.guesses,
        "probing": site.probing,
        "probes": [
            (number[page], language, tuple(rule))
            for page, (language, rule) in site.probes.items()
            if page in number
        ],
        "harvest": (
            site.harvest.rate,
            site.harvest.pending,
            site.harvest.is_over,
            list(site.harvest.hosts),
        ),
        "dirty": [number[page] for page in memory.dirty if page in number],
    }


def _page(page: KnownUrl, number: dict[KnownUrl, int]) -> tuple[Any, ...]:
    partner = number.get(page.partner) if page.partner is not None else None
    return (
        page.url,
        page.depth,
        page.fate,
        page.language,
        page.prior,
        page.certainty,
        page.hunch,
        page.priority,
        partner,
        page.promise,
        page.claims,
        page.is_copy,
        page.learned,
        page.lone,
        page.switched_from,
        page.parent,
        page.slot,
        page.purity,
    )


def _read_site(row: dict[str, Any], site: SiteModel) -> SiteModel:
    memory = site.memory
    for name, counts in row["languages"].items():
        memory.language_section(name).counts = counts
    for name, counters in row["yields"].items():
        section = memory.yield_section(name)
        section.paired, section.lone, section.kept, section.fresh, section.sides = counters
    pages = [_read_page(site, each) for each in row["urls"]]
    for page, each in zip(pages, row["urls"], strict=True):
        page.partner = None if each[PARTNER] is None else pages[each[PARTNER]]
    for one, other, tie in row["ties"]:
        pages[one].tie_to(pages[other], Tie(tie))
        pages[other].tie_to(pages[one], Tie(tie))
    for one, other, language in row["switches"]:
        pages[one].switch_to(pages[other], language)
    site.evidence.ties = dict(zip(Tie, row["evidence"], strict=True))
    site.evidence.paired = row["paired"]
    site.evidence.switching = row["switching"]
    site.switches.slots = row["slots"]
    site.transforms = (_read_rules(row["rules"][0]), _read_rules(row["rules"][1]))
    for digest in struct.unpack(f"<{len(row['texts']) // 4}I", row["texts"]):
        site.texts[digest] = 1
    site.stays, site.guesses, site.probing = row["stays"], row["guesses"], row["probing"]
    site.probes = {pages[at]: (language, _read_rule(rule)) for at, language, rule in row["probes"]}
    harvest = site.harvest
    harvest.resume(*row["harvest"])
    memory.dirty = {pages[at]: None for at in row["dirty"]}
    memory.settle()
    return site


def _read_page(site: SiteModel, row: list[Any]) -> KnownUrl:
    url, depth, fate, language, prior, certainty, hunch, priority, _, promise, *rest = row
    page = site.memory.remember(url, depth, Fate(fate))
    page.language = language
    page.prior = tuple(prior)
    page.certainty = Certainty(certainty)
    page.hunch = hunch
    page.priority = priority
    page.promise = promise
    page.claims, page.is_copy, page.learned, page.lone, *rest = rest
    switched_from, page.parent, page.slot, page.purity = rest
    first, second, neither = switched_from
    page.switched_from = first, second, neither
    return page


def _rules(transforms: Transforms) -> list[Any]:
    return [
        (tuple(rule), record.support, record.asked, record.right)
        for rule, record in transforms.rules.items()
    ]


def _read_rules(rows: list[Any]) -> Transforms:
    transforms = Transforms()
    transforms.rules = {_read_rule(rule): Record(*counts) for rule, *counts in rows}
    return transforms


def _read_rule(row: list[Any]) -> UrlTransform:
    before, old, new, place = row
    return UrlTransform(before, tuple(old), tuple(new), place)
