"""Compares embedding models: `python benchmarks/embedding.py [--model MODEL] FOLDER ...`.

Each FOLDER (BEIR's layout) is built with the static table. If a MODEL (a folder of Sentence
Transformers) is given, it is also built with that and `query = "distilled"`. The row "as built" is
what this index answers: it has the vectors of model and table concatenated, and one encoder that
was distilled from both. The other rows take this apart: the model's own queries, queries distilled
from the model alone, and both cosines together, with the model's weight in the name of the row.

The figures are nDCG@10 by document with linear fusion (0.7, 0.3) over all chunks; the 95 % interval
of the difference from the static table is from a paired bootstrap. Then the differences of some
pairs of rows follow. Last is a cross-validation: the row that is best on all collections but one,
and its gain on that one, among all rows and among those that a server can use without the model.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from common import Collection, build, machine, make_project, read_collection, row
from languages import interval
from numpy.typing import NDArray

from foundry.config.project import load_config
from foundry.embedding.distil.corpus_texts import chunk_text
from foundry.embedding.distil.query_distillation import distil_queries
from foundry.embedding.many_texts import encode_all
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.vector_cache import VectorCache
from foundry.indexing.versions import open_index
from foundry.runtime.evaluation.metrics import measure
from foundry.runtime.index.heading_terms import query_terms
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.runtime.retrieval.identifiers import is_identifier_query

SEMANTIC, KEYWORD = 0.7, 0.3
SHARES = (0.25, 0.5, 0.75)
BUILT = "as built"
PAIRS = (
    (BUILT, "distilled"),
    (BUILT, "model"),
    (BUILT, "0.5 distilled + 0.5 table"),
    ("distilled", "model"),
    ("0.5 distilled + 0.5 table", "distilled"),
    ("0.5 distilled + 0.5 table", "model"),
)
DEPTH = 100

Cosines = NDArray[np.float64]


def by_queries(folder: Path, model: str | None, work: Path) -> Mapping[str, NDArray[np.float64]]:
    """Return nDCG@10 of each query for each way to embed, for one collection.

    `model` is the part of foundry.toml that chooses a model.
    """
    collection = read_collection(folder)
    source = f'type = "records"\npath = "{collection.corpus.resolve()}"'
    static = make_project(work / f"{folder.name}-static", source)
    build(static)
    index = open_index(static / ".foundry" / "index", vectors=True)
    assert isinstance(index.encoder, PieceEncoder)
    queries = [*collection.queries.values()]
    every = np.arange(index.chunk_count)
    table = np.array(
        [index.dense_lane.scores(v, every) for v in encode_all(index.encoder, queries)]
    )
    found = {"keywords": np.zeros_like(table), "static table": table}
    if model:
        taught = make_project(
            work / folder.name, source, f'[embedding]\n{model}\nquery = "distilled"\n'
        )
        build(taught)
        found |= by_model(taught, index, queries, table)
    print(f"{folder.name}: {index.chunk_count:,} chunks", flush=True)
    return {name: score(collection, index, cosines) for name, cosines in found.items()}


def by_model(project: Path, index: Index, queries: list[str], table: Cosines) -> dict[str, Cosines]:
    """Return cosines (q, n) for each way that uses a model, built in a separate project."""
    built = open_index(project / ".foundry" / "index", vectors=True)
    assert isinstance(built.encoder, PieceEncoder)
    numbers = np.arange(built.chunk_count)
    vectors = encode_all(built.encoder, queries)
    found = {BUILT: np.array([built.dense_lane.scores(vector, numbers) for vector in vectors])}
    opened = open_model(load_config(project).embedding)
    model = BatchedModel(opened, VectorCache(project / ".foundry" / "cache.sqlite"))
    chunks = [index.chunk(number) for number in range(index.chunk_count)]
    distil_queries(
        lambda: chunks,
        lambda drawn: model.embed(drawn, "query"),
        lambda drawn: model.embed([*map(chunk_text, drawn)], "document"),
    ).write(project / "alone")
    distilled = PieceEncoder.open(project / "alone")
    embedded = model.embed([*map(chunk_text, chunks)], "document")
    encoders = {"model": model.embed(queries, "query"), "distilled": encode_all(distilled, queries)}
    for name, encoded in encoders.items():
        found[name] = (encoded @ embedded.T).astype(np.float64)
        for share in SHARES:
            joined = share * found[name] + (1 - share) * table
            found[f"{share} {name} + {1 - share} table"] = joined
    opened.close()
    return found


def keyword_scores(index: Index, query: str) -> Cosines:
    """Return the keyword lane's score of each chunk (n,), from 0 to 1."""
    lane, terms = index.keyword_lane, query_terms(index.tokenizer.tokenize(query))
    return lane.scores(terms, np.arange(index.chunk_count)) / lane.search(terms, 1).full_score


