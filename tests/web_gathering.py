"""Web sources fetched as a build fetches them, from sites on loopback."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from web_sites import Site

from foundry.config.web_sources import SitemapSource, SiteSource, UrlSource
from foundry.documents import RawDocument, Skipped
from foundry.fetching.addresses import Policy
from foundry.progress import Reporter
from foundry.sources import fetch_all

_SECTIONS = {"url": UrlSource, "sitemap": SitemapSource, "site": SiteSource}


@dataclass(frozen=True)
class Gathered:
    """The documents and skipped pages of a source, and the counts of fetching it."""

    site: Site
    documents: list[RawDocument]
    skipped: list[Skipped]
    coverage: dict[str, Any]
    traffic: dict[str, int]

    @property
    def paths(self) -> list[str]:
        """The documents' urls, without the address of the site."""
        return [(document.url or "").removeprefix(self.site.url) for document in self.documents]

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Return the urls of skipped pages by reason, without the address of the site."""
        reasons: dict[str, list[str]] = {}
        for entry in self.skipped:
            path = entry.path.removeprefix(self.site.url)
            reasons.setdefault(entry.reason, []).append(path)
        return reasons


def gather(
    site: Site,
    state: Path,
    kind: Literal["url", "sitemap", "site"] = "site",
    *,
    urls: Sequence[str] = (),
    url: str = "/",
    private: Sequence[str] = (),
    **values: Any,
) -> Gathered:
    """Fetch a source; paths in `url` and `urls` are on the site."""
    places = (
        {"urls": [_full(site, u) for u in urls]} if kind == "url" else {"url": _full(site, url)}
    )
    options = {"min_coverage": 0.0, "requests_per_second": 1000.0, **places, **values}
    policy = Policy.parse([*site.allow_private, *private])
    section = _SECTIONS[kind](type=kind, **options)
    source = section.model_copy(update={"name": "web"})
    _, fetched = fetch_all([source], state, Reporter(quiet=True).step, policy)
    delivered = list(fetched.sources["web"])
    documents = [item for item in delivered if isinstance(item, RawDocument)]
    skipped = [item for item in delivered if isinstance(item, Skipped)]
    assert len(documents) + len(skipped) == len(delivered)
    return Gathered(site, documents, skipped, fetched.coverage["web"], fetched.traffic["web"])


def _full(site: Site, url: str) -> str:
    return site.url + url if url.startswith("/") else url
