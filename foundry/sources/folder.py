"""A folder of files, read recursively in byte order of paths.

Symbolic links are not followed but listed as skipped: a target inside the folder is read under its
own name, and a target outside does not belong to the source. Names that begin with a dot are
excluded, unless they match a part of an include pattern that begins with a dot. Names of secrets
are excluded and listed as skipped, unless an include pattern ends with the name. Only .gitignore
files at or below the source's root count, so that a build depends on the folder alone.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from foundry.config.sources import FolderSource
from foundry.documents import RawDocument, Skipped
from foundry.documents.reasons import AnyReason, Reason
from foundry.errors import SourceError
from foundry.runtime.index.names import indexed_name
from foundry.sources.ignoring import IgnoreFile, Selection, is_ignored
from foundry.sources.names import url_of
from foundry.state.stamps import lasting_stamp, stamp_of

MAX_DEPTH = 100
MAX_IGNORE_FILE_BYTES = 1_000_000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = _OPEN | os.O_NONBLOCK
_OPEN_FOLDER = _OPEN | os.O_DIRECTORY
_OPEN_ROOT = _OPEN_FOLDER & ~os.O_NOFOLLOW


class Found(NamedTuple):
    """A file or folder: its path relative to the root, with forward slashes, and its stamp.

    Paths of folders end with a slash, except the root's, which is empty; their stamps are empty.
    """

    key: str
    stamp: str


def look(source: FolderSource, *, only_folders: bool = False) -> Iterator[Found | Skipped]:
    """Find the folder's files, without opening them, or with `only_folders` its folders.

    Raises SourceError if the folder cannot be read or a pattern is malformed.
    """
    try:
        return _Walk(source, Selection(source), only_folders).walk()
    except OSError as error:
        raise SourceError(
            f"source {source.name}: cannot read the folder {source.path}: {error.strerror}",
            hint="correct the source's path in foundry.toml",
        ) from None


def find_folders(source: FolderSource) -> Iterator[str | Skipped]:
    """Yield the path of each folder that `look` enters, and a Skipped for each that it cannot.

    Raises SourceError like `look`.
    """
    root = os.path.abspath(source.path)  # noqa: PTH100
    for found in look(source, only_folders=True):
        yield found if isinstance(found, Skipped) else os.path.normpath(f"{root}/{found.key}")


def read_file(source: FolderSource, key: str) -> RawDocument | Skipped:
    """Read a file that `look` found; see `FileReader`."""
    with closing(FileReader(source)) as reader:
        return reader.read(key)


class FileReader:
    """Reads files of a folder; keeps the last subfolder open, since the next file is usually in it.

    With `base_url`, a document gets the url under which its path is published.
    """

    def __init__(self, source: FolderSource) -> None:
        self._source = source
        self._path: bytes | None = None
        self._folder = -1

    def read(self, key: str) -> RawDocument | Skipped:
        """Return a file that `look` found; Skipped if it cannot be read as it is or has changed."""
        source, path = self._source, _to_bytes(key)
        above, _, name = path.rpartition(b"/")
        try:
            if above != self._path:
                self.close()
                self._folder = _open_folder(source, above.split(b"/") if above else [])
                self._path = above
            for _ in range(2):
                content, status = _read_regular(self._folder, name, source.max_bytes)
                if status.st_size > source.max_bytes:
                    return _over_limit(source, path, status)
                if content is not None:
                    return _deliver(source, path, content, status)
        except OSError as error:
            return _skip(source, path, Reason.CANNOT_BE_READ, error.strerror or "")
        return _skip(source, path, Reason.CHANGED)

    def close(self) -> None:
        """Close the folder."""
        if self._path is not None:
            os.close(self._folder)
            self._path = None


@dataclass(slots=True)
class _Walk:
    """One walk through a folder source, which finds files or, with `only_folders`, folders."""

    source: FolderSource
    selection: Selection
    only_folders: bool = False
    visited: set[tuple[int, int]] = field(default_factory=set)

    def walk(self) -> Iterator[Found | Skipped]:
        """Find everything below the source's path. Raises OSError if it cannot be opened."""
        return self._walk_folder(os.open(self.source.path, _OPEN_ROOT), b"", ())

    def _walk_folder(
        self, folder: int, prefix: bytes, ignore_files: tuple[IgnoreFile, ...]
    ) -> Iterator[Found | Skipped]:
        try:
            status = os.fstat(folder)
            identity = (status.st_dev, status.st_ino)
            if identity in self.visited:
                yield self._skip(prefix, Reason.FOLDER_READ_ALREADY)
                return
            self.visited.add(identity)
            try:
                # A slash after a folder's name sorts its contents by their full paths.
                with os.scandir(folder) as entries:
                    names = sorted(
                        os.fsencode(entry.name) + b"/" * entry.is_dir(follow_symlinks=False)
                        for entry in entries
                    )
            except OSError as error:
                yield self._skip(prefix, Reason.CANNOT_BE_READ, error.strerror or "")
                return
            if self.only_folders:
                yield Found(_to_text(prefix), "")
            if b".gitignore" in names:
                ignore_files += _read_ignore_file(folder, prefix)
            for name in names:
                path = _to_text(prefix + name)
                if is_ignored(path, ignore_files):
                    continue
                if name.endswith(b"/"):
                    yield from self._enter(folder, prefix, name, ignore_files)
                elif not self.only_folders and self.selection.wants_file(path):
                    text_name = path[path.rfind("/") + 1 :]
                    if why := self.selection.leaves_out(path):
                        yield self._skip(prefix + name, *why)
                    elif not self.selection.hides(text_name):
                        yield self._look_at(folder, prefix + name, name)
        finally:
            os.close(folder)

    def _enter(
        self, folder: int, prefix: bytes, name: bytes, ignore_files: tuple[IgnoreFile, ...]
    ) -> Iterator[Found | Skipped]:
        path = prefix + name
        if not self.selection.enters(_to_text(path)):
            return
        if prefix.count(b"/") >= MAX_DEPTH:
            yield self._skip(path, Reason.FOLDERS_TOO_DEEP)
            return
        try:
            inner = os.open(name[:-1], _OPEN_FOLDER, dir_fd=folder)
        except OSError as error:
            yield self._skip(path, Reason.CANNOT_BE_READ, error.strerror or "")
            return
        yield from self._walk_folder(inner, path, ignore_files)

    def _look_at(self, folder: int, path: bytes, name: bytes) -> Found | Skipped:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            return self._skip(path, Reason.CANNOT_BE_READ, error.strerror or "")
        if stat.S_ISLNK(status.st_mode):
            return self._skip(path, Reason.SYMBOLIC_LINK, self._describe_link(path))
        if not stat.S_ISREG(status.st_mode):
            return self._skip(path, Reason.NOT_REGULAR, _kind(status.st_mode))
        if not status.st_size:
            return self._skip(path, Reason.EMPTY)
        if status.st_size > self.source.max_bytes:
            return _over_limit(self.source, path, status)
        return Found(_to_text(path), stamp_of(status))

    def _describe_link(self, path: bytes) -> str:
        root = os.path.realpath(os.fsencode(self.source.path)).rstrip(b"/") + b"/"
        target = os.path.realpath(root + path).rstrip(b"/") + b"/"
        where = "inside" if target.startswith(root) else "outside"
        # The target is not named, because the report becomes part of exports.
        return f"leads {where} the folder"

    def _skip(self, path: bytes, reason: AnyReason, detail: str = "") -> Skipped:
        return _skip(self.source, path, reason, detail)


