"""Evaluations made of numbers, for what judges and shows them."""

from typing import Any

import numpy as np

from foundry.evaluation.metrics import METRICS
from foundry.evaluation.results import Evaluation


def make_evaluation(systems: dict[str, list[float]], **changes: Any) -> Evaluation:
    """All metrics of a system have the same values; `changes` replace facts and fields."""
    values = {
        system: {name: np.array(column, float) for name in METRICS}
        for system, column in systems.items()
    }
    count = len(next(iter(systems.values())))
    facts = {
        "kind": "questions",
        "questions": count,
        "documents": 3,
        "chunks": 4,
        "corpus": "00ff",
        "questions_sha256": "aa",
        "index_version": "bb",
        "missing": [],
        "skipped": {"empty": 0, "too_long": 0},
        "unjudged": 0,
    }
    questions = [
        {
            "query": f"question {number}",
            "relevant": {"d1": 1.0},
            "paths": ["one.md"],
            "mode": "hybrid",
            "reason": "default",
            "hits": [hit("d1", 0.9, relevant=True), hit("d2", 0.4, relevant=False)],
        }
        for number in range(count)
    ]
    fields: dict[str, Any] = {
        "facts": {**facts, **{key: changes.pop(key) for key in set(changes) & set(facts)}},
        "configured": {"fusion": "linear", "semantic_weight": 0.7, "keyword_weight": 0.3},
        "systems": values,
        "latency_ms": {system: {"median": 1.0, "p95": 2.0} for system in systems},
        "degraded": dict.fromkeys(systems, 0),
        "questions": changes.pop("asked", questions),
        "sweep": {},
    }
    return Evaluation(**{**fields, **changes})


def hit(document: str, score: float, *, relevant: bool) -> dict[str, Any]:
    """A hit as a server's report has it."""
    return {
        "id": f"{document}-c",
        "document_id": document,
        "path": f"{document}.md",
        "section": ["Part"],
        "title": "Title",
        "score": score,
        "relevant": relevant,
    }
