"""A cache of prepared documents on disk, by source and key.

Changes are committed every second, so an interrupted build resumes. Everything in the cache can be
recomputed.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from foundry.building.documents.encoding import StoredDocument, decode, signature_bytes
from foundry.documents import Skipped
from foundry.state.key_value import CacheDamagedError, KeyValueFile

CACHE_NAME = "documents.sqlite"
Parsed = TypeVar("Parsed")

COMMIT_SECONDS = 1.0
NUMBER_BYTES = 6
NAME_BYTES = 4
"""An entry begins with the length of its name, in this many bytes; name and result follow."""

# Prefixes of keys, by kind. Entries contain the number of their result.
_ENTRY = b"entry "
_RESULT = b"result "
_TABLE = b"table "
_LINES = b"lines "
_PUBLISHED = b"published"


class Entry(NamedTuple):
    """The origin of a prepared document: recipe, source options, and content.

    `recipe` is empty for a result that must not be reused, `content` is the SHA-256 of the
    delivered document, `stamp` changes with the file, and `number` is the number of the result in
    the cache, 0 if it has none yet.
    """

    recipe: str
    origin: str
    content: bytes
    stamp: str | None
    number: int = 0


class KnownTable(NamedTuple):
    """How a source that is one file was last read; `inputs` is the digest of its documents."""

    origin: str
    stamp: str | None
    inputs: bytes
    documents: int


class DocumentCache:
    """A file of prepared documents, for use by one thread.

    Raises BuildError if the file cannot be used, and CacheDamagedError if it is damaged; the build
    then starts again.
    """

    def __init__(self, path: Path) -> None:
        self._file = KeyValueFile(
            path,
            what="the cache of documents",
            loss="documents are prepared again",
            is_strict=True,
        )
        self._committed = time.monotonic()
        self._last: int | None = None

    def close(self) -> None:
        """Close the file; stored entries are kept."""
        self.commit()
        self._file.close()

    def clear(self) -> None:
        """Delete everything."""
        self._file.clear()
        self._commit_now_and_then()

    def commit(self) -> None:
        """Make everything stored so far durable."""
        self._file.commit()
        self._committed = time.monotonic()

    def find(self, source: str, key: str) -> Entry | None:
        """Return the entry of the document with this key, if any."""
        found = self._file.get(_name(source, key))
        return None if found is None else _parse_entry(found)

    def entries(self, source: str) -> Iterator[tuple[bytes, Entry]]:
        """Yield the keys of a source's documents, in byte order, with their entries."""
        prefix = _name(source, "")
        for name, noted in self._file.items(prefix):
            yield name.removeprefix(prefix), _parse_entry(noted)

    def store(self, source: str, key: str, entry: Entry, result: bytes) -> int:
        """Store a result in place of the entry's earlier one; return the new result's number."""
        if self._last is None:
            last = self._file.last_key(_RESULT)
            self._last = 0 if last is None else _number(last)
        self._last += 1
        if entry.number:
            self._file.delete([_result_key(entry.number)])
        name = _name(source, key)
        # The name is needed to find the entry of a deleted document.
        kept = len(name).to_bytes(NAME_BYTES) + name + result
        noted = _note(entry._replace(number=self._last))
        self._file.put({_result_key(self._last): kept, name: noted})
        self._commit_now_and_then()
        return self._last

    def restamp(self, source: str, key: str, entry: Entry) -> None:
        """Update the stamp and source options of an unchanged document."""
        self._file.put({_name(source, key): _note(entry)})
        self._commit_now_and_then()

    def load(self, number: int) -> StoredDocument | Skipped:
        """Return the result with this number. Raises CacheDamagedError if it is damaged."""
        return self._parse(number, decode)

    def signature(self, number: int) -> bytes:
        """Return the signature of the document with this number; empty for a skipped one.

        Raises CacheDamagedError if the result is damaged.
        """
        return self._parse(number, signature_bytes)

    def others(self, numbers: Sequence[int]) -> list[int]:
        """Return the numbers of all cached documents that are not in `numbers`."""
        there = np.array([*map(_number, self._file.keys(_RESULT))], dtype=np.int64)
        others: list[int] = there[~np.isin(there, numbers)].tolist()
        return others

    def remove(self, numbers: Iterable[int]) -> None:
        """Delete results by number, with their entries unless these have newer results."""
        for number in numbers:
            key = _result_key(number)
            name, _ = _cut(self._file.get(key) or b"")
            entry = self._file.get(name)
            is_its_own = entry is not None and _parse_entry(entry).number == number
            self._file.delete([key, name] if is_its_own else [key])
        self._commit_now_and_then()

    def find_table(self, source: str) -> KnownTable | None:
        """Return how a source that is a single file was last read; None if that is not recorded."""
        found = self._file.get(_TABLE + source.encode())
        if found is None:
            return None
        origin, stamp, inputs, documents = json.loads(found)
        return KnownTable(origin, stamp, bytes.fromhex(inputs), documents)

    def keep_table(self, source: str, table: KnownTable) -> None:
        """Record how a source that is one file was read; without a stamp, delete the record."""
        name = _TABLE + source.encode()
        if table.stamp is None:
            self._file.delete([name])
        else:
            noted = [table.origin, table.stamp, table.inputs.hex(), table.documents]
            self._file.put({name: json.dumps(noted).encode()})
        self._commit_now_and_then()

    def take_lines(self) -> dict[str, bytes]:
        """Return the known lines of each table, by table name, and delete them from the cache."""
        keys = self._file.keys(_LINES)
        found = {key.removeprefix(_LINES).decode(): self._file.get(key) for key in keys}
        self._file.delete(keys)
        return {name: noted for name, noted in found.items() if noted is not None}

    def keep_lines(self, source: str, noted: bytes) -> None:
        """Record the lines of a table whose documents are all cached."""
        self._file.put({_LINES + source.encode(): noted})
        self._commit_now_and_then()

    @property
    def published(self) -> str | None:
        """The state that `keep_published` recorded last; None if none."""
        found = self._file.get(_PUBLISHED)
        return None if found is None else found.decode()

    def keep_published(self, state: str) -> None:
        """Record the state that the published index was built from."""
        self._file.put({_PUBLISHED: state.encode()})
        self.commit()

    def _parse(self, number: int, parse: Callable[[bytes], Parsed]) -> Parsed:
        found = self._file.get(_result_key(number))
        try:
            if found is None:
                raise ValueError("a document does not match its checksum")
            return parse(_cut(found)[1])
        except (ValueError, TypeError) as error:
            self._file.replace(error)
            raise CacheDamagedError from None

    def _commit_now_and_then(self) -> None:
        if time.monotonic() - self._committed >= COMMIT_SECONDS:
            self.commit()


def _name(source: str, key: str) -> bytes:
    return _ENTRY + f"{source}\0{key}".encode("utf-8", "surrogateescape")


def _result_key(number: int) -> bytes:
    return _RESULT + number.to_bytes(NUMBER_BYTES)


def _note(entry: Entry) -> bytes:
    noted = json.dumps([entry.recipe, entry.origin, entry.content.hex(), entry.stamp])
    return entry.number.to_bytes(NUMBER_BYTES) + noted.encode()


def _parse_entry(noted: bytes) -> Entry:
    recipe, origin, content, stamp = json.loads(noted[NUMBER_BYTES:])
    number = int.from_bytes(noted[:NUMBER_BYTES])
    return Entry(recipe, origin, bytes.fromhex(content), stamp, number)


def _number(result_key: bytes) -> int:
    return int.from_bytes(result_key[-NUMBER_BYTES:])


def _cut(found: bytes) -> tuple[bytes, bytes]:
    """Split a stored entry into its name and its result."""
    end = NAME_BYTES + int.from_bytes(found[:NAME_BYTES])
    return found[NAME_BYTES:end], found[end:]
