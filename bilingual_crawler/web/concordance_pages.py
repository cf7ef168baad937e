"""The pages of the concordance: lines, frequency lists, n-grams, collocations, translations.

Each is a form whose answer has a stable URL, and the same URL with `format=csv`, `tsv` or `json`
is the answer as a file.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any, TypeVar

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.lexicon import PREFIX, SUFFIX, TranslationLexicon, of_languages
from bilingual_crawler.store.folder import is_of_one_language
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.concordance.index_file import (
    Asking,
    NoConcordanceError,
    SlowQuestionError,
)
from bilingual_crawler.web.concordance.lines import (
    SORTS,
    ConcordanceLine,
    ConcordancePage,
    LineOrder,
    concordance,
)
from bilingual_crawler.web.concordance.question import ConcordanceQuestion, HitSource, language_of
from bilingual_crawler.web.concordance.statistics import (
    Collocation,
    FrequencyRow,
    GramRow,
    RankedList,
    collocations,
    frequencies,
    n_grams,
    side_facts,
)
from bilingual_crawler.web.concordance.translations import (
    Share,
    Translation,
    likely_translations,
    translations,
)
from bilingual_crawler.web.concordance.word_forms import LEVELS
from bilingual_crawler.web.corpus_view import SENTENCES_PER_PAGE
from bilingual_crawler.web.downloads import FORMATS, download
from bilingual_crawler.web.pages import LAST_PAGE, ServedFolder
from bilingual_crawler.web.search.query import QueryError

SIZES = (20, 50, 100, 500)
KINDS = ("paragraph", "heading", "listitem", "title")
WINDOWS = (1, 2, 3, 5, 10)
GRAMS = (2, 3, 4, 5)
ROWS_PER_PAGE = 50
MOST_DOWNLOADED = 1_000
"""Rows of a file: a whole page of 500 lines, or the whole of a list."""
MOST_LEXICONS = 16
REMEMBERED = 64
"""Questions whose likely translations are remembered."""
LISTS = {
    "frequencies": "Frequencies",
    "n-grams": "N-grams",
    "collocations": "Collocations",
    "translations": "Translations",
}
GIVEN = (
    "q", "side", "level", "other", "site", "score", "kind", "since", "until", "sort", "n",
    "left", "right", "grams", "begin",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListColumns:
    """The columns of a list: the names of its fields, and what people read above them."""

    fields: tuple[str, ...]
    heads: tuple[str, ...]


Answer = TypeVar("Answer")
LINE_COLUMNS = (
    "pair", "at", "left", "hit", "right", "translation", "other", "lang", "other_lang", "url",
    "other_url", "site", "day", "kind", "score",
)  # fmt: skip
LIST_COLUMNS = {
    "frequencies": ListColumns(
        FrequencyRow._fields, ("Word", "Occurrences", "Per million", "Sentences")
    ),
    "n-grams": ListColumns(GramRow._fields, ("Words", "Occurrences", "Per million")),
    "collocations": ListColumns(
        Collocation._fields, ("Word", "Near the hits", "Occurrences", "logDice")
    ),
    "translations": ListColumns(
        Translation._fields,
        ("Word", "Other forms", "Together", "Sentences", "Log-likelihood", "Lexicon"),
    ),
}


class ConcordancePages:
    """The handlers of the Words tab."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site
        self._index = site.concordance
        self._remembered: dict[tuple[str, ConcordanceQuestion], Mapping[str, float]] = {}
        self._lexicon = lru_cache(maxsize=1)(_read_lexicon)

    def lines(self, request: Request) -> Response:
        """Show the lines of a concordance."""
        asked = request.query_params
        question = concordance_question(asked)
        order = _order(asked)

        def answer(asking: Asking) -> ConcordancePage:
            def weigh(source: HitSource, number: int) -> Mapping[str, float]:
                return self._likely(asking, question, source, number)

            return concordance(asking, question, order, weigh)

        found, problem = self._answer(answer) if question.text else (None, "")
        if (kind := asked.get("format")) in FORMATS:
            if found is None:
                return self._no_file(problem or "The query q is empty.")
            about = {"question": _as_json(question), "hits": found.number, "page": order.page}
            rows = [_line_row(each) for each in found.lines]
            return download(str(kind), "concordance", LINE_COLUMNS, rows, about)
        return self._page(
            "concordance.html",
            asked,
            question,
            problem,
            found=found,
            order=order,
            last=max(1, -(-found.shown // order.size)) if found else 1,
            sorts=SORTS,
            sizes=SIZES,
        )

    def words(self, request: Request) -> Response:
        """Show one of the lists."""
        name = request.path_params["list"]
        if name not in LISTS:
            return self._site.message(404, "Not found", "There is no such list of words.")
        asked = request.query_params
        question = concordance_question(asked)
        if name == "frequencies" and asked.get("level") not in LEVELS:
            question = replace(question, level="exact")
        kind = asked.get("format")
        page = 1 if kind in FORMATS else _number(asked.get("page"), 1, 1, LAST_PAGE)
        needs_word = name in {"collocations", "translations"}
        found, problem = (None, "")
        if question.text or not needs_word:
            found, problem = self._answer(
                lambda asking: self._list(asking, name, question, asked, page)
            )
        columns = LIST_COLUMNS[name]
        if kind in FORMATS:
            if found is None:
                return self._no_file(problem or "The query q is empty.")
            about = {"question": _as_json(question), "list": name, "is_estimate": found.is_estimate}
            return download(str(kind), name, columns.fields, found.rows, about)
        total = (found.total or len(found.rows)) if found else 0
        rows: Sequence[Any] = found.rows if found else []
        if name != "frequencies":
            total = len(rows)
            rows = rows[(page - 1) * ROWS_PER_PAGE : page * ROWS_PER_PAGE]
        return self._page(
            "words.html",
            asked,
            question,
            problem,
            found=found,
            rows=rows,
            first=(page - 1) * ROWS_PER_PAGE,
            total=total,
            list=name,
            heads=columns.heads,
            page=page,
            last=max(1, -(-total // ROWS_PER_PAGE)),
            needs_word=needs_word,
            begin=asked.get("begin", "")[:60],
            grams=_number(asked.get("grams"), 2, GRAMS[0], GRAMS[-1]),
            grams_choices=GRAMS,
            windows=WINDOWS,
            left=_number(asked.get("left"), 5, 0, WINDOWS[-1]),
            right=_number(asked.get("right"), 5, 0, WINDOWS[-1]),
        )

    def _list(
        self,
        asking: Asking,
        name: str,
        question: ConcordanceQuestion,
        asked: QueryParams,
        page: int,
    ) -> RankedList:
        if name == "frequencies":
            is_file = asked.get("format") in FORMATS
            size = MOST_DOWNLOADED if is_file else ROWS_PER_PAGE
            begin = asked.get("begin", "").strip().lower()[:60]
            offset = (page - 1) * ROWS_PER_PAGE
            return frequencies(asking, question.side, question.level, begin, (offset, size))
        if name == "n-grams":
            length = _number(asked.get("grams"), 2, GRAMS[0], GRAMS[-1])
            return n_grams(asking, question, length)
        if name == "collocations":
            left, right = (
                _number(asked.get(each), 5, 0, WINDOWS[-1]) for each in ("left", "right")
            )
            return collocations(asking, question, left, right, question.level)
        return translations(asking, question, self._share(asking, question))

    def _answer(self, ask: Callable[[Asking], Answer]) -> tuple[Answer | None, str]:
        """Return the answer, or why there is none."""
        try:
            with self._index.asking() as asking:
                return ask(asking), ""
        except (QueryError, SlowQuestionError, NoConcordanceError) as error:
            return None, str(error)

    def _likely(
        self, asking: Asking, question: ConcordanceQuestion, source: HitSource, number: int
    ) -> Mapping[str, float]:
        """Return the likely translations of the hits; the pages of one question share them."""
        key = (self._index.version, question)
        if key not in self._remembered:
            share = self._share(asking, question)
            found = likely_translations(asking, question, source, number, share)
            while len(self._remembered) >= REMEMBERED:
                self._remembered.pop(next(iter(self._remembered)), None)
            self._remembered[key] = found
        return self._remembered[key]

    def _share(self, asking: Asking, question: ConcordanceQuestion) -> Share | None:
        """Return what the lexicon of the crawl says about two words; None if there is none."""
        languages = language_of(asking, "1"), language_of(asking, "2")
        files = tuple(
            (str(path), path.stat().st_mtime_ns)
            for path in sorted(self._site.folder.glob(f"{PREFIX}*{SUFFIX}"))[:MOST_LEXICONS]
            if path.is_file() and not path.is_symlink()
        )
        lexicon = self._lexicon(files, languages)
        if lexicon is None:
            return None
        if question.side == "1":
            return lexicon.share
        return lambda word, other: lexicon.share(other, word)

    def _no_file(self, problem: str) -> Response:
        return PlainTextResponse(f"{problem}\n", 400)

    def _page(
        self,
        template: str,
        asked: QueryParams,
        question: ConcordanceQuestion,
        problem: str,
        **values: Any,
    ) -> Response:
        facts, sides = {}, self._site.language_names()
        if not problem and self._index.version and question.level in {"lemma", "stem"}:
            known, _ = self._answer(lambda asking: [side_facts(asking, each) for each in "12"])
            facts = (known or [{}, {}])[question.side == "2"]
        return self._site.page(
            template,
            tab="words",
            question=question,
            problem=problem,
            given={name: asked[name] for name in GIVEN if name in asked},
            facts=facts,
            sides=sides,
            levels=LEVELS,
            lists=LISTS,
            formats=tuple(FORMATS),
            kinds=KINDS,
            share=self._index.share,
            is_ready=bool(self._index.version),
            trouble=self._index.problem,
            has_file=(self._site.folder / SENTENCES).exists(),
            crawl_folder=str(self._site.folder),
            one_language=is_of_one_language(self._site.crawl.report()),
            per_page=SENTENCES_PER_PAGE,
            **values,
        )


def _read_lexicon(
    files: tuple[tuple[str, int], ...], languages: tuple[str, str]
) -> TranslationLexicon | None:
    """Return the lexicon of two languages from the files of a folder; damaged ones do not count."""
    found = []
    for path, _ in files:
        with suppress(ConfigurationError):
            found.append(TranslationLexicon.read(path))
    return of_languages(languages, found)


def concordance_question(asked: QueryParams) -> ConcordanceQuestion:
    """Return the question in the parameters of a URL; invalid values count as not given."""
    level = asked.get("level", "")
    return ConcordanceQuestion(
        text=asked.get("q", "").strip(),
        side="2" if asked.get("side") == "2" else "1",
        level=level if level in LEVELS else "word",
        other=asked.get("other", "").strip(),
        site=asked.get("site", "").strip().lower()[:255],
        score=_share(asked.get("score", "")),
        kind=asked.get("kind", "") if asked.get("kind") in KINDS else "",
        since=_day(asked.get("since", "")),
        until=_day(asked.get("until", "")),
    )


def _order(asked: QueryParams) -> LineOrder:
    sort = asked.get("sort", "")
    size = _number(asked.get("n"), SIZES[0], SIZES[0], SIZES[-1])
    return LineOrder(
        sort if sort in SORTS else "corpus",
        _number(asked.get("page"), 1, 1, LAST_PAGE),
        size if size in SIZES else SIZES[0],
    )


def _number(text: str | None, default: int, low: int, high: int) -> int:
    if text is None or not text.isascii() or not text.isdecimal() or len(text) > len(str(high)):
        return default
    return min(high, max(low, int(text)))


def _share(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _as_json(question: ConcordanceQuestion) -> dict[str, Any]:
    return {name: value for name, value in asdict(question).items() if value not in ("", None)} | {
        name: str(value)
        for name in ("since", "until")
        if (value := getattr(question, name)) is not None
    }


def _line_row(line: ConcordanceLine) -> tuple[Any, ...]:
    facts = {"translation": line.translation, "other": line.other_text}
    return tuple(facts[name] if name in facts else getattr(line, name) for name in LINE_COLUMNS)
