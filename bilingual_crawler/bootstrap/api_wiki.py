"""An edition of Wikipedia, read through its API as its operators ask: one query at a time.

The client is plain urllib, outside the event loop: a bootstrap sends a few hundred queries one
after the other, and waits when it is asked to (Retry-After, maxlag). Scrapy would not help.
"""

import gzip
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from itertools import islice
from typing import Any

from bilingual_crawler.bootstrap.harvest import Article, Membership, wiki_code, with_spaces
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Language

MAXLAG = 5
"""Seconds that the databases may lag before a query waits; the value Wikimedia asks for."""
LARGEST_ANSWER = 50_000_000
TIMEOUT = 60.0
LONGEST_WAIT = 120.0
PASSING = frozenset({429, 500, 502, 503, 504})
PASSING_ERRORS = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"})

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """How a server is queried: user agent, delay, retries, and the most requests."""

    user_agent: str
    delay: float = 0.5
    retries: int = 5
    first_wait: float = 5.0
    requests: int = 2_000


class _Later(Exception):  # noqa: N818 - no error yet
    """The server wants to be asked again, after this many seconds if it says so."""

    def __init__(self, why: str, seconds: float | None) -> None:
        super().__init__(why)
        self.why = why
        self.seconds = seconds


class ApiClient:
    """Queries one api.php."""

    def __init__(
        self,
        url: str,
        policy: RequestPolicy,
        watch: Callable[[int], None] = lambda _requests: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url
        self.requests = 0
        self._policy = policy
        self._watch = watch
        self._sleep = sleep
        self._last = float("-inf")

    def query(self, **parameters: str) -> Iterator[Answer]:
        """Yield all parts of the answer to a query, following its continuations."""
        goes_on: dict[str, str] = {}
        while True:
            answer = self._ask({**parameters, **goes_on})
            yield answer.get("query") or {}
            following = answer.get("continue")
            if not isinstance(following, dict) or following == goes_on:
                return
            goes_on = {str(key): str(value) for key, value in following.items()}

    def _ask(self, parameters: dict[str, str]) -> Answer:
        fixed = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(MAXLAG)}
        body = urllib.parse.urlencode({**fixed, **parameters}).encode()
        for attempt in range(self._policy.retries + 1):
            try:
                return self._once(body)
            except _Later as later:
                why = later.why
                doubled = self._policy.first_wait * 2**attempt
                wait = doubled if later.seconds is None else later.seconds
                if attempt < self._policy.retries:
                    self._sleep(min(max(wait, 0.0), LONGEST_WAIT))
        raise ConfigurationError(
            f"{self.url} gave no answer in {self._policy.retries + 1} attempts ({why}): "
            "try again later, or read dump files with --wikipedia FOLDER."
        )

    def _once(self, body: bytes) -> Answer:
        """Send one request when its time has come."""
        if self.requests >= self._policy.requests:
            raise ConfigurationError(
                f"{self.url}: the limit of {self.requests:,} requests is reached: ask for less "
                "with --depth or --categories, allow more with --requests, or read dump files."
            )
        self._sleep(max(0.0, self._last + self._policy.delay - time.monotonic()))
        self.requests += 1
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked with the option
            self.url,
            data=body,
            headers={"User-Agent": self._policy.user_agent, "Accept-Encoding": "gzip"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310 - as above
                raw, headers = response.read(LARGEST_ANSWER + 1), response.headers
        except urllib.error.HTTPError as error:
            with error:
                if error.code in PASSING:
                    seconds = _retry_after(error.headers)
                    raise _Later(f"it answered {error.code}", seconds) from None
                raise ConfigurationError(
                    f"{self.url} answered {error.code} ({error.reason}): is it the api.php of a "
                    "MediaWiki? Write --wikipedia https://{lang}.wikipedia.org/w/api.php."
                ) from None
        except (OSError, HTTPException) as error:
            raise _Later(str(getattr(error, "reason", None) or error), None) from None
        finally:
            self._last = time.monotonic()
            self._watch(self.requests)
        return self._read(raw, headers)

    def _read(self, raw: bytes, headers: Message) -> Answer:
        try:
            if headers.get("Content-Encoding") == "gzip":
                raw = _unpacked(raw)
            answer = json.loads(raw)
        except (ValueError, RecursionError, EOFError, OSError, zlib.error):
            raise _Later("its answer is not JSON", None) from None
        if not isinstance(answer, dict):
            raise _Later("its answer is not a JSON object", None)
        error = answer.get("error")
        if not isinstance(error, dict):
            return answer
        code = str(error.get("code"))
        if code in PASSING_ERRORS:
            raise _Later(code, _retry_after(headers))
        raise ConfigurationError(
            f"{self.url} refuses the query: {str(error.get('info'))[:200]} ({code[:50]})."
        )


def _unpacked(raw: bytes) -> bytes:
    """Return an unpacked answer, up to the largest size allowed: it may be a gzip bomb."""
    whole = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(raw, LARGEST_ANSWER + 1)
    if len(whole) > LARGEST_ANSWER:
        raise gzip.BadGzipFile("too large")
    return whole


def _retry_after(headers: Message) -> float | None:
    """Return the seconds that a Retry-After header asks for; None if it cannot be read."""
    text = (headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:6])
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError):
        return None