def _deliver(
    source: FolderSource, path: bytes, content: bytes, status: os.stat_result
) -> RawDocument | Skipped:
    if not content:
        return _skip(source, path, Reason.EMPTY)
    modified = datetime.fromtimestamp(status.st_mtime, UTC).date().isoformat()
    url = url_of(source.base_url, path, source.url_suffix) if source.base_url else None
    return RawDocument(
        source=source.name,
        key=_to_text(path),
        path=indexed_name(_to_text(path)),
        content=content,
        url=url,
        tags=source.tags,
        metadata_keys=source.metadata,
        modified=modified if source.modified == "file" else None,
        stamp=lasting_stamp(status),
        ocr=source.ocr,
        ocr_pages=source.ocr_pages,
    )


def _over_limit(source: FolderSource, path: bytes, status: os.stat_result) -> Skipped:
    limit = f"{status.st_size} bytes, the limit is {source.max_bytes}"
    return _skip(source, path, Reason.OVERSIZE, limit)


def _skip(source: FolderSource, path: bytes, reason: AnyReason, detail: str = "") -> Skipped:
    name = indexed_name(_to_text(path)).rstrip("/") or "."
    return Skipped(source=source.name, path=name, reason=reason, detail=detail)


def _open_folder(source: FolderSource, names: list[bytes]) -> int:
    """Return the descriptor of a folder below the source's path. Raises OSError for a link."""
    folder = os.open(source.path, _OPEN_ROOT)
    for name in names:
        try:
            inner = os.open(name, _OPEN_FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _read_ignore_file(folder: int, prefix: bytes) -> tuple[IgnoreFile, ...]:
    try:
        content, _ = _read_regular(folder, b".gitignore", MAX_IGNORE_FILE_BYTES)
    except OSError:
        return ()
    if content is None:
        return ()
    lines = content.decode("utf-8-sig", "surrogateescape").splitlines()
    return (IgnoreFile.parse(_to_text(prefix), lines),)


def _read_regular(folder: int, name: bytes, max_bytes: int) -> tuple[bytes | None, os.stat_result]:
    """Return a file's content and status.

    The content is None if the file changes meanwhile, is too large, or is not a regular file.
    """
    file = os.open(name, _OPEN_FILE, dir_fd=folder)
    with os.fdopen(file, "rb") as stream:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode) or before.st_size > max_bytes:
            return None, before
        content = stream.read(before.st_size + 1)
        after = os.fstat(file)
    unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return (content if unchanged and len(content) == before.st_size else None), before


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "named pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "device"


def _to_text(path: bytes) -> str:
    # Paths are decoded as UTF-8 in any locale, so that ids do not depend on the locale.
    return path.decode("utf-8", "surrogateescape")


def _to_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
