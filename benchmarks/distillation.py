"""Measures how much of its model a distilled query encoder keeps: see `distillation.py --help`.

Each collection (BEIR's layout) is built with `[embedding] provider = "transformer"`, where the
model is a local folder. The table has nDCG@10 by document for every lane and fusion: with `query =
"same"`, where the model embeds the queries and documents have only its vectors; with `query =
"distilled"`, where the model and the built-in table together are the encoder's teacher; and with
the static provider.

With `--gate`, several kinds of bad encoders are trained instead. The table compares the overlap of
their rankings with their teacher's on held-out texts (overlap@10, by which `query = "auto"`
decides) with the share of the teacher's nDCG that they keep. `--small` needs no model and no
collection: it distils the built-in encoder on the examples, as a check that everything runs.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import Collection, build, machine, make_project, read_collection
from numpy.typing import NDArray
from quality import DEPTH

from foundry.config.project import load_config
from foundry.embedding.distil.distill import unit_rows
from foundry.embedding.distil.query_distillation import (
    DistillationOptions,
    DistilledQueries,
    distil_queries,
)
from foundry.embedding.embedder import Embedder, Vectors
from foundry.embedding.many_texts import encode_all
from foundry.embedding.model_embedder import ModelEmbedder
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.static import StaticEmbedder
from foundry.embedding.vector_cache import VectorCache
from foundry.indexing.dense.overlap import RankingOverlap
from foundry.indexing.versions import open_index
from foundry.progress import Reporter
from foundry.runtime.evaluation.metrics import measure
from foundry.runtime.index.heading_terms import query_terms
from foundry.runtime.index.layout import IndexFiles
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.candidates import Candidates, candidate_count
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.embedding.probe import DenseManifest
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.runtime.retrieval.fusion_rrf import fuse_rrf
from foundry.runtime.retrieval.hybrid import by_meaning, complete_lanes, fuse_linear
from foundry.runtime.retrieval.identifiers import is_identifier_query

Numbers = NDArray[np.int64]
LANES = ("semantic", "linear", "rrf")
EXAMPLES = [Path(__file__).parents[1] / "examples" / name for name in ("handbook", "robotics")]
GATED: Mapping[str, DistillationOptions] = {
    "as shipped": DistillationOptions(),
    "4,000 texts": DistillationOptions(texts=4000),
    "2,000 texts": DistillationOptions(texts=2000),
    "500 texts, 1 epoch": DistillationOptions(texts=500, epochs=1),
    "200 texts, 1 epoch": DistillationOptions(texts=200, epochs=1),
}
MIXED = (0.3, 0.5, 0.7, 1.0)
"""Shares of another query's vector in the vectors of artificially bad encoders."""


@dataclass(slots=True)
class Bench:
    """A built collection; rankings are computed from the lanes of its index, as in a server."""

    collection: Collection
    index: OpenedIndex

    @property
    def queries(self) -> list[str]:
        """The queries, in the order in which scores are averaged."""
        return list(self.collection.queries.values())

    def chunks(self) -> list[ChunkRecord]:
        """Return all chunks of the index."""
        return [self.index.chunk(number) for number in range(self.index.chunk_count)]

    def score(self, lane: str, vectors: Vectors) -> float:
        """Return the mean nDCG@10 of a lane or fusion for vectors (q, d) of the queries."""
        return float(self.judge([order(found) for found in self.find(lane, vectors)]).mean())

    def find(self, lane: str, vectors: Vectors) -> Iterator[Candidates]:
        """Yield the candidates of a lane or fusion for each query, given vectors (q, d)."""
        for query, vector in zip(self.queries, vectors, strict=True):
            yield self._find(lane, query, vector)

    def judge(self, rankings: Iterable[Numbers]) -> NDArray[np.float64]:
        """Return nDCG@10 of each query (q,) by its best chunks."""
        scores = []
        for key, ranked in zip(self.collection.queries, rankings, strict=True):
            documents = [self.index.chunk(number).document_id for number in ranked.tolist()]
            ranked_documents = list(dict.fromkeys(documents))
            scores.append(measure(ranked_documents, self.collection.relevant[key])["nDCG@10"])
        return np.array(scores)

    def _find(self, lane: str, query: str, vector: Vectors) -> Candidates:
        tokens = self.index.tokenizer.tokenize(query)
        terms = query_terms(tokens)
        index, depth = self.index, candidate_count(DEPTH)
        keyword = index.keyword_lane.search(terms, depth)
        by_keywords = lane == "keyword" or not vector.any()
        if by_keywords or (lane != "semantic" and is_identifier_query(query, tokens)):
            return Candidates.by_keyword(keyword)
        semantic = index.dense_lane.search(vector, depth)
        if lane == "semantic":
            return by_meaning(semantic)
        found = complete_lanes(index, terms, vector, keyword, semantic)
        if lane == "linear":
            return fuse_linear(found, 0.7, 0.3)
        return fuse_rrf(found, 0.5, 0.5, k=60)


