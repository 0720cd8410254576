"""What users would take in place of a generated server, each over the same texts and vectors.

Settings are the defaults of the peer's own documentation for hybrid search; query vectors are made
beforehand, or by a callback where the peer insists on embedding. All return ten passages with
their text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from indexed import IndexedCorpus
from numpy.typing import NDArray

TOP = 10
DEPTH = 100
RRF_CONSTANT = 60

Ask = Callable[[str, NDArray[np.float32]], Any]
"""Of a query and its vector: ten passages."""

Open = Callable[[IndexedCorpus, Path], Ask]
"""Builds what the peer needs in a new folder."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer, and the most chunks for which it is asked.

    Attributes:
        packages: Distributions whose versions are printed, and whose size is measured.
        module: What is imported to see whether it is there.
        lanes: What it searches, by the name of our mode.
        open: Builds it.
        most_chunks: With more, `limit` says why it is not run.
    """

    packages: tuple[str, ...]
    module: str
    lanes: str
    open: Open
    most_chunks: int
    limit: str


def open_bm25s(corpus: IndexedCorpus, folder: Path) -> Ask:
    """Keywords alone, in memory."""
    import bm25s

    texts = [*corpus.texts()]
    retriever = bm25s.BM25(corpus=texts)
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    retriever.save(folder)

    def ask(query: str, _: NDArray[np.float32]) -> Any:
        tokens = bm25s.tokenize(query, stopwords="en", show_progress=False)
        return retriever.retrieve(tokens, k=TOP, show_progress=False, n_threads=0).documents

    return ask


def open_tantivy(corpus: IndexedCorpus, folder: Path) -> Ask:
    """Keywords alone, on disk."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(num_threads=1)
    for text in corpus.texts():
        writer.add_document(tantivy.Document(text=[text]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(query: str, _: NDArray[np.float32]) -> Any:
        hits = searcher.search(index.parse_query(query, ["text"]), TOP).hits
        return [searcher.doc(address)["text"] for _score, address in hits]

    return ask


def open_sqlite(corpus: IndexedCorpus, folder: Path) -> Ask:
    """FTS5 and sqlite-vec, joined by reciprocal ranks."""
    import sqlite_vec

    try:
        # Python's own module may have been built without loadable extensions.
        import pysqlite3 as sqlite3
    except ImportError:
        import sqlite3

    connection = sqlite3.connect(folder / "index.sqlite")
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    connection.execute(
        f"CREATE VIRTUAL TABLE vectors USING"
        f" vec0(embedding float[{corpus.dimensions}] distance_metric=cosine)"
    )
    number = 0
    for texts, vectors in corpus.batches():
        for text, vector in zip(texts, vectors, strict=True):
            number += 1
            connection.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)", (number, text))
            connection.execute(
                "INSERT INTO vectors(rowid, embedding) VALUES (?, ?)", (number, vector.tobytes())
            )
    connection.commit()

    def ask(query: str, vector: NDArray[np.float32]) -> Any:
        words = " OR ".join(query.split())
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
        return [
            connection.execute("SELECT text FROM texts WHERE rowid = ?", (row,)).fetchone()
            for row in best
        ]

    return ask


def open_lancedb(corpus: IndexedCorpus, folder: Path) -> Ask:
    """Its hybrid query with its default reranker; vectors are scanned, as without an index."""
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

    def ask(query: str, vector: NDArray[np.float32]) -> Any:
        return table.search(query_type="hybrid").vector(vector).text(query).limit(TOP).to_list()

    return ask


def open_txtai(corpus: IndexedCorpus, folder: Path) -> Ask:
    """Its hybrid index (Faiss and its own BM25) with stored content."""
    from txtai import Embeddings

    known = {
        text: vector
        for texts, vectors in corpus.batches()
        for text, vector in zip(texts, vectors, strict=True)
    }

    def embed(wanted: list[str]) -> NDArray[np.float32]:
        return np.array([known[text] for text in wanted])

    embeddings = Embeddings(
        {"method": "external", "transform": embed, "hybrid": True, "content": True}
    )
    embeddings.index([*known])
    embeddings.save(str(folder / "index"))

    def ask(query: str, vector: NDArray[np.float32]) -> Any:
        known[query] = vector
        return embeddings.search(query, TOP)

    return ask


def open_llama_index(corpus: IndexedCorpus, folder: Path) -> Ask:
    """QueryFusionRetriever over its BM25 retriever and its default vector store, in memory."""
    from llama_index.core import StorageContext, VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import QueryBundle, TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    nodes = [
        TextNode(text=text, embedding=vector.tolist())
        for texts, vectors in corpus.batches()
        for text, vector in zip(texts, vectors, strict=True)
    ]
    embedding = MockEmbedding(embed_dim=corpus.dimensions)
    index = VectorStoreIndex(
        nodes, storage_context=StorageContext.from_defaults(), embed_model=embedding
    )
    retriever = QueryFusionRetriever(
        [
            index.as_retriever(similarity_top_k=TOP),
            BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=TOP),
        ],
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=TOP,
        num_queries=1,
        use_async=False,
    )
    index.storage_context.persist(str(folder))

    def ask(query: str, vector: NDArray[np.float32]) -> Any:
        return retriever.retrieve(QueryBundle(query, embedding=vector.tolist()))

    return ask


def open_chroma(corpus: IndexedCorpus, folder: Path) -> Ask:
    """Its HNSW index of cosines, on disk; it has no ranked keywords to add."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    chunks = client.create_collection(
        "chunks", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    number = 0
    for texts, vectors in corpus.batches():
        for first in range(0, len(texts), client.get_max_batch_size()):
            part = slice(first, first + client.get_max_batch_size())
            names = [str(number + row) for row in range(len(texts[part]))]
            chunks.add(ids=names, documents=[*texts[part]], embeddings=vectors[part])
            number += len(names)

    def ask(_: str, vector: NDArray[np.float32]) -> Any:
        return chunks.query(query_embeddings=vector[None], n_results=TOP, include=["documents"])

    return ask


ANY = 10_000_000

PEERS = {
    "bm25s": Peer(
        ("bm25s",), "bm25s", "keyword", open_bm25s, 100_000, "seven minutes to build, in memory"
    ),
    "tantivy": Peer(("tantivy",), "tantivy", "keyword", open_tantivy, ANY, ""),
    "SQLite FTS5 + sqlite-vec, RRF": Peer(
        ("sqlite-vec", "pysqlite3-binary"),
        "sqlite_vec",
        "hybrid",
        open_sqlite,
        100_000,
        "scans every vector: a second a query",
    ),
    "LanceDB hybrid": Peer(
        ("lancedb",),
        "lancedb",
        "hybrid",
        open_lancedb,
        100_000,
        "scans every vector, and 12 minutes to build",
    ),
    "Chroma": Peer(("chromadb",), "chromadb", "semantic", open_chroma, 100_000, "minutes to build"),
    "txtai hybrid": Peer(
        ("txtai",), "txtai", "hybrid", open_txtai, 100_000, "half an hour to build, in memory"
    ),
    "LlamaIndex fusion": Peer(
        ("llama-index-core", "llama-index-retrievers-bm25"),
        "llama_index.retrievers.bm25",
        "hybrid",
        open_llama_index,
        10_000,
        "a second a query, vectors as lists of Python's floats in memory",
    ),
}
UNOBTAINABLE = {
    "docs-mcp-server": "an npm package (@arabold/docs-mcp-server) that the registry this machine"
    " reaches does not have (404)",
}
