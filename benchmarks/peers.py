"""The alternatives to a generated server, each with the same texts and vectors.

Each peer is built once, and opened by another process, which only holds what searches need.
Settings are those that the peer's documentation recommends for speed: bm25s compiled by numba, and
an approximate index, if there is one, as deep as 99 % recall of the twenty nearest requires
(`tune`). Query vectors are computed beforehand. All peers return ten passages with their text.
"""

import json
import mmap
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from indexed import IndexedCorpus

TOP = 10
NEAREST = 20
DEPTH = 100
RRF_CONSTANT = 60
NEIGHBOURS, BUILD_DEPTH = 16, 200
"""Options of graphs: links per node, and the depth of the search for them."""

SEARCH_DEPTHS = (32, 64, 128, 256, 512, 1_024, 2_048)
RECALL = 0.99
THREADS = 2
"""Threads for building an index; searches use one."""

MANY = 50_000
"""Chunks above which LanceDB's documentation recommends a vector index."""

Vector = NDArray[np.float32]
Ask = Callable[[str, Vector], Any]
"""Returns ten passages for a query and its vector."""

Nearest = Callable[[Vector, int], Any]
"""Returns the numbers of the nearest chunks for a vector."""

Found = dict[str, Any]
"""The results of a build, for the table and for opening the index."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer, and the largest corpus with which it is run.

    Attributes:
        packages: Distributions whose versions are printed, and whose size is measured.
        module: The module whose import shows whether the peer is installed.
        lanes: The lanes that it searches, as the name of our mode.
        build: Builds its index in a folder; the vectors of some queries are for tuning.
        open: Opens that index.
        most_chunks: Maximum number of chunks; `limit` is the reason.
    """

    packages: tuple[str, ...]
    module: str
    lanes: str
    build: Callable[["IndexedCorpus", Path, Vector], Found]
    open: Callable[[Path], Ask]
    most_chunks: int = 10_000_000
    limit: str = ""


def build_bm25s(corpus: "IndexedCorpus", folder: Path, _: Vector) -> Found:
    """Build an index of keywords, with the stemmer from the library's documentation."""
    import bm25s
    import Stemmer

    texts = [*corpus.texts()]
    tokens = bm25s.tokenize(
        texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False
    )
    retriever = bm25s.BM25(corpus=texts, backend="numba")
    retriever.index(tokens, show_progress=False)
    retriever.save(folder)
    return {}


def open_bm25s(folder: Path) -> Ask:
    """Search in memory, with scoring functions compiled by numba."""
    import bm25s
    import Stemmer

    retriever = bm25s.BM25.load(folder, load_corpus=True)
    retriever.backend = "numba"
    retriever.activate_numba_scorer()
    stemmer = Stemmer.Stemmer("english")

    def ask(query: str, _: Vector) -> Any:
        tokens = bm25s.tokenize(
            query, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False
        )
        if not tokens[0]:
            return []
        return retriever.retrieve(tokens, k=TOP, show_progress=False, n_threads=0).documents

    return ask


def build_tantivy(corpus: "IndexedCorpus", folder: Path, _: Vector) -> Found:
    """Build an index of keywords on disk."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(num_threads=1)
    for text in corpus.texts():
        writer.add_document(tantivy.Document(text=[text]))
    writer.commit()
    writer.wait_merging_threads()
    return {}


def open_tantivy(folder: Path) -> Ask:
    """Search the mapped files."""
    import tantivy

    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()

    def ask(query: str, _: Vector) -> Any:
        parsed, _errors = index.parse_query_lenient(query, ["text"])
        return [searcher.doc(place)["text"] for _score, place in searcher.search(parsed, TOP).hits]

    return ask


def build_sqlite(corpus: "IndexedCorpus", folder: Path, _: Vector) -> Found:
    """Build an FTS5 table with Porter's stemmer."""
    connection = sqlite3.connect(folder / "index.sqlite")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    connection.executemany(
        "INSERT INTO texts(text) VALUES (?)", ((text,) for text in corpus.texts())
    )
    connection.execute("INSERT INTO texts(texts) VALUES ('optimize')")
    connection.commit()
    return {}


def open_sqlite(folder: Path) -> Ask:
    """Search for any of the words, ranked by BM25."""
    connection = sqlite3.connect(folder / "index.sqlite")

    def ask(query: str, _: Vector) -> Any:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        wanted = "SELECT text FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return connection.execute(wanted, (words, TOP)).fetchall() if words else []

    return ask