def order(found: Candidates) -> Numbers:
    """Return the numbers of the best chunks, best first; ties are ordered by number."""
    ranked: Numbers = found.chunks[np.lexsort((found.chunks, -found.scores))[:DEPTH]]
    return ranked


def open_bench(name: str, folder: Path, work: Path, embedding: str = "") -> Bench:
    """Build a collection, with the static provider unless `embedding` (TOML) names another."""
    collection = read_collection(folder)
    source = f'type = "records"\npath = "{collection.corpus.resolve()}"'
    project = make_project(work / name, source, embedding)
    build(project)
    folder = project / ".foundry" / "index"
    index = open_index(folder)
    # Only the vectors are opened: the query encoder may be the model itself.
    index.dense_lane = DenseLane.open(IndexFiles.open(folder))
    return Bench(collection, index)


def open_taught(folder: Path, model: Path, work: Path, query: str = "distilled") -> Bench:
    """Build a collection with a model."""
    embedding = (
        f'\n[embedding]\nprovider = "transformer"\nquery = "{query}"\n'
        f'model = "{model.resolve()}"\n'
    )
    return open_bench(folder.name, folder, work, embedding)


@contextmanager
def opened_teacher(project: Path) -> Iterator[tuple[BatchedModel, Embedder]]:
    """Yield a built project's model, and its combination with the built-in table.

    The model must embed queries in the same way as documents.
    """
    config = load_config(project)
    cache = VectorCache(project / ".foundry" / "cache.sqlite")
    with closing(BatchedModel(open_model(config.embedding), cache)) as model:
        step = Reporter(quiet=True).step
        yield model, ModelEmbedder(model, config.embedding, config.project.language, step)


def embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return unit vectors (n, d) of texts without headings."""
    return embedder.embed_documents([""] * len(texts), list(texts))


def distil(
    chunks: Sequence[ChunkRecord],
    teacher: Embedder,
    options: DistillationOptions | None = None,
    *,
    with_chunks: bool = True,
) -> DistilledQueries:
    """Train an encoder outside of a build."""

    def teach_chunks(drawn: Sequence[ChunkRecord]) -> Vectors:
        headings = ["\n".join(chunk.headings()) for chunk in drawn]
        return teacher.embed_documents(headings, [chunk.text for chunk in drawn])

    return distil_queries(
        lambda: iter(chunks),
        lambda texts: embed(teacher, texts),
        teach_chunks if with_chunks else None,
        options,
    )


def measure_overlap(bench: Bench) -> Callable[[Sequence[str], Vectors, Vectors], float]:
    """Return the function by which a build decides; it returns NaN if there are too few chunks."""
    layout, manifest = bench.index.layout, bench.index.manifest
    assert manifest.dense is not None
    shape = (manifest.chunks, manifest.dense["dimensions"])
    counts = manifest.terms, manifest.postings
    measure = RankingOverlap(layout, bench.index.tokenizer, lambda: counts, shape)

    def overlap(queries: Sequence[str], first: Vectors, second: Vectors) -> float:
        beyond_chance = measure(queries, first, second)
        return float("nan") if beyond_chance is None else beyond_chance

    return overlap


def encoding_microseconds(encoder: PieceEncoder, queries: Sequence[str]) -> float:
    """Return the median time of encoding a query, in a server that has been running for a while."""
    for _ in range(2):
        times = []
        for query in queries:
            start = time.perf_counter()
            encoder.encode(query)
            times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6


def row(name: str, cells: Sequence[float], digits: int = 4) -> str:
    """Return a line of a Markdown table."""
    return f"| {name} | " + " | ".join(f"{cell:.{digits}f}" for cell in cells) + " |"


def compare(folders: Sequence[Path], model: Path, work: Path) -> None:
    """Print the table of lanes, the ratios, and the time of both builds."""
    columns = ["keyword"]
    columns += [f"{lane}, {side}" for side in ("model", "distilled", "static") for lane in LANES]
    print(f"| collection | {' | '.join(columns)} |\n|---|" + "---|" * len(columns))
    rows, notes = [], []
    for folder in folders:
        start = time.perf_counter()
        alone = open_taught(folder, model, work, "same")
        with opened_teacher(work / folder.name) as (opened, _):
            asked = opened.embed(alone.queries, "query")
        keyword = alone.score("keyword", asked)
        by_model = {lane: alone.score(lane, asked) for lane in LANES}
        bench = open_taught(folder, model, work)
        seconds = time.perf_counter() - start
        static = open_bench(f"{folder.name}-static", folder, work)
        by_static = encode_all(PieceEncoder.open(static.index.layout.encoder), static.queries)
        encoder = PieceEncoder.open(bench.index.layout.encoder)
        encoded = encode_all(encoder, bench.queries)
        by_encoder = {lane: bench.score(lane, encoded) for lane in LANES}
        cells = [keyword, *by_model.values(), *by_encoder.values()]
        cells += [static.score(lane, by_static) for lane in LANES]
        rows.append(cells)
        print(row(folder.name, cells), flush=True)
        assert bench.index.manifest.dense is not None
        dense = DenseManifest(**bench.index.manifest.dense)
        with opened_teacher(work / folder.name) as (_, teacher):
            taught = embed(teacher, bench.queries)
        overlap = measure_overlap(bench)(bench.queries, taught, encoded)
        figures = dense.query
        notes.append(
            f"| {folder.name} | {by_encoder['linear'] / by_model['linear']:.4f}"
            f" | {by_encoder['linear'] / by_model['rrf']:.4f} | {figures['agreement']}"
            f" | {figures['overlap_at_10']} | {overlap:.4f} | {figures['taught']}"
            f" | {seconds:.0f} s"
            f" | {encoding_microseconds(encoder, bench.queries):.0f} us |"
        )
    means = np.mean(rows, axis=0)
    print(row("**mean**", means.tolist()))
    linear, rrf, kept = means[2], means[3], means[5]
    print(
        f"\nlinear, distilled to model: {kept / linear:.4f}; to the model's RRF: {kept / rrf:.4f}"
    )
    print(
        "\n| collection | linear kept | to the model's RRF | agreement | overlap@10, held out"
        " | overlap@10, real queries | texts taught | both builds | encoding |\n|" + "---|" * 9
    )
    print("\n".join(notes))


def gate(folders: Sequence[Path], model: Path, work: Path) -> None:
    """Print the overlap and the share of nDCG kept, for good and bad encoders."""
    print(
        "| collection | encoder | overlap@10, held out | overlap@10, real queries"
        " | linear kept |\n|---|---|---|---|---|"
    )
    for folder in folders:
        bench = open_taught(folder, model, work)
        with opened_teacher(work / folder.name) as (_, teacher):
            gate_one(bench, teacher)


def gate_one(bench: Bench, teacher: Embedder) -> None:
    """Print the rows of one collection."""
    overlap = measure_overlap(bench)
    taught = embed(teacher, bench.queries)
    best = bench.score("linear", taught)

    def report(name: str, held_out: float, vectors: Vectors) -> None:
        real = overlap(bench.queries, taught, vectors)
        kept = bench.score("linear", vectors) / best
        print(row(f"{bench.collection.name} | {name}", [held_out, real, kept]), flush=True)

    for name, options in GATED.items():
        distilled = distil(bench.chunks(), teacher, options, with_chunks=name == "as shipped")
        judged = distilled.held_out
        share = overlap(judged.texts, judged.targets, judged.encoded)
        report(name, share, distilled.encode(bench.queries))
        if name == "as shipped":
            shipped = distilled
    judged, encoded = shipped.held_out, shipped.encode(bench.queries)
    for share in MIXED:
        texts, queries = (
            unit_rows((1 - share) * vectors + share * np.roll(vectors, 1, axis=0))
            for vectors in (judged.encoded, encoded)
        )
        held_out = overlap(judged.texts, judged.targets, texts)
        report(f"{share:.0%} of another query", held_out, queries)
    report("none: keywords alone", float("nan"), np.zeros_like(encoded))


def small(work: Path) -> None:
    """Distil the built-in encoder on the examples."""
    print("| example | agreement | texts | training | encoding |\n|---|---|---|---|---|")
    for example in EXAMPLES:
        source = f'type = "folder"\npath = "{(example / "sources").resolve()}"'
        project = make_project(work / example.name, source)
        build(project)
        index = open_index(project / ".foundry" / "index", vectors=True)
        chunks = [index.chunk(number) for number in range(index.chunk_count)]
        start = time.perf_counter()
        distilled = distil(chunks, StaticEmbedder())
        seconds = time.perf_counter() - start
        distilled.write(work / example.name / "encoder")
        encoder = PieceEncoder.open(work / example.name / "encoder")
        microseconds = encoding_microseconds(encoder, distilled.held_out.texts)
        print(
            f"| {example.name} | {distilled.agreement:.4f} | {distilled.taught}"
            f" | {seconds:.1f} s | {microseconds:.0f} us |"
        )


def main() -> int:
    """Parse, and print one of the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--model", type=Path, help="folder of a sentence-transformers model")
    parser.add_argument("--work", type=Path, help="keep projects and their caches here")
    parser.add_argument("--gate", action="store_true", help="overlap@10 against what is kept")
    parser.add_argument("--small", action="store_true", help="the examples, without a model")
    arguments = parser.parse_args()
    if not arguments.small and not (arguments.model and arguments.folders):
        parser.error("give --model and collections, or --small")
    print(machine())
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        if arguments.small:
            small(work)
        elif arguments.gate:
            gate(arguments.folders, arguments.model, work)
        else:
            compare(arguments.folders, arguments.model, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
