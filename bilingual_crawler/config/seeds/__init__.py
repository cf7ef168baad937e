"""Where crawls begin: addresses as users write them, and the project's own lists."""

from bilingual_crawler.config.seeds.found_sites import is_found_sites, read_found_sites
from bilingual_crawler.config.seeds.lists import available_pairs, project_seeds
from bilingual_crawler.urls.addresses import read_address, read_lines, split_addresses

__all__ = [
    "available_pairs",
    "is_found_sites",
    "project_seeds",
    "read_address",
    "read_found_sites",
    "read_lines",
    "split_addresses",
]
