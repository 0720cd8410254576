"""What an embedding model brings: `python benchmarks/embedding.py --model MODEL FOLDER ...`.

Each FOLDER (BEIR's layout) is built twice, with the static table and with the model: one of
Sentence Transformers in a folder, or with `--base-url` one that a service runs (such as
`sentence_encoder.py`) and `query = "distilled"`. The row "as built" is what its index answers: the
vectors of the model and the table end to end, queries by one encoder distilled after both. The
others take it apart. A chunk that is longer than the model takes is embedded in parts; compared are
the parts' mean, as the build keeps it, with the best part; the model's own queries with those
distilled after the model alone; and both cosines together, the model's weighed as the row says.
Linear fusion (0.7, 0.3) over all chunks, nDCG@10 by document, and beside
the static table the 95 % interval of the difference from a paired bootstrap. Then the same of some
pairs of rows, and last what leaving one collection out chooses for it, among all rows and among the
mixtures that a server answers without the model.

Rows "by ranking" have a query table that has learned to rank as well. Texts are drawn from each
chunk (sentences, spans, headings, questions framed around phrases) and have to find their chunk
among the nearest of both lanes, fused as in a search: the table moves by the gradient of the cross
entropy to a target, which is that chunk, or half that and half the model's own fused ranking.
Without a model only the static table is compared.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from common import Collection, build, machine, make_project, read_collection, row
from languages import interval
from lessons import KEYWORD, SEMANTIC, Lessons, draw_lessons, keyword_scores, learn_ranking
from numpy.typing import NDArray

from foundry.config.project import load_config
from foundry.embedding.distil.corpus_texts import chunk_text
from foundry.embedding.distil.distill import unit_rows
from foundry.embedding.distil.query_distillation import distil_queries
from foundry.embedding.embedder import Vectors
from foundry.embedding.many_texts import encode_all
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.providers.splitting import split_text
from foundry.embedding.static import StaticEmbedder
from foundry.embedding.vector_cache import VectorCache
from foundry.indexing.versions import open_index
from foundry.runtime.evaluation.metrics import measure
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.runtime.retrieval.identifiers import is_identifier_query

SERVED = "universal-sentence-encoder-lite"
SHARES = (0.25, 0.5, 0.75)
BUILT = "as built"
PAIRS = (
    (BUILT, "distilled, mean"),
    (BUILT, "model, mean"),
    (BUILT, "0.5 distilled, mean + 0.5 table"),
    ("model, best part", "model, mean"),
    ("distilled, best part", "distilled, mean"),
    ("distilled, mean", "model, mean"),
    ("distilled, best part", "model, best part"),
    ("distilled by the model's ranking, mean", "distilled, mean"),
    ("distilled by the model's ranking, best part", "distilled, best part"),
    ("distilled by that and its own chunk, mean", "distilled, mean"),
    ("distilled by that and its own chunk, best part", "distilled, best part"),
    ("0.5 distilled, mean + 0.5 table", "distilled, mean"),
    ("0.5 distilled, mean + 0.5 table", "model, mean"),
    ("0.5 distilled, best part + 0.5 table", "0.5 distilled, mean + 0.5 table"),
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


def by_queries(folder: Path, model: str | None, work: Path) -> Mapping[str, NDArray[np.float64]]:
    """nDCG@10 of each query under each way to embed, for one collection.

    `model` are the lines of foundry.toml that choose one.
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
    chunks = [index.chunk(number) for number in every.tolist()]
    headings, texts = ["\n".join(one.headings()) for one in chunks], [one.text for one in chunks]
    documents = unit_rows(StaticEmbedder().embed_documents(headings, texts, int))
    lessons = draw_lessons(index, documents)
    target = np.eye(1, lessons.chunks.shape[1]).repeat(len(lessons.texts), axis=0)
    place = index.layout.encoder
    ranked = learn_ranking(index.encoder, place, lessons, target, documents, queries)
    found = {
        "keywords": np.zeros_like(table),
        "static table": table,
        "static table, by ranking": (ranked @ documents.T).astype(np.float64),
    }
    if model:
        taught = make_project(
            work / folder.name, source, f'[embedding]\n{model}\nquery = "distilled"\n'
        )
        build(taught)
        found |= by_model(taught, index, queries, table, lessons)
    print(f"{folder.name}: {len(chunks):,} chunks, {len(lessons.texts):,} texts", flush=True)
    return {name: score(collection, index, cosines) for name, cosines in found.items()}


