"""[[sources]] of the web: single urls, what a sitemap lists, or one site followed by its links."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from foundry.config.file import DEFAULT_USER_AGENT, SitemapSection, SiteSection, UrlSection
from foundry.errors import FoundryError
from foundry.urls import UrlError, parse_host_and_port, parse_url

WebSection = UrlSection | SitemapSection | SiteSection
SECTIONS: dict[str, type[BaseModel]] = {
    "url": UrlSection,
    "sitemap": SitemapSection,
    "site": SiteSection,
}


@dataclass(frozen=True, slots=True)
class WebSource:
    """Pages of the web.

    `kind` says what `urls` are: pages; one sitemap; or the page at which a crawl of a site begins.
    `hosts` are others than that url's own whose pages belong to the source.
    """

    name: str
    kind: Literal["url", "sitemap", "site"]
    urls: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    hosts: tuple[str, ...]
    max_pages: int
    depth: int
    tags: tuple[str, ...]
    markdown: bool
    min_coverage: float
    requests_per_second: float
    timeout_seconds: float
    max_bytes: int
    user_agent: str
    allow_private: tuple[str, ...]


def find_problems(section: WebSection, key: str) -> list[str]:
    """Return what is wrong with a section whose types are right; `key` is its place in the file."""
    problems = []
    for place, written in _urls_of(section, key):
        problems += _check(parse_url, place, written)
    for number, entry in enumerate(section.allow_private):
        problems += _check(parse_host_and_port, f"{key}.allow_private[{number}]", entry)
    if not isinstance(section, UrlSection):
        for number, entry in enumerate(section.hosts):
            problems += _check(parse_host_and_port, f"{key}.hosts[{number}]", entry)
        for name in ("include", "exclude"):
            for number, pattern in enumerate(getattr(section, name)):
                if not pattern or re.match(r"(?!https?:)[^/*]", pattern):
                    problems.append(
                        f"{key}.{name}[{number}]: must begin with /, * or http, got {pattern!r}"
                    )
    return problems


def resolve(section: WebSection, name: str) -> WebSource:
    """Return the section with canonical urls and hosts."""
    listed = None if isinstance(section, UrlSection) else section
    return WebSource(
        name=name,
        kind=section.type,
        urls=tuple(str(parse_url(written)) for _, written in _urls_of(section, "")),
        include=tuple(listed.include) if listed else ("*",),
        exclude=tuple(listed.exclude) if listed else (),
        hosts=tuple(listed.hosts) if listed else (),
        max_pages=listed.max_pages if listed else len(_urls_of(section, "")),
        depth=section.depth if isinstance(section, SiteSection) else 0,
        tags=tuple(section.tags),
        markdown=section.markdown,
        min_coverage=section.min_coverage,
        requests_per_second=section.requests_per_second,
        timeout_seconds=section.timeout_seconds,
        max_bytes=section.max_bytes,
        user_agent=section.user_agent,
        allow_private=tuple(section.allow_private),
    )


def suggest(written: str) -> dict[str, object]:
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


def host_of(section: WebSection) -> str:
    """Return the host of the section's first url, which names the source; empty for an
    impossible one."""
    try:
        return parse_url(_urls_of(section, "")[0][1]).host
    except UrlError:
        return ""


def _urls_of(section: WebSection, key: str) -> list[tuple[str, str]]:
    if isinstance(section, UrlSection):
        return [(f"{key}.urls[{number}]", url) for number, url in enumerate(section.urls)]
    return [(f"{key}.url", section.url)]


def _check(parse: Callable[[str], object], place: str, written: str) -> list[str]:
    try:
        parse(written)
    except UrlError as error:
        return [f"{place}: {error}"]
    return []
