"""The command eval: asks the questions that came with a server and holds it to its figures."""

import argparse
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..index.errors import ConfigurationError
from ..index.reader import Index
from ..retrieval.printing import format_table
from .asking import Run, Search, ask_all, ask_untimed
from .figures import (
    RECORDED_FIGURES,
    Change,
    Figures,
    compare,
    corpus_hash,
    find_shortfalls,
    parse_minimum,
)
from .metrics import METRICS
from .questions import (
    CARRIED_QUESTIONS,
    Kind,
    Question,
    QuestionSet,
    describe_skipped,
    known_items,
    read_questions,
    resolve,
)

TOLERANCE = 0.01
"""By how much a mean may be below the recorded one."""

MODES = ("hybrid", "semantic", "keyword")

TryWeight = Callable[[float], AbstractContextManager[None]]
"""Has searches within use another semantic weight; see `weights`."""


def add_arguments(parser: argparse.ArgumentParser, *, weights: bool) -> None:
    """Describe the options of the command; `weights` says whether the lanes have any."""
    parser.add_argument(
        "--questions", type=Path, metavar="FILE", help="other questions than those that came along"
    )
    parser.add_argument(
        "--mode", action="append", choices=MODES, help="only in this mode; repeatable (all)"
    )
    if weights:
        parser.add_argument(
            "--semantic-weight",
            type=float,
            action="append",
            metavar="W",
            help="also measure hybrid with this weight, 0 to 1, and 1 - W for keywords; repeatable",
        )
    parser.set_defaults(semantic_weight=[])
    parser.add_argument(
        "--min",
        action="append",
        default=[],
        metavar="METRIC=VALUE",
        help="fail if the mean of the first mode is lower; repeatable",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        metavar="T",
        help="how far a mean may be below the recorded one (%(default)s)",
    )
    parser.add_argument(
        "--any-corpus",
        action="store_true",
        help="compare with the recorded figures although they are of other documents",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


Report = dict[str, Any]


def evaluate(
    chosen: argparse.Namespace, search: Search, index: Index, try_weight: TryWeight | None
) -> tuple[Report, str]:
    """Ask all questions; returns a report for programs and one for people.

    `failures` in the former says what fails the run. Raises ConfigurationError for options or
    questions that cannot be used.
    """
    minimums = [parse_minimum(written) for written in chosen.min]
    if any(not 0 <= weight <= 1 for weight in chosen.semantic_weight):
        raise ConfigurationError("--semantic-weight must be from 0 to 1", hint="such as 0.5")
    asked = _choose_questions(chosen.questions, index)
    questions, missing = resolve(index, asked.questions)
    if newest := index.filters.newest_date():
        # Where age counts, it is counted from here: figures must not change with the calendar.
        os.environ.setdefault("REFERENCE_DATE", newest)
    modes = chosen.mode or (MODES if index.manifest.dense else ("hybrid", "keyword"))
    runs = [ask_all(search, questions, mode) for mode in dict.fromkeys(modes)]
    sweep = _sweep(chosen.semantic_weight, search, questions, try_weight)
    figures = Figures(
        corpus=corpus_hash(index),
        questions_sha256=asked.sha256,
        questions=len(questions),
        metrics={run.name: run.means() for run in runs},
    )
    changes, verdict = _compare(figures, any_corpus=chosen.any_corpus)
    failures = find_shortfalls(minimums, runs[0].means())
    failures += [
        f"{change.metric} of {change.mode} fell from {change.before:.4f} to {change.now:.4f}"
        for change in changes
        if change.drop > chosen.tolerance
    ]
    report = {
        "kind": asked.kind,
        **asdict(figures),
        "documents": index.document_count,
        "chunks": index.chunk_count,
        "index_version": index.version,
        "latency_ms": {run.name: run.latency() for run in runs},
        "degraded": {run.name: run.degraded for run in runs},
        "missing": missing,
        "skipped": dict(asked.skipped),
        "weights": [
            {"semantic_weight": weight, "metrics": run.means()}
            for weight, run in zip(chosen.semantic_weight, sweep, strict=True)
        ],
        "recorded": verdict,
        "failures": failures,
        "per_question": _per_question(index, questions, [*runs, *sweep]),
    }
    return report, _describe(report, asked.kind, runs, sweep)


def _choose_questions(file: Path | None, index: Index) -> QuestionSet:
    if file is not None:
        return read_questions(file)
    return read_questions(CARRIED_QUESTIONS) if CARRIED_QUESTIONS.exists() else known_items(index)


def _sweep(
    weights: Sequence[float],
    search: Search,
    questions: Sequence[Question],
    try_weight: TryWeight | None,
) -> list[Run]:
    if try_weight is None:
        return []
    runs = []
    for weight in weights:
        with try_weight(weight):
            runs.append(ask_untimed(search, questions, f"hybrid {weight:g}"))
    return runs


def _compare(now: Figures, *, any_corpus: bool) -> tuple[list[Change], str]:
    """Changes since the export, and in a sentence whether there is anything to compare."""
    recorded = Figures.read(RECORDED_FIGURES)
    if recorded is None:
        return [], "no figures were recorded when this server was exported"
    if recorded.questions_sha256 != now.questions_sha256:
        return [], "not compared with the recorded figures, which are of other questions"
    if recorded.corpus != now.corpus and not any_corpus:
        return [], "not compared with the recorded figures, which are of another corpus"
    return compare(recorded.metrics, now.metrics), "compared with the recorded figures"


def _per_question(index: Index, questions: Sequence[Question], runs: Sequence[Run]) -> list[Report]:
    first = runs[0]
    return [
        {
            "query": question.query,
            "relevant": dict(question.relevant),
            "paths": [_path(index, document) for document in question.relevant],
            "mode": first.answers[place].mode,
            "reason": first.answers[place].reason,
            "values": {run.name: run.answers[place].values for run in runs},
            "hits": list(first.answers[place].hits),
        }
        for place, question in enumerate(questions)
    ]


def _path(index: Index, document_id: str) -> str | None:
    document = index.find_document(document_id)
    return None if document is None else document.path


def _describe(report: Report, kind: Kind, runs: Sequence[Run], sweep: Sequence[Run]) -> str:
    what = "known-item queries" if kind == "known-item" else "questions"
    lines = [
        f"{report['questions']:,} {what}, {report['documents']:,} documents,"
        f" {report['chunks']:,} chunks",
        "",
        format_table(
            [
                ("mode", *METRICS, "median ms", "p95 ms"),
                *(_table_row(run, timed=True) for run in runs),
                *(_table_row(run, timed=False) for run in sweep),
            ]
        ),
        "",
        report["recorded"],
    ]
    if said := describe_skipped(report["skipped"]):
        lines.append(said)
    if report["missing"]:
        names = report["missing"]
        lines.append(f"{len(names):,} relevant names are not in the index, such as {names[0]!r}")
    lines += [
        f"{run.degraded:,} {what} were answered by keywords although {run.name} was asked for"
        for run in runs
        if run.degraded
    ]
    lines += [f"FAILED: {failure}" for failure in report["failures"]]
    return "\n".join(lines)


def _table_row(run: Run, *, timed: bool) -> tuple[str, ...]:
    times = [f"{time:.2f}" for time in run.latency().values()] if timed else ["", ""]
    return (run.name, *(f"{value:.4f}" for value in run.means().values()), *times)
