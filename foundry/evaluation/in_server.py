"""Asks a rendered server questions: runs in an interpreter of its own, which imports that server.

It reads a job as JSON from the file that is named, and prints a report as JSON.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from foundry.config.search import rest
from foundry.runtime.evaluation import (
    Grades,
    Question,
    Report,
    Search,
    evaluate,
    means,
    measure,
    rank_documents,
    resolve,
)
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.results import MAX_TOP_K, SearchResponse

MODES = ("hybrid", "semantic", "keyword")


def main() -> None:
    """Do the job; a server that cannot be asked is reported by its own message."""
    job = json.loads(Path(sys.argv[1]).read_bytes())
    errors = import_module(f"{job['package']}.index.errors")
    try:
        report = ask_server(**job)
    except errors.ServerError as error:
        sys.exit(f"{error.message}\n  {error.hint}" if error.hint else error.message)
    sys.stdout.write(json.dumps(report))


def ask_server(
    package: str,
    kind: str,
    questions: Sequence[tuple[str, Mapping[str, float]]],
    modes: Sequence[str],
    weights: Sequence[float],
) -> Report:
    """Ask the server in each mode, all that it has if none is given, and with semantic weights.

    The report is that of the server's own command `eval`, where each question also has what was
    found in the first mode. `weights` has the means with each weight, and the questions have the
    values under the name `hybrid WEIGHT`.
    """
    server: Any = import_module(package)
    index = server.load()
    if newest := index.filters.newest_date():
        # Where age counts, it is counted from here: figures must not change with the calendar.
        os.environ.setdefault("REFERENCE_DATE", newest)
    asked = [Question(query, relevant) for query, relevant in questions]
    has = MODES if index.manifest.dense else ("hybrid", "keyword")
    modes = modes or has
    report, runs = evaluate(server.search_hybrid, index, asked, modes)
    resolved, _ = resolve(index, asked)
    for entry, answer in zip(report["per_question"], runs[modes[0]], strict=True):
        entry |= _describe(index, entry["relevant"], answer.response)
    report |= {"kind": kind, "weights": []}
    for weight in weights:
        # Each search asks for them.
        with mock.patch(f"{package}.search.weights", return_value=(weight, rest(weight))):
            values = _measure_all(server.search_hybrid, index, resolved)
        for entry, found in zip(report["per_question"], values, strict=True):
            entry["values"][f"hybrid {weight:g}"] = found
        report["weights"].append({"semantic_weight": weight, "metrics": means(values)})
    return report


def _measure_all(
    search: Search, index: Index, questions: Sequence[Question]
) -> list[dict[str, float]]:
    return [
        measure(rank_documents(index, search(question.query, MAX_TOP_K).hits), question.relevant)
        for question in questions
    ]


def _describe(index: Index, relevant: Grades, response: SearchResponse) -> Report:
    documents = (index.find_document(name) for name in relevant)
    wanted = {name for name, grade in relevant.items() if grade > 0}
    return {
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
            for hit in response.hits
        ],
    }