def build_sqlite_vec(corpus: "IndexedCorpus", folder: Path, queries: Vector) -> Found:
    """Build an FTS5 table, and a table of vectors."""
    build_sqlite(corpus, folder, queries)
    connection = _with_vectors(folder)
    connection.execute(
        "CREATE VIRTUAL TABLE vectors USING"
        f" vec0(embedding float[{corpus.dimensions}] distance_metric=cosine)"
    )
    for _texts, vectors in corpus.batches():
        rows = ((vector.tobytes(),) for vector in vectors)
        connection.executemany("INSERT INTO vectors(embedding) VALUES (?)", rows)
    connection.commit()
    return {}


def _with_vectors(folder: Path) -> Any:
    import sqlite_vec

    try:
        # The standard module may have been built without loadable extensions.
        import pysqlite3 as database
    except ImportError:
        import sqlite3 as database

    connection = database.connect(folder / "index.sqlite")
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    return connection


def open_sqlite_vec(folder: Path) -> Ask:
    """Search both, fused by reciprocal ranks; vectors are scanned, for lack of an index."""
    connection = _with_vectors(folder)

    def ask(query: str, vector: Vector) -> Any:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query)) or '""'
        keyword = connection.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, DEPTH)
        )
        semantic = connection.execute(
            "SELECT rowid FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance",
            (vector.tobytes(), DEPTH),
        )
        scores: dict[int, float] = {}
        for lane in (keyword, semantic):
            for rank, (row,) in enumerate(lane, start=1):
                scores[row] = scores.get(row, 0.0) + 1 / (RRF_CONSTANT + rank)
        best = sorted(scores, key=lambda row: -scores[row])[:TOP]
        wanted = "SELECT text FROM texts WHERE rowid = ?"
        return [connection.execute(wanted, (row,)).fetchone() for row in best]

    return ask


def build_lancedb(corpus: "IndexedCorpus", folder: Path, _: Vector) -> Found:
    """Build its keyword index, and its vector index if its documentation recommends one."""
    import lancedb
    import pyarrow

    vector_type = pyarrow.list_(pyarrow.float32(), corpus.dimensions)
    schema = pyarrow.schema([("text", pyarrow.string()), ("vector", vector_type)])

    def batches() -> Any:
        for texts, vectors in corpus.batches():
            flat = pyarrow.array(vectors.ravel())
            column = pyarrow.FixedSizeListArray.from_arrays(flat, corpus.dimensions)
            yield pyarrow.record_batch([pyarrow.array(texts), column], schema=schema)

    rows = pyarrow.Table.from_batches(batches(), schema=schema)
    table = lancedb.connect(folder).create_table("chunks", rows)
    table.create_fts_index("text")
    if len(rows) > MANY:
        table.create_index("cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ")
    return {}


def open_lancedb(folder: Path) -> Ask:
    """Run its hybrid query with the default reranker."""
    import lancedb

    table = lancedb.connect(folder).open_table("chunks")

    def ask(query: str, vector: Vector) -> Any:
        return table.search(query_type="hybrid").vector(vector).text(query).limit(TOP).to_list()

    return ask


def write_texts(corpus: "IndexedCorpus", folder: Path) -> None:
    """Store the texts for a vector library, which stores none itself."""
    ends = [0]
    with (folder / "texts").open("wb") as file:
        for text in corpus.texts():
            ends.append(ends[-1] + file.write(text.encode()))
    np.save(folder / "ends.npy", np.array(ends))


def with_texts(folder: Path, nearest: Nearest) -> Ask:
    """Return a function that adds texts to the nearest chunks."""
    ends = np.load(folder / "ends.npy")
    with (folder / "texts").open("rb") as file:
        texts = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def ask(_: str, vector: Vector) -> Any:
        numbers = np.asarray(nearest(vector, TOP)).ravel().tolist()
        return [texts[ends[number] : ends[number + 1]].decode() for number in numbers]

    return ask


def tune(
    corpus: "IndexedCorpus",
    folder: Path,
    queries: Vector,
    nearest: Nearest,
    deepen: Callable[[int], Any],
) -> Found:
    """Find and store the search depth that reaches `RECALL`."""
    write_texts(corpus, folder)
    wanted = corpus.nearest(queries, NEAREST)
    for depth in SEARCH_DEPTHS:
        deepen(depth)
        found = [np.asarray(nearest(query, NEAREST)).ravel() for query in queries]
        pairs = zip(wanted, found, strict=True)
        recall = np.mean([np.isin(right, given).mean() for right, given in pairs])
        if recall >= RECALL:
            break
    said = {"depth": depth, "recall": float(recall), "dimensions": corpus.dimensions}
    (folder / "depth.json").write_text(json.dumps(said), encoding="utf-8")
    return said


