"""Folders of crawls as exports find them, with texts that are hard on formats."""

import gzip
import json
from dataclasses import replace

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.export.exporters import export, find_exporter, place_of
from bilingual_crawler.export.source import Selection
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, pair_id

ES, EU = "https://example.org/es/a?x=1&y=<2>", "https://example.org/eu/a"
PAIR = pair_id(ES, EU)


def sentence(
    at=0, text1="El museo abre a las diez.", text2="Museoa hamarretan irekitzen da.", **more
):
    """A sentence pair of Spanish and Basque."""
    fields = {"pair": PAIR, "url1": ES, "url2": EU, "lang1": "spa", "lang2": "eus"} | more
    return SentencePair(at=at, text1=text1, text2=text2, **fields)


HARD = [
    sentence(0),
    sentence(
        1, "a < b & c > d \"e\" 'f' ]]>", "<script>alert(1)</script> &amp; &#x41;", score=0.1 + 0.2
    ),
    sentence(2, "مرحبا \u202bبالعالم\u202c", "שלום \u200fעולם", beads="2-1", kind="heading"),
    sentence(3, "漢字とかな交じり文。𠮷野家", "emoji 👩‍👩‍👧 𝔘𝔫𝔦 \U0010fffd", score=1e-17),
    sentence(4, " leading, trailing ", "e\u0301 decomposed, \u00e9 composed"),
]
"""What every format must hold as it is."""


def write_sentences(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / SENTENCES, "wt", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row.to_dict()) + "\n")
    return folder


def document(url, language, *paragraphs, **more):
    made = [each if isinstance(each, Paragraph) else Paragraph(each) for each in paragraphs]
    return Document(url=url, language=language, paragraphs=made, **more)


def write_documents(folder, documents, pairs=()):
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "documents.jsonl.gz", "wt", encoding="utf-8") as lines:
        for each in documents:
            lines.write(json.dumps(document_to_dict(each)) + "\n")
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as lines:
        for url1, url2 in pairs:
            row = {"url1": url1, "url2": url2, "lang1": "spa", "lang2": "eus", "score": 0.9}
            lines.write(json.dumps(row | {"evidence": []}) + "\n")
    return folder


def exported(folder, name, out=None, **options):
    """Export a folder; where it went, and what became of the rows.

    A format that compares two crawls gets an empty one, so that everything is new.
    """
    form = find_exporter(name)
    selection = options.get("selection") or Selection()
    if form.earlier and selection.since is None:
        nothing = folder.parent / "nothing"
        write_sentences(write_documents(nothing, []), [])
        options["selection"] = replace(selection, since=nothing)
    target = place_of(folder, form, None if out is None else str(out))
    return target, export(folder, form, target, **options)
