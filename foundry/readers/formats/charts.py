"""The words on charts that notebooks keep as Plotly's or Vega's JSON."""

import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 30
_KIND = re.compile(r"application/vnd\.(plotly|vega|vegalite)\.v\d+\+json")
# Values, and settings whose titles are not shown.
_OTHERS = frozenset("values datasets config template usermeta".split())
_TITLES = frozenset("title subtitle text header".split())
_TAG = re.compile(r"<[^<>]+>")


def chart_titles(kind: str, chart: Any) -> Iterator[str]:
    """Yield the titles of a chart, its axes and its series, each once; nothing for other kinds."""
    if found := _KIND.fullmatch(kind):
        is_plotly = found[1] == "plotly"
        titles = [*(_plotly(chart) if is_plotly else _titles(chart, 0))]
        yield from dict.fromkeys(" ".join(_TAG.sub(" ", each).split()) for each in titles)


def _plotly(chart: Any) -> Iterator[str]:
    if isinstance(chart, dict):
        yield from _titles(chart.get("layout"), 0)
        for trace in chart.get("data") or ():
            if isinstance(trace, dict) and isinstance(name := trace.get("name"), str):
                yield name


def _titles(node: Any, depth: int) -> Iterator[str]:
    """Yield the titles below a node: texts, lists of lines, or objects with a text."""
    if depth > MAX_DEPTH:
        return
    if isinstance(node, list):
        for each in node:
            yield from _titles(each, depth + 1)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _TITLES and isinstance(value, str):
                yield value
            elif key in _TITLES and isinstance(value, list):
                yield " ".join(each for each in value if isinstance(each, str))
            elif key not in _OTHERS:
                yield from _titles(value, depth + 1)
