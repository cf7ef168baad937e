"""`scrapy bootstrap` on dump files of a small and a large edition: rows per second, peak memory.

The edition is synthetic, the same in every run, in the layout of MediaWiki 1.45: ten of a hundred
pages are categories in a tree, and each article is in three categories and has two external links;
the topic is the same few hundred articles whatever the size. Rows are counted as they are read:
some tables are read twice. Each run is its own process; its time is CPU time, its memory the peak,
including the interpreter.

    python -m benchmarks.bootstrap                     the table of docs/experiments/benchmarks.md
    python -m benchmarks.bootstrap --sizes 10000 100000
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.export import peak_memory
from bilingual_crawler.bootstrap import run
from bilingual_crawler.bootstrap.api_wiki import RequestPolicy
from bilingual_crawler.bootstrap.dump_wiki import Damages, DumpFiles
from bilingual_crawler.bootstrap.harvest import Limits, harvest
from bilingual_crawler.bootstrap.run import open_wikis
from bilingual_crawler.languages import LanguagePair

SIZES = (50_000, 500_000)
A_STATEMENT = 10_000
TOPIC = 300
CHILDREN = 8
PAIR = LanguagePair.parse("eng-spa")

Row = tuple[int | str, ...]


def rows_of(size: int) -> dict[str, tuple[str, Iterator[Row]]]:
    """Return the columns and rows of each table of an edition with `size` pages."""
    categories = max(size // 10, TOPIC)
    first_article = categories
    articles = range(first_article, first_article + size - categories)

    def title(number: int) -> str:
        return f"Category_{number}" if number < categories else f"Article_number_{number}"

    def category_of(article: int, which: int) -> int:
        return article * (7 + which) % categories

    return {
        "page": (
            "page_id page_namespace page_title page_is_redirect page_len",
            ((n, 14 if n < categories else 0, title(n), 0, 999) for n in range(size)),
        ),
        "linktarget": (
            "lt_id lt_namespace lt_title",
            ((10**6 + n, 14, title(n)) for n in range(categories)),
        ),
        "categorylinks": (
            "cl_from cl_sortkey cl_timestamp cl_type cl_collation_id cl_target_id",
            (
                *((n, "KEY", "2026-01-01 00:00:00", "subcat", 1, 10**6 + (n - 1) // CHILDREN)
                  for n in range(1, categories)),
                *((n, f"KEY{n}", "2026-01-01 00:00:00", "page", 1, 10**6 + category_of(n, which))
                  for n in articles for which in range(3)),
            ).__iter__(),
        ),
        "langlinks": ("ll_from ll_lang ll_title", ((n, "es", f"Articulo {n}") for n in articles)),
        "externallinks": (
            "el_id el_from el_to_domain_index el_to_path",
            ((2 * n + k, n, f"https://org.example{n % 997}.www.", f"/en/{n}/{k}")
             for n in articles for k in (0, 1)),
        ),
    }  # fmt: skip


def write(file: Path, table: str, columns: str, rows: Iterable[Row]) -> None:
    defined = ",\n".join(f"  `{name}` varbinary(255) NOT NULL" for name in columns.split())
    with gzip.open(file, "wt", compresslevel=1) as out:
        out.write(f"CREATE TABLE `{table}` (\n{defined}\n);\n")
        some: list[str] = []
        for row in rows:
            values = (str(each) if isinstance(each, int) else f"'{each}'" for each in row)
            some.append(f"({','.join(values)})")
            if len(some) == A_STATEMENT:
                out.write(f"INSERT INTO `{table}` VALUES {','.join(some)};\n")
                some = []
        if some:
            out.write(f"INSERT INTO `{table}` VALUES {','.join(some)};\n")


def make(folder: Path, size: int) -> None:
    for code, pages in (("en", size), ("es", size // 10)):
        for table, (columns, rows) in rows_of(pages).items():
            write(folder / f"{code}wiki-20260101-{table}.sql.gz", table, columns, rows)


class Counting(DumpFiles):
    """Counts the rows that are read."""

    count = 0

    def rows(self, table: str, *columns: str) -> Iterator[tuple[bytes | None, ...]]:
        for row in super().rows(table, *columns):
            Counting.count += 1
            yield row


def measure(folder: Path) -> None:
    """Run one bootstrap and print its cost."""
    vars(run)["DumpFiles"] = Counting
    start = time.process_time()
    policy = RequestPolicy(user_agent="none")
    with open_wikis(str(folder), PAIR, policy, Damages(), lambda *_: None) as wikis:
        found = harvest("Category 5", wikis, PAIR, Limits(depth=2, articles=TOPIC))
    seconds = time.process_time() - start
    print(
        json.dumps(
            {
                "seconds": seconds,
                "memory": peak_memory(),
                "rows": Counting.count,
                "articles": found.articles,
                "bytes": sum(file.stat().st_size for file in folder.iterdir()),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    print("| pages | files, MB | rows read | CPU seconds | rows a CPU second | peak memory, MB |")
    print("|---:|---:|---:|---:|---:|---:|")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            make(Path(scratch), size)
            words = [sys.executable, "-m", "benchmarks.bootstrap", "--measure", scratch]
            run = subprocess.run(words, capture_output=True, text=True, check=True)
            found = json.loads(run.stdout)
        rate = found["rows"] / found["seconds"]
        print(
            f"| {size:,} | {found['bytes'] / 1e6:,.0f} | {found['rows']:,} "
            f"| {found['seconds']:.1f} | {rate:,.0f} | {found['memory']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
