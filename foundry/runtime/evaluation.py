"""Asks questions whose answers are known, and compares the figures with those of the export.

Documents are judged, each once, in the order of the hits, by the metrics of trec_eval.
"""

import argparse
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .cli import Answer, Search
from .errors import ConfigurationError, cause_of
from .index.reader import Index, current_index
from .index.records import count_of
from .retrieval.filters import FilterColumns
from .retrieval.journal import MAX_TOP_K, MODES
from .retrieval.results import SearchResponse
from .retrieval.settings import reading

QUESTIONS = Path(__file__).parent / "questions.jsonl"
FIGURES = Path(__file__).parent / "figures.json"  # What these questions gave at the export.

# Documents by id, path or the id of a chunk; those graded 0 or less are not relevant.
Grades = Mapping[str, float]

_HINT = 'name a file with --questions; its lines are like {"query": "...", "relevant": ["path"]}'


def measure(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return every metric, 0 to 1, of names of documents, best first and each once."""
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    gains = [max(0.0, grades.get(name, 0.0)) for name in ranked[:10]]
    first = next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)
    return {
        "nDCG@10": _discount(gains) / (_discount(best[:10]) or 1),
        "recall@10": sum(gain > 0 for gain in gains) / (len(best) or 1),
        "MRR@10": first,
        **{f"hit@{depth}": float(first >= 1 / depth) for depth in (1, 3)},
    }


def _discount(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def read_questions(file: Path) -> list[tuple[str, Grades]]:
    """Read lines as in `_HINT`, or `{name: grade}` as `relevant`. Raises ConfigurationError."""
    questions: list[tuple[str, Grades]] = []
    place = str(file)
    try:
        for number, line in enumerate(file.read_text("utf-8-sig").split("\n"), start=1):
            place = f"{file}, line {number}"
            if not line.strip():
                continue
            values = json.loads(line)
            query, relevant = values["query"], values["relevant"]
            # JSON can write half a character, which cannot be searched for.
            query.encode()
            graded = dict.fromkeys(relevant, 1) if isinstance(relevant, list) else relevant
            grades = {str(name): float(grade) for name, grade in graded.items()}
            if not max(grades.values(), default=0) > 0:
                raise ValueError("nothing is relevant")
            questions.append((query, grades))
        if not questions:
            raise ValueError("holds no question")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigurationError(f"{place}: {cause_of(error)}", hint=_HINT) from None
    return questions


def judge_hits(index: Index, response: SearchResponse, relevant: Grades) -> dict[str, float]:
    """Return the metrics of a response, counting near-duplicates, and whether it was degraded."""
    grades = {
        chunk.document_id if (chunk := index.find_chunk(name)) else name: grade
        for name, grade in relevant.items()
    }
    found: dict[str, None] = {}
    for result in response.hits:
        for record in (result, *filter(None, map(index.find_chunk, result.near_duplicates))):
            names = [record.document_id, record.path]
            names += [name for place in record.also_at for name in (place.document_id, place.path)]
            found[next((name for name in names if name in grades), record.document_id)] = None
    metrics = measure(list(found), grades)
    # [vectors
    metrics["degraded"] = float(response.degraded)
    # ]
    return metrics


def compare(report: Mapping[str, Any], tolerance: float) -> tuple[str, list[str]]:
    """Return whether a report can be compared with the recorded figures, and which are too low."""
    if not FIGURES.exists():
        return "no figures were recorded when this server was exported", []
    with reading(FIGURES) as recorded:
        if any(recorded[name] != report[name] for name in ("questions_sha256", "index_version")):
            return "the recorded figures are of other questions or of another index", []
        return "compared with the recorded figures", [
            f"{name} of {mode} fell from {before:.4f} to {now[name]:.4f}"
            for mode, now in report["metrics"].items()
            for name, before in recorded["metrics"].get(mode, {}).items()
            if name in now and before - now[name] > tolerance
        ]


def describe(report: Mapping[str, Any]) -> str:
    """Format a report as text, with the `recorded` and `failures` of `compare`."""
    nouns = ("question", "document", "chunk")
    lines = [", ".join(count_of(report[f"{noun}s"], noun) for noun in nouns)]
    for mode, means in report["metrics"].items():
        lines.append(f"{mode:8}" + "".join(f"  {name} {mean:.4f}" for name, mean in means.items()))
    return "\n".join([*lines, report["recorded"], *map("FAILED: {}".format, report["failures"])])


def add_eval(commands: Any) -> None:
    """Add the command `eval`."""
    parser = commands.add_parser("eval", help="ask the questions of this server")
    parser.set_defaults(answer=_evaluate)
    add = parser.add_argument
    add("--questions", type=Path, default=QUESTIONS, metavar="FILE", help="ask these instead")
    # [vectors
    add("--mode", action="append", choices=MODES, help="only in this mode; repeatable (all)")
    # ]
    below = "how far a mean may be below the recorded one (%(default)s)"
    add("--tolerance", type=float, default=0.01, metavar="T", help=below)
    add("--json", action="store_true", help="print everything as JSON")


def _evaluate(chosen: argparse.Namespace, search: Search) -> Answer:
    index, questions = current_index(), read_questions(chosen.questions)
    # [recency
    if newest := index.part(FilterColumns).newest_date():
        # Age is counted from here: figures must not change with the calendar.
        os.environ.setdefault("REFERENCE_DATE", newest)
    # ]
    # [not vectors
    searches: dict[str, Callable[..., SearchResponse]] = {"keyword": search}
    # ]
    # [vectors
    searches = {mode: partial(search, mode=mode) for mode in chosen.mode or MODES}
    # ]
    metrics = {}
    for mode, ask in searches.items():
        values = [
            judge_hits(index, ask(query, MAX_TOP_K), relevant) for query, relevant in questions
        ]
        metrics[mode] = {
            name: round(math.fsum(each[name] for each in values) / len(values), 6)
            for name in values[0]
        }
    report = {
        "index_version": index.version,
        "documents": index.document_count,
        "chunks": index.chunk_count,
        "questions": len(questions),
        "questions_sha256": hashlib.sha256(json.dumps(questions).encode()).hexdigest(),
        "metrics": metrics,
    }
    report["recorded"], report["failures"] = compare(report, chosen.tolerance)
    return report, describe(report), 1 if report["failures"] else 0
