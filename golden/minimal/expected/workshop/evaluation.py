"""Asks questions whose answers are known, and compares what is found with recorded figures.

A hit counts for its document, then for the documents of the hits that it stands for, and each
document once. Judged are the MAX_TOP_K hits of one search. Metrics are those of trec_eval (Manning,
Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8).
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .index.errors import ConfigurationError
from .index.reader import Index
from .printing import format_table
from .retrieval.results import MAX_TOP_K, Hit, SearchResponse
from .retrieval.settings import reading

QUESTIONS = Path(__file__).parent / "questions.jsonl"
FIGURES = Path(__file__).parent / "figures.json"
"""What the questions came to when the server was exported."""

USUAL_TOP_K = 10
"""Results of a search whose time is taken."""

KEPT_HITS = 10
DIGITS = 6
"""Decimal places of a mean."""

Grades = Mapping[str, float]
Search = Callable[..., SearchResponse]
Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the grade of each relevant document; those graded 0 or less are not relevant."""

    query: str
    relevant: Grades


@dataclass(frozen=True, slots=True)
class Answer:
    """Each metric of one question by name, the time of a search, and its KEPT_HITS first hits."""

    values: Mapping[str, float]
    milliseconds: float
    response: SearchResponse


def ndcg(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the discounted gain of the first `depth` documents, divided by the best possible.

    The gain is the grade, the discount log2(rank + 1) (Jarvelin and Kekalainen 2002).
    """
    gains = [max(0.0, grades.get(name, 0.0)) for name in ranked[:depth]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    found, best = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(each, 1))
        for each in (gains, ideal)
    )
    return found / best if best else 0.0


def recall(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the share of the relevant documents that is among the first `depth`."""
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:depth])) / len(relevant) if relevant else 0.0


