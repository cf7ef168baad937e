"""Crawls of one language have documents and no pairs: what needs pairs says so."""

import json
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.folder import REPORT

DOCUMENTS = "documents"


def is_of_one_language(report: dict[str, Any]) -> bool:
    """Whether the report of a crawl (crawl.json) is of one that looks for no translations."""
    return report.get("harvest") == DOCUMENTS


def require_pairs(folder: Path, what: str) -> None:
    """Refuse the folder of a crawl of one language; `what` is what needs pairs."""
    try:
        report = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError):
        return  # whoever reads the folder tells what is wrong with it
    if isinstance(report, dict) and is_of_one_language(report):
        raise ConfigurationError(
            f"{folder} holds a crawl of one language ({report.get('langs')}), with documents and"
            f" no pairs, and {what} needs pairs: crawl for two, as in -a langs=spa-eus, or write"
            f" the documents with scrapy export {folder} --to xml."
        )
