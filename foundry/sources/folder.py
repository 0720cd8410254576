"""A folder of files, read recursively in the order of their paths' bytes.

No symbolic link is followed: a link's target inside the folder is read under its own name, and one
outside is none of the source's business; every link is listed as skipped. Hidden names are left
out unless an include pattern spells them out. .gitignore files count from the source's root down;
those above it do not, so that what a build reads depends on the folder alone.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote_from_bytes

from foundry.config.sources import FolderSource
from foundry.errors import SourceError
from foundry.records import RawDocument, Skipped, Unchanged
from foundry.sources.ignoring import IgnoreFile, Selection, is_ignored
from foundry.sources.names import looks_secret, printable
from foundry.sources.stamps import IsUnchanged, lasting_stamp, nothing_is_known, stamp_of

MAX_DEPTH = 100
MAX_IGNORE_FILE_BYTES = 1_000_000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = _OPEN | os.O_NONBLOCK
_OPEN_FOLDER = _OPEN | os.O_DIRECTORY


def iterate(
    source: FolderSource, is_unchanged: IsUnchanged = nothing_is_known
) -> Iterator[RawDocument | Unchanged | Skipped]:
    """Deliver the folder's files; `key` is the path relative to the root, with forward slashes.

    A file of which `is_unchanged` knows key and stamp is not opened, and delivered as Unchanged.
    With `base_url`, a document's url is that, one slash, and the percent-encoded relative path.
    Raises SourceError when the folder itself cannot be read or a pattern is malformed.
    """
    try:
        return Walk(source, Selection(source), is_unchanged).walk()
    except OSError as error:
        raise SourceError(
            f"source {source.name}: cannot read the folder {source.path}: {error.strerror}",
            hint="correct the source's path in foundry.toml",
        ) from None


@dataclass(slots=True)
class Walk:
    """One pass over a folder source."""

    source: FolderSource
    selection: Selection
    is_unchanged: IsUnchanged = nothing_is_known
    visited: set[tuple[int, int]] = field(default_factory=set)

    def walk(self) -> Iterator[RawDocument | Unchanged | Skipped]:
        """Deliver everything below the source's path; raises OSError if that cannot be opened."""
        root = os.open(self.source.path, _OPEN_FOLDER & ~os.O_NOFOLLOW)
        return self._walk_folder(root, b"", ())

    def _walk_folder(
        self, folder: int, prefix: bytes, ignore_files: tuple[IgnoreFile, ...]
    ) -> Iterator[RawDocument | Unchanged | Skipped]:
        try:
            status = os.fstat(folder)
            identity = (status.st_dev, status.st_ino)
            if identity in self.visited:
                yield self._skip(prefix, "folder was read already under another name")
                return
            self.visited.add(identity)
            try:
                # A slash after a folder's name puts its contents where their full paths belong.
                with os.scandir(folder) as entries:
                    names = sorted(
                        os.fsencode(entry.name) + b"/" * entry.is_dir(follow_symlinks=False)
                        for entry in entries
                    )
            except OSError as error:
                yield self._skip(prefix, "cannot be read", error.strerror or "")
                return
            if b".gitignore" in names:
                ignore_files += self._read_ignore_file(folder, prefix)
            for name in names:
                yield from self._walk_entry(folder, prefix, name, ignore_files)
        finally:
            os.close(folder)

    def _walk_entry(
        self, folder: int, prefix: bytes, name: bytes, ignore_files: tuple[IgnoreFile, ...]
    ) -> Iterator[RawDocument | Unchanged | Skipped]:
        path = prefix + name
        text_path, text_name = _to_text(path), _to_text(name).rstrip("/")
        if is_ignored(text_path, ignore_files):
            return
        if name.endswith(b"/"):
            if self.selection.hides(text_name) or not self.selection.enters(text_path):
                return
            if prefix.count(b"/") >= MAX_DEPTH:
                yield self._skip(path, "folders are nested too deeply")
                return
            try:
                inner = os.open(name[:-1], _OPEN_FOLDER, dir_fd=folder)
            except OSError as error:
                yield self._skip(path, "cannot be read", error.strerror or "")
                return
            yield from self._walk_folder(inner, path, ignore_files)
        elif self.selection.wants_file(text_path):
            if looks_secret(text_name):
                yield self._skip(path, "looks like a secret")
            elif not self.selection.hides(text_name):
                yield self._read_file(folder, path, name)

    def _read_ignore_file(self, folder: int, prefix: bytes) -> tuple[IgnoreFile, ...]:
        try:
            content, status = _read_regular(folder, b".gitignore", MAX_IGNORE_FILE_BYTES)
        except OSError:
            return ()
        if content is None or status.st_size > MAX_IGNORE_FILE_BYTES:
            return ()
        lines = content.decode("utf-8-sig", "surrogateescape").splitlines()
        return (IgnoreFile.parse(_to_text(prefix), lines),)

    def _read_file(
        self, folder: int, path: bytes, name: bytes
    ) -> RawDocument | Unchanged | Skipped:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                return self._skip(path, "symbolic link", self._describe_link(path))
            if not stat.S_ISREG(status.st_mode):
                return self._skip(path, "not a regular file", _kind(status.st_mode))
            if not status.st_size:
                return self._skip(path, "empty file")
            if self.is_unchanged(_to_text(path), stamp_of(status)):
                return Unchanged(self.source.name, _to_text(path))
            for _ in range(2):
                content, status = _read_regular(folder, name, self.source.max_bytes)
                if status.st_size > self.source.max_bytes:
                    limit = f"{status.st_size} bytes, the limit is {self.source.max_bytes}"
                    return self._skip(path, "over the size limit", limit)
                if content is not None:
                    return self._deliver(path, content, status)
        except OSError as error:
            return self._skip(path, "cannot be read", error.strerror or "")
        return self._skip(path, "changed while it was read")

    def _deliver(
        self, path: bytes, content: bytes, status: os.stat_result
    ) -> RawDocument | Skipped:
        if not content:
            return self._skip(path, "empty file")
        source = self.source
        modified = datetime.fromtimestamp(status.st_mtime, UTC).date().isoformat()
        return RawDocument(
            source=source.name,
            key=_to_text(path),
            path=printable(_to_text(path)),
            content=content,
            url=(
                f"{source.base_url.rstrip('/')}/{quote_from_bytes(path)}"
                if source.base_url
                else None
            ),
            tags=source.tags,
            metadata_keys=source.metadata,
            modified=modified if source.modified == "file" else None,
            stamp=lasting_stamp(status),
            ocr=source.ocr,
        )

    def _describe_link(self, path: bytes) -> str:
        root = os.path.realpath(os.fsencode(self.source.path)).rstrip(b"/") + b"/"
        where = "inside" if os.path.realpath(root + path).startswith(root) else "outside"
        # Not where to: the report travels with the export.
        return f"leads {where} the folder"

    def _skip(self, path: bytes, reason: str, detail: str = "") -> Skipped:
        name = printable(_to_text(path)).rstrip("/") or "."
        return Skipped(source=self.source.name, path=name, reason=reason, detail=detail)


def _read_regular(folder: int, name: bytes, max_bytes: int) -> tuple[bytes | None, os.stat_result]:
    """Read a file that must not change meanwhile: None when it did, or is over the limit."""
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
    # UTF-8 whatever the locale says, so that ids do not depend on it.
    return path.decode("utf-8", "surrogateescape")
