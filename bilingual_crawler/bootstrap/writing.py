"""The files that a bootstrap leaves: what -a topic, -a seeds_file and BILINGUAL_WORD_LIST read."""

import json
from collections.abc import Iterable
from pathlib import Path

from bilingual_crawler.bootstrap.harvest import TopicHarvest
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.target import replacing_file, text_file

TOPIC, TERMS, SEEDS, SITES = "topic.tsv", "terms.tsv", "seeds.txt", "sites.jsonl"


def write(folder: Path, harvest: TopicHarvest, about: str) -> None:
    """Write all four; each takes the place of an older one only when it is complete."""
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file: name a folder with --output.")
    topic = (
        f"{each.weight:g}\t{_cell(each.term)}\t{_cell(each.subdomain)}\t{each.language}"
        for each in harvest.topic
    )
    _write(folder / TOPIC, [f"# {about}", "weight\tterm\tsubdomain\tlanguage", *topic])
    pairs = (f"{_cell(one)}\t{_cell(other)}\t{weight:g}" for one, other, weight in harvest.pairs)
    _write(folder / TERMS, pairs)
    _write(folder / SEEDS, [f"# {about}", *harvest.seeds])
    sites = (json.dumps(site.to_dict(), ensure_ascii=False) for site in harvest.sites)
    _write(folder / SITES, sites)


def _write(file: Path, lines: Iterable[str]) -> None:
    with replacing_file(file) as part, text_file(part) as text:
        text.writelines(f"{line}\n" for line in lines)


def _cell(text: str) -> str:
    """A text that can end neither its cell nor its line, nor a term in a list of them."""
    return " ".join(text.replace(";", " ").split())
