"""Draws small plots side by side in one SVG, with logarithmic axes, for light and dark pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 250.0, 150.0
"""Size of one plot, without its labels."""

LEFT, TOP, RIGHT, BOTTOM = 52.0, 46.0, 14.0, 34.0
COLUMNS = 3
STEPS = (1, 2, 5)
MOST_TICKS = 7
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 12px; }
.grid { stroke: #d0d7de; stroke-width: 0.7; }
.limit { stroke: #57606a; stroke-dasharray: 5 4; }
.line { fill: none; stroke-width: 2; }
.c0 { stroke: #0969da; } .d0 { fill: #0969da; }
.c1 { stroke: #bc4c00; } .d1 { fill: #bc4c00; }
.c2 { stroke: #1a7f37; } .d2 { fill: #1a7f37; }
.paper { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.grid { stroke: #30363d; }
.limit { stroke: #8b949e; }
.c0 { stroke: #58a6ff; } .d0 { fill: #58a6ff; }
.c1 { stroke: #f0883e; } .d1 { fill: #f0883e; }
.c2 { stroke: #3fb950; } .d2 { fill: #3fb950; }
.paper { fill: #0d1117; }
}
"""


@dataclass(frozen=True, slots=True)
class Series:
    """A line through points with positive coordinates."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Plot:
    """At most three lines over the same axis; `limit` is a dashed horizontal line."""

    title: str
    series: Sequence[Series]
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    length: float

    def place(self, value: float) -> float:
        # One value alone has no span.
        span = math.log(self.high / self.low) or 1.0
        return self.length * math.log(value / self.low) / span

    def ticks(self) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        fine = [step * 10.0**power for power in range(first, last + 1) for step in STEPS]
        inside = [tick for tick in fine if self.low <= tick * 1.0001 and tick <= self.high * 1.0001]
        if len(inside) <= MOST_TICKS:
            return inside
        return [tick for tick in inside if math.log10(tick).is_integer()]


def draw(plots: Sequence[Plot], across: str) -> str:
    """Return the SVG of all plots; `across` is the label of the horizontal axis."""
    columns = min(COLUMNS, len(plots))
    rows = -(-len(plots) // columns)
    cell_width, cell_height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    width, height = columns * cell_width, rows * cell_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{escape(', '.join(plot.title for plot in plots))}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    for number, plot in enumerate(plots):
        x = number % columns * cell_width + LEFT
        y = number // columns * cell_height + TOP
        parts += [f'<g transform="translate({x:.1f},{y:.1f})">', *_plot(plot, across), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _plot(plot: Plot, across: str) -> list[str]:
    points = [point for series in plot.series for point in series.points]
    values = [y for _, y in points] + ([plot.limit] if plot.limit else [])
    horizontal = _Axis(min(x for x, _ in points), max(x for x, _ in points), WIDTH)
    vertical = _Axis(_below(min(values)), _above(max(values)), HEIGHT)
    parts = [f'<text class="title" x="0" y="-28">{escape(plot.title)}</text>']
    for tick in vertical.ticks():
        y = HEIGHT - vertical.place(tick)
        parts.append(f'<line class="grid" x1="0" x2="{WIDTH:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{_short(tick)}</text>')
    for x_value in sorted({x for x, _ in points}):
        x = horizontal.place(x_value)
        text = _short(x_value)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT + 15}" text-anchor="middle">{text}</text>')
    middle = WIDTH / 2
    label = f'<text x="{middle}" y="{HEIGHT + 28}" text-anchor="middle">{escape(across)}</text>'
    parts.append(label)
    if plot.limit:
        y = HEIGHT - vertical.place(plot.limit)
        parts.append(f'<line class="limit" x1="0" x2="{WIDTH:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    left = 0.0
    for number, series in enumerate(plot.series):
        places = [
            (horizontal.place(x), HEIGHT - vertical.place(y)) for x, y in sorted(series.points)
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line c{number}" points="{path}"/>')
        parts += [f'<circle class="d{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
        parts.append(f'<circle class="d{number}" cx="{left + 4:.1f}" cy="-14" r="4"/>')
        parts.append(f'<text x="{left + 12:.1f}" y="-10">{escape(series.name)}</text>')
        left += 22 + 6.2 * len(series.name)
    return parts


def _below(value: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, ... that does not exceed a value."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in STEPS if step * power <= value * 1.0001)


def _above(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return min(step * power for step in (*STEPS, 10, 20) if step * power > value * 0.9999)


def _short(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
