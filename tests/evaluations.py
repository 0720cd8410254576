"""Synthetic evaluations, evaluations of exports, and results of trec_eval."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytrec_eval
from servers import in_checkout

from foundry.evaluation.results import Evaluation
from foundry.runtime.evaluation.metrics import METRICS, Grades

ORACLE = {
    "nDCG@10": "ndcg_cut_10",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "hit@1": "success_1",
    "hit@5": "success_5",
    "hit@3": "success_3",
    "R-precision": "Rprec",
}


def ask_trec_eval(ranked: list[str], grades: Grades) -> dict[str, float]:
    """Return trec_eval's results; it breaks ties by name, so scores must strictly decrease."""
    judged = {document: int(grade) for document, grade in grades.items()}
    scores = {document: float(len(ranked) - place) for place, document in enumerate(ranked)}
    names = {"ndcg_cut.10", "recall.5,10,100", "success.1,3,5", "Rprec", "recip_rank"}
    found = pytrec_eval.RelevanceEvaluator({"q": judged}, names).evaluate({"q": scores})["q"]
    values = {name: found[theirs] for name, theirs in ORACLE.items()}
    # trec_eval's reciprocal rank has no depth.
    is_near = found["recip_rank"] >= 0.1
    return {**values, "MRR@10": found["recip_rank"] if is_near else 0.0}


def ask_export(
    export: Path, *arguments: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run the `eval` of an export."""
    return subprocess.run(
        [*in_checkout(export), "eval", *arguments],
        cwd=export,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], **variables},
        check=False,
    )


def make_evaluation(systems: dict[str, list[float]], **changes: Any) -> Evaluation:
    """Return an evaluation whose metrics are all equal; `changes` replace facts and fields."""
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
    """Return a hit as in a server's report."""
    return {
        "id": f"{document}-c",
        "document_id": document,
        "path": f"{document}.md",
        "section": ["Part"],
        "title": "Title",
        "score": score,
        "relevant": relevant,
    }
