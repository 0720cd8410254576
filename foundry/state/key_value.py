"""A cache in one SQLite file: private, crash-safe, and replaced if it is damaged.

Each entry has a checksum that is an HMAC with this installation's secret and the file's name: an
entry that is damaged, or written by somebody else, counts as missing. A file that SQLite cannot
read, or that another version of Foundry wrote, is replaced with an empty one.
"""

import hashlib
import hmac
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from foundry.errors import BuildError
from foundry.state.user_cache import read_secret

BUSY_SECONDS = 30.0
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
FORMAT = 3
CHECKSUM_BYTES = 16
ITEMS = 1_000
"""Entries read at a time when listing a prefix."""

# With a write-ahead log, a commit survives a killed process without waiting for the disk; a power
# failure may lose the last commits, but never the file.
_SETTINGS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""
# Keys have a separate index, since the table also stores the first part of each value.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY, checksum BLOB NOT NULL, value BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS keys ON entries (key);
PRAGMA user_version = {FORMAT};
COMMIT;
"""

_OBJECTS = "SELECT type, name, sql FROM sqlite_master ORDER BY name"

Found = TypeVar("Found")
_logger = logging.getLogger(__name__)


class CacheDamagedError(Exception):
    """A damaged file has been replaced with an empty one; its content must be recomputed."""


class KeyValueFile:
    """One open file; threads can share it.

    `what` (the content of the file) and the consequence of its `loss` are used in messages. A
    replaced file is set aside if it `is_kept`, else deleted; if it `is_strict`, later damage raises
    CacheDamagedError instead of losing entries.

    Every method raises BuildError if the file cannot be read or written.
    """

    def __init__(
        self, path: Path, *, what: str, loss: str, is_kept: bool = False, is_strict: bool = False
    ) -> None:
        self._path, self._what, self._loss = path, what, loss
        self._is_kept, self._is_strict = is_kept, is_strict
        self._lock = threading.Lock()
        self._key = _key_of(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = self._open()

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key; None if there is none, or it is damaged."""
        query = "SELECT key, checksum, value FROM entries WHERE key = ?"
        row = self._run(lambda connection: connection.execute(query, (key,)).fetchone())
        return None if row is None else self._whole(*row)

    def items(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys with a prefix, ascending, and their values, in batches.

        Damaged entries are left out.
        """
        query = (
            "SELECT key, checksum, value FROM entries WHERE key >= ? AND key < ?"
            f" ORDER BY key LIMIT {ITEMS}"
        )
        first, end = _range(prefix)

        def select(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return connection.execute(query, (first, end)).fetchall()

        while rows := self._run(select):
            for row in rows:
                if (value := self._whole(*row)) is not None:
                    yield row[0], value
            first = rows[-1][0] + b"\0"

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Set the values of keys."""
        rows = [(key, self._sign(key, value), value) for key, value in values.items()]
        query = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)"
        self._run(lambda connection: connection.executemany(query, rows))

    def keys(self, prefix: bytes) -> list[bytes]:
        """Return the keys with a prefix."""
        query = "SELECT key FROM entries WHERE key >= ? AND key < ?"

        def select(connection: sqlite3.Connection) -> list[bytes]:
            rows = connection.execute(query, _range(prefix))
            return [key for (key,) in rows]

        return self._run(select)

    def last_key(self, prefix: bytes) -> bytes | None:
        """Return the greatest key with a prefix; None if there is none."""
        query = "SELECT max(key) FROM entries WHERE key >= ? AND key < ?"
        row = self._run(lambda connection: connection.execute(query, _range(prefix)).fetchone())
        return row[0] if isinstance(row[0], bytes) else None

    def delete(self, keys: list[bytes]) -> None:
        """Delete entries."""
        rows = [(key,) for key in keys]
        query = "DELETE FROM entries WHERE key = ?"
        self._run(lambda connection: connection.executemany(query, rows))

    def clear(self) -> None:
        """Delete all entries."""
        self._run(lambda connection: connection.execute("DELETE FROM entries"))

    def commit(self) -> None:
        """Commit all changes; changes that are not committed before `close` are lost."""
        self._run(lambda connection: connection.commit())

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def replace(self, reason: object) -> None:
        """Replace the damaged file with an empty one, and log a warning."""
        with self._lock:
            self._replace(reason)

    def _sign(self, key: bytes, value: bytes) -> bytes:
        checksum = _checksum(key, value)
        return checksum + _code(checksum, self._key)

    def _whole(self, key: bytes, checksum: object, value: object) -> bytes | None:
        if not isinstance(value, bytes) or not isinstance(checksum, bytes):
            return None
        return value if hmac.compare_digest(checksum, self._sign(key, value)) else None

    def _run(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Use the file; if it is damaged, try once more with an empty one."""
        with self._lock:
            for _ in range(2):
                try:
                    return work(self._connection)
                except (sqlite3.DatabaseError, UnicodeError) as error:
                    if not _is_damage(error):
                        raise self._unusable(error) from None
                    self._replace(error)
                if self._is_strict:
                    raise CacheDamagedError
        raise self._hopeless()

    def _replace(self, reason: object) -> None:
        self._connection.close()
        self._remove(f"damaged ({reason})", ".damaged")
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        for _ in range(2):
            connection = self._connect()
            try:
                connection.executescript(_SETTINGS)
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                found = connection.execute(_OBJECTS).fetchall()
                if not found or (version == FORMAT and found == _expected_objects()):
                    connection.executescript(_SCHEMA)
                    return connection
                reason, suffix = "written by another version of Foundry", ".old"
            except (sqlite3.DatabaseError, UnicodeError) as error:
                if not _is_damage(error):
                    connection.close()
                    raise self._unusable(error) from None
                reason, suffix = f"damaged ({error})", ".damaged"
            connection.close()
            self._remove(reason, suffix)
        raise self._hopeless()

    def _connect(self) -> sqlite3.Connection:
        try:
            # The file must be as private as the documents in it.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            os.close(os.open(self._path, flags, 0o600))
            return sqlite3.connect(self._path, timeout=BUSY_SECONDS, check_same_thread=False)
        except (OSError, sqlite3.OperationalError) as error:
            raise self._unusable(error) from None

    def _remove(self, reason: str, suffix: str) -> None:
        aside = self._path.with_name(self._path.name + suffix)
        try:
            if self._is_kept:
                self._path.replace(aside)
            for end in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        except OSError as failure:
            raise self._unusable(failure) from None
        fate = f"kept as {aside}" if self._is_kept else "removed"
        _logger.warning("%s: %s; %s, and %s", self._path, reason, fate, self._loss)

    def _unusable(self, error: Exception) -> BuildError:
        return BuildError(
            f"{self._path}: {self._what} cannot be used: {error}",
            hint="check the free space and the permissions of the folder, or delete the file",
        )

    def _hopeless(self) -> BuildError:
        return BuildError(
            f"{self._path}: {self._what} was damaged again after it was replaced",
            hint="check the disk",
        )


def _range(prefix: bytes) -> tuple[bytes, bytes]:
    return prefix, prefix[:-1] + bytes([prefix[-1] + 1])


def adopt_file(path: Path) -> bool:
    """Sign every entry of a file that the user vouches for; return whether it was readable.

    Checksums are not changed, so damaged entries still count as missing. Unreadable content is left
    to KeyValueFile.
    """
    key = _key_of(path)

    def sign_anew(checksum: object) -> bytes:
        kept = checksum[:CHECKSUM_BYTES] if isinstance(checksum, bytes) else b""
        return kept + _code(kept, key)

    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection, connection:
            connection.executescript(_SETTINGS)
            if connection.execute(_OBJECTS).fetchall() != _expected_objects():
                return False
            connection.create_function("sign_anew", 1, sign_anew, deterministic=True)
            connection.execute("UPDATE entries SET checksum = sign_anew(checksum)")
    except (sqlite3.Error, UnicodeError):
        return False
    return True


@cache
def _expected_objects() -> list[tuple[str, ...]]:
    """Return the schema of a new file: a table and an index; no views, triggers or expressions."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return connection.execute(_OBJECTS).fetchall()


def _key_of(path: Path) -> bytes:
    """Return the key for a file's signatures, which differs by name."""
    return hmac.digest(read_secret(), b"entries of " + os.fsencode(path.name), "sha256")


def _code(checksum: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(checksum, digest_size=CHECKSUM_BYTES, key=key).digest()


def _checksum(key: bytes, value: bytes) -> bytes:
    checksum = hashlib.blake2b(b"%d " % len(key) + key, digest_size=CHECKSUM_BYTES)
    checksum.update(value)
    return checksum.digest()


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Python detects text that is not UTF-8, without an SQLite error code.
        return isinstance(error, (sqlite3.OperationalError, UnicodeError))
    return code & 0xFF in DAMAGED