BATCH = 50
"""Titles per query, as many as the API accepts."""
MOST_LIKE = 5
_NAMESPACE = "Category:"
"""The namespace name that every edition understands."""


class ApiWiki:
    """Answers by querying; what one query says about other things is kept for them."""

    def __init__(self, client: ApiClient, language: Language) -> None:
        self.language = language
        self.name = client.url
        self._client = client
        self._members: dict[str, list[str]] = {}

    def find_category(self, name: str) -> str | None:
        """Return the title of a category as the wiki writes it; None if it does not exist."""
        title = _NAMESPACE + name.replace("|", " ")  # which parts titles
        for part in self._client.query(titles=title, prop="categoryinfo"):
            for page in _dicts(part.get("pages")):
                if "categoryinfo" in page and not page.get("invalid"):
                    return _bare(page)
        return None

    def like(self, name: str) -> list[str]:
        """Return a few categories that a search finds."""
        found = self._client.query(
            list="search", srnamespace="14", srsearch=name, srlimit=str(MOST_LIKE), srinfo=""
        )
        first = next(found, {})
        return [_bare(each) for each in _dicts(first.get("search"))]

    def subcategories(self, categories: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield category and subcategory, for all visible subcategories of some categories."""
        below: dict[str, list[str]] = {}
        for category in categories:
            below[category] = self._look_into(category, "page|subcat")
        hidden = self._hidden({title for titles in below.values() for title in titles})
        for category, titles in below.items():
            yield from ((category, title) for title in titles if title not in hidden)

    def members(self, categories: Collection[str]) -> Iterator[Membership]:
        """Yield the articles in some categories, once per category."""
        for category in categories:
            if category not in self._members:
                self._look_into(category, "page")
            yield from (Membership(category, title) for title in self._members[category])

    def articles(self, titles: Collection[str], other: Language | None) -> Iterator[Article]:
        """Yield the articles with these titles; with translations, if `other` is a language."""
        more = {"prop": "info|extlinks|pageprops", "ellimit": "max", "ppprop": "disambiguation"}
        if other is not None:
            more |= {
                "prop": "info|langlinks|extlinks|pageprops",
                "lllang": wiki_code(other),
                "lllimit": "max",
            }
        for some in _batches(titles):
            found: dict[str, Article] = {}
            for part in self._client.query(titles="|".join(some), **more):
                for page in _dicts(part.get("pages")):
                    if not any(page.get(word) for word in ("missing", "invalid", "redirect")):
                        title = with_spaces(str(page.get("title")))
                        _add(found.setdefault(title, Article(title)), page)
            yield from found.values()

    def _look_into(self, category: str, kinds: str) -> list[str]:
        """Return the subcategories of a category, and remember its articles."""
        articles, below = self._members.setdefault(category, []), []
        for part in self._client.query(
            list="categorymembers",
            cmtitle=_NAMESPACE + category,
            cmtype=kinds,
            cmnamespace="0|14",
            cmprop="title|type",
            cmlimit="max",
        ):
            for member in _dicts(part.get("categorymembers")):
                if member.get("ns") == 14:  # noqa: PLR2004 - the number of the namespace
                    below.append(_bare(member))
                elif member.get("ns") == 0:
                    articles.append(with_spaces(str(member.get("title"))))
        return below

    def _hidden(self, categories: Collection[str]) -> set[str]:
        """Return those of some categories that readers do not see."""
        hidden = set()
        for some in _batches(categories):
            titles = "|".join(_NAMESPACE + title for title in some)
            for part in self._client.query(titles=titles, prop="categoryinfo"):
                for page in _dicts(part.get("pages")):
                    info = page.get("categoryinfo")
                    if isinstance(info, dict) and info.get("hidden"):
                        hidden.add(_bare(page))
        return hidden


def _add(article: Article, page: dict[str, Any]) -> None:
    """Add what one part of an answer says about an article."""
    for link in _dicts(page.get("langlinks")):
        article.translation = with_spaces(str(link.get("title", link.get("*", ""))))
    for link in _dicts(page.get("extlinks")):
        article.links.append(str(link.get("url", link.get("*", ""))))
    if "disambiguation" in (page.get("pageprops") or {}):
        article.is_disambiguation = True


def _bare(page: dict[str, Any]) -> str:
    """Return the title of a category without its namespace, whatever that is called there."""
    return with_spaces(str(page.get("title")).partition(":")[2])


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a list or object of an answer; nothing for anything else."""
    values: Iterable[Any] = value.values() if isinstance(value, dict) else value or ()
    if isinstance(values, str):
        return
    yield from (each for each in values if isinstance(each, dict))


def _batches(titles: Collection[str]) -> Iterator[list[str]]:
    remaining = iter(titles)
    while some := list(islice(remaining, BATCH)):
        yield some