def score(collection: Collection, index: Index, cosines: Cosines) -> NDArray[np.float64]:
    """Return nDCG@10 of each query by linear fusion with cosines (q, n)."""
    values = []
    for (key, query), semantic in zip(collection.queries.items(), cosines, strict=True):
        keyword = keyword_scores(index, query)
        is_identifier = is_identifier_query(query, index.tokenizer.tokenize(query))
        weight = 0.0 if is_identifier and keyword.any() else SEMANTIC
        scores = weight * np.maximum(semantic, 0) + KEYWORD * keyword
        ranked = [index.chunk(n).document_id for n in np.argsort(-scores, kind="stable")[:DEPTH]]
        values.append(measure([*dict.fromkeys(ranked)], collection.relevant[key])["nDCG@10"])
    return np.array(values)


def print_choices(
    folders: list[Path], found: list[Mapping[str, NDArray[np.float64]]], names: list[str]
) -> None:
    """Print which row is best on all collections but one, and its gain on that one.

    The last line has the mean gain of these choices.
    """
    picked: list[Mapping[str, NDArray[np.float64]]] = []
    for place, (folder, values) in enumerate(zip(folders, found, strict=True)):
        others = found[:place] + found[place + 1 :]
        name = max(names, key=lambda name: sum(other[name].mean() for other in others))
        table = values["static table"]
        print(f"{folder.name}: {name}: {interval(values[name] - table)}")
        picked.append({"picked": values[name], "static table": table})
    print(f"mean: {gain(picked, 'picked', 'static table')}")


def table_rows(found: list[Mapping[str, NDArray[np.float64]]]) -> Iterator[list[str]]:
    """Yield a row per way: collections, their mean, and its gain over the static table."""
    for name in found[0]:
        each = [values[name] for values in found]
        means = [float(values.mean()) for values in each]
        yield [
            name,
            *(f"{mean:.4f}" for mean in means),
            f"{np.mean(means):.4f}",
            gain(found, name, "static table"),
        ]


def gain(found: list[Mapping[str, NDArray[np.float64]]], name: str, other: str) -> str:
    """Return the difference of two rows in the mean of collections, each with equal weight."""
    chooser = np.random.default_rng(0)
    differences = [values[name] - values[other] for values in found]
    draws = [
        each[chooser.integers(0, len(each), (2_000, len(each)))].mean(axis=1)
        for each in differences
    ]
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    return f"{np.mean([each.mean() for each in differences]):+.4f} ({low:+.4f} to {high:+.4f})"


def main() -> None:
    """Print the table, differences of pairs of rows, and the cross-validation."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--model", type=Path, help="a folder of Sentence Transformers")
    parser.add_argument("--work", type=Path, help="keep projects and their caches here")
    chosen = parser.parse_args()
    print(machine(), "\n")
    model = None
    if chosen.model:
        path = json.dumps(str(chosen.model.resolve()))
        model = f'provider = "sentence-transformers"\nmodel = {path}'
    with tempfile.TemporaryDirectory() as scratch:
        work = chosen.work or Path(scratch)
        found = [by_queries(folder, model, work) for folder in chosen.folders]
    row(
        "queries, chunks",
        *(folder.name for folder in chosen.folders),
        "mean",
        "to the table (95 %)",
    )
    row(*["---"] * (len(found) + 3))
    for cells in table_rows(found):
        row(*cells)
    for name, other in PAIRS if model else ():
        print(f"{name} to {other}: {gain(found, name, other)}")
    print_choices(chosen.folders, found, [*found[0]])
    if model:
        mixtures = [
            name for name in found[0] if name == BUILT or (" distilled" in name and "+" in name)
        ]
        print_choices(chosen.folders, found, mixtures)


if __name__ == "__main__":
    main()