def measure(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return every metric, 0 to 1, of ids of documents, best first and each once."""
    relevant = [name for name, grade in grades.items() if grade > 0]
    first = next((rank for rank, name in enumerate(ranked[:10], 1) if name in relevant), math.inf)
    return {
        "nDCG@10": ndcg(ranked, grades, 10),
        **{f"recall@{depth}": recall(ranked, grades, depth) for depth in (5, 10, 100)},
        "MRR@10": 1 / first,
        **{f"hit@{depth}": float(first <= depth) for depth in (1, 3, 5)},
        "R-precision": recall(ranked, grades, len(relevant)),
    }


METRICS = tuple(measure([], {}))
"""Names, in the order in which they are shown."""


def read_questions(file: Path) -> list[Question]:
    """Read lines of `{"query": ..., "relevant": [name, ...] or {name: grade, ...}}`.

    Raises ConfigurationError, naming the line.
    """
    hint = 'name a file with --questions; its lines are like {"query": "...", "relevant": ["path"]}'
    try:
        lines = file.read_text("utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {error}", hint=hint) from None
    questions = []
    for number, line in enumerate(lines, start=1):
        try:
            questions += [_parse(line)] if line.strip() else []
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigurationError(f"{file}, line {number}: {error!r}", hint=hint) from None
    if not questions:
        raise ConfigurationError(f"{file}: holds no question", hint=hint)
    return questions


def _parse(line: str) -> Question:
    values = json.loads(line)
    query, relevant = values["query"], values["relevant"]
    grades = dict.fromkeys(relevant, 1) if isinstance(relevant, list) else relevant
    question = Question(query, {str(name): float(grade) for name, grade in grades.items()})
    if not isinstance(query, str):
        raise TypeError("query must be a text")
    # JSON can write half a character, which no search can be asked.
    query.encode()
    if not any(grade > 0 for grade in question.relevant.values()):
        raise ValueError("nothing is relevant")
    return question


def resolve(index: Index, questions: Sequence[Question]) -> tuple[list[Question], list[str]]:
    """Return the questions with ids of documents for names, and the names that no document has.

    A name is a document's id, else a chunk's, else a path, which several documents may share. One
    that means nothing here stays as it is: what is not in the index cannot be found.
    """
    known: dict[str, list[str]] = {}
    wanted = {name for question in questions for name in question.relevant}
    for name in wanted:
        if document := index.find_document(name):
            known[name] = [document.id]
        elif chunk := index.find_chunk(name):
            known[name] = [chunk.document_id]
    wanted -= known.keys()
    for document in index.documents(limit=index.document_count) if wanted else ():
        for path in wanted & {document.path, *(place.path for place in document.also_at)}:
            known.setdefault(path, []).append(document.id)
    resolved = []
    for question in questions:
        grades: dict[str, float] = {}
        for name, grade in question.relevant.items():
            for found in known.get(name, [name]):
                grades[found] = max(grade, grades.get(found, grade))
        resolved.append(Question(question.query, grades))
    return resolved, sorted(wanted - known.keys())


def rank_documents(index: Index, hits: Sequence[Hit]) -> list[str]:
    """Return the ids of the documents of hits, and of those that they stand for, each once."""
    documents: dict[str, None] = {}
    for hit in hits:
        documents[hit.document_id] = None
        for name in hit.near_duplicates:
            if chunk := index.find_chunk(name):
                documents[chunk.document_id] = None
    return list(documents)


def ask(search: Search, index: Index, question: Question, mode: str) -> Answer:
    """Search for a question, whose relevant names are ids of documents, and judge what is found."""
    started = time.perf_counter()
    search(question.query, USUAL_TOP_K, mode=mode)
    milliseconds = (time.perf_counter() - started) * 1000
    response = search(question.query, MAX_TOP_K, mode=mode)
    values = measure(rank_documents(index, response.hits), question.relevant)
    return Answer(values, milliseconds, replace(response, hits=response.hits[:KEPT_HITS]))


def evaluate(
    search: Search, index: Index, named: Sequence[Question], modes: Sequence[str]
) -> tuple[Report, dict[str, list[Answer]]]:
    """Ask questions in each mode; returns a report for programs, and the answers by mode."""
    questions, missing = resolve(index, named)
    runs = {}
    for mode in modes:
        # Whatever the first search loads is part of no question's time.
        search(questions[0].query, USUAL_TOP_K, mode=mode)
        runs[mode] = [ask(search, index, question, mode) for question in questions]
    asked = [[question.query, sorted(question.relevant.items())] for question in named]
    documents = index.documents(limit=index.document_count)
    corpus = "\n".join(sorted(f"{document.id}\0{document.sha256}" for document in documents))
    report = {
        "corpus": hashlib.sha256(corpus.encode("utf-8", "replace")).hexdigest()[:16],
        "questions_sha256": hashlib.sha256(json.dumps(asked).encode()).hexdigest(),
        "questions": len(questions),
        "documents": index.document_count,
        "chunks": index.chunk_count,
        "index_version": index.version,
        "missing": missing,
        "metrics": {mode: means([each.values for each in run]) for mode, run in runs.items()},
        "latency_ms": {mode: _latency(run) for mode, run in runs.items()},
        "degraded": {
            mode: sum(each.response.degraded for each in run) for mode, run in runs.items()
        },
        "per_question": [
            {
                "query": question.query,
                "relevant": dict(question.relevant),
                "values": {mode: run[place].values for mode, run in runs.items()},
            }
            for place, question in enumerate(questions)
        ],
    }
    return report, runs


def means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the values of several questions."""
    columns = {name: [each[name] for each in values] for name in METRICS}
    return {name: round(float(np.mean(column)), DIGITS) for name, column in columns.items()}


def _latency(answers: Sequence[Answer]) -> dict[str, float]:
    median, p95 = np.percentile([answer.milliseconds for answer in answers], [50, 95])
    return {"median": round(float(median), 3), "p95": round(float(p95), 3)}


def compare(report: Report, tolerance: float, *, any_corpus: bool) -> tuple[str, list[str]]:
    """Hold a report to the recorded figures; returns what was compared, and what is too low."""
    if not FIGURES.exists():
        return "no figures were recorded when this server was exported", []
    with reading(FIGURES) as recorded:
        if recorded["questions_sha256"] != report["questions_sha256"]:
            return "not compared with the recorded figures, which are of other questions", []
        if recorded["corpus"] != report["corpus"] and not any_corpus:
            return "not compared with the recorded figures, which are of another corpus", []
        return "compared with the recorded figures", [
            f"{name} of {mode} fell from {before:.4f} to {now[name]:.4f}"
            for mode, now in report["metrics"].items()
            for name, before in recorded["metrics"].get(mode, {}).items()
            if name in now and before - now[name] > tolerance
        ]


def describe(report: Report) -> str:
    """Lay a report out for people; `recorded` and `failures` are what was compared, and is low."""
    rows = [("mode", *METRICS, "median ms", "p95 ms")]
    for mode, found in report["metrics"].items():
        times = (f"{time:.2f}" for time in report["latency_ms"][mode].values())
        rows.append((mode, *(f"{value:.4f}" for value in found.values()), *times))
    lines = [
        f"{report['questions']:,} questions, {report['documents']:,} documents,"
        f" {report['chunks']:,} chunks\n",
        f"{format_table(rows)}\n",
        report["recorded"],
    ]
    if names := report["missing"]:
        lines.append(f"{len(names):,} relevant names are not in the index, such as {names[0]!r}")
    lines += [
        f"{count:,} questions were answered by keywords although {mode} was asked for"
        for mode, count in report["degraded"].items()
        if count
    ]
    return "\n".join([*lines, *(f"FAILED: {failure}" for failure in report["failures"])])
