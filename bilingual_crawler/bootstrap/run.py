"""The two ends of a bootstrap: the Wikipedias that the user names, and the files it writes.

The files are what -a topic, -a seeds_file and BILINGUAL_WORD_LIST read.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bilingual_crawler.bootstrap import API
from bilingual_crawler.bootstrap.api_wiki import ApiClient, ApiWiki, RequestPolicy
from bilingual_crawler.bootstrap.dump_wiki import Damages, DumpFiles, DumpWiki, Watch
from bilingual_crawler.bootstrap.harvest import TopicHarvest, Wiki, wiki_code
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.durable import replacing_file, text_file

_PLACE = "{lang}"


@contextmanager
def open_wikis(
    source: str, pair: LanguagePair, policy: RequestPolicy, damages: Damages, watch: Watch
) -> Iterator[tuple[Wiki, Wiki]]:
    """Open the two editions, from dump files in a folder or from the API at an address."""
    if "://" in source:
        template = _template(source, pair)
        asked = [0]

        def tell(_requests: int) -> None:
            asked[0] += 1
            watch("questions", asked[0], 0)

        first, second = (
            ApiWiki(
                ApiClient(template.replace(_PLACE, wiki_code(language)), policy, tell), language
            )
            for language in pair
        )
        yield first, second
        return
    folder = Path(source).expanduser()
    if folder.is_file():
        folder = folder.parent
    if not folder.is_dir():
        raise ConfigurationError(
            f"--wikipedia {source} is neither a folder with dump files nor the address of an API: "
            f"write for instance --wikipedia {API}, or leave it out."
        )
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(
                DumpWiki(DumpFiles(folder, wiki_code(language), damages, watch), language)
            )
            for language in pair
        )
        yield one, other


def _template(source: str, pair: LanguagePair) -> str:
    """Return the address of an API with a placeholder for the language, added if necessary."""
    try:
        parts = urlsplit(source)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ConfigurationError(f"--wikipedia {source} is not a web address: write {API}.")
    if _PLACE in source:
        return source
    first, _, rest = parts.netloc.partition(".")
    if first in map(wiki_code, pair):
        return parts._replace(netloc=f"{_PLACE}.{rest}").geturl()
    raise ConfigurationError(
        f"--wikipedia {source} is the address of one language: write {_PLACE} where the code "
        f"of the language stands, as in {API}."
    )


TOPIC, TERMS, SEEDS, SITES = "topic.tsv", "terms.tsv", "seeds.txt", "sites.jsonl"


def write(folder: Path, harvest: TopicHarvest, about: str) -> None:
    """Write all four files; each replaces an older one only when it is complete."""
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
    """Return a text without characters that would end its cell, its line or its term."""
    return " ".join(text.replace(";", " ").split())
