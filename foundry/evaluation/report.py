"""The report: a self-contained HTML file without scripts."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from foundry.errors import FoundryError
from foundry.evaluation.results import CONFIGURED, HEADLINE, Evaluation, Values
from foundry.evaluation.tuning import Tuning
from foundry.files import replace_file
from foundry.runtime.evaluation.metrics import METRICS

WORST_QUESTIONS = 25
"""Maximum number of questions shown with their hits."""

BINS = 20
SWEPT_METRICS = ("nDCG@10", "hit@5", "R-precision")


def write_report(file: Path, title: str, evaluation: Evaluation, tuning: Tuning | None) -> None:
    """Write the report, replacing the previous one. Raises FoundryError."""
    content = render_report(title, evaluation, tuning).encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, content)
    except OSError as error:
        raise FoundryError(
            f"{file}: cannot be written: {error.strerror or error}",
            hint="name another file with --report",
        ) from None


def render_report(title: str, evaluation: Evaluation, tuning: Tuning | None) -> str:
    """Return the report as HTML, with all texts escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja").render(
        title=title,
        counted=evaluation.count_questions(),
        facts=evaluation.facts,
        notes=evaluation.describe_notes(),
        metrics=list(METRICS),
        intervals=evaluation.intervals,
        latency=evaluation.latency_ms,
        headline=HEADLINE,
        sweep=_chart_sweep(evaluation.sweep),
        configured=evaluation.configured_share,
        scores=_chart_scores(evaluation),
        worst=_worst_questions(evaluation),
        tuning=tuning.describe() if tuning else None,
    )


def _worst_questions(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return the questions with the lowest values, lowest first, without perfect ones."""
    values = [float(value) for value in evaluation.systems[CONFIGURED][HEADLINE]]
    worst = sorted((value, place) for place, value in enumerate(values) if value < 1)
    return [
        {
            **(question := evaluation.questions[place]),
            "value": value,
            "found": {hit["document_id"] for hit in question["hits"]},
        }
        for value, place in worst[:WORST_QUESTIONS]
    ]


def _chart_sweep(sweep: Mapping[float, Values]) -> dict[str, Any] | None:
    """Return means of metrics by semantic weight, and their range; None without weights."""
    if not sweep:
        return None
    means = {
        name: {weight: float(values[name].mean()) for weight, values in sweep.items()}
        for name in SWEPT_METRICS
    }
    every = [mean for by_weight in means.values() for mean in by_weight.values()]
    lowest, highest = math.floor(min(every) * 20) / 20, math.ceil(max(every) * 20) / 20
    if highest <= lowest:
        lowest, highest = lowest - 0.05, lowest + 0.05
    return {"means": means, "lowest": lowest, "highest": highest}


def _chart_scores(evaluation: Evaluation) -> dict[str, Any]:
    """Return histograms of the first hits' scores, for relevant hits and for other hits.

    `shares` has the shares of relevant and of other hits in each bin.
    """
    hits = [hit for question in evaluation.questions for hit in question["hits"]]
    kinds = [[hit["score"] for hit in hits if hit["relevant"] == kind] for kind in (True, False)]
    # The bins end at the highest score, because some fusions use only a part of [0, 1].
    top = float(max((hit["score"] for hit in hits), default=1.0)) or 1.0
    shares = [np.histogram(kind, BINS, (0, top))[0] / max(1, len(kind)) for kind in kinds]
    return {
        "counts": [len(kind) for kind in kinds],
        "top": top,
        "shares": np.transpose(shares).tolist(),
        "tallest": max(float(np.max(shares)), 1e-9),
    }