def _depth(folder: Path) -> int:
    return int(json.loads((folder / "depth.json").read_bytes())["depth"])


def _nearest_hnswlib(index: Any) -> Nearest:
    return lambda vector, count: index.knn_query(vector, k=count, num_threads=1)[0]


def build_hnswlib(corpus: "IndexedCorpus", folder: Path, queries: Vector) -> Found:
    """Build a graph of the vectors."""
    import hnswlib

    vectors = corpus.vectors()
    index = hnswlib.Index(space="cosine", dim=corpus.dimensions)
    index.init_index(max_elements=len(vectors), M=NEIGHBOURS, ef_construction=BUILD_DEPTH)
    index.add_items(vectors, num_threads=THREADS)
    index.save_index(str(folder / "index"))
    return tune(corpus, folder, queries, _nearest_hnswlib(index), index.set_ef)


def open_hnswlib(folder: Path) -> Ask:
    """Search in memory."""
    import hnswlib

    said = json.loads((folder / "depth.json").read_bytes())
    index = hnswlib.Index(space="cosine", dim=said["dimensions"])
    index.load_index(str(folder / "index"))
    index.set_ef(said["depth"])
    return with_texts(folder, _nearest_hnswlib(index))


def _nearest_usearch(index: Any) -> Nearest:
    return lambda vector, count: index.search(vector, count, threads=1).keys


def build_usearch(corpus: "IndexedCorpus", folder: Path, queries: Vector) -> Found:
    """Build a graph of the vectors, in the library's default precision."""
    from usearch.index import Index

    index = Index(
        ndim=corpus.dimensions,
        metric="cos",
        connectivity=NEIGHBOURS,
        expansion_add=BUILD_DEPTH,
    )
    vectors = corpus.vectors()
    index.add(np.arange(len(vectors)), vectors, threads=THREADS)
    index.save(str(folder / "index"))

    def deepen(depth: int) -> None:
        index.expansion_search = depth

    return tune(corpus, folder, queries, _nearest_usearch(index), deepen)


def open_usearch(folder: Path) -> Ask:
    """Search the mapped file."""
    from usearch.index import Index

    index = Index.restore(str(folder / "index"), view=True)
    index.expansion_search = _depth(folder)
    return with_texts(folder, _nearest_usearch(index))


def _nearest_faiss(index: Any) -> Nearest:
    return lambda vector, count: index.search(vector[None], count)[1]


def build_faiss(corpus: "IndexedCorpus", folder: Path, queries: Vector) -> Found:
    """Build a graph of the vectors."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexHNSWFlat(corpus.dimensions, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = BUILD_DEPTH
    index.add(corpus.vectors())
    faiss.write_index(index, str(folder / "index"))

    def deepen(depth: int) -> None:
        index.hnsw.efSearch = depth

    return tune(corpus, folder, queries, _nearest_faiss(index), deepen)


def open_faiss(folder: Path) -> Ask:
    """Search in memory."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.read_index(str(folder / "index"))
    index.hnsw.efSearch = _depth(folder)
    return with_texts(folder, _nearest_faiss(index))


PEERS = {
    "bm25s, numba": Peer(
        ("bm25s", "numba", "PyStemmer"),
        "numba",
        "keyword",
        build_bm25s,
        open_bm25s,
        200_000,
        "minutes to build, in memory",
    ),
    "tantivy": Peer(("tantivy",), "tantivy", "keyword", build_tantivy, open_tantivy),
    "SQLite FTS5": Peer((), "sqlite3", "keyword", build_sqlite, open_sqlite),
    "hnswlib": Peer(("hnswlib",), "hnswlib", "semantic", build_hnswlib, open_hnswlib),
    "usearch": Peer(("usearch",), "usearch", "semantic", build_usearch, open_usearch),
    "faiss, HNSW": Peer(("faiss-cpu",), "faiss", "semantic", build_faiss, open_faiss),
    "SQLite FTS5 + sqlite-vec, RRF": Peer(
        ("sqlite-vec", "pysqlite3-binary"),
        "sqlite_vec",
        "hybrid",
        build_sqlite_vec,
        open_sqlite_vec,
        200_000,
        "scans every vector: a second a query",
    ),
    "LanceDB": Peer(("lancedb",), "lancedb", "hybrid", build_lancedb, open_lancedb),
}
