"""The report: one HTML file that needs nothing else, neither scripts nor the network."""

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from foundry.errors import FoundryError
from foundry.evaluation.metrics import METRICS
from foundry.evaluation.results import CONFIGURED, HEADLINE, Evaluation, Values
from foundry.evaluation.tuning import Tuning

WORST_QUESTIONS = 25
"""Questions that are shown with what was found for them."""

HEIGHT = 220.0
"""Of the plots; values grow upwards from here to 0."""

BAR_WIDTH = 12.0
GROUP_GAP = 26.0
CURVE_WIDTH = 640.0
BINS = 20
SWEPT_METRICS = ("nDCG@10", "hit@5", "R-precision")

Chart = dict[str, Any]
"""Where each bar, line and label of a drawing goes, as the template names them."""


def write_report(file: Path, title: str, evaluation: Evaluation, tuning: Tuning | None) -> None:
    """Write the report in place of the one before. Raises FoundryError."""
    content = render_report(title, evaluation, tuning).encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as stream:
            stream.write(content)
        Path(stream.name).chmod(0o644)
        Path(stream.name).replace(file)
    except OSError as error:
        raise FoundryError(
            f"{file}: cannot be written: {error.strerror or error}",
            hint="name another file with --report",
        ) from None


def render_report(title: str, evaluation: Evaluation, tuning: Tuning | None) -> str:
    """Return the report as HTML; every text in it is escaped."""
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
        bars=_chart_metrics(evaluation),
        sweep=_chart_sweep(evaluation.sweep, evaluation.configured_share),
        scores=_chart_scores(evaluation),
        worst=_worst_questions(evaluation),
        tuning=tuning.describe() if tuning else None,
        height=HEIGHT,
        bar_width=BAR_WIDTH,
        curve_width=CURVE_WIDTH,
    )


def _worst_questions(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return the questions with the lowest value, lowest first; none that is perfect."""
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


def _chart_metrics(evaluation: Evaluation) -> Chart:
    """Return all metrics of all systems, side by side, each with its interval."""
    systems = list(evaluation.intervals)
    group = BAR_WIDTH * len(systems) + GROUP_GAP
    bars, labels = [], []
    for place, name in enumerate(METRICS):
        left = place * group + GROUP_GAP / 2
        labels.append({"x": left + BAR_WIDTH * len(systems) / 2, "text": name})
        for number, system in enumerate(systems):
            found = evaluation.intervals[system][name]
            tops = {
                key: round(HEIGHT * (1 - value), 2)
                for key, value in (("top", found.mean), ("low", found.low), ("high", found.high))
            }
            text = f"{system}, {name}: {found.mean:.4f} ({found.low:.4f} to {found.high:.4f})"
            bars.append({"series": number, "x": left + number * BAR_WIDTH, **tops, "text": text})
    return {"width": group * len(METRICS), "series": systems, "bars": bars, "labels": labels}


def _chart_sweep(sweep: Mapping[float, Values], configured: float | None) -> Chart | None:
    """Return metrics over the semantic weight; None if no weights were tried."""
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
    curves = []
    for name, by_weight in means.items():
        points = (
            (CURVE_WIDTH * weight, HEIGHT * (highest - mean) / (highest - lowest))
            for weight, mean in by_weight.items()
        )
        curves.append({"name": name, "path": " ".join(f"{x:.1f},{y:.1f}" for x, y in points)})
    return {
        "lowest": lowest,
        "highest": highest,
        "curves": curves,
        "labels": [{"x": CURVE_WIDTH * tick / 5, "text": f"{tick / 5:g}"} for tick in range(6)],
        "configured": None if configured is None else CURVE_WIDTH * configured,
    }


def _chart_scores(evaluation: Evaluation) -> Chart:
    """Return how scores of relevant hits differ from the others', among the first hits."""
    hits = [hit for question in evaluation.questions for hit in question["hits"]]
    relevant = [float(hit["score"]) for hit in hits if hit["relevant"]]
    other = [float(hit["score"]) for hit in hits if not hit["relevant"]]
    # Some fusions and stages leave most of [0, 1] empty.
    top = max([*relevant, *other], default=1.0) or 1.0
    shares = _shares(relevant, top), _shares(other, top)
    tallest = max(*shares[0], *shares[1], 1e-9)
    width = CURVE_WIDTH / BINS
    columns = [
        {
            "x": width * place,
            "relevant": HEIGHT * first / tallest,
            "other": HEIGHT * second / tallest,
            "text": f"score {top * place / BINS:.3f} to {top * (place + 1) / BINS:.3f}:"
            f" {first:.0%} of the relevant hits, {second:.0%} of the others",
        }
        for place, (first, second) in enumerate(zip(*shares, strict=True))
    ]
    return {
        "width": width,
        "columns": columns,
        "labels": [{"x": CURVE_WIDTH * n / 4, "text": f"{top * n / 4:.3g}"} for n in range(5)],
        "relevant": len(relevant),
        "other": len(other),
    }


def _shares(scores: Sequence[float], top: float) -> list[float]:
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, int(BINS * score / top))] += 1
    return [count / max(1, len(scores)) for count in counts]
