"""Decides which urls belong to a web source, by hosts and patterns."""

import re
from pathlib import PurePosixPath

from foundry.config.web_sources import ListedSource, WebSource
from foundry.documents.reasons import Reason
from foundry.fetching.failures import refused
from foundry.urls import DEFAULT_PORTS, Url, is_named, parse_host_and_port, parse_url

# Linked files that contain no text.
_NO_DOCUMENTS = frozenset(
    ".avif .bmp .gif .ico .jpeg .jpg .png .svg .tif .tiff .webp .css .js .mjs .map .wasm"
    " .woff .woff2 .ttf .otf .eot .mp3 .mp4 .m4a .mov .avi .mkv .ogg .ogv .wav .webm .flac"
    " .zip .gz .tgz .bz2 .xz .7z .rar .tar .jar .whl .deb .rpm .dmg .exe .msi .iso .apk".split()
)


class Scope:
    """The urls that a source may contain."""

    def __init__(self, source: WebSource) -> None:
        self._listed = source if isinstance(source, ListedSource) else None
        home = parse_url(source.start[0])
        is_usual = home.port == DEFAULT_PORTS[home.scheme]
        hosts = self._listed.hosts if self._listed else ()
        self._hosts = {(home.host, None if is_usual else home.port)}
        self._hosts.update(parse_host_and_port(host) for host in hosts)

    def check_host(self, url: Url) -> None:
        """Raise FetchError for a url of a host outside the source."""
        if not self.has_host(url):
            raise refused(Reason.OTHER_HOST, str(url))

    def has_host(self, url: Url) -> bool:
        """Return whether a url's host belongs to the source."""
        return self._listed is None or is_named(url, self._hosts)

    def selects(self, url: Url) -> bool:
        """Return whether the patterns select a url."""
        if self._listed is None:
            return True
        included = any(matches(pattern, url) for pattern in self._listed.include)
        return included and not self.excludes(url)

    def excludes(self, url: Url) -> bool:
        """Return whether `exclude` matches a url."""
        patterns = self._listed.exclude if self._listed else ()
        return any(matches(pattern, url) for pattern in patterns)

    def follows(self, url: Url) -> bool:
        """Return whether a link leads to a url of the source, and not to a file without text."""
        suffix = PurePosixPath(url.path).suffix.lower()
        return suffix not in _NO_DOCUMENTS and self.has_host(url) and self.selects(url)


def matches(pattern: str, url: Url) -> bool:
    """Return whether a pattern matches a url, or its path and query if it begins with a slash.

    `*` matches any characters, or none; every other character matches itself. For each part between
    two stars, the time is linear in the length of the url.
    """
    text = url.target if pattern.startswith("/") else str(url)
    first, *rest = map(re.escape, pattern.split("*"))
    # Atomic groups match each part only at its first occurrence, which avoids backtracking.
    between = "".join(f"(?>.*?{part})" for part in rest[:-1])
    last = f".*{rest[-1]}" if rest else ""
    return re.fullmatch(first + between + last, text, re.DOTALL) is not None
