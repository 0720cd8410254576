"""A cache of pages on disk, with validators for conditional requests."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.state.key_value import KeyValueFile
from foundry.urls import Url

FILE_NAME = "pages.sqlite"

_PAGE = b"page "


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as the server last sent it with status 200."""

    headers: Mapping[str, str]
    body: bytes


class PageCache:
    """One file of pages in a private folder; threads can share it.

    Raises BuildError if the file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._used: set[bytes] = set()
        self._file = KeyValueFile(
            folder / FILE_NAME, what="the cache of web pages", loss="pages are fetched again"
        )

    def load(self, url: Url) -> CachedPage | None:
        """Return the page of a url; None if it is missing or damaged."""
        content = self._file.get(self._use(url))
        if content is None:
            return None
        headers, _, body = content.partition(b"\n")
        return CachedPage(json.loads(headers), zlib.decompress(body))

    def store(self, url: Url, page: CachedPage) -> None:
        """Store a page, and commit it."""
        headers = json.dumps(dict(page.headers), sort_keys=True).encode()
        content = headers + b"\n" + zlib.compress(page.body, 1)
        self._file.put({self._use(url): content})
        self._file.commit()

    def drop_unused(self) -> None:
        """Delete the pages that were neither loaded nor stored through this object."""
        unused = [key for key in self._file.keys(_PAGE) if key not in self._used]
        self._file.delete(unused)
        self._file.commit()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _use(self, url: Url) -> bytes:
        key = _PAGE + str(url).encode()
        self._used.add(key)
        return key
