"""Files about a site rather than pages of it: robots.txt, tdmrep.json, sitemaps."""

from scrapy import Request
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

SITE_FILE = "bilingual_site_file"
SUCCESS = range(200, 300)


def is_site_file(request: Request) -> bool:
    """Whether a request is for a file about the site, of any media type.

    Such a file is read for what it says about pages: its own type and its own opt-outs
    from indexing do not matter. Requests that Scrapy's components make for themselves
    have no callback; a spider marks its own with `meta["bilingual_site_file"] = True`.
    """
    return request.callback is NO_CALLBACK or bool(request.meta.get(SITE_FILE))


def is_page(request: Request, response: Response) -> bool:
    """Whether a response is a page of a site: no file about it, no error, no redirect."""
    return response.status in SUCCESS and not is_site_file(request)
