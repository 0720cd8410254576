"""nDCG@10 of every lane and fusion on test collections: `python benchmarks/quality.py FOLDER ...`.

A folder holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). Each collection is built with the
default configuration and asked through rendered servers, as an export would answer; hits count for
their documents, each document once. Two columns are bm25s (a peer): with its own tokens, and with
ours, which must agree with the keyword lane.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from common import (
    Collection,
    Search,
    build,
    load_server,
    machine,
    make_project,
    read_collection,
)

from foundry.indexing.writer import HEADING_WEIGHT, TITLE_WEIGHT
from foundry.runtime.index import Index
from foundry.runtime.tokens import Tokenizer

DEPTH = 100
COLUMNS = ("bm25s", "same tokens", "keyword", "semantic", "linear", "rrf")


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], depth: int = 10) -> float:
    """Normalised discounted cumulative gain (Jarvelin and Kekalainen 2002), linear gains."""
    gains = (grades.get(document, 0.0) for document in ranked[:depth])
    ideal = sorted(grades.values(), reverse=True)[:depth]
    return _discounted(gains) / _discounted(ideal)


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def evaluate(collection: Collection, search: Search, mode: str) -> float:
    """Mean nDCG@10 over the judged queries."""
    scores = []
    for query, text in collection.queries.items():
        hits = search(text, DEPTH, mode=mode).hits
        ranked = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
        scores.append(ndcg(ranked, collection.relevant[query]))
    return float(np.mean(scores))


def evaluate_bm25s(
    collection: Collection, documents: list[str], corpus: list[list[str]], queries: list[list[str]]
) -> float:
    """Mean nDCG@10 of bm25s over chunks, given the tokens of chunks and queries."""
    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    peer.index(corpus, show_progress=False)
    vocabulary = peer.vocab_dict
    scores = []
    for query, tokens in zip(collection.queries, queries, strict=True):
        known = [token for token in tokens if token in vocabulary]
        values = peer.get_scores(known) if known else np.zeros(len(corpus))
        order = sorted(np.flatnonzero(values > 0), key=lambda n: (-values[n], n))[:DEPTH]
        ranked = list(dict.fromkeys(documents[number] for number in order))
        scores.append(ndcg(ranked, collection.relevant[query]))
    return float(np.mean(scores))


def measure(folder: Path, work: Path) -> dict[str, float]:
    """All columns for one collection."""
    collection = read_collection(folder)
    project = make_project(
        work / collection.name, f'type = "records"\npath = "{collection.corpus.resolve()}"'
    )
    build(project)
    linear = load_server(project, "benchmark_linear").search_hybrid
    rrf = load_server(project, "benchmark_rrf", 'fusion = "rrf"').search_hybrid

    index = Index.open(project / ".foundry" / "index")
    chunks = [index.chunk(number) for number in range(index.chunk_count)]
    documents = [chunk.document_id for chunk in chunks]
    ours, queries = Tokenizer("english"), list(collection.queries.values())
    plain = [f"{chunk.title} {chunk.text}" for chunk in chunks]
    weighted = [
        (
            ours.terms(" ".join([*[chunk.title] * TITLE_WEIGHT, chunk.text]))
            if chunk.title not in (*chunk.section, chunk.document_id)
            else ours.terms(" ".join([*chunk.section * HEADING_WEIGHT, chunk.text]))
        )
        for chunk in chunks
    ]
    return {
        "bm25s": evaluate_bm25s(collection, documents, _peer_tokens(plain), _peer_tokens(queries)),
        "same tokens": evaluate_bm25s(
            collection, documents, weighted, [ours.terms(query) for query in queries]
        ),
        "keyword": evaluate(collection, linear, "keyword"),
        "semantic": evaluate(collection, linear, "semantic"),
        "linear": evaluate(collection, linear, "hybrid"),
        "rrf": evaluate(collection, rrf, "hybrid"),
    }


def _peer_tokens(texts: list[str]) -> list[list[str]]:
    tokens = bm25s.tokenize(
        texts,
        stopwords="en",
        stemmer=Stemmer.Stemmer("english"),
        return_ids=False,
        show_progress=False,
    )
    return [list(text) for text in tokens]


def main() -> int:
    """Print a table row per collection, the averages, and the ratios to the keyword lane."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    folders = parser.parse_args().folders
    print(machine())
    print("| collection | " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---|" * len(COLUMNS))
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            row = measure(folder, Path(work))
            rows.append(row)
            print(f"| {folder.name} | " + " | ".join(f"{row[c]:.4f}" for c in COLUMNS) + " |")
            sys.stdout.flush()
    means = {column: float(np.mean([row[column] for row in rows])) for column in COLUMNS}
    print("| **mean** | " + " | ".join(f"{means[c]:.4f}" for c in COLUMNS) + " |")
    ratios = {column: means[column] / means["keyword"] for column in COLUMNS}
    print("| to keyword | " + " | ".join(f"{ratios[c]:.3f}" for c in COLUMNS) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
