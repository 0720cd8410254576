"""Compares search quality with peers: `python benchmarks/quality.py FOLDER ...`.

A folder contains corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). Each collection is built with
the default configuration, in the language at the end of its name, and evaluated by `foundry eval`,
which uses rendered servers and judges documents.

Peers search the same chunks. `bm25s` is that library with its own tokens, stemmer and stop words.
`bm25s + dense` is what most hybrid systems do with it: reciprocal rank fusion (k = 60, 200
candidates per lane, equal weights) with an exact scan of our vectors. `same tokens` is bm25s with
our tokens, which must agree with our keyword lane except for ties and exact headings.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from common import (
    Collection,
    build,
    language_of,
    machine,
    make_project,
    read_collection,
)
from numpy.typing import NDArray

from foundry import pipeline
from foundry.cli.options import warn
from foundry.config.search import DEFAULT_FIELDS
from foundry.evaluation.options import EvaluationOptions
from foundry.evaluation.run import EvaluationResult
from foundry.indexing.versions import open_index
from foundry.progress import Reporter
from foundry.runtime.evaluation import metrics
from foundry.runtime.retrieval.candidates import candidate_count
from foundry.runtime.retrieval.journal import MAX_TOP_K

DEPTH = MAX_TOP_K
HEADLINE = "nDCG@10"
RANK_CONSTANT = 60
OWN = ("keyword", "semantic", "linear", "rrf")
COLUMNS = ("bm25s", "bm25s + dense", "same tokens", *OWN)
STOP_WORDS = {"english": "en", "german": "de", "spanish": "es", "russian": "ru"}


class Peers:
    """The data of the peers: the chunks of an index, by document."""

    def __init__(self, project: Path, collection: Collection, language: str) -> None:
        self._index = open_index(project / ".foundry" / "index", vectors=True)
        self._collection = collection
        self._language = language
        self._chunks = [self._index.chunk(number) for number in range(self._index.chunk_count)]
        self._queries = list(collection.queries.values())

    def measure(self) -> dict[str, float]:
        """Return the mean nDCG@10 of each peer."""
        texts = [" ".join([*chunk.headings(), chunk.text]) for chunk in self._chunks]
        plain = score_all(self._tokens(texts), self._tokens(self._queries))
        tokenizer = self._index.tokenizer
        weighted = [tokenizer.terms(text) for text in self._weighted_texts()]
        ours = score_all(weighted, [tokenizer.terms(query) for query in self._queries])
        keyword = [rank(scores, np.flatnonzero(scores > 0)) for scores in plain]
        return {
            "bm25s": self._mean(keyword),
            "bm25s + dense": self._mean(self._fuse(keyword)),
            "same tokens": self._mean(
                [rank(scores, np.flatnonzero(scores > 0)) for scores in ours]
            ),
        }

    def _fuse(self, keyword: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        count, every = candidate_count(DEPTH), np.arange(len(self._chunks))
        fused = []
        for query, first in zip(self._queries, keyword, strict=True):
            vector = self._index.encoder.encode(query)
            lanes = [first[:count]]
            if vector is not None:
                lanes.append(rank(self._index.dense_lane.scores(vector, every), every)[:count])
            scores = np.zeros(len(every))
            for lane in lanes:
                scores[lane] += 1 / (RANK_CONSTANT + np.arange(1, len(lane) + 1))
            fused.append(rank(scores, np.flatnonzero(scores)))
        return fused

    def _mean(self, rankings: Sequence[NDArray[np.int64]]) -> float:
        values = []
        for query, ranked in zip(self._collection.queries, rankings, strict=True):
            documents = [self._chunks[number].document_id for number in ranked[:DEPTH]]
            ranked_documents = list(dict.fromkeys(documents))
            values.append(
                metrics.measure(ranked_documents, self._collection.relevant[query])["nDCG@10"]
            )
        return float(np.mean(values))

    def _weighted_texts(self) -> list[str]:
        title, heading = DEFAULT_FIELDS["title"], DEFAULT_FIELDS["headings"]
        texts = []
        for chunk in self._chunks:
            has_title = chunk.headings() != chunk.section
            titles = [chunk.title] * title if has_title else []
            texts.append(" ".join([*titles, *chunk.section * heading, chunk.text]))
        return texts

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        stems = self._language in Stemmer.algorithms()
        tokens = bm25s.tokenize(
            texts,
            stopwords=STOP_WORDS.get(self._language),
            stemmer=Stemmer.Stemmer(self._language) if stems else None,
            return_ids=False,
            show_progress=False,
        )
        return [list(text) for text in tokens]


def score_all(corpus: list[list[str]], queries: list[list[str]]) -> list[NDArray[np.float64]]:
    """Return the BM25 scores of every text for every query."""
    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    peer.index(corpus, show_progress=False)
    scores = []
    for tokens in queries:
        known = [token for token in tokens if token in peer.vocab_dict]
        scores.append(peer.get_scores(known) if known else np.zeros(len(corpus)))
    return scores


def rank(scores: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers sorted by score, best first; ties stay in order."""
    return numbers[np.argsort(-scores[numbers], kind="stable")]


def measure(folder: Path, work: Path) -> tuple[dict[str, float], EvaluationResult]:
    """Return all columns for one collection."""
    collection, language = read_collection(folder), language_of(folder)
    project = make_project(
        work / collection.name.replace("_", "-"),
        f'type = "records"\npath = "{collection.corpus.resolve()}"',
        language=language,
    )
    build(project)
    options = EvaluationOptions(
        queries=folder / "queries.jsonl", judgements=folder / "qrels.tsv", weights=()
    )
    result = pipeline.evaluate(project, options, Reporter(quiet=True), warn)
    means = result.evaluation.means()
    own = {system: means[system][HEADLINE] for system in OWN}
    return {**Peers(project, collection, language).measure(), **own}, result


def main() -> int:
    """Print a table row per collection, the averages, and the ratios to the keyword lane."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path, help="where to write all metrics and intervals")
    chosen = parser.parse_args()
    print(machine())
    print("| collection | " + " | ".join(COLUMNS) + " | linear - keyword | within noise |")
    print("|---|" + "---|" * (len(COLUMNS) + 2))
    rows, details = [], {}
    with tempfile.TemporaryDirectory() as work:
        for folder in chosen.folders:
            row, result = measure(folder, Path(work))
            rows.append(row)
            difference = result.evaluation.differences["keyword"][HEADLINE]
            cells = [f"{row[column]:.4f}" for column in COLUMNS]
            cells += [f"{-difference.high:+.4f} to {-difference.low:+.4f}"]
            cells += ["yes" if difference.is_noise else "no"]
            print(f"| {folder.name} | " + " | ".join(cells) + " |")
            sys.stdout.flush()
            values = result.to_json()
            del values["per_question"]
            details[folder.name] = {"peers": row, **values}
    means = {column: float(np.mean([row[column] for row in rows])) for column in COLUMNS}
    print("| **mean** | " + " | ".join(f"{means[c]:.4f}" for c in COLUMNS) + " | | |")
    ratios = {column: means[column] / means["keyword"] for column in COLUMNS}
    print("| to keyword | " + " | ".join(f"{ratios[c]:.3f}" for c in COLUMNS) + " | | |")
    if chosen.json:
        chosen.json.write_text(json.dumps(details, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
