"""Arrays as rows of PostgreSQL's binary COPY, made by numpy rather than one by one."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from foundry.progress import Reporter
from foundry.stores.content import Content, batches

BATCH_ROWS = 10_000
"""Rows that are handed over together."""

# A header, then for each row the number of its fields and the length of each, then an end.
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"


def copy_chunks(
    connection: psycopg.Connection, statement: sql.Composed, content: Content, reporter: Reporter
) -> None:
    """Copy vectors and scales: chunk int4, vector halfvec, scale float4."""
    count, dimensions = content.vectors.shape
    halfvec = [("dimensions", ">i2"), ("unused", ">i2"), ("numbers", ">f2", (dimensions,))]

    def fill(block: NDArray[np.void], part: slice) -> None:
        block["chunk"] = np.arange(part.start, part.stop)
        block["vector"]["dimensions"] = dimensions
        block["vector"]["numbers"] = content.vectors[part]
        block["scale"] = content.scales[part]

    fields = {"chunk": ">i4", "vector": halfvec, "scale": ">f4"}
    with reporter.step("Loading", "chunks", count) as progress:
        _copy(connection, statement, count, fields, fill, progress.advance)


def copy_postings(
    connection: psycopg.Connection, statement: sql.Composed, content: Content, reporter: Reporter
) -> None:
    """Copy postings: term int4, chunk int4, impact float4."""
    terms = content.terms

    def fill(block: NDArray[np.void], part: slice) -> None:
        block["term"] = terms[part]
        block["chunk"] = content.chunks[part]
        block["impact"] = content.impacts[part]

    fields = {"term": ">i4", "chunk": ">i4", "impact": ">f4"}
    with reporter.step("Loading", "postings", len(terms)) as progress:
        _copy(connection, statement, len(terms), fields, fill, progress.advance)


def _copy(
    connection: psycopg.Connection,
    statement: sql.Composed,
    count: int,
    fields: Mapping[str, Any],
    fill: Callable[[NDArray[np.void], slice], None],
    advance: Callable[[int], None],
) -> None:
    """Copy `count` rows of these fields; `fill` puts the values of a slice into a block of them."""
    row = np.dtype(
        [
            ("fields", ">i2"),
            *(
                part
                for name, kind in fields.items()
                for part in ((f"{name} bytes", ">i4"), (name, kind))
            ),
        ]
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_HEADER)
        for part in batches(count, BATCH_ROWS):
            block = np.zeros(part.stop - part.start, dtype=row)
            block["fields"] = len(fields)
            for name, kind in fields.items():
                block[f"{name} bytes"] = np.dtype(kind).itemsize
            fill(block, part)
            copy.write(block.tobytes())
            advance(len(block))
        copy.write(_END)
