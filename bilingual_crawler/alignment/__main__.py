"""Align a folder in a process of its own, behind everything else: what a crawl starts.

python -m bilingual_crawler.alignment CRAWL_DIR
"""

import os
import sys
from pathlib import Path

from bilingual_crawler.alignment.report import align_with_bar

NICENESS = 15


def main() -> None:
    """Align the folder that is named, and print the counts as JSON."""
    os.nice(NICENESS)
    align_with_bar(Path(sys.argv[1]), None, "", as_json=True)


if __name__ == "__main__":
    main()
