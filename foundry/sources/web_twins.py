"""Markdown twins: the same page without the site's frame around it, where a site offers one.

A page names its twin in a `Link` header or a `link` element; or a site's llms.txt (llmstxt.org)
lists it, under the page's url with `.md` at its end.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from foundry.fetching.failures import FetchError
from foundry.fetching.fetcher import Fetched, Fetcher
from foundry.sources.web_page import (
    PageFacts,
    begins_as_html,
    is_html,
    markdown_links,
    media_type,
)
from foundry.sources.web_scope import Scope
from foundry.urls import Url

MAX_LISTING_BYTES = 10_000_000
_TYPES = frozenset({"text/markdown", "text/x-markdown", "text/plain"})


class Twins:
    """The twins of a source's pages; `fetch` may be called by any number of threads."""

    def __init__(self, fetcher: Fetcher, scope: Scope, max_bytes: int) -> None:
        self._fetcher = fetcher
        self._scope = scope
        self._max_bytes = max_bytes
        self._listed: dict[Url, Url] = {}

    def read_listing(self, home: Url) -> list[Url]:
        """Take the twins from the site's llms.txt, if it has one; returns its other links."""
        try:
            fetched = self._fetcher.fetch(
                replace(home, path="/llms.txt", query=""),
                max_bytes=MAX_LISTING_BYTES,
                allows=self._scope.check_host,
            )
        except FetchError:
            return []
        if is_html(fetched) or begins_as_html(fetched):
            return []
        others = []
        for link in markdown_links(fetched.body.decode("utf-8", "replace"), fetched.url):
            if link.path.endswith(".md"):
                self._listed.update((page, link) for page in _pages_of(link))
            else:
                others.append(link)
        return others

    def fetch(self, page: Url, facts: PageFacts) -> Fetched | None:
        """Return the twin of a page; None where there is none, or one that is none."""
        twin = facts.markdown or self._listed.get(page)
        if twin is None or twin == page or twin.host != page.host:
            return None
        with suppress(FetchError):
            fetched = self._fetcher.fetch(
                twin, max_bytes=self._max_bytes, allows=self._scope.check_host
            )
            if media_type(fetched.headers) in _TYPES and not begins_as_html(fetched):
                return fetched
        return None

    def without_pages(self, pages: Iterable[Url]) -> list[Url]:
        """Return the listed ones that belong to none of these pages, so are pages themselves."""
        there = set(pages)
        taken = {twin for page, twin in self._listed.items() if page in there}
        return [twin for twin in dict.fromkeys(self._listed.values()) if twin not in taken]


def _pages_of(twin: Url) -> list[Url]:
    """Return the pages that a listed Markdown file may belong to."""
    path = twin.path.removesuffix(".md")
    paths = [path, f"{path}.html", f"{path}/"]
    folder, _, name = path.rpartition("/")
    if name in {"index.html", "index"}:
        paths.append(f"{folder}/")
    return [replace(twin, path=path) for path in paths if path]
