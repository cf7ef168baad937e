"""What stands beside the vertical texts for the Corpus Workbench: registry, script, advice."""

from bilingual_crawler.languages import language_tag

STRUCTURES = {"doc": ("id", "url"), "s": ("id", "at", "beads", "kind", "score")}
"""The elements of the vertical text, and their attributes."""


def corpus_name(language: str) -> str:
    """What the corpus of a language is called in the registry; other programs write it large."""
    return f"crawl_{language}"


def registry_entry(language: str, other: str) -> str:
    """The entry of a corpus with every attribute that encoding gives it.

    Its data folder is relative, to be used from the folder of the export; encode.sh writes an
    entry with the place where the folder is.
    """
    name, aligned = corpus_name(language), corpus_name(other)
    declared = [
        line
        for element, attributes in STRUCTURES.items()
        for line in (element, *(f"{element}_{each}" for each in attributes))
    ]
    return "\n".join(
        [
            f'NAME "{language}, aligned with {aligned}"',
            f"ID   {name}",
            f"HOME data/{name}",
            "",
            '##:: charset  = "utf8"',
            f'##:: language = "{language_tag(language)}"',
            "",
            "ATTRIBUTE word",
            "",
            *(f"STRUCTURE {each}" for each in declared),
            "",
            f"ALIGNED {aligned}",
            "",
        ]
    )


def encode_script(languages: tuple[str, str]) -> str:
    """The commands that make two aligned corpora of the files; run again, they start anew."""
    declared = " ".join(
        f"-S {element}:0+{'+'.join(attributes)}" for element, attributes in STRUCTURES.items()
    )
    lines = [
        "#!/bin/sh",
        "# Encodes both corpora and their alignment with the IMS Open Corpus Workbench 3.4 or",
        "# later. The data goes to data/, the registry to registry/, both in this folder.",
        "set -eu",
        'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
        'cd "$here"',
    ]
    names = [corpus_name(language) for language in languages]
    for name, other, language in zip(names, names[::-1], languages, strict=True):
        lines += [
            "",
            f'mkdir -p "data/{name}"',
            f'cwb-encode -c utf8 -xsB -d "$here/data/{name}" -f {language}.vrt \\',
            f'    -R "$here/registry/{name}" {declared}',
            f'cwb-makeall -r "$here/registry" -V {name.upper()}',
            f"echo 'ALIGNED {other}' >> \"registry/{name}\"",
        ]
    lines += [
        "",
        'cwb-align-encode -r "$here/registry" -D sentences.align',
        'cwb-align-encode -r "$here/registry" -D -R sentences.align',
        "",
    ]
    return "\n".join(lines)


def readme(languages: tuple[str, str]) -> str:
    """What the files are, and what to type."""
    first, second = map(corpus_name, languages)
    return f"""\
Two aligned corpora for the IMS Open Corpus Workbench.

{languages[0]}.vrt, {languages[1]}.vrt   one token a line; <doc id url> is a document,
                   <s id at beads kind score> one side of a sentence pair (of several
                   sentences if beads says so)
registry/          an entry a corpus: p-attribute word, the structures above, the alignment
sentences.align    which tokens are translations of which, for cwb-align-encode
encode.sh          all the commands; then, in this folder:

  sh encode.sh
  cqp -r registry
  {first.upper()}; show +{second}; "word";

Tokens are runs of letters and digits, addresses, single Chinese and Japanese signs, and
single other signs: there is no model of any language behind them.
"""
