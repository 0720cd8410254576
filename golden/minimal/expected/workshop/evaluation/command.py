"""The command `eval`: asks questions with known answers, and fails if a metric's mean is too low.

A mean is too low if it is below a minimum, or too far below the one recorded at export.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..cli import Answer, Search
from ..errors import ConfigurationError, cause_of
from ..index.reader import Index, current_index
from ..index.records import count_of
from ..index.tree import read_file
from ..retrieval.filters import FilterColumns
from ..retrieval.journal import MAX_TOP_K, MODES
from ..retrieval.results import SearchResponse
from ..settings import reading
from .judging import rank_documents, resolve
from .metrics import DIGITS, METRICS, find_shortfalls, mean, measure, parse_minimum
from .questions import (
    LINE_HINT,
    MAX_FILE_BYTES,
    Question,
    QuestionSet,
    describe_missing,
    describe_skipped,
    hash_questions,
    parse_questions,
)

_PACKAGE = Path(__file__).parent.parent
QUESTIONS = _PACKAGE / "questions.jsonl"
FIGURES = _PACKAGE / "figures.json"  # The means for these questions at export time


def read_questions(file: Path) -> QuestionSet:
    """Read a file of questions. Raises ConfigurationError, naming the line."""
    try:
        text = read_file(file, MAX_FILE_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        hint = f"pass a file with --questions; {LINE_HINT}"
        raise ConfigurationError(f"{file}: {cause_of(error)}", hint=hint) from None
    return parse_questions(text, str(file))


def compare(report: Mapping[str, Any], tolerance: float) -> tuple[str, list[str]]:
    """Compare a report with the recorded figures; return a note, and a line for each fallen mean.

    The note says which modes were compared, or why none was.
    """
    if not FIGURES.exists():
        return "not compared: no figures were recorded when this server was exported", []
    with reading(FIGURES) as recorded:
        if recorded["questions_sha256"] != report["questions_sha256"]:
            return "not compared: the recorded figures are for other questions", []
        if recorded["index_version"] != report["index_version"]:
            return "not compared: the recorded figures are for another index", []
        modes = [mode for mode in report["metrics"] if mode in recorded["metrics"]]
        failures = [
            f"{name} of {mode} fell from {before:.4f} to {now:.4f}"
            for mode in modes
            for name, now in report["metrics"][mode].items()
            if (before := recorded["metrics"][mode].get(name)) is not None
            and round(before - now, DIGITS) > tolerance
        ]
    if not modes:
        return "not compared: the recorded figures are for other modes", []
    return f"compared with the recorded figures: {', '.join(modes)}", failures


def describe(report: Mapping[str, Any]) -> str:
    """Format a report with its notes and failures as text."""
    nouns = ("question", "document", "chunk")
    lines = [", ".join(count_of(report[f"{noun}s"], noun) for noun in nouns)]
    lines.append("  ".join([" " * 8, *(f"{name:>6}" for name in METRICS)]))
    for mode, means in report["metrics"].items():
        values = (f"{means[name]:{max(6, len(name))}.4f}" for name in METRICS)
        lines.append("  ".join([f"{mode:8}", *values]))
    for mode, count in report["degraded"].items():
        if count:
            lines.append(f"{count_of(count, 'response')} in mode {mode} used keywords only")
    notes = describe_skipped(report["skipped"]), describe_missing(report["missing"])
    lines += [*filter(None, notes), report["recorded"]]
    return "\n".join([*lines, *map("FAILED: {}".format, report["failures"])])


def add_eval(commands: Any) -> None:
    """Add the command `eval`."""
    parser = commands.add_parser(
        "eval", help="evaluate search with questions whose answers are known"
    )
    parser.set_defaults(answer=_evaluate)
    add = parser.add_argument
    add(
        "--questions",
        type=Path,
        default=QUESTIONS,
        metavar="FILE",
        help="a file of questions (those exported with this server)",
    )
    add("--mode", action="append", choices=MODES, help="only in this mode; repeatable (all)")
    minimum = "fail if the first mode's mean is lower; repeatable"
    add("--min", dest="minimums", action="append", metavar="METRIC=VALUE", help=minimum)
    below = "how far a mean may fall below the recorded one (%(default)s)"
    add("--tolerance", type=_tolerance, default=0.01, metavar="T", help=below)
    add("--json", action="store_true", help="print everything as JSON")


def _tolerance(written: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(written)) <= 1:
            return value
    raise argparse.ArgumentTypeError(f"{written!r} is not a number from 0 to 1")


def _evaluate(chosen: argparse.Namespace, search: Search) -> Answer:
    minimums = [parse_minimum(written) for written in chosen.minimums or ()]
    index, asked = current_index(), read_questions(chosen.questions)
    if newest := index.part(FilterColumns.open).newest_date():
        # Ages are measured from the newest date, so that results do not change from day to day.
        os.environ.setdefault("REFERENCE_DATE", newest)
    questions, missing = resolve(index, asked.questions)
    metrics, degraded = {}, {}
    for mode, ask in _searches(index, search, chosen.mode).items():
        responses = [ask(question.query, MAX_TOP_K) for question in questions]
        metrics[mode] = _means(index, questions, responses)
        degraded[mode] = sum(each.degraded for each in responses)
    report = {
        "index_version": index.version,
        "documents": index.document_count,
        "chunks": index.chunk_count,
        "questions": len(questions),
        "questions_sha256": hash_questions(asked.questions),
        "skipped": asked.skipped,
        "missing": missing,
        "metrics": metrics,
        "degraded": degraded,
    }
    report["recorded"], failures = compare(report, chosen.tolerance)
    report["failures"] = find_shortfalls(minimums, next(iter(metrics.values()))) + failures
    return report, describe(report), 1 if report["failures"] else 0


def _searches(
    index: Index, search: Search, modes: Sequence[str] | None
) -> dict[str, Callable[..., SearchResponse]]:
    if index.manifest.dense is not None:
        return {mode: partial(search, mode=mode) for mode in modes or MODES}
    if set(modes or ()) - {"keyword"}:
        hint = "leave out --mode"
        raise ConfigurationError("this server supports only keyword search", hint=hint)
    return {"keyword": search}


def _means(
    index: Index, questions: Sequence[Question], responses: Sequence[SearchResponse]
) -> dict[str, float]:
    rows = [
        measure(rank_documents(index, response.hits), question.relevant)
        for question, response in zip(questions, responses, strict=True)
    ]
    return {name: mean([row[name] for row in rows]) for name in METRICS}
