"""The page with the pictures of a crawl; each has its numbers in a table behind it."""

from starlette.requests import Request
from starlette.responses import HTMLResponse

from bilingual_crawler.web.charts import (
    draw_bars,
    draw_histogram,
    draw_layers,
    draw_map,
    draw_yield,
)
from bilingual_crawler.web.pages import ServedFolder, language_name
from bilingual_crawler.web.pictures import MOST_SITES, OTHERS, Pictures, language_layers


class PicturePages:
    """The handler of the Pictures tab."""

    def __init__(self, site: ServedFolder) -> None:
        self._site = site
        self._pictures = Pictures(site.folder, site.index)

    def pictures(self, request: Request) -> HTMLResponse:
        """Show all pictures, with the map of one site."""
        state = self._site.crawl.state()
        sites = sorted(state.sites, key=lambda each: (-each.pages, -each.pairs, each.name))
        names = [each.name for each in sites if each.name][:MOST_SITES]
        asked = request.query_params.get("site", "")
        chosen = asked if asked in names else (names[0] if names else "")
        by_detector = self._site.crawl.report().get("pairs_by_detector")
        figures = self._pictures.of(chosen, by_detector if isinstance(by_detector, dict) else {})
        bins, languages = language_layers(figures.languages)
        is_ahead = state.forecast is not None and state.forecast.pages.middle > state.pages
        return self._site.page(
            "pictures.html",
            tab="pictures",
            state=state,
            curve=draw_yield(state.curve, state.forecast),
            forecast=state.forecast if is_ahead else None,
            sites=names,
            chosen=chosen,
            figures=figures,
            areas=draw_map(
                {name: (each.pages, each.share) for name, each in figures.sections.items()}
            ),
            bins=bins,
            languages=languages,
            shown_language=lambda code: code if code == OTHERS else language_name(code),
            layers=draw_layers(bins, languages),
            scores=draw_histogram(figures.scores),
            sentence_scores=draw_histogram(figures.sentence_scores),
            detectors=draw_bars({each.words: each.pairs for each in figures.detectors}),
        )
