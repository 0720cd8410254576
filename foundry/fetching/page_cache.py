"""Pages on disk by url, with the validators that let a server answer "not modified".

Each carries a checksum: one that was damaged on disk is simply not there.
"""

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from foundry.errors import BuildError
from foundry.storage.sqlite import SqliteFile
from foundry.urls import Url

FILE_NAME = "pages.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    url TEXT PRIMARY KEY, headers TEXT NOT NULL, content BLOB NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID;
"""
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as it was last answered with status 200."""

    headers: Mapping[str, str]
    body: bytes


class PageCache:
    """One file of pages in a folder that nobody else can enter; for any number of threads.

    Raises:
        BuildError: When the file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._used: set[str] = set()
        self._path = folder / FILE_NAME
        self._file = SqliteFile(
            self._path,
            _SCHEMA,
            what="the cache of web pages",
            loss="pages are fetched anew",
            is_kept=False,
            is_shared=True,
        )

    def load(self, url: Url) -> CachedPage | None:
        """Return the page of a url; None where there is none, or none that is whole."""
        key = str(url)

        def find(connection: sqlite3.Connection) -> tuple[str, bytes, bytes] | None:
            query = "SELECT headers, content, checksum FROM pages WHERE url = ?"
            found: tuple[str, bytes, bytes] | None = connection.execute(query, (key,)).fetchone()
            return found

        row = self._run(key, find)
        if row is None or not isinstance(row[1], bytes):
            return None
        if _checksum(key, row[0], row[1]) != row[2]:
            return None
        return CachedPage(json.loads(row[0]), zlib.decompress(row[1]))

    def store(self, url: Url, page: CachedPage) -> None:
        """Keep a page; it survives the process from here on."""
        key = str(url)
        headers = json.dumps(dict(page.headers), sort_keys=True)
        content = zlib.compress(page.body, 1)
        row = (key, headers, content, _checksum(key, headers, content))

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)", row)

        self._run(key, write)

    def drop_unused(self) -> None:
        """Forget the pages that were neither loaded nor stored through this object."""

        def delete(connection: sqlite3.Connection) -> None:
            known = [url for (url,) in connection.execute("SELECT url FROM pages")]
            unused = [(url,) for url in known if url not in self._used]
            with connection:
                connection.executemany("DELETE FROM pages WHERE url = ?", unused)

        self._run(None, delete)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def _run(self, key: str | None, work: Callable[[sqlite3.Connection], _Found]) -> _Found:
        with self._lock:
            if key is not None:
                self._used.add(key)
            # A file that turns out to be damaged has been replaced by a new one the second time.
            for _ in range(2):
                with self._file.guarded() as connection:
                    return work(connection)
        raise BuildError(
            f"{self._path}: the cache of web pages is damaged again and again",
            hint="check the disk",
        )


def _checksum(url: str, headers: str, content: bytes) -> bytes:
    return hashlib.sha256(f"{url}\0{headers}\0".encode() + content).digest()
