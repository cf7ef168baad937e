"""Parallel files and a configuration for OpusFilter (Aulamo et al. 2020).

The configuration removes duplicates and applies filters that need no model; it is a start, to be
edited. Scores of the alignment are in corpus.ids.
"""

from pathlib import Path

from bilingual_crawler.export.rows import STEM, Moses
from bilingual_crawler.export.source import Account, CorpusSource
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.durable import text_file

CONFIGURATION = "opusfilter.yaml"
TEMPLATE = """\
# opusfilter {configuration}, in this folder; all filters: https://helsinki-nlp.github.io/OpusFilter/
common:
  output_directory: .
  constants:
    languages: [{tag1}, {tag2}]

steps:
  - type: remove_duplicates
    parameters:
      inputs: [{stem}.{lang1}, {stem}.{lang2}]
      outputs: [unique.{lang1}, unique.{lang2}]

  - type: filter
    parameters:
      inputs: [unique.{lang1}, unique.{lang2}]
      outputs: [filtered.{lang1}, filtered.{lang2}]
      filters:
        - LengthFilter: {{unit: char, min_length: 3, max_length: 1000}}
        - LengthRatioFilter: {{unit: char, threshold: 3}}
        - LongWordFilter: {{threshold: 60}}
        - HtmlTagFilter: {{}}
        - NonZeroNumeralsFilter: {{threshold: 0.5}}
"""


class OpusFilter(Moses):
    """Two plain texts like those of Moses, and a configuration that filters them."""

    name = "opusfilter"
    about = "a folder: parallel texts as for moses, and a configuration for OpusFilter"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the texts, then the configuration that names them."""
        super().write(source, path, account)
        lang1, lang2 = sorted(
            (file.suffix[1:] for file in path.glob(f"{STEM}.*") if file.suffix != ".ids"),
            key=[*account.survey.languages].index,
        )
        with text_file(path / CONFIGURATION) as file:
            file.write(
                TEMPLATE.format(
                    configuration=CONFIGURATION,
                    stem=STEM,
                    lang1=lang1,
                    lang2=lang2,
                    tag1=language_tag(lang1),
                    tag2=language_tag(lang2),
                )
            )
