"""Reading one source in a task: every page, redirect and claim as a row with the site it concerns.

Files may be on this machine or in an object store (`s3a://`, `hdfs://`, `gs://`): those are copied
to a temporary file first, because reading goes on after a damaged record by looking back.
"""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.cluster.site_harvest import ALIAS, CLAIM, DOCUMENT
from bilingual_crawler.corpus.cluster.site_parts import keys_of
from bilingual_crawler.corpus.sources.inputs import documents_from
from bilingual_crawler.corpus.sources.reading import Alias, SourceReading
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.identifiers.choice import load_identifier
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.documents.sitemap import Sitemap
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.hosts import host_of, site_of


class SourceRow(NamedTuple):
    """One thing that a source gave."""

    site: str
    kind: str
    keys: list[int]
    """By what a page stays with its likely translations if its site is split."""
    sides: list[int]
    """The languages of a page: 2n for the first, 2n + 1 for the second of the n-th pair."""
    place: int
    """Its place in its source, so that a site is taken in the order of its files."""
    data: str


def rows_of(
    source: str, pairs: Sequence[LanguagePair], config: Config, counts: Counter[str]
) -> Iterator[SourceRow]:
    """Yield what a source has; pages in none of the languages are counted and left out."""
    tokens = frozenset().union(*(language.tokens for pair in pairs for language in pair))
    codes = {code for pair in pairs for code in pair.codes}
    identifier = load_identifier(config.identifier, sorted(codes), config.taught)
    reading = SourceReading(pairs[0], identifier=identifier, text_lines=config.text_lines)
    try:
        with local_file(source) as path:
            for place, found in enumerate(documents_from(str(path), reading)):
                if isinstance(found, Alias):
                    for site in {_site(found.source), _site(found.target)}:
                        yield SourceRow(site, ALIAS, [], [], place, json.dumps(found))
                elif isinstance(found, Sitemap):
                    for claim in found.claims():
                        yield SourceRow(_site(claim.url), CLAIM, [], [], place, json.dumps(claim))
                elif sides := _sides_of(found, pairs):
                    yield _document_row(found, sides, place, tokens)
                else:
                    counts["pages"] += 1
                    counts["pages: off_language"] += 1
    except ConfigurationError as error:
        counts[f"sources that cannot be read: {error}"[:300]] += 1
    for reason, number in reading.skips.counts.items():
        counts[f"skipped: {reason}"] += number


def _sides_of(page: Document, pairs: Sequence[LanguagePair]) -> list[int]:
    """Return the languages that a page, or a part of it, is in."""
    sides = []
    for number, pair in enumerate(pairs):
        if not page.variant and split_mixed(page, pair) is not None:
            sides += [2 * number, 2 * number + 1]
        elif page.language in pair:
            sides.append(2 * number + (page.language == pair.second.code))
    return sides


def _document_row(
    page: Document, sides: list[int], place: int, tokens: frozenset[str]
) -> SourceRow:
    fields: dict[str, Any] = document_to_dict(page)
    if page.robots:
        fields["robots"] = sorted(page.robots)
    if page.tdm_reservation:
        fields["tdm_reservation"] = True
    claimed = [alternate.url for alternate in page.alternates]
    claimed += [link["url"] for link in fields["switches"]]
    keys = keys_of(page.url, claimed, tokens)
    return SourceRow(_site(page.url), DOCUMENT, keys, sides, place, json.dumps(fields))


def _site(url: str) -> str:
    return site_of(host_of(url)) or host_of(url)


def sources_of(inputs: Sequence[str]) -> list[str]:
    """Return the files that inputs name, with `*` in paths and addresses."""
    found: list[str] = []
    for each in inputs:
        if "://" in each:
            found += _remote_files(each)
        else:
            found += _local_files(Path(each).absolute())
    if not found:
        raise ConfigurationError(f"There is no file {' '.join(inputs)[:200]}.")
    return found


def _local_files(path: Path) -> list[str]:
    """Return the files that a path names; `*` may be in its last part."""
    if "*" not in path.name:
        return [str(path)] if path.exists() else []
    return sorted(str(each) for each in path.parent.glob(path.name))


def _remote_files(address: str) -> list[str]:
    from pyarrow import fs  # noqa: PLC0415 - an extra

    if "*" not in address:
        return [address]
    scheme = urlsplit(address).scheme
    place, _, pattern = address.rpartition("/")
    system, path = fs.FileSystem.from_uri(_address(place))
    files = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
    names = (each.path for each in files if each.is_file)
    return sorted(f"{scheme}://{name}" for name in names if Path(name).match(pattern))


def _address(address: str) -> str:
    return address.replace("s3a://", "s3://", 1)


@contextmanager
def local_file(source: str) -> Iterator[Path]:
    """Provide a file on this machine; a remote one is copied as long as the block lasts."""
    if "://" not in source:
        yield Path(source)
        return
    from pyarrow import fs  # noqa: PLC0415 - an extra

    system, path = fs.FileSystem.from_uri(_address(source))
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / Path(path).name
        try:
            with system.open_input_stream(path, compression=None) as remote, copy.open("wb") as out:
                shutil.copyfileobj(remote, out, 1 << 20)
        except OSError as error:
            raise ConfigurationError(f"{source} cannot be read: {error}") from error
        yield copy
