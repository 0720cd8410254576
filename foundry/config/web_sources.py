"""Web sources: single urls, the pages of a sitemap, or a site crawled by its links."""

import ipaddress
import re
from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

import foundry
from foundry.config.any_source import AnySource
from foundry.errors import FoundryError
from foundry.features.feature import Strings
from foundry.urls import UrlError, parse_host_and_port, parse_url

DEFAULT_USER_AGENT = f"rag-foundry/{foundry.__version__}"


def _as_host(written: str) -> str:
    parse_host_and_port(written)
    return written


def _as_pattern(written: str) -> str:
    if not written or re.match(r"(?!https?:)[^/*]", written):
        raise ValueError(f"must begin with /, * or http, got {written!r}")
    return written


def check_base_url(written: str) -> str:
    """Return the base url of documents, if it is valid. Raises ValueError."""
    try:
        parse_url(written)
    except UrlError as error:
        # The error's detail is left out, because it may quote a password.
        said = f"{error.reason}; write an address like https://docs.example.com/guide"
        raise ValueError(said) from None
    return written


UrlSuffix = Literal["", "/", ".html"]
"""Endings of published urls, which replace file extensions."""

BaseUrl = Annotated[str, AfterValidator(check_base_url)]
Url = Annotated[str, AfterValidator(lambda written: str(parse_url(written)))]
Urls = Annotated[tuple[Url, ...], Field(strict=False)]
Hosts = Annotated[tuple[Annotated[str, AfterValidator(_as_host)], ...], Field(strict=False)]
UrlPatterns = Annotated[
    tuple[Annotated[str, AfterValidator(_as_pattern)], ...], Field(strict=False)
]


class WebSource(AnySource):
    """Web pages, and how they are fetched.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from the host.
        tags: Tags for all of its documents.
        markdown: Whether to read the Markdown version of a page if there is one.
        min_coverage: The build fails if a smaller share of the urls found yields a page.
        requests_per_second: The limit per host; a longer Crawl-delay in robots.txt is obeyed, up to
            10 seconds.
        timeout_seconds: The time limit for one request, from name lookup to last byte.
        max_bytes: The largest page, uncompressed.
        user_agent: The user agent; the part before `/` is matched against robots.txt.
    """

    tags: Strings = ()
    markdown: bool = True
    min_coverage: float = Field(default=0.95, ge=0, le=1)
    requests_per_second: float = Field(default=5.0, ge=0.01, le=1000)
    timeout_seconds: float = Field(default=60.0, ge=0.1, le=3600)
    max_bytes: int = Field(default=50_000_000, ge=1, le=1_000_000_000)
    user_agent: str = Field(
        default=DEFAULT_USER_AGENT, max_length=200, pattern=r"^[A-Za-z][!-~]*(?: [!-~]+)*$"
    )

    @property
    @abstractmethod
    def start(self) -> tuple[str, ...]:
        """The urls that are fetched first."""

    @property
    def stem(self) -> str:
        """The host of the first url."""
        return parse_url(self.start[0]).host.replace(".", "-").replace(":", "-")


class UrlSource(WebSource):
    """Pages given by their urls.

    Attributes:
        urls: The pages.
    """

    type: Literal["url"] = "url"
    urls: Urls = Field(min_length=1, max_length=100_000)

    @property
    def start(self) -> tuple[str, ...]:
        """All urls of the source."""
        return self.urls


class ListedSource(WebSource):
    """Pages found from one url.

    Attributes:
        url: The page or sitemap to start from.
        include: Url patterns in which `*` matches any characters; one that begins with `/` is
            matched against path and query, any other against the whole url.
        exclude: Patterns of urls to leave out.
        hosts: Further hosts whose pages belong to the source.
        max_pages: The maximum number of pages to read.
        depth: How many links may lead from the first page to a page that is read.
    """

    url: Url
    include: UrlPatterns = ("*",)
    exclude: UrlPatterns = ()
    hosts: Hosts = ()
    max_pages: int = Field(default=10_000, ge=1, le=1_000_000)

    @property
    def start(self) -> tuple[str, ...]:
        """The url from which the other pages are found."""
        return (self.url,)


class SitemapSource(ListedSource):
    """Pages that a sitemap lists."""

    type: Literal["sitemap"] = "sitemap"


class SiteSource(ListedSource):
    """Pages of a website, found by following links."""

    type: Literal["site"] = "site"
    max_pages: int = Field(default=1_000, ge=1, le=1_000_000)
    depth: int = Field(default=5, ge=0, le=100)


def suggest_site(written: str) -> dict[str, object]:
    """Return the settings of a new foundry.toml for a url. Raises FoundryError if it is invalid."""
    try:
        url = parse_url(written)
    except UrlError as error:
        raise FoundryError(str(error), hint="write it like https://example.com/docs/") from None
    folder = url.path.rpartition("/")[0]
    is_sitemap = bool(re.search(r"sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$", url.path))
    # Any other XML file is probably a sitemap too, and its pages may be in any folder.
    is_listing = is_sitemap or bool(re.search(r"\.xml(?:\.gz)?$", url.path))
    return {
        "type": "sitemap" if is_sitemap else "site",
        "url": str(url),
        "include": f"{folder}/*" if folder and not is_listing else None,
        "user_agent": DEFAULT_USER_AGENT,
    }


def is_local(host: str) -> bool:
    """Return whether a host's name or address seems to belong to a private network."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
