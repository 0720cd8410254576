"""SQLite files that may be lost: private, safe against kills, replaced when they are damaged."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundry.errors import BuildError

BUSY_SECONDS = 30.0
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

_logger = logging.getLogger(__name__)


class SqliteFile:
    """One open file, for one thread unless it is shared by threads that take turns.

    Args:
        path: Of the file; its folder is made if need be.
        schema: Statements that make the tables where they are missing.
        what: What the file is, for messages.
        loss: What becomes of a loss of it, for messages.
        is_kept: Whether a damaged file is set aside rather than removed.
        is_shared: Whether several threads use it, one at a time.

    Raises:
        BuildError: When the file cannot be written.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        what: str,
        loss: str,
        is_kept: bool,
        is_shared: bool = False,
    ) -> None:
        self._path, self._schema, self._is_shared = path, schema, is_shared
        self._what, self._loss, self._is_kept = what, loss, is_kept
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = self._open()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def clear(self) -> None:
        """Begin with a new file."""
        self._connection.close()
        self._remove()
        self._connection = self._open()

    @contextmanager
    def guarded(self) -> Iterator[sqlite3.Connection]:
        """Provide the connection; a damaged file is replaced, and a failure says which file it
        is of."""
        try:
            yield self._connection
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                self.replace(error)
            else:
                raise self._unusable(error) from None

    def replace(self, reason: object) -> None:
        """Begin with a new file, since this one is damaged, and say so."""
        self._connection.close()
        self._set_aside(reason)
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise self._unusable(error) from None
            self._set_aside(error)
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from None

    def _connect(self) -> sqlite3.Connection:
        try:
            # What is in it is as private as the documents.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            os.close(os.open(self._path, flags, 0o600))
        except OSError as error:
            raise self._unusable(error) from None
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, check_same_thread=not self._is_shared
        )
        try:
            # With a write-ahead log a commit survives a killed process without waiting for the
            # disk; losing power may cost the last commits, never the file.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.executescript(self._schema)
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _set_aside(self, reason: object) -> None:
        aside = self._path.with_name(self._path.name + ".damaged")
        try:
            if self._is_kept:
                self._path.replace(aside)
        except OSError as failure:
            raise self._unusable(failure) from None
        self._remove()
        fate = f"kept as {aside}" if self._is_kept else "removed"
        _logger.warning("%s: damaged (%s); %s, and %s", self._path, reason, fate, self._loss)

    def _remove(self) -> None:
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as failure:
            raise self._unusable(failure) from None

    def _unusable(self, error: Exception) -> BuildError:
        return BuildError(
            f"{self._path}: {self._what} cannot be used: {error}",
            hint="check the free space and the permissions of the folder, or delete what is there",
        )


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    # Text that is not UTF-8 is noticed by Python, which has no code for it.
    return isinstance(error, sqlite3.OperationalError) if code is None else code & 0xFF in DAMAGED
