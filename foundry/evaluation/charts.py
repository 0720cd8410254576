"""The report's charts as numbers: where each bar, line and label goes in an SVG drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from foundry.evaluation.metrics import METRICS
from foundry.evaluation.results import CONFIGURED, Evaluation, Sweep

HEIGHT = 220.0
"""Of the plots; values grow upwards from here to 0."""

BAR_WIDTH = 12.0
GROUP_GAP = 26.0
CURVE_WIDTH = 640.0
BINS = 20
SWEPT_METRICS = ("nDCG@10", "hit@5", "R-precision")


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from the base line up, with the ends of its interval; `text` is shown on pointing."""

    series: int
    x: float
    top: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text below the base line, centred."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """Groups of bars, one for each metric; `series` are the systems' names."""

    width: float
    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points (x, y)."""

    name: str
    points: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        """The points as SVG writes them."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True, slots=True)
class CurveChart:
    """Curves over the semantic weight; `lowest` and `highest` are the values at the edges."""

    lowest: float
    highest: float
    curves: tuple[Curve, ...]
    labels: tuple[Label, ...]
    configured: float | None


@dataclass(frozen=True, slots=True)
class Column:
    """The share of relevant and of other hits in one range of scores, as heights."""

    x: float
    relevant: float
    other: float
    text: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """Columns over the range of scores."""

    width: float
    columns: tuple[Column, ...]
    labels: tuple[Label, ...]
    relevant: int
    other: int


def chart_metrics(evaluation: Evaluation) -> BarChart:
    """Return all metrics of all systems, side by side."""
    systems = tuple(evaluation.intervals)
    group = BAR_WIDTH * len(systems) + GROUP_GAP
    bars, labels = [], []
    for place, name in enumerate(METRICS):
        left = place * group + GROUP_GAP / 2
        labels.append(Label(left + BAR_WIDTH * len(systems) / 2, name))
        for number, system in enumerate(systems):
            found = evaluation.intervals[system][name]
            text = f"{system}, {name}: {found.mean:.4f} ({found.low:.4f} to {found.high:.4f})"
            x = left + number * BAR_WIDTH
            bars.append(Bar(number, x, _y(found.mean), _y(found.low), _y(found.high), text))
    return BarChart(group * len(METRICS), systems, tuple(bars), tuple(labels))


def chart_sweep(sweep: Sweep, configured_share: float | None) -> CurveChart | None:
    """Metrics over the semantic weight; None if no weights were tried."""
    if not sweep.weights:
        return None
    means = {
        name: [float(values[name].mean()) for values in sweep.values] for name in SWEPT_METRICS
    }
    every = [value for values in means.values() for value in values]
    lowest, highest = math.floor(min(every) * 20) / 20, math.ceil(max(every) * 20) / 20
    lowest, highest = (lowest, highest) if highest > lowest else (lowest - 0.05, lowest + 0.05)

    def place(value: float) -> float:
        return HEIGHT * (highest - value) / (highest - lowest)

    curves = tuple(
        Curve(
            name,
            tuple(
                (CURVE_WIDTH * weight, place(value))
                for weight, value in zip(sweep.weights, values, strict=True)
            ),
        )
        for name, values in means.items()
    )
    labels = tuple(Label(CURVE_WIDTH * tick / 5, f"{tick / 5:g}") for tick in range(6))
    mark = None if configured_share is None else CURVE_WIDTH * configured_share
    return CurveChart(lowest, highest, curves, labels, mark)


def chart_scores(evaluation: Evaluation) -> Distribution:
    """Return how the scores of relevant hits differ from those of the others, among the first
    hits."""
    hits = [hit for question in evaluation.questions for hit in question["hits"]]
    relevant = [float(hit["score"]) for hit in hits if hit["relevant"]]
    other = [float(hit["score"]) for hit in hits if not hit["relevant"]]
    # Some fusions and stages leave most of [0, 1] empty.
    top = max([*relevant, *other], default=1.0) or 1.0
    shares = _shares(relevant, top), _shares(other, top)
    tallest = max(*shares[0], *shares[1], 1e-9)
    width = CURVE_WIDTH / BINS
    columns = tuple(
        Column(
            x=width * place,
            relevant=HEIGHT * first / tallest,
            other=HEIGHT * second / tallest,
            text=f"score {top * place / BINS:.3f} to {top * (place + 1) / BINS:.3f}:"
            f" {first:.0%} of the relevant hits, {second:.0%} of the others",
        )
        for place, (first, second) in enumerate(zip(*shares, strict=True))
    )
    labels = tuple(Label(CURVE_WIDTH * tick / 4, f"{top * tick / 4:.3g}") for tick in range(5))
    return Distribution(width, columns, labels, len(relevant), len(other))


def configured_share(evaluation: Evaluation) -> float | None:
    """Return the semantic share of the weights in use; None where there is one lane only."""
    semantic = float(evaluation.configured["semantic_weight"])
    keyword = float(evaluation.configured["keyword_weight"])
    return semantic / (semantic + keyword) if len(evaluation.systems) > 2 else None


def worst_questions(evaluation: Evaluation, metric: str, count: int) -> list[int]:
    """Places of the questions with the lowest value, lowest first, as many as are not perfect."""
    values = evaluation.systems[CONFIGURED][metric]
    order = sorted(range(len(values)), key=lambda place: (float(values[place]), place))
    return [place for place in order if values[place] < 1][:count]


def _y(value: float) -> float:
    return round(HEIGHT * (1 - value), 2)


def _shares(scores: Sequence[float], top: float) -> list[float]:
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, int(BINS * score / top))] += 1
    return [count / max(1, len(scores)) for count in counts]
