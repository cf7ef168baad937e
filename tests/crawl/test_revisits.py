"""What the folder of a crawl says about its revisits is not believed without a look."""

import pytest

from bilingual_crawler.crawl.revisits import time_of_round


def test_the_time_of_a_revisit_is_read_as_it_was_written():
    assert time_of_round(str(1_763_000_000.25)) == "1763000000.25"


@pytest.mark.parametrize("fact", ["", "soon", "nan", "1e400", "-1", "9" * 400, "1.0\n", "１２"])
def test_what_is_no_time_counts_as_no_revisit(fact):
    assert time_of_round(fact) == ""
