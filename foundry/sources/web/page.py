"""Examines a page: links, canonical url, Markdown version, robots rules.

The Markdown version of a page (its twin) is the page's content without the site's navigation. The
page names it in a `Link` header or a `link` element, or the site's llms.txt (llmstxt.org) lists it
under the page's url with `.md` appended.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborHTMLParser

from foundry.fetching.failures import FetchError
from foundry.fetching.fetcher import Fetched, Fetcher
from foundry.urls import Url, UrlError, join_url

MAX_LINKS = 10_000
MAX_LISTING_BYTES = 10_000_000
MAX_REFRESH_SECONDS = 5
"""Pages that redirect after a longer time are meant to be read."""

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_TWIN_TYPES = frozenset({"text/markdown", "text/x-markdown", "text/plain"})
# Comments and elements that contain only text are skipped as a whole.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|xmp|iframe)\b.*?(?:</\1|\Z)"
    r"|(?P<tag><(?P<name>a|area|link|meta|base)(?=[\s/>])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>)",
    re.IGNORECASE | re.DOTALL,
)
_LINK_HEADER = re.compile(r"<([^<>]*)>([^<]*)")
_REFRESH = re.compile(
    r"\s*(?P<seconds>\d{1,6})(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?(?P<url>[^\"']{1,2000})",
    re.IGNORECASE,
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"\]\(\s*<?([^\s()<>]{1,2000})")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The data extracted from a page; urls are absolute.

    `links` are the distinct links that robots may follow, in order; `refresh` is the target of a
    redirect after at most MAX_REFRESH_SECONDS.
    """

    links: tuple[Url, ...] = ()
    canonical: Url | None = None
    markdown: Url | None = None
    noindex: bool = False
    refresh: Url | None = None


def examine(page: Fetched, agent: str) -> PageFacts:
    """Examine a page in linear time; robots rules may address `agent`."""
    alternate = _markdown_from_header(page)
    rules = _robots_header(page.headers.get("x-robots-tag", ""), agent)
    if not is_html(page):
        return PageFacts(markdown=alternate, noindex=bool(rules & {"noindex", "none"}))
    tree = LexborHTMLParser(_flatten(_decode(page)))
    for node in tree.css("meta[name][content]"):
        if (node.attributes.get("name") or "").strip().lower() in {"robots", agent.lower()}:
            written = (node.attributes.get("content") or "").lower()
            rules |= {rule.strip() for rule in written.split(",")}
    base = _first(tree, "base[href]", page.url) or page.url
    links = () if rules & {"nofollow", "none"} else tuple(_resolve_all(base, _links(tree)))
    return PageFacts(
        links=links,
        canonical=_first(tree, 'link[rel~="canonical"][href]', base),
        markdown=alternate
        or _first(tree, 'link[rel~="alternate"][type="text/markdown"][href]', base),
        noindex=bool(rules & {"noindex", "none"}),
        refresh=_refresh(tree, base, page.url),
    )


def is_html(page: Fetched) -> bool:
    """Return whether a response is an HTML page, by its media type or else its first bytes."""
    kind = media_type(page.headers)
    return begins_as_html(page) if kind is None else kind in _HTML_TYPES


