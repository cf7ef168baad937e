"""When a site has given what it has: its yield of pairs a page, and the point to stop at."""

FIRST_RATE = 1.0
"""Every site starts with the benefit of the doubt, and uses it up page by page."""
MOST_HOSTS = 100


class RecentYield:
    """Pairs a page of one site, smoothed over its last pages."""

    def __init__(self, least: float, window: int) -> None:
        self._least = least
        self._window = window
        self.rate = FIRST_RATE
        self.pending = 0
        self.is_over = False
        self.hosts: dict[str, None] = {}

    def paired(self, *, kept: bool) -> None:
        """Count a pair that was found, or given up."""
        self.pending += 1 if kept else -1

    def resume(self, rate: float, pending: int, is_over: bool, hosts: list[str]) -> None:
        """Go on from an earlier run; a site that ended is open again if none may end."""
        self.rate, self.pending = rate, pending
        self.is_over = is_over and self._least > 0
        self.hosts = dict.fromkeys(hosts)

    def fetched(self, host: str) -> bool:
        """Count a page; tell whether this one has ended the harvest."""
        if len(self.hosts) < MOST_HOSTS:
            self.hosts[host] = None
        self.rate += (self.pending - self.rate) / self._window
        self.pending = 0
        if self.is_over or self.rate >= self._least:
            return False
        self.is_over = True
        return True
