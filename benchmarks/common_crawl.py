"""Measures `scrapy seeds --common-crawl` on a made index in the schema of cc-index-table.

    python -m benchmarks.common_crawl --rows 10000000

Most sites are in one language. Some have both and translate (codes in the path, hosts,
parameters, or translated names), and some have both and do not: boards, blogs of two authors,
copies of one page under two codes. Which site is which is known, so precision at k can be told; it
says how the ranking treats these kinds, not how the web is.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bilingual_crawler.discovery.crawl_index import CrawlIndex
from bilingual_crawler.languages import LanguagePair

SCHEMA = pa.schema(
    [
        ("url_surtkey", pa.string()),
        ("url", pa.string()),
        ("url_host_name", pa.string()),
        ("url_host_tld", pa.string()),
        ("url_host_2nd_last_part", pa.string()),
        ("url_host_3rd_last_part", pa.string()),
        ("url_host_4th_last_part", pa.string()),
        ("url_host_5th_last_part", pa.string()),
        ("url_host_registry_suffix", pa.string()),
        ("url_host_registered_domain", pa.string()),
        ("url_host_private_suffix", pa.string()),
        ("url_host_private_domain", pa.string()),
        ("url_host_name_reversed", pa.string()),
        ("url_protocol", pa.string()),
        ("url_port", pa.int32()),
        ("url_path", pa.string()),
        ("url_query", pa.string()),
        ("fetch_time", pa.timestamp("ms")),
        ("fetch_status", pa.int16()),
        ("fetch_redirect", pa.string()),
        ("content_digest", pa.string()),
        ("content_mime_type", pa.string()),
        ("content_mime_detected", pa.string()),
        ("content_charset", pa.string()),
        ("content_languages", pa.string()),
        ("content_truncated", pa.string()),
        ("warc_record_id", pa.binary()),
        ("warc_filename", pa.string()),
        ("warc_record_offset", pa.int32()),
        ("warc_record_length", pa.int32()),
        ("warc_segment", pa.string()),
    ]
)
MOMENT = datetime(2026, 10, 1, tzinfo=UTC).replace(tzinfo=None)
OTHERS = ("eng", "deu", "fra", "rus", "zho", "jpn", "por", "ita", "eng,spa", "spa,eng", "eus,spa")
WORDS = [
    "agenda",
    "ayuda",
    "museo",
    "plaza",
    "gente",
    "mapa",
    "datos",
    "oferta",
    "curso",
    "lengua",
    "casa",
    "mar",
    "ciudad",
    "obra",
]
GROUP = 200_000
TRANSLATED = ("path", "host", "query", "names")
DECOYS = ("board", "authors", "copies")


def row(url: str, languages: str | None, status: int = 200) -> dict[str, object]:
    """One capture, with the columns that the index has for its URL."""
    host, _, rest = url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")
    labels = host.split(".")[::-1]
    parts = dict(
        zip(("tld", "2nd_last_part", "3rd_last_part", "4th_last_part"), labels, strict=False)
    )
    domain = ".".join(labels[1::-1])
    return {
        "url_surtkey": f"{','.join(labels)})/{path}{'?' if query else ''}{query}",
        "url": url,
        "url_host_name": host,
        **{f"url_host_{name}": label for name, label in parts.items()},
        "url_host_registry_suffix": labels[0],
        "url_host_registered_domain": domain,
        "url_host_private_suffix": labels[0],
        "url_host_private_domain": domain,
        "url_host_name_reversed": ".".join(labels),
        "url_protocol": url.partition(":")[0],
        "url_path": f"/{path}",
        "url_query": query or None,
        "fetch_time": MOMENT,
        "fetch_status": status,
        "content_digest": f"{abs(hash(url)):032X}"[:32],
        "content_mime_type": "text/html",
        "content_mime_detected": "text/html",
        "content_charset": "UTF-8",
        "content_languages": languages,
        "warc_record_id": b"0" * 16,
        "warc_filename": "crawl-data/CC-MAIN-2026-40/segments/1.1/warc/CC-MAIN-1-00000.warc.gz",
        "warc_record_offset": abs(hash(url)) % 10**9,
        "warc_record_length": 20_000,
        "warc_segment": "1.1",
    }


def pages_of(kind: str, site: str, number: int, draw: random.Random) -> Iterator[tuple[str, str]]:
    """The URLs and languages of a site with so many pages per language."""
    for page in range(number):
        name = f"{draw.choice(WORDS)}-{page}"
        if kind == "path":
            yield f"https://www.{site}/es/{name}", "spa"
            yield f"https://www.{site}/eu/{name}", "eus"
        elif kind == "host":
            yield f"https://es.{site}/{name}", "spa"
            yield f"https://eu.{site}/{name}", "eus,spa"
        elif kind == "query":
            yield f"https://{site}/p?id={page}&lang=es", "spa"
            yield f"https://{site}/p?id={page}&lang=eu", "eus"
        elif kind == "names":
            yield f"https://{site}/es/{name}", "spa"
            yield f"https://{site}/eu/{draw.choice(WORDS)}a-{page * 7 + 3}", "eus"
        elif kind == "board":
            yield f"https://{site}/t/{page}", draw.choice(("spa", "spa", "eus"))
            yield f"https://{site}/u/{page}", draw.choice(("eus", "spa"))
        elif kind == "authors":
            yield f"https://{site}/{page}/{name}", "spa"
            yield f"https://{site}/{page}/{draw.choice(WORDS)}-{page + 10_000}", "eus"
        elif kind == "copies":  # the same Spanish text under both codes
            yield f"https://{site}/es/{name}", "spa"
            yield f"https://{site}/eu/{name}", "spa" if page else "eus"
        else:
            yield f"https://{site}/{name}", kind


def make_index(folder: Path, rows: int, seed: int = 1) -> dict[str, tuple[str, int]]:
    """Write an index of about so many rows. Return the kind and the size of each bilingual site."""
    draw = random.Random(seed)
    truth: dict[str, tuple[str, int]] = {}
    place = folder / "crawl=CC-MAIN-2026-40" / "subset=warc"
    place.mkdir(parents=True)
    written = part = 0
    waiting: list[dict[str, object]] = []
    number = 0
    while written + len(waiting) < rows:
        number += 1
        site = f"site{number}.{draw.choice(('org', 'com', 'eus', 'es'))}"
        size = min(int(draw.paretovariate(1.1) * 3), 5_000)
        kind = draw.choice(OTHERS)
        if number % 50 == 0:
            kind = draw.choice((*TRANSLATED, *DECOYS))
            truth[site] = kind, size
        waiting += [row(url, code) for url, code in pages_of(kind, site, size, draw)]
        if len(waiting) >= GROUP or written + len(waiting) >= rows:
            part += 1
            table = pa.Table.from_pylist(waiting, SCHEMA)
            pq.write_table(table, place / f"part-{part:05}.gz.parquet", compression="gzip")
            written, waiting = written + len(waiting), []
    return truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--copies", type=int, default=1, help="read each file so many times")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    pair = LanguagePair.parse("spa-eus")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.process_time()
        truth = make_index(folder, args.rows)
        print(f"made in {time.process_time() - began:.0f} s of processor time")
        for path in sorted(folder.rglob("*.parquet")):
            for copy in range(1, args.copies):
                (path.with_name(f"{copy}-{path.name}")).hardlink_to(path)
        size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        index = CrawlIndex(str(folder), threads=args.threads)
        rows = index.rows()
        began, wall = time.process_time(), time.perf_counter()
        list(index._candidates(pair, 1_000))  # noqa: SLF001 - the pass over all rows
        first = time.process_time() - began
        sites = index.sites(pair, 100)
        spent, wall = time.process_time() - began - first, time.perf_counter() - wall
        print(f"{rows:,} rows, {size / 1e6:,.0f} MB, {args.threads} threads")
        print(f"counting alone: {first:.1f} s, {rows / first:,.0f} rows per second and core")
        print(f"everything: {spent:.1f} s, {rows / spent:,.0f} rows per second and core")
        good = [truth[site.site][0] in TRANSLATED for site in sites]
        for k in (10, 50, 100):
            print(f"precision at {k}: {sum(good[:k]) / max(len(good[:k]), 1):.2f}")
        smaller = sorted(truth, key=lambda site: -truth[site][1])[:100]
        blind = [truth[site][0] in TRANSLATED for site in smaller]
        print(f"by size alone, precision at 100: {sum(blind) / max(len(blind), 1):.2f}")


if __name__ == "__main__":
    main()
