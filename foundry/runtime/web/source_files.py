"""The original files of documents, in the owner's folders.

ORIGINALS names a folder with a subfolder for each source, or with the files of the only source. It
can also be JSON that maps sources to folders. A file is sent only if it equals the indexed file
byte for byte.
"""

import hashlib
import json
import logging
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ..errors import ConfigurationError
from ..index.documents import DocumentRecord
from ..index.names import indexed_name
from ..settings import read_variable

VARIABLE = "ORIGINALS"
MAX_KNOWN = 10_000  # Files whose hashes are cached

_logger = logging.getLogger(__name__)


class Originals:
    """The folders, if any, and the hashes of files sent before."""

    def __init__(self, folders: Path | Mapping[str, Path] | None) -> None:
        """Store the folder of each source, or one for all; files are read on request."""
        self._shared = folders.resolve() if isinstance(folders, Path) else None
        named = {} if folders is None or isinstance(folders, Path) else folders
        self._named = {source: folder.resolve() for source, folder in named.items()}
        self._hashes: dict[tuple[Path, int, int, int], str] = {}

    @classmethod
    def open(cls) -> "Originals":
        """Return the originals configured in the environment. Raises ConfigurationError."""
        written = read_variable(VARIABLE)
        if written is None:
            _logger.warning("original files are not available: %s is not set", VARIABLE)
            return cls(None)
        folders = _read_named(written) if written.startswith("{") else {"": Path(written)}
        for folder in folders.values():
            if not folder.is_dir():
                hint = "set it to a folder that has a subfolder named after each source"
                raise ConfigurationError(f"{VARIABLE}: {folder} is not a folder", hint=hint)
        return cls(folders.get("", folders))

    def has_files_of(self, source: str) -> bool:
        """Return whether there is a folder for the files of a source."""
        return self._shared is not None or source in self._named

    def find(self, document: DocumentRecord) -> Path | None:
        """Return the file of a document if it exists and has not changed since it was indexed."""
        for folder, path in self.places(document):
            for written in _find_named(folder, path):
                found = resolve_inside(folder, written)
                with suppress(OSError):
                    if found and self._hash(found, document.bytes) == document.sha256:
                        return found
        return None

    def places(self, document: DocumentRecord) -> Iterator[tuple[Path, str]]:
        """Yield folders that may contain a document or a copy, each with the file's path there."""
        for place in document.places():
            if place.source in self._named:
                yield self._named[place.source], place.path
            if self._shared is not None:
                own = resolve_inside(self._shared, self._shared / place.source)
                if own is not None and own.is_dir():
                    yield own, place.path
                yield self._shared, place.path

    def _hash(self, path: Path, size: int) -> str | None:
        """Return the SHA-256 of a file if it has this size, else None. Raises OSError."""
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != size:
            return None
        key = path, found.st_ino, found.st_size, found.st_mtime_ns
        known = self._hashes.get(key)
        if known is None:
            with path.open("rb") as file:
                known = hashlib.file_digest(file, "sha256").hexdigest()
            if len(self._hashes) >= MAX_KNOWN:
                self._hashes.clear()
            self._hashes[key] = known
        return known


def _read_named(written: str) -> dict[str, Path]:
    """Parse JSON that maps sources to folders. Raises ConfigurationError."""
    try:
        return {source: Path(folder) for source, folder in json.loads(written).items() if source}
    except (ValueError, TypeError):
        hint = 'write it like {"handbook": "/srv/handbook"}'
        problem = f"{VARIABLE}: {written} is not JSON that maps sources to folders"
        raise ConfigurationError(problem, hint=hint) from None


def resolve_inside(folder: Path, written: Path) -> Path | None:
    """Resolve links in a path; return None if it leads outside the folder."""
    with suppress(OSError, ValueError, RuntimeError):
        path = written.resolve()
        if path.is_relative_to(folder):
            return path
    return None


def _find_named(folder: Path, path: str) -> list[Path]:
    """Return the paths below a folder that the index stores as this path, usually one."""
    places = [folder]
    for part in PurePosixPath(path).parts:
        if "\ufffd" not in part and "\\" not in part:
            places = [place / part for place in places]
            continue
        found = []
        for place in places:
            with suppress(OSError, ValueError):
                found += [each for each in place.iterdir() if indexed_name(each.name) == part]
        places = found
    return places
