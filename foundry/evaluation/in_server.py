"""Queries a rendered server, in a separate interpreter that imports the server.

The program reads a job as JSON from the named file. It prints a line for each question and mode,
with the number of searches made, and then a report as JSON.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from foundry.config.search import rest
from foundry.evaluation.results import CONFIGURED
from foundry.runtime.evaluation.judging import rank_documents, resolve
from foundry.runtime.evaluation.metrics import Grades
from foundry.runtime.evaluation.questions import Question
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.journal import MAX_TOP_K
from foundry.runtime.retrieval.results import SearchResponse

Search = Callable[..., SearchResponse]

MODES = (CONFIGURED, "semantic", "keyword")

USUAL_TOP_K = 10
"""Number of results of a timed search."""

KEPT_HITS = 10


def main() -> None:
    """Run the job; errors of the server are reported with their own messages."""
    job = json.loads(Path(sys.argv[1]).read_bytes())
    errors = import_module(f"{job['package']}.errors")
    try:
        report = ask_server(**job, advance=_tell)
    except errors.ServerError as error:
        sys.exit(f"{error.message}\n  {error.hint}" if error.hint else error.message)
    sys.stdout.write(json.dumps(report))


def ask_server(
    package: str,
    questions: Sequence[tuple[str, Mapping[str, float]]],
    modes: Sequence[str],
    weights: Sequence[float],
    advance: Callable[[int], object],
) -> dict[str, Any]:
    """Query the server in the `modes`, by default all, and with the semantic `weights`.

    `advance` is called with the number of searches made since its last call.

    A server that only has keyword search has no modes, and is queried once.

    `runs` has, by mode and by `hybrid WEIGHT`, the ids of documents found for each question. By
    mode, `milliseconds` has the time of each search, and `degraded` says for each whether it used
    keywords alone. `per_question` has the relevant documents and the hits in the first mode.
    """
    server: Any = import_module(package)
    index = server.load()
    if newest := FilterColumns.open(index).newest_date():
        # Ages are measured from the newest date, so that results do not change from day to day.
        os.environ.setdefault("REFERENCE_DATE", newest)
    asked, missing = resolve(index, [Question(query, relevant) for query, relevant in questions])
    search = server.search_hybrid
    searches: dict[str, Search] = {CONFIGURED: search}
    if index.manifest.dense:
        searches = {mode: partial(search, mode=mode) for mode in modes or MODES}
    milliseconds: dict[str, list[float]] = {}
    for mode, ask in searches.items():
        # The first search loads modules and data, and is not timed.
        ask(asked[0].query, USUAL_TOP_K)
        milliseconds[mode] = []
        for question in asked:
            milliseconds[mode].append(_time(ask, question.query))
            advance(1)
    degraded: dict[str, list[bool]] = {mode: [] for mode in searches}
    for weight in weights:
        searches[f"hybrid {weight:g}"] = partial(search, lane_weights=(weight, rest(weight)))
    runs: dict[str, list[list[str]]] = {name: [] for name in searches}
    described = []
    for question in asked:
        for number, (name, ask) in enumerate(searches.items()):
            # Responses are not kept: a hundred hits each would fill the memory.
            response = ask(question.query, MAX_TOP_K)
            runs[name].append(rank_documents(index, response.hits))
            if name in degraded:
                degraded[name].append(response.degraded)
            if number == 0:
                described.append(_describe(index, question, response))
        advance(len(searches))
    return {
        "corpus": _hash_corpus(index),
        "documents": index.document_count,
        "chunks": index.chunk_count,
        "index_version": index.version,
        "missing": missing,
        "milliseconds": milliseconds,
        "degraded": degraded,
        "per_question": described,
        "runs": runs,
    }


def _tell(searches: int) -> None:
    sys.stdout.write(f"{searches}\n")
    sys.stdout.flush()


def _time(ask: Search, query: str) -> float:
    started = time.perf_counter()
    ask(query, USUAL_TOP_K)
    return (time.perf_counter() - started) * 1000


def _hash_corpus(index: Index) -> str:
    documents = index.part(Documents.open).page(limit=index.document_count)
    corpus = "\n".join(sorted(f"{document.id}\0{document.sha256}" for document in documents))
    return hashlib.sha256(corpus.encode("utf-8", "replace")).hexdigest()[:16]


def _describe(index: Index, question: Question, response: SearchResponse) -> dict[str, Any]:
    relevant: Grades = question.relevant
    documents = (index.part(Documents.open).find(name) for name in relevant)
    wanted = {name for name, grade in relevant.items() if grade > 0}
    return {
        "query": question.query,
        "relevant": relevant,
        "paths": [document.path if document else None for document in documents],
        "mode": response.mode,
        "reason": response.reason,
        "hits": [
            {
                "id": hit.id,
                "document_id": hit.document_id,
                "path": hit.path,
                "section": hit.section,
                "title": hit.title,
                "score": hit.score,
                "relevant": not wanted.isdisjoint(rank_documents(index, [hit])),
            }
            for hit in response.hits[:KEPT_HITS]
        ],
    }
