"""A crawl on several workers loses nothing, whatever is killed, restarted or held up.

The same with more pages, and with a table of what happened: `make faults`.
"""

import pytest

from tests.support.fleet import Faults, broken_promises, crawl_with_faults
from tests.support.redis_server import needs_redis

pytestmark = [pytest.mark.crawl, needs_redis]


def test_twenty_kills_a_restart_of_redis_and_a_stall_break_no_promise(tmp_path):
    faults = Faults(articles=12, lease=8, delay=1.5)
    figures = crawl_with_faults(tmp_path, faults)
    assert (faults.workers, faults.kills, faults.stall) == (4, 20, 10.0)
    assert broken_promises(figures, faults) == [], figures