def by_model(
    project: Path, index: Index, queries: list[str], table: Cosines, lessons: Lessons
) -> dict[str, Cosines]:
    """Cosines (q, n) of queries under each way that has a model, built in a project of its own."""
    built = open_index(project / ".foundry" / "index", vectors=True)
    assert isinstance(built.encoder, PieceEncoder)
    numbers = np.arange(built.chunk_count)
    vectors = encode_all(built.encoder, queries)
    found = {BUILT: np.array([built.dense_lane.scores(vector, numbers) for vector in vectors])}
    opened = open_model(load_config(project).embedding)
    model = BatchedModel(opened, VectorCache(project / ".foundry" / "cache.sqlite"))
    chunks = [index.chunk(number) for number in range(index.chunk_count)]
    texts = [*map(chunk_text, chunks)]
    distil_queries(
        lambda: chunks,
        lambda drawn: model.embed(drawn, "query"),
        lambda drawn: model.embed([*map(chunk_text, drawn)], "document"),
    ).write(project / "alone")
    distilled = PieceEncoder.open(project / "alone")
    parts, owners = embed_parts(model, texts)
    mean = model.embed(texts, "document")
    encoders = {"model": model.embed(queries, "query"), "distilled": encode_all(distilled, queries)}
    every = np.arange(len(lessons.texts))
    asked = model.embed(lessons.texts, "query")
    ranking = lessons.distribution(np.einsum("nd,nkd->nk", asked, mean[lessons.chunks]), every)
    for name, own in (("by the model's ranking", 0.0), ("by that and its own chunk", 0.5)):
        target = (1 - own) * ranking
        target[:, 0] += own
        encoders[f"distilled {name}"] = learn_ranking(
            distilled, project / "alone", lessons, target, mean, queries
        )
    for name, encoded in encoders.items():
        found[f"{name}, mean"] = (encoded @ mean.T).astype(np.float64)
        best = np.full((len(texts), len(queries)), -1.0)
        np.maximum.at(best, owners, (parts @ encoded.T).astype(np.float64))
        found[f"{name}, best part"] = best.T
        for share in SHARES if name in ("model", "distilled") else ():
            for kind in ("mean", "best part"):
                joined = share * found[f"{name}, {kind}"] + (1 - share) * table
                found[f"{share} {name}, {kind} + {1 - share} table"] = joined
    opened.close()
    return found


def score(collection: Collection, index: Index, cosines: Cosines) -> NDArray[np.float64]:
    """nDCG@10 of each query by linear fusion with cosines (q, n)."""
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
    """Print which of some rows is best on all collections but one, and what it gains on that one;
    last what these choices gain on the mean."""
    picked: list[Mapping[str, NDArray[np.float64]]] = []
    for place, (folder, values) in enumerate(zip(folders, found, strict=True)):
        others = found[:place] + found[place + 1 :]
        name = max(names, key=lambda name: sum(other[name].mean() for other in others))
        table = values["static table"]
        print(f"{folder.name}: {name}: {interval(values[name] - table)}")
        picked.append({"picked": values[name], "static table": table})
    print(f"mean: {gain(picked, 'picked', 'static table')}")


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


def choose_model(chosen: argparse.Namespace) -> str | None:
    """Return the lines of foundry.toml that choose the model; None without one."""
    if chosen.model:
        path = json.dumps(str(chosen.model.resolve()))
        return f'provider = "sentence-transformers"\nmodel = {path}'
    if chosen.base_url:
        service = f'provider = "openai"\nmodel = "{SERVED}"\nbase_url = "{chosen.base_url}"'
        return f"{service}\nmax_tokens = {chosen.max_tokens}"
    return None


def main() -> None:
    """Print the table, pairs of rows, and what leaving one collection out chooses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--model", type=Path, help="a folder of Sentence Transformers")
    either.add_argument("--base-url", help="of a service like OpenAI's")
    parser.add_argument("--max-tokens", type=int, default=128, help="of a text, for a service")
    parser.add_argument("--work", type=Path, help="keep projects and their caches here")
    chosen = parser.parse_args()
    print(machine(), "\n")
    model = choose_model(chosen)
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
