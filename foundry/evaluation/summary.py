"""An evaluation for people who read it in a terminal."""

from foundry.evaluation.metrics import METRICS
from foundry.evaluation.questions import describe_skipped
from foundry.evaluation.results import CONFIGURED, Evaluation
from foundry.records import KnownItemFigures
from foundry.tables import format_table

HEADLINE = "nDCG@10"


def describe_evaluation(evaluation: Evaluation) -> str:
    """Return what was asked, a table of all systems, and what is to be known about the figures."""
    heading = (
        f"{count_questions(evaluation)}, {evaluation.facts['documents']:,} documents,"
        f" {evaluation.facts['chunks']:,} chunks"
    )
    return "\n\n".join([heading, _table(evaluation), "\n".join(describe_notes(evaluation))])


def count_questions(evaluation: Evaluation) -> str:
    """Return how many questions of which kind."""
    what = "known-item queries" if evaluation.kind == "known-item" else "questions"
    return f"{evaluation.facts['questions']:,} {what}"


def describe_notes(evaluation: Evaluation) -> list[str]:
    """Return sentences: what hybrid is, how sure its headline is, how others differ, what lacks."""
    own = evaluation.intervals[CONFIGURED][HEADLINE]
    options = evaluation.configured
    how = "by keywords alone"
    if "semantic" in evaluation.systems:
        how = (
            f"{options['fusion']} fusion, {options['semantic_weight']:g} semantic and"
            f" {options['keyword_weight']:g} keyword"
        )
    notes = [
        f"{CONFIGURED} is the server as configured: {how}",
        f"{HEADLINE} of {CONFIGURED}: {own.mean:.4f},"
        f" 95 % interval {own.low:.4f} to {own.high:.4f}",
    ]
    for system, found in evaluation.differences.items():
        difference = found[HEADLINE]
        if difference.low == difference.high == 0:
            continue
        verdict = "within noise" if difference.is_noise else "beyond noise"
        notes.append(
            f"{system} differs by {difference.mean:+.4f},"
            f" 95 % interval {difference.low:+.4f} to {difference.high:+.4f}: {verdict}"
        )
    if figures := evaluation.facts["known_items"]:
        notes.append(f"when it was built, {KnownItemFigures(**figures).describe()}")
    if evaluation.kind == "known-item":
        notes.append(
            "known-item queries were made from the corpus: they are no measure of real questions"
        )
    if said := describe_skipped(evaluation.facts["skipped"]):
        notes.append(said)
    if missing := evaluation.facts["missing"]:
        notes.append(f"{len(missing):,} relevant names are not in the index: {_some(missing)}")
    if unjudged := evaluation.facts["unjudged"]:
        notes.append(f"{unjudged:,} queries have no relevant document and were left out")
    notes += [
        f"{count:,} of the answers of {system} are by keywords alone: no vector for the query"
        for system, count in evaluation.degraded.items()
        if count
    ]
    return notes


def _table(evaluation: Evaluation) -> str:
    rows = [["system", *METRICS, "median ms", "p95 ms"]]
    for system, means in evaluation.means().items():
        times = evaluation.latency_ms[system]
        values = (f"{means[name]:.4f}" for name in METRICS)
        rows.append([system, *values, f"{times['median']:.2f}", f"{times['p95']:.2f}"])
    return format_table(rows)


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:3])
    return f"{shown}, ..." if len(names) > 3 else shown
