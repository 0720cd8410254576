"""Measures graphs of vectors in PostgreSQL: `python benchmarks/graphs.py --folder WORK`.

The vectors of a generated corpus (see `synthetic`) of `--chunks` chunks, by the built-in encoder,
are loaded into the tables of `foundry publish`, in a PostgreSQL that is started here. The graph
(HNSW) is built with the statement of `publish`, and searched with those of a server. Comparing all
chunks shows what the graph misses. Times are those of one connection, and of the process of
PostgreSQL that serves it.

With `--partitions`, the tables are partitioned by hash. With `--texts`, the vectors are of
paragraphs of Markdown files, and queries are spans of their words. With `--options`, the graph is
built with other options than those of `publish`.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import psycopg
from common import machine, row
from engines import process_of_postgres, running_postgres
from numpy.typing import NDArray
from processes import MemoryWatch, memory_of, scheduled_seconds, seconds_of_ended
from psycopg import sql
from synthetic import QUERIES, SEED, generated_project, queries_of

from foundry.embedding.many_texts import encode_all
from foundry.files import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.runtime.retrieval.quantising import quantise
from foundry.runtime.store.pgvector.queries import (
    PASSING,
    SEARCH_GRAPH,
    SEARCH_VECTOR,
    SET_GRAPH_DEPTH,
    VersionRows,
    tables_of,
)
from foundry.stores.pgvector.loading import binary_rows
from foundry.stores.pgvector.tables import ANALYZE, GRAPH, INDEX, INSERT_VERSION, PREPARE, Tables

SCHEMA = "graphs"
BLOCK = 20_000
COUNT = 100
"""Number of chunks of a search; a server takes twice as many from the graph."""

REACHES = (40, 100, 200, 400, 1000)
"""Values of hnsw.ef_search; a server uses at least 200."""

SHARES = (10, 1000)
"""For each number, a filter that one in this many chunks passes."""

EXACT_QUERIES = 40

MOST_CHARACTERS = 800
"""Maximum size of a chunk of real text."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Rows int8 (n, d) of chunks with their scales (n,), and vectors of queries (q, d)."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    queries: NDArray[np.int8]
    query_scales: NDArray[np.float32]

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return the nearest chunks (q, count) of each query, by comparing all."""
        wanted = self.queries.astype(np.float32).T
        best = [np.zeros((0,), dtype=np.int64)] * len(self.queries)
        scores = [np.zeros((0,), dtype=np.float32)] * len(self.queries)
        for start in range(0, len(self.rows), BLOCK):
            part = slice(start, start + BLOCK)
            found = (self.rows[part].astype(np.float32) @ wanted) * self.scales[part, np.newaxis]
            for place, column in enumerate(found.T):
                numbers = np.concatenate([best[place], np.arange(start, start + len(column))])
                both = np.concatenate([scores[place], column])
                kept = np.argsort(-both, kind="stable")[:count]
                best[place], scores[place] = numbers[kept], both[kept]
        return np.array(best)


def generated_texts(folder: Path, chunks: int) -> tuple[Iterator[str], list[str]]:
    """Return the texts of a generated corpus, and its queries."""
    project = generated_project(folder, chunks)
    lines = (project / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    texts = (json.loads(line)["text"].split("\n\n") for line in lines)
    return chain.from_iterable(texts), queries_of(project)


def texts_of_files(folder: Path) -> tuple[Iterator[str], list[str]]:
    """Return paragraphs of Markdown files, joined up to `MOST_CHARACTERS`, and spans of them."""
    texts: list[str] = []
    for file in sorted(folder.rglob("*.md")):
        held = ""
        for paragraph in file.read_text(encoding="utf-8", errors="replace").split("\n\n"):
            if held and len(held) + len(paragraph) > MOST_CHARACTERS:
                texts.append(held)
                held = ""
            held = f"{held}\n\n{paragraph}".strip()
        texts += [held] if held else []
    chooser = random.Random(SEED)
    queries: list[str] = []
    while len(queries) < QUERIES:
        words = re.findall("[A-Za-z]{2,}", chooser.choice(texts))
        length = chooser.randint(1, 8)
        if len(words) >= length:
            start = chooser.randrange(len(words) - length + 1)
            queries.append(" ".join(words[start : start + length]))
    return iter(texts), queries


def vectors_of(kept: Path, texts: Callable[[], tuple[Iterator[str], list[str]]]) -> Vectors:
    """Return the vectors of texts and queries, which are cached in a file."""
    if not kept.exists():
        encoder = PieceEncoder.open(MODEL_FOLDER)
        passages, queries = texts()
        parts = []
        while part := [*islice(passages, BLOCK)]:
            parts.append(quantise(encode_all(encoder, part)))
        query_rows, query_scales = quantise(encode_all(encoder, queries))
        np.savez(
            kept,
            rows=np.concatenate([rows for rows, _ in parts]),
            scales=np.concatenate([scales for _, scales in parts]),
            queries=query_rows,
            query_scales=query_scales,
        )
    with np.load(kept) as found:
        return Vectors(*(found[name] for name in ("rows", "scales", "queries", "query_scales")))


def partition(tables: Tables, parts: int) -> None:
    """Recreate the tables of rows, partitioned by hash."""
    for name in ("chunks", f"vectors_{tables.dimensions}", "postings"):
        whole, plain = (sql.Identifier(SCHEMA, one) for one in (name, f"{name}_plain"))
        run = tables.connection.execute
        run(sql.SQL("ALTER TABLE {} RENAME TO {}").format(whole, sql.Identifier(f"{name}_plain")))
        run(sql.SQL("CREATE TABLE {} (LIKE {}) PARTITION BY HASH (row)").format(whole, plain))
        run(sql.SQL("DROP TABLE {}").format(plain))
        for part in range(parts):
            run(
                sql.SQL(
                    "CREATE TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})"
                ).format(sql.Identifier(SCHEMA, f"{name}_{part}"), whole, parts, part)
            )


def load(tables: Tables, vectors: Vectors) -> VersionRows:
    """Load vectors as rows with keys from 1 on."""
    shape = vectors.rows.shape[1]
    halfvec = np.dtype([("shape", ">i2"), ("unused", ">i2"), ("numbers", ">f2", (shape,))])
    for start in range(0, len(vectors.rows), BLOCK):
        part = slice(start, start + BLOCK)
        numbers = np.arange(start + 1, start + 1 + len(vectors.rows[part]))
        values = np.zeros(len(numbers), dtype=halfvec)
        values["shape"], values["numbers"] = shape, vectors.rows[part]
        tables.copy("vectors", binary_rows(numbers.astype(">i8"), values, vectors.scales[part]))
    tables.run(
        "INSERT INTO {chunks} (row, key, code, modified, marks, paths) SELECT row, row, 0, NULL,"
        " ARRAY(SELECT 'every ' || share FROM unnest(%(shares)s) AS share"
        " WHERE row %% share = 0)::bytea[], '{{}}' FROM generate_series(1, %(last)s) AS row",
        values={"last": len(vectors.rows), "shares": [*SHARES]},
    )
    return VersionRows(1, 1, len(vectors.rows), shape, 1.0)


class Searches:
    """The searches of a server over one connection."""

    def __init__(self, connection: psycopg.Connection, held: VersionRows, vectors: Vectors) -> None:
        self._connection, self._held, self._vectors = connection, held, vectors
        self._process = connection.info.backend_pid

    def report(self, reach: int | None, share: int | None, nearest: NDArray[np.int64]) -> None:
        """Run all queries, by the graph with ef_search `reach` or exactly, and print a row."""
        queries = range(len(self._vectors.queries) if reach else EXACT_QUERIES)
        found, seconds, used = [], [], []
        for is_measured in (False, True):
            for number in queries:
                begun, before = time.perf_counter(), scheduled_seconds(self._process)
                chunks = self._search(number, reach, share)
                if is_measured:
                    seconds.append(time.perf_counter() - begun)
                    used.append(scheduled_seconds(self._process) - before)
                    found.append(chunks)
        recalls = []
        for depth in (10, 20, COUNT):
            pairs = (
                (some[:depth], best[:depth]) for some, best in zip(found, nearest, strict=False)
            )
            shares = [len(np.intersect1d(some, best)) / len(best) for some, best in pairs]
            recalls.append("" if reach and reach < depth else f"{np.mean(shares):.3f}")
        row(
            f"ef_search {reach}" if reach else "all compared",
            f"1 in {share:,}" if share else "all",
            *recalls,
            *(f"{value * 1000:.1f}" for value in np.percentile(seconds, [50, 95])),
            *(f"{value * 1000:.1f}" for value in np.percentile(used, [50, 95])),
        )

    def _search(self, number: int, reach: int | None, share: int | None) -> NDArray[np.int64]:
        tables = tables_of(SCHEMA, self._held)
        condition = sql.SQL("marks && {}::bytea[]").format([f"every {share}".encode()])
        passing = sql.SQL(PASSING).format(condition=condition, **tables)
        query = sql.SQL(SEARCH_GRAPH if reach else SEARCH_VECTOR).format(
            passing=passing if share else sql.SQL(""), **tables
        )
        asked = {
            "vector": f"[{','.join(map(str, self._vectors.queries[number].tolist()))}]",
            "scale": float(self._vectors.query_scales[number]),
            "count": COUNT,
            "depth": min(reach or 0, 2 * COUNT),
        }
        with self._connection.pipeline():
            if reach:
                self._connection.execute(SET_GRAPH_DEPTH, [str(reach)])
            done = self._connection.execute(query, asked)
        rows = sorted(done.fetchall(), key=lambda pair: (-pair[1], pair[0]))
        return np.array([key for key, _ in rows], dtype=np.int64)


def report(vectors: Vectors, folder: Path, memory: str, parts: int, options: str) -> None:
    """Load, build and search; prints the cost of each."""
    nearest = vectors.nearest(COUNT) + 1
    passing = {share: _nearest_of(vectors, share) for share in SHARES}
    settings = {"shared_buffers": "1GB", "maintenance_work_mem": memory, "max_wal_size": "4GB"}
    with (
        running_postgres(folder, settings) as address,
        psycopg.connect(address, autocommit=True) as connection,
    ):
        process = process_of_postgres(folder)
        said: list[str] = []
        connection.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        tables = Tables(connection, SCHEMA, vectors.rows.shape[1])
        tables.run(*PREPARE)
        if parts:
            partition(tables, parts)
        held = load(tables, vectors)
        tables.run(*INDEX, *ANALYZE)
        values = {"version": "one", "chunks": len(vectors.rows), "postings": 0}
        tables.run(INSERT_VERSION, values=values, of=held)
        leader = connection.info.backend_pid
        begun, before = time.perf_counter(), scheduled_seconds(leader) + seconds_of_ended(process)
        with MemoryWatch(process) as watch:
            graph = GRAPH.replace(" WHERE", f" WITH ({options}) WHERE") if options else GRAPH
            tables.run(graph)
        seconds = time.perf_counter() - begun
        used = scheduled_seconds(leader) + seconds_of_ended(process) - before
        size = (
            "SELECT pg_relation_size(%(name)s) + coalesce(sum(pg_relation_size(relid)), 0)::bigint"
            " FROM pg_partition_tree(%(name)s) WHERE isleaf AND level > 0"
        )
        sizes = [
            connection.execute(size, {"name": f"{SCHEMA}.{name}"}).fetchall()[0][0] / 1e6
            for name in (f"vectors_{held.dimensions}", f"graph_{held.dimensions}")
        ]
        print(f"\n{len(vectors.rows):,} chunks, {parts or 'no'} partitions\n")
        columns = "graph|built with|s|s of a core|MB of vectors|of the graph"
        row(*f"{columns}|most MB of memory".split("|"))
        row(*["---"] * 7)
        row(
            *(options or "as published", memory, f"{seconds:.0f}", f"{used:.0f}"),
            *(f"{value:,.0f}" for value in sizes),
            f"{watch.most.held:,.0f}",
        )
        print("".join(f"\n{one}" for one in said if "hnsw" in one))
        columns = "search|chunks that may be found|recall@10|@20|@100|p50 ms|p95"
        row(*f"{columns}|of the process, p50 ms|p95".split("|"))
        row(*["---"] * 9)
        searches = Searches(connection, held, vectors)
        for reach in REACHES:
            searches.report(reach, None, nearest)
        for share, best in passing.items():
            searches.report(200, share, best)
        connection.execute("SET max_parallel_workers_per_gather = 0")
        searches.report(None, None, nearest)
        for share, best in passing.items():
            searches.report(None, share, best)
        print(f"\n{memory_of(process).held:,.0f} MB of memory after the searches")


def _nearest_of(vectors: Vectors, share: int) -> NDArray[np.int64]:
    """Return the nearest rows among those whose numbers are multiples of `share`."""
    some = Vectors(
        vectors.rows[share - 1 :: share],
        vectors.scales[share - 1 :: share],
        vectors.queries,
        vectors.query_scales,
    )
    return (some.nearest(COUNT) + 1) * share


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--texts", type=Path, help="a folder of Markdown files instead")
    parser.add_argument("--folder", type=Path, required=True, help="corpora are kept here")
    parser.add_argument("--memory", default="2GB", help="maintenance_work_mem: %(default)s")
    parser.add_argument("--partitions", type=int, default=0)
    parser.add_argument("--options", default="", help="such as 'm = 32, ef_construction = 128'")
    chosen = parser.parse_args()
    print(machine(), flush=True)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.texts:
        kept = chosen.folder / f"vectors-{chosen.texts.name}.npz"
        vectors = vectors_of(kept, lambda: texts_of_files(chosen.texts))
    else:
        kept = chosen.folder / f"vectors-{chosen.chunks}.npz"
        vectors = vectors_of(kept, lambda: generated_texts(chosen.folder, chosen.chunks))
    with tempfile.TemporaryDirectory(prefix="bench-pg-", dir="/tmp") as place:
        report(vectors, Path(place), chosen.memory, chosen.partitions, chosen.options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
