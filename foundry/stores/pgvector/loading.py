"""Encodes rows in the binary COPY format, which loads fastest."""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from foundry.runtime.retrieval.filters import UNKNOWN_TIME
from foundry.runtime.retrieval.values import encode_value
from foundry.stores.pgvector.tables import Tables
from foundry.stores.records import Records
from foundry.stores.rows import Rows

_PATH = encode_value("path", "")


def load_rows(tables: Tables, rows: Rows, chosen: NDArray[np.int64], first: int) -> None:
    """Load chunks (m,), ascending, as rows numbered from `first`."""
    numbers = np.arange(first, first + len(chosen))
    tables.copy("chunks", b"".join(_chunk_rows(rows, chosen, numbers)))
    if rows.records is not None:
        tables.copy("records", b"".join(_record_rows(rows.records, chosen, numbers)))
    content = rows.content
    shape = content.vectors.shape[1]
    # The binary form of a halfvec: dimensions, two unused bytes, numbers.
    halfvec = np.dtype([("shape", ">i2"), ("unused", ">i2"), ("numbers", ">f2", (shape,))])
    vectors = np.zeros(len(chosen), dtype=halfvec)
    vectors["shape"], vectors["numbers"] = shape, content.vectors[chosen]
    tables.copy("vectors", binary_rows(numbers.astype(">i8"), vectors, content.scales[chosen]))
    terms, places, counts = rows.postings_of(chosen)
    keys, owners = rows.term_keys[terms], numbers[places]
    lengths = content.lengths[chosen][places]
    columns = keys.astype(">i8"), owners.astype(">i8"), counts.astype(">i4"), lengths.astype(">i4")
    tables.copy("postings", binary_rows(*columns))


def binary_rows(*columns: NDArray[Any]) -> bytes:
    """Encode columns (m,) of fixed-size values as rows for COPY."""
    fields: list[Any] = [("fields", ">i2")]
    for number, column in enumerate(columns):
        fields += [(f"size{number}", ">i4"), (f"value{number}", column.dtype.newbyteorder(">"))]
    table = np.zeros(len(columns[0]), dtype=fields)
    table["fields"] = len(columns)
    for number, column in enumerate(columns):
        table[f"size{number}"], table[f"value{number}"] = column.dtype.itemsize, column
    return table.tobytes()


def _chunk_rows(
    rows: Rows, chosen: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Iterator[bytes]:
    columns = (numbers, rows.keys[chosen], rows.codes[chosen], rows.modified[chosen], chosen)
    for row, key, code, modified, chunk in zip(*(one.tolist() for one in columns), strict=True):
        yield struct.pack(">hiqiqiq", 6, 8, row, 8, key, 8, code)
        is_known = modified != UNKNOWN_TIME
        yield struct.pack(">iq", 8, modified) if is_known else struct.pack(">i", -1)
        marks = rows.marks.of_chunk(chunk)
        yield _marks([mark for mark in marks if not mark.startswith(_PATH)])
        yield _marks([mark for mark in marks if mark.startswith(_PATH)])


def _record_rows(
    records: Records, chosen: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Iterator[bytes]:
    for row, chunk in zip(numbers.tolist(), chosen.tolist(), strict=True):
        line, document = records.chunk(chunk), records.document(chunk)
        yield struct.pack(">hiqi", 3, 8, row, len(line)) + line
        yield struct.pack(">i", -1) if document is None else _sized(document)


def _marks(marks: Sequence[bytes]) -> bytes:
    """Encode an array of bytea: one dimension, with lower bound 1, without nulls."""
    items = b"".join(map(_sized, marks))
    array = struct.pack(">iiIii", 1, 0, psycopg.adapters.types["bytea"].oid, len(marks), 1) + items
    return _sized(array)


def _sized(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value
