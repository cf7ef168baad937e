"""The pages of recorded sites as pairing sees them, parsed once and kept for later runs.

A site is parsed once, declarations included, and its documents are stored beside each other in a
folder outside the project. What pairing remembers of them is made anew each time, so a change of
profiles needs no second parse. A page loses what it declares about translations when it is loaded.
"""

import hashlib
import pickle
import sys
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import bilingual_crawler.documents as documents_package
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.lab.evaluation.read_gold import ReadGold, read_language_pairs
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.profile import Embedder
from bilingual_crawler.urls.hosts import host_of

PAIRS_PER_SITE, LEAST_PAIRS = 1, 4


class Material(NamedTuple):
    """The pages of a site in two languages, and what is known about their pairs."""

    site: str
    pair: LanguagePair
    pages: list[tuple[PairingPage, str]]
    aliases: list[Urls]
    gold: ReadGold
    documents: Sequence[Document] = ()
    """The pages with their texts."""


class ParsedSite(NamedTuple):
    """All documents of a recorded site, and its redirects."""

    name: str
    documents: list[Document]
    aliases: list[Urls]


def parsed_sites(
    folder: Path, cache: Path, names: Collection[str] | None = None
) -> Iterator[tuple[Path, ParsedSite]]:
    """Yield every recorded site of a folder, parsed now or by an earlier run."""
    cache.mkdir(parents=True, exist_ok=True)
    for warc in sorted(folder.glob("*.warc.gz")):
        if names is not None and warc.name.removesuffix(".warc.gz") not in names:
            continue
        stored = cache / f"{warc.name}.{_version(warc)}"
        if stored.exists():
            name, documents, aliases = pickle.loads(zlib.decompress(stored.read_bytes()))  # noqa: S301 - our own bytes
            yield warc, ParsedSite(name, documents, aliases)
            continue
        hints = dict.fromkeys(code for pair in wanted_pairs(warc) for code in pair.codes)
        site = _parse(warc, tuple(hints))
        fresh = stored.with_suffix(".new")
        fresh.write_bytes(zlib.compress(pickle.dumps(tuple(site)), 1))
        fresh.replace(stored)
        print(warc.name, len(site.documents), file=sys.stderr, flush=True)
        yield warc, site


def _version(warc: Path) -> str:
    """Return a digest of a recording and of the code that parses it."""
    digest = hashlib.blake2b(f"{warc.name}{warc.stat().st_size}".encode(), digest_size=8)
    for source in sorted(Path(str(documents_package.__file__)).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _parse(warc: Path, hints: tuple[str, ...]) -> ParsedSite:
    recording = Recording(warc)
    documents = []
    for url in recording.pages:
        answer = recording.answer(url)
        if answer is not None:
            documents.append(
                build_document(
                    url, answer.body, content_type=answer.header("Content-Type"), hints=hints
                )
            )
    return ParsedSite(recording.name, documents, list(recording.aliases()))


def wanted_pairs(warc: Path) -> list[LanguagePair]:
    """Return the language pairs of a site that were read, or else the largest ones of its list."""
    name = warc.name.removesuffix(".warc.gz")
    read = read_language_pairs(warc.parent).get(name)
    if read:
        return read
    largest = ReadGold.language_pairs(warc.with_name(f"{name}.gold.tsv"))
    return [LanguagePair.parse(langs) for langs, count in largest if count >= LEAST_PAIRS][
        :PAIRS_PER_SITE
    ]


def materials(
    folder: Path, cache: Path, *, declared: bool = False, read_only: bool = False
) -> Iterator[Material]:
    """Yield the material of every site, or of those that were read.

    `declared` leaves in what pages declare about translations.
    """
    names = read_language_pairs(folder) if read_only else None
    for warc, site in parsed_sites(folder, cache, names):
        pages: dict[str, PairingPage] = {}
        pairs = wanted_pairs(warc)
        wanted = {code for pair in pairs for code in pair.codes}
        texts: dict[str, Document] = {}
        for document in site.documents:
            if document.language in wanted:
                pages[document.key] = page_of(document if declared else stripped(document))
                texts[document.key] = document
        for pair in pairs:
            some = [(page, url) for url, page in pages.items() if page.language in pair.codes]
            gold = ReadGold.read(warc.parent, site.name, pair)
            documents = [texts[url] for _, url in some]
            yield Material(site.name, pair, some, site.aliases, gold, documents)


def read_site(warc: Path, pair: LanguagePair, embedder: Embedder | None = None) -> Material:
    """Read a recorded site in two languages, its declarations stripped."""
    site = _parse(warc, pair.codes)
    pages = [
        (page_of(stripped(document), embedder), document.key)
        for document in site.documents
        if document.language in pair.codes
    ]
    gold = ReadGold.read(warc.parent, site.name, pair)
    return Material(site.name, pair, pages, site.aliases, gold)


def without_ties(material: Material) -> tuple[Material, dict[str, str]]:
    """Hide addresses, switches and images; return the pages under numbers, and their addresses."""
    real, pages, documents = {}, [], []
    for (page, key), document in zip(material.pages, material.documents, strict=True):
        name = hashlib.blake2b(key.encode(), digest_size=6).hexdigest()
        url = f"https://{host_of(page.url)}/{name}"
        real[url] = page.url
        profile = replace(page.profile, images=b"")
        pages.append((replace(page, url=url, names=(), switches=(), profile=profile), url))
        documents.append(replace(document, url=url, variant=""))
    return material._replace(pages=pages, documents=documents, aliases=[]), real


def stripped(document: Document) -> Document:
    """Remove from a document what it declares about translations; links stay links."""
    document.alternates = []
    document.links = [
        Link(each.url, each.anchor, each.context, each.rel, "", each.image_alt, each.image_src)
        if each.hreflang
        else each
        for each in document.links
    ]
    return document
