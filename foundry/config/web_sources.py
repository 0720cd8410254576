"""[[sources]] of the web: single urls, what a sitemap lists, or one site followed by its links."""

import ipaddress
import re
from abc import abstractmethod
from collections.abc import Callable
from typing import Literal, Self

from pydantic import Field

import foundry
from foundry.errors import FoundryError
from foundry.features.feature import Slug, Strings, Table
from foundry.urls import UrlError, parse_host_and_port, parse_url

DEFAULT_USER_AGENT = f"rag-foundry/{foundry.__version__}"


class WebSource(Table):
    """Pages of the web, and how they are fetched.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from the host.
        tags: Tags for all of its documents.
        markdown: Whether to read the Markdown version of a page where there is one.
        min_coverage: The share of the urls found that must yield a page, or the build fails.
        requests_per_second: Per host; a Crawl-delay in robots.txt slows it down further.
        timeout_seconds: For one url, from name lookup to last byte.
        max_bytes: The largest page, uncompressed.
        user_agent: The user agent; the part before `/` is matched against robots.txt.
        allow_private: Hosts that may have a private address, such as `docs.internal`.
    """

    name: Slug = ""
    tags: Strings = ()
    markdown: bool = True
    min_coverage: float = Field(default=0.95, ge=0, le=1)
    requests_per_second: float = Field(default=5.0, ge=0.01, le=1000)
    timeout_seconds: float = Field(default=60.0, ge=0.1, le=3600)
    max_bytes: int = Field(default=50_000_000, ge=1, le=1_000_000_000)
    user_agent: str = Field(
        default=DEFAULT_USER_AGENT, max_length=200, pattern=r"^[A-Za-z][!-~]*(?: [!-~]+)*$"
    )
    allow_private: Strings = ()

    @property
    @abstractmethod
    def start(self) -> tuple[str, ...]:
        """The urls that are fetched first."""

    @property
    def host(self) -> str:
        """The host of the first url, which names the source; empty for an impossible one."""
        try:
            return parse_url(self.start[0]).host
        except UrlError:
            return ""

    def find_problems(self, key: str) -> list[str]:
        """Return what is wrong although all types are right; `key` is the place in the file."""
        problems = []
        for number, entry in enumerate(self.allow_private):
            problems += _check(parse_host_and_port, f"{key}.allow_private[{number}]", entry)
        return problems

    @abstractmethod
    def resolve(self, name: str) -> Self:
        """Return the source under a name, with canonical urls."""


class UrlSource(WebSource):
    """Pages by their urls.

    Attributes:
        urls: The pages.
    """

    type: Literal["url"] = "url"
    urls: Strings = Field(min_length=1, max_length=100_000)

    @property
    def start(self) -> tuple[str, ...]:
        """All of its urls."""
        return self.urls

    def find_problems(self, key: str) -> list[str]:
        """Return what is wrong although all types are right."""
        problems = []
        for number, url in enumerate(self.urls):
            problems += _check(parse_url, f"{key}.urls[{number}]", url)
        return problems + super().find_problems(key)

    def resolve(self, name: str) -> Self:
        """Return the source under a name, with canonical urls."""
        urls = tuple(str(parse_url(url)) for url in self.urls)
        return self.model_copy(update={"name": name, "urls": urls})


class ListedSource(WebSource):
    """Pages found from one url.

    Attributes:
        url: The page or sitemap to start from.
        include: Url patterns in which `*` stands for any characters; one that begins with `/` is
            matched against path and query, any other against the whole url.
        exclude: Patterns of urls to leave out.
        hosts: Further hosts whose pages belong to the source.
        max_pages: The most pages to read.
        depth: How many links away from the first page to go.
    """

    url: str = Field(min_length=1)
    include: Strings = ("*",)
    exclude: Strings = ()
    hosts: Strings = ()
    max_pages: int = Field(default=10_000, ge=1, le=1_000_000)

    @property
    def start(self) -> tuple[str, ...]:
        """The url from which the others are found."""
        return (self.url,)

    def find_problems(self, key: str) -> list[str]:
        """Return what is wrong although all types are right."""
        problems = _check(parse_url, f"{key}.url", self.url) + super().find_problems(key)
        for number, entry in enumerate(self.hosts):
            problems += _check(parse_host_and_port, f"{key}.hosts[{number}]", entry)
        for name, patterns in (("include", self.include), ("exclude", self.exclude)):
            problems += [
                f"{key}.{name}[{number}]: must begin with /, * or http, got {pattern!r}"
                for number, pattern in enumerate(patterns)
                if not pattern or re.match(r"(?!https?:)[^/*]", pattern)
            ]
        return problems

    def resolve(self, name: str) -> Self:
        """Return the source under a name, with a canonical url."""
        return self.model_copy(update={"name": name, "url": str(parse_url(self.url))})


class SitemapSource(ListedSource):
    """Pages that a sitemap lists."""

    type: Literal["sitemap"] = "sitemap"


class SiteSource(ListedSource):
    """Pages of a site, followed by their links."""

    type: Literal["site"] = "site"
    max_pages: int = Field(default=1_000, ge=1, le=1_000_000)
    depth: int = Field(default=5, ge=0, le=100)


def suggest_site(written: str) -> dict[str, object]:
    """Return what a new foundry.toml says about a url. Raises FoundryError for one that is none."""
    try:
        url = parse_url(written)
    except UrlError as error:
        raise FoundryError(str(error), hint="write it like https://example.com/docs/") from None
    folder = url.path.rpartition("/")[0]
    is_sitemap = bool(re.search(r"sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$", url.path))
    return {
        "type": "sitemap" if is_sitemap else "site",
        "url": str(url),
        "include": f"{folder}/*" if folder and not is_sitemap else None,
        "allow_private": url.authority if _is_local(url.host) else None,
        "user_agent": DEFAULT_USER_AGENT,
    }


def _is_local(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))


def _check(parse: Callable[[str], object], place: str, written: str) -> list[str]:
    try:
        parse(written)
    except UrlError as error:
        return [f"{place}: {error}"]
    return []
