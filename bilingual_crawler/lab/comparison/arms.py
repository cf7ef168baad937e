"""The crawls of a comparison: one site per arm at a time, and one arm per site at a time.

Crawls of the web are processes of `scrapy crawl bilingual` with WARC files, so all that holds for
a crawl holds here: politeness, opt-outs, and going on after a stop. Recorded sites are replayed.
Either way an arm leaves the list of its downloads, in order, when it has ended on a site.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scrapy.utils.project import ENVVAR

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.comparison.plan import ComparedSite, ComparisonPlan
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.run import ReplayCrawl, Running
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.store.durable import replacing_file
from bilingual_crawler.store.folder import REPORT
from bilingual_crawler.store.warc_reader import (
    OK,
    DamagedRecordError,
    WarcRecordType,
    answer_of,
    read_records,
    target_of,
)

ORDER = "downloads.txt"
"""The downloads of an arm on a site, in order; it is there when the arm has ended."""
LOG = "crawl.log"
CRAWL = "crawl"
SETTINGS_MODULE = "bilingual_crawler.settings"
LOOK_SECONDS = 0.2
TIME_IS_UP = "closespider_timeout"
SECONDS_PER_HOUR = 3600
HTML = ("text/html", "application/xhtml+xml")
ROBOTS = "/robots.txt"
"""Some servers answer with a page for it."""
Told = Callable[[str, str, str], None]
"""Called with a site, an arm, and what became of it."""


class ArmCrawl:
    """A running crawl of one arm on one site."""

    def __init__(self, plan: ComparisonPlan, site: ComparedSite, arm: str) -> None:
        self.site, self.arm = site, arm
        self._place = plan.place(site, arm)
        self._place.mkdir(parents=True, exist_ok=True)
        self._log = (self._place / LOG).open("ab")
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            _command(plan, site, arm),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=os.environ | {ENVVAR: os.environ.get(ENVVAR, SETTINGS_MODULE)},
            start_new_session=True,
        )

    @property
    def has_ended(self) -> bool:
        """True once the process has ended."""
        return self._process.poll() is not None

    def outcome(self) -> tuple[bool, str]:
        """Return True if the crawl came to its end, and what became of it.

        The order of its downloads is kept then. A crawl that somebody stopped goes on next time.
        """
        self._log.close()
        if self._process.returncode:
            return False, f"failed: see {self._place / LOG}"
        crawl = self._place / CRAWL
        report = _report(crawl)
        if report.get("state") != "finished" and report.get("stopped_by") != TIME_IS_UP:
            return False, "was stopped: the same command goes on with it"
        write_order(self._place, downloads_of(sorted(crawl.glob("crawl-*.warc.gz"))))
        return True, f"{report.get('pages', 0):,} pages"

    def stop(self) -> None:
        """End the crawl as Ctrl-C does, so that it can go on later."""
        if not self.has_ended:
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()
        self._log.close()


def _command(plan: ComparisonPlan, site: ComparedSite, arm: str) -> list[str]:
    crawl = plan.place(site, arm) / CRAWL
    settings = [
        *plan.settings,
        f"BILINGUAL_SCORER={arm}",
        f"BILINGUAL_SITE_PAGES={plan.pages}",
        "BILINGUAL_WARC=1",
        "BILINGUAL_PROGRESS=off",
    ]
    if plan.hours:
        spent = float(_report(crawl).get("seconds", 0))
        left = max(1, round(plan.hours * SECONDS_PER_HOUR - spent))
        settings.append(f"CLOSESPIDER_TIMEOUT={left}")
    given = {"langs": plan.langs, "seeds": ",".join(site.seeds), "output": crawl}
    words = [word for name, value in given.items() for word in ("-a", f"{name}={value}")]
    words += [word for each in settings for word in ("-s", each)]
    return [sys.executable, "-m", "scrapy", "crawl", "bilingual", *words]


def _report(crawl: Path) -> dict[str, Any]:
    try:
        report = json.loads((crawl / REPORT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


def crawl_arms(plan: ComparisonPlan, tell: Told = lambda *_: None) -> list[str]:
    """Run every arm on every site that it has not ended on; return what went wrong.

    A site is never crawled by two arms at once, so its servers see one polite crawler.
    """
    waiting = {
        arm: [site for site in plan.sites if not _is_done(plan, site, arm)] for arm in plan.arms
    }
    for place, arm in enumerate(plan.arms):  # arms begin with different sites
        sites = waiting[arm]
        waiting[arm] = sites[place % max(1, len(sites)) :] + sites[: place % max(1, len(sites))]
    problems: list[str] = []
    running: list[ArmCrawl] = []
    try:
        while running or any(waiting.values()):
            for each in [each for each in running if each.has_ended]:
                running.remove(each)
                has_come_to_its_end, outcome = each.outcome()
                tell(each.site.name, each.arm, outcome)
                if not has_come_to_its_end:
                    problems.append(f"{each.site.name}, {each.arm}: {outcome}")
            running += _begun(plan, waiting, running, tell)
            time.sleep(LOOK_SECONDS)
    finally:
        for each in running:
            each.stop()
    return problems


def _begun(
    plan: ComparisonPlan,
    waiting: dict[str, list[ComparedSite]],
    running: list[ArmCrawl],
    tell: Told,
) -> Iterator[ArmCrawl]:
    """Yield a new crawl of each idle arm on a site that no other arm is crawling."""
    busy = {each.site.name for each in running}
    idle = [arm for arm in plan.arms if arm not in {each.arm for each in running}]
    for arm in idle:
        site = next((site for site in waiting[arm] if site.name not in busy), None)
        if site is not None:
            waiting[arm].remove(site)
            busy.add(site.name)
            tell(site.name, arm, "begins")
            yield ArmCrawl(plan, site, arm)


def replay_arms(plan: ComparisonPlan, tell: Told = lambda *_: None) -> list[str]:
    """Replay every arm on every recorded site that it has not ended on; return what went wrong."""
    problems: list[str] = []
    for site in plan.sites:
        arms = [arm for arm in plan.arms if not _is_done(plan, site, arm)]
        if not arms:
            continue
        assert site.recording is not None
        recording = Recording(site.recording)
        recorded = RecordedSite(recording, plan.langs.codes)
        seeds = tuple(recording.homes()[:1])
        if not seeds:
            problems.append(f"{site.recording} has no page that was answered with 200")
            continue
        crawl = ReplayCrawl(plan.langs, seeds, plan.pages, settings=plan.given)
        for arm in arms:
            running = Running(recorded, arm, crawl)
            try:
                order = running.result().order
            except ConfigurationError as error:
                problems.append(f"{site.name}, {arm}: {error}")
                continue
            finally:
                running.stop()
            place = plan.place(site, arm)
            place.mkdir(parents=True, exist_ok=True)
            write_order(place, order)
            tell(site.name, arm, f"{len(order):,} pages")
    return problems


def _is_done(plan: ComparisonPlan, site: ComparedSite, arm: str) -> bool:
    return (plan.place(site, arm) / ORDER).is_file()


def write_order(place: Path, order: list[str]) -> None:
    """Keep the downloads of an arm."""
    with replacing_file(place / ORDER) as part:
        part.write_text("".join(f"{url}\n" for url in order), "utf-8")


def read_order(place: Path) -> list[str]:
    """Return the downloads of an arm; none if it has not ended."""
    try:
        return (place / ORDER).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []


def downloads_of(files: list[Path]) -> list[str]:
    """Return the pages in WARC files in the order they came.

    Files about a site and parts of rendered pages are no downloads of pages. Pages that opted out
    are not archived, so they do not count either.
    """
    order: list[str] = []
    for file in files:
        for record in read_records(file, lambda _place: None):
            if record.record_type != WarcRecordType.response:
                continue
            url = target_of(record)
            try:
                answer = answer_of(record)
            except DamagedRecordError:
                continue
            is_page = answer.status == OK and answer.header("content-type").startswith(HTML)
            if url is not None and is_page and not url.endswith(ROBOTS):
                order.append(url)
    return order