def begins_as_html(page: Fetched) -> bool:
    """Return whether the bytes start like an HTML page."""
    return page.body[:1024].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def media_type(headers: Mapping[str, str]) -> str | None:
    """Return the response's media type in lower case, without parameters; None if it has none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() or None


def charset(headers: Mapping[str, str]) -> str | None:
    """Return the charset that the response declares in its headers; None if it declares none."""
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1] if match else None


def markdown_links(text: str, base: Url) -> list[Url]:
    """Return the distinct link targets of a Markdown text."""
    return list(_resolve_all(base, (match[1] for match in _MARKDOWN_LINK.finditer(text))))


def _flatten(page: str) -> str:
    """Return the relevant elements without nesting: parsing deep trees takes quadratic time."""
    kept = ["<body>"]
    for match in _TAG.finditer(page):
        if match["tag"]:
            kept.append(match["tag"] + ("</a>" if match["name"].lower() == "a" else ""))
    return "".join(kept)


def _decode(page: Fetched) -> str:
    for name in (charset(page.headers), "utf-8"):
        try:
            if name:
                return page.body.decode(codecs.lookup(name).name)
        except (LookupError, ValueError):
            continue
    return page.body.decode("latin-1")


def _links(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css("a[href],area[href]"):
        if "nofollow" not in (node.attributes.get("rel") or "").lower().split():
            yield node.attributes.get("href") or ""


def _first(tree: LexborHTMLParser, selector: str, base: Url) -> Url | None:
    node = tree.css_first(selector)
    return next(_resolve_all(base, [node.attributes.get("href") or ""]), None) if node else None


def _refresh(tree: LexborHTMLParser, base: Url, own: Url) -> Url | None:
    """Return the target of a quick `meta http-equiv=refresh`; None if it is the page itself."""
    for node in tree.css("meta[http-equiv][content]"):
        attributes = node.attributes
        if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            found = _REFRESH.match(attributes.get("content") or "")
            if found and int(found["seconds"]) <= MAX_REFRESH_SECONDS:
                target = next(_resolve_all(base, [found["url"].strip()]), None)
                return None if target == own else target
    return None


def _resolve_all(base: Url, references: Iterable[str]) -> Iterator[Url]:
    """Yield the distinct absolute urls of references on the page `base`, up to a limit."""
    seen: set[Url] = set()
    for reference in references:
        with suppress(UrlError):
            url = join_url(base, reference)
            if url not in seen:
                seen.add(url)
                yield url
        if len(seen) >= MAX_LINKS:
            return


def _markdown_from_header(page: Fetched) -> Url | None:
    for match in _LINK_HEADER.finditer(page.headers.get("link", "")):
        parameters = match[2].lower().replace('"', "").replace(" ", "")
        names = dict(part.partition("=")[::2] for part in parameters.split(";"))
        type_ = names.get("type", "").partition(",")[0]
        if "rel=alternate" in parameters and type_ == "text/markdown":
            with suppress(UrlError):
                return join_url(page.url, match[1])
    return None


def _robots_header(value: str, agent: str) -> set[str]:
    """Return the rules of X-Robots-Tag for everyone or for `agent`."""
    rules: set[str] = set()
    addressed = ""
    for part in value.lower().split(","):
        name, colon, rule = part.strip().partition(":")
        if colon and name != "unavailable_after":
            addressed, part = name.strip(), rule
        if addressed in {"", agent.lower()}:
            rules.add(part.strip())
    return rules


class Twins:
    """The Markdown versions (twins) of a source's pages; threads can call `fetch`."""

    def __init__(self, fetcher: Fetcher, max_bytes: int) -> None:
        self._fetcher = fetcher
        self._max_bytes = max_bytes
        self._listed: dict[Url, Url] = {}

    def read_listing(self, home: Url) -> list[Url]:
        """Read the twins listed in the site's llms.txt, if any; return its other links."""
        try:
            listing = replace(home, path="/llms.txt", query="")
            fetched = self._fetcher.fetch(listing, max_bytes=MAX_LISTING_BYTES)
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
        """Return a page's twin; None if it has none, or the response is not Markdown."""
        twin = facts.markdown or self._listed.get(page)
        if twin is None or twin == page or twin.host != page.host:
            return None
        with suppress(FetchError):
            fetched = self._fetcher.fetch(twin, max_bytes=self._max_bytes)
            if media_type(fetched.headers) in _TWIN_TYPES and not begins_as_html(fetched):
                return fetched
        return None

    def without_pages(self, pages: Iterable[Url]) -> list[Url]:
        """Return the listed files that are not a Markdown version of any of `pages`."""
        there = set(pages)
        taken = {twin for page, twin in self._listed.items() if page in there}
        return [twin for twin in dict.fromkeys(self._listed.values()) if twin not in taken]


def _pages_of(twin: Url) -> list[Url]:
    """Return the pages whose Markdown version a listed file may be."""
    path = twin.path.removesuffix(".md")
    paths = [path, f"{path}.html", f"{path}/"]
    folder, _, name = path.rpartition("/")
    if name in {"index.html", "index"}:
        paths.append(f"{folder}/")
    return [replace(twin, path=path) for path in paths if path]
