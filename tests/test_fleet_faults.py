"""A crawl on several workers loses nothing, whatever is killed, restarted or held up.

The same with four workers, twenty kills and a stall of ten seconds: `make faults`.
"""

import pytest

from tests.fleet import Faults, broken_promises, crawl_with_faults
from tests.redis_server import needs_redis

pytestmark = [pytest.mark.crawl, needs_redis]


def test_kills_a_restart_of_redis_and_a_stall_break_no_promise(tmp_path):
    faults = Faults(
        workers=2, sites=6, articles=6, kills=4, stall=2, lease=4, delay=1.5, latency=0.02
    )
    figures = crawl_with_faults(tmp_path, faults)
    assert broken_promises(figures, faults) == [], figures
