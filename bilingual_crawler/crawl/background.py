"""A background thread for slow work, such as scoring the links of a page."""

from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

Given = ParamSpec("Given")
Result = TypeVar("Result")


class _Daemon(Thread):
    """A daemon thread, so that it does not keep the process alive."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named, daemon=True)


class _Pool(ThreadPool):
    threadFactory = _Daemon  # noqa: N815 - Twisted's name


class BackgroundThread:
    """Runs functions on one thread; `async with` makes other callers wait for their turn.

    Scoring links and queueing them belong together: the next page must find the links of this
    one in the frontier, or they would be scored again.
    """

    def __init__(self) -> None:
        self._turn = DeferredLock()
        self._pool = _Pool(minthreads=0, maxthreads=1, name="background")

    async def __aenter__(self) -> Self:
        await maybe_deferred_to_future(self._turn.acquire())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._turn.release()

    async def run(
        self, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
    ) -> Result:
        """Run a function on the thread; return its result or raise its exception."""
        from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

        if not self._pool.started:
            self._pool.start()
        loop: Any = reactor
        return await maybe_deferred_to_future(
            deferToThreadPool(loop, self._pool, function, *given, **named)
        )

    def stop(self) -> None:
        """Stop the thread after its current function."""
        if self._pool.started:
            self._pool.stop()
