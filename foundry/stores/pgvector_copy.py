"""Arrays as rows of PostgreSQL's binary COPY, made by numpy rather than one by one."""

from collections.abc import Callable, Iterator

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
    connection: psycopg.Connection,
    statement: sql.Composed,
    content: Content,
    reporter: Reporter,
) -> None:
    """Copy vectors and scales: chunk int4, vector halfvec, scale float4."""
    count, dimensions = content.vectors.shape
    row = np.dtype(
        [
            ("fields", ">i2"),
            ("chunk_bytes", ">i4"),
            ("chunk", ">i4"),
            ("vector_bytes", ">i4"),
            ("dimensions", ">i2"),
            ("unused", ">i2"),
            ("vector", ">f2", (dimensions,)),
            ("scale_bytes", ">i4"),
            ("scale", ">f4"),
        ]
    )

    def rows() -> Iterator[NDArray[np.void]]:
        for part in batches(count, BATCH_ROWS):
            block = np.zeros(part.stop - part.start, dtype=row)
            block["fields"] = 3
            block["chunk_bytes"] = block["scale_bytes"] = 4
            block["vector_bytes"] = 4 + 2 * dimensions
            block["dimensions"] = dimensions
            block["chunk"] = np.arange(part.start, part.stop)
            block["vector"] = content.vectors[part]
            block["scale"] = content.scales[part]
            yield block

    with reporter.step("Loading", "chunks", count) as progress:
        _copy(connection, statement, rows(), progress.advance)


def copy_postings(
    connection: psycopg.Connection,
    statement: sql.Composed,
    content: Content,
    reporter: Reporter,
) -> None:
    """Copy postings: term int4, chunk int4, impact float4."""
    row = np.dtype(
        [("fields", ">i2")]
        + [
            part
            for field, kind in (("term", ">i4"), ("chunk", ">i4"), ("impact", ">f4"))
            for part in ((f"{field}_bytes", ">i4"), (field, kind))
        ]
    )
    terms = content.terms

    def rows() -> Iterator[NDArray[np.void]]:
        for part in batches(len(terms), BATCH_ROWS):
            block = np.zeros(part.stop - part.start, dtype=row)
            block["fields"] = 3
            block["term_bytes"] = block["chunk_bytes"] = block["impact_bytes"] = 4
            block["term"] = terms[part]
            block["chunk"] = content.chunks[part]
            block["impact"] = content.impacts[part]
            yield block

    with reporter.step("Loading", "postings", len(terms)) as progress:
        _copy(connection, statement, rows(), progress.advance)


def _copy(
    connection: psycopg.Connection,
    statement: sql.Composed,
    blocks: Iterator[NDArray[np.void]],
    advance: Callable[[int], None],
) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_HEADER)
        for block in blocks:
            copy.write(block.tobytes())
            advance(len(block))
        copy.write(_END)
