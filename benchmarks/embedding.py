"""What an embedding model brings: `python benchmarks/embedding.py --base-url URL FOLDER ...`.

Each FOLDER (BEIR's layout) is built twice, with the static table and with the model behind URL
(such as `sentence_encoder.py` serves), whose queries a distilled encoder answers. A chunk that is
longer than the model takes is embedded in parts. Compared are the parts' mean, as the build keeps
it, with the best part; the model's own queries with the distilled ones; and both cosines together,
the model's weighed as the row says. Linear fusion (0.7, 0.3) over all chunks, nDCG@10 by document,
and beside the static table the 95 % interval of the difference from a paired bootstrap. Then the
same of some pairs of rows, and last what leaving one collection out chooses among all rows, for
that collection.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from common import Collection, build, machine, make_project, read_collection, row
from languages import interval
from numpy.typing import NDArray

from foundry.config.project import load_config
from foundry.embedding.distil.corpus_texts import chunk_text
from foundry.embedding.embedder import Vectors
from foundry.embedding.encoder_files import encode_all
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.providers.splitting import split_text
from foundry.embedding.vector_cache import VectorCache
from foundry.evaluation.metrics import measure
from foundry.indexing.versions import open_index
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.runtime.retrieval.identifiers import is_identifier_query
from foundry.runtime.retrieval.tokens import query_terms

MODEL = "universal-sentence-encoder-lite"
SEMANTIC, KEYWORD = 0.7, 0.3
SHARES = (0.25, 0.5, 0.75)
PAIRS = (
    ("model, best part", "model, mean"),
    ("distilled, best part", "distilled, mean"),
    ("distilled, mean", "model, mean"),
    ("distilled, best part", "model, best part"),
)
DEPTH = 100

Cosines = NDArray[np.float64]


def embed_parts(model: BatchedModel, texts: list[str]) -> tuple[Vectors, NDArray[np.int64]]:
    """Return the vectors (p, d) of all parts of texts, and which text each is of (p,)."""
    limit = model.model.limits.tokens
    parts = [
        split_text(text, lambda part: model.model.count_tokens(part) <= limit) for text in texts
    ]
    owners = np.repeat(np.arange(len(texts)), [*map(len, parts)])
    return model.embed([part for found in parts for part in found], "document"), owners


def by_queries(
    folder: Path, base_url: str, tokens: int, work: Path
) -> Mapping[str, NDArray[np.float64]]:
    """nDCG@10 of each query under each way to embed, for one collection."""
    collection = read_collection(folder)
    source = f'type = "records"\npath = "{collection.corpus.resolve()}"'
    static = make_project(work / f"{folder.name}-static", source)
    build(static)
    service = (
        f'provider = "openai"\nmodel = "{MODEL}"\nbase_url = "{base_url}"\nmax_tokens = {tokens}'
    )
    taught = make_project(
        work / folder.name, source, f'[embedding]\n{service}\nquery = "distilled"\n'
    )
    build(taught)
    index = open_index(static / ".foundry" / "index", vectors=True)
    distilled = open_index(taught / ".foundry" / "index", vectors=True).encoder
    assert isinstance(index.encoder, PieceEncoder) and isinstance(distilled, PieceEncoder)
    opened = open_model(load_config(taught).embedding)
    model = BatchedModel(opened, VectorCache(taught / ".foundry" / "cache.sqlite"))
    texts = [chunk_text(index.chunk(number)) for number in range(index.chunk_count)]
    queries = [*collection.queries.values()]
    parts, owners = embed_parts(model, texts)
    mean = model.embed(texts, "document")
    every = np.arange(index.chunk_count)
    table = np.array(
        [index.dense_lane.scores(v, every) for v in encode_all(index.encoder, queries)]
    )
    found = {"keywords": np.zeros_like(table), "static table": table}
    for name, encoded in (
        ("model", model.embed(queries, "query")),
        ("distilled", encode_all(distilled, queries)),
    ):
        found[f"{name}, mean"] = (encoded @ mean.T).astype(np.float64)
        best = np.full((len(texts), len(queries)), -1.0)
        np.maximum.at(best, owners, (parts @ encoded.T).astype(np.float64))
        found[f"{name}, best part"] = best.T
        for share in SHARES:
            for kind in ("mean", "best part"):
                joined = share * found[f"{name}, {kind}"] + (1 - share) * table
                found[f"{share} {name}, {kind} + {1 - share} table"] = joined
    opened.close()
    print(f"{folder.name}: {len(texts):,} chunks, {len(parts):,} parts", flush=True)
    return {name: score(collection, index, cosines) for name, cosines in found.items()}


def score(collection: Collection, index: Index, cosines: Cosines) -> NDArray[np.float64]:
    """nDCG@10 of each query by linear fusion with cosines (q, n)."""
    values = []
    for (key, query), semantic in zip(collection.queries.items(), cosines, strict=True):
        tokens = index.tokenizer.tokenize(query)
        hits = index.keyword_lane.search(query_terms(tokens), 1)
        keyword = np.zeros(len(semantic)) if hits.every_score is None else hits.every_score
        keyword = keyword / hits.full_score
        is_identifier = len(hits) and is_identifier_query(query, tokens)
        weight = 0.0 if is_identifier else SEMANTIC
        scores = weight * np.maximum(semantic, 0) + KEYWORD * keyword
        ranked = [index.chunk(n).document_id for n in np.argsort(-scores, kind="stable")[:DEPTH]]
        values.append(measure([*dict.fromkeys(ranked)], collection.relevant[key])["nDCG@10"])
    return np.array(values)


def chosen_elsewhere(means: Mapping[str, list[float]], place: int) -> str:
    """The row that is best on the mean of all collections but one."""
    return max(means, key=lambda name: sum(np.delete(means[name], place)))


def table_rows(found: list[Mapping[str, NDArray[np.float64]]]) -> Iterator[list[str]]:
    """A row for each way: collections, their mean, and its difference to the static table."""
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
    """The difference of two rows on the mean of collections, each of equal weight."""
    chooser = np.random.default_rng(0)
    differences = [values[name] - values[other] for values in found]
    draws = [
        each[chooser.integers(0, len(each), (2_000, len(each)))].mean(axis=1)
        for each in differences
    ]
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    return f"{np.mean([each.mean() for each in differences]):+.4f} ({low:+.4f} to {high:+.4f})"


def main() -> None:
    """Print the table, and what leaving one collection out chooses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--base-url", required=True, help="of a service like OpenAI's")
    parser.add_argument("--max-tokens", type=int, default=128, help="of a text, for the model")
    parser.add_argument("--work", type=Path, help="keep projects and their caches here")
    chosen = parser.parse_args()
    print(machine(), "\n")
    with tempfile.TemporaryDirectory() as scratch:
        work = chosen.work or Path(scratch)
        found = [by_queries(f, chosen.base_url, chosen.max_tokens, work) for f in chosen.folders]
    row(
        "queries, chunks",
        *(folder.name for folder in chosen.folders),
        "mean",
        "to the table (95 %)",
    )
    row(*["---"] * (len(found) + 3))
    for cells in table_rows(found):
        row(*cells)
    for name, other in PAIRS:
        print(f"{name} to {other}: {gain(found, name, other)}")
    means = {name: [float(values[name].mean()) for values in found] for name in found[0]}
    for place, folder in enumerate(chosen.folders):
        name = chosen_elsewhere(means, place)
        print(
            f"{folder.name}: {name}: {interval(found[place][name] - found[place]['static table'])}"
        )


if __name__ == "__main__":
    main()
