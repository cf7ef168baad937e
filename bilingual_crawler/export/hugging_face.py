"""A folder for the Hugging Face hub: Parquet by site split, a `translation` column, a card.

The card's header tells `datasets` where the splits are, so the folder loads by its name, and the
hub shows its languages, size and licence.
"""

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bilingual_crawler import __version__
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.rows import ROW_GROUP, TYPES, pyarrow
from bilingual_crawler.export.site_splits import SPLITS, SiteSplit
from bilingual_crawler.export.source import Account, CorpusSource, of_one_pair
from bilingual_crawler.export.survey import Survey
from bilingual_crawler.languages import language_tag
from bilingual_crawler.languages.table import language_of_tag
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import SentencePair

TRANSLATION = "translation"
COLUMNS = {name: of for name, of in TYPES.items() if name not in {"text1", "text2"}}
"""The columns beside `translation`, which has the texts."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))
CREATIVE_COMMONS = {
    "publicdomain/zero/1.0": "cc0-1.0",
    "licenses/by/4.0": "cc-by-4.0",
    "licenses/by-sa/4.0": "cc-by-sa-4.0",
    "licenses/by-nc/4.0": "cc-by-nc-4.0",
    "licenses/by-nd/4.0": "cc-by-nd-4.0",
    "licenses/by-nc-sa/4.0": "cc-by-nc-sa-4.0",
    "licenses/by-nc-nd/4.0": "cc-by-nc-nd-4.0",
    "licenses/by/3.0": "cc-by-3.0",
    "licenses/by-sa/3.0": "cc-by-sa-3.0",
}
"""The hub's names of the licences that pages link to."""


class HuggingFace(Exporter):
    """A dataset folder whose test and validation sites are not in the training part."""

    name = "huggingface"
    about = "a folder: Parquet by site split, translation column, dataset card"
    dropped = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write data/SPLIT-00000-of-00001.parquet and README.md."""
        pa = pyarrow()
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra that only this format needs

        ahead = source.looking_ahead()
        split = SiteSplit.of((row.url1, row.url2) for row in ahead.sentences())
        languages, rows = of_one_pair(source.sentences(), account)
        schema = _schema(pa, languages)
        sizes: Counter[str] = Counter()
        (path / "data").mkdir()
        with ExitStack() as files:
            groups: dict[str, list[SentencePair]] = {}
            writers: dict[str, Any] = {}
            for row in rows:
                part = split.part_of(row.url1)
                if part not in writers:
                    file = pq.ParquetWriter(_file(path, part), schema, compression="zstd")
                    writers[part], groups[part] = files.enter_context(file), []
                groups[part].append(row)
                sizes[part] += 1
                if len(groups[part]) == ROW_GROUP:
                    writers[part].write_table(_table(pa, schema, groups[part], languages))
                    groups[part].clear()
            for part, writer in writers.items():
                writer.write_table(_table(pa, schema, groups[part], languages))
        if not sizes:
            raise ConfigurationError("No sentence pair is left to export.")
        account.written["sentence pairs"] += sizes.total()
        with text_file(path / "README.md") as card:
            card.write(dataset_card(languages, sizes, split, account.survey))


def _file(path: Path, part: str) -> Path:
    return path / "data" / f"{part}-00000-of-00001.parquet"


def _schema(pa: Any, languages: tuple[str, str]) -> Any:
    """Return the columns, with the types of `datasets`, which a reader without it ignores."""
    tags = list(map(language_tag, languages))
    features: dict[str, Any] = {TRANSLATION: {"languages": tags, "_type": "Translation"}}
    features |= {name: {"dtype": of, "_type": "Value"} for name, of in COLUMNS.items()}
    told = json.dumps({"info": {"features": features}})
    fields = {TRANSLATION: pa.struct(dict.fromkeys(tags, pa.string()))}
    fields |= {name: pa.type_for_alias(of) for name, of in COLUMNS.items()}
    return pa.schema(fields, metadata={"huggingface": told})


def _table(pa: Any, schema: Any, rows: list[SentencePair], languages: tuple[str, str]) -> Any:
    first, second = map(language_tag, languages)
    columns = {TRANSLATION: [{first: row.text1, second: row.text2} for row in rows]}
    columns |= {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    arrays = [pa.array(columns[each.name], each.type) for each in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def dataset_card(
    languages: tuple[str, str], sizes: Counter[str], split: SiteSplit, survey: Survey
) -> str:
    """Return README.md: the header that programs read, and what people need to know."""
    tags = list(map(language_tag, languages))
    names = " and ".join(_name(each) for each in languages)
    parts = [part for part in SPLITS if sizes[part]]
    table = "\n".join(
        f"| {part} | {sizes[part]:,} | {len(split.sites(part)):,} |" for part in parts
    )
    files = "".join(f"  - split: {part}\n    path: data/{part}-*.parquet\n" for part in parts)
    alone = "" if len(parts) > 1 else (
        "\nAll pairs are from sites that belong together, so there is no part of unseen sites.\n"
    )  # fmt: skip
    return f"""---
language:
{"".join(f"- {tag}" + chr(10) for tag in tags)}license: {_licence(survey)}
multilinguality:
- translation
task_categories:
- translation
size_categories:
- {_size(sizes.total())}
source_datasets:
- original
pretty_name: {names} parallel sentences from the web
configs:
- config_name: default
  data_files:
{files}---

# {names} parallel sentences from the web

{sizes.total():,} sentence pairs of web pages that are translations of each other, found and
aligned by bilingual-crawler {__version__}. `DATASHEET.md` has the sites, dates, licences, filters,
personal data and evaluation.

| split | sentence pairs | sites |
|---|---|---|
{table}

No site is in two splits: pages of one site share phrases and translators.
{alone}
## Load

```python
from datasets import load_dataset

pairs = load_dataset("path/of/this/folder", split="{parts[0]}")
print(pairs[0]["translation"])
```

## Columns

`translation` has the two texts under `{tags[0]}` and `{tags[1]}`. The others say where a pair
comes from: `pair` and `at` (document pair, position in it), `url1` and `url2`, `score` (0 to 1, how
certain it is that both say the same), `beads`, `kind`, `dropped` (the cleaning rule that the
pair broke, "" for a good one), and for each side `fetched`, `licence`, `machine`, `paragraph` and
`sentence`.
"""


def _name(code: str) -> str:
    known = language_of_tag(code)
    return known.name if known else code


def _size(rows: int) -> str:
    return next((name for most, name in SIZES if rows < most), "1M<n<10M")


def _licence(survey: Survey) -> str:
    """Return the hub's name of the licence, if all pages state the same one."""
    stated = list(survey.licences)
    if stated == [""] or not stated:
        return "unknown"
    known = [name for part, name in CREATIVE_COMMONS.items() if f"/{part}" in stated[0]]
    return known[0] if known and len(stated) == 1 else "other"
