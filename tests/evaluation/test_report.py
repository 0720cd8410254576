"""The report: escaped, complete, and self-contained."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluations import hit, make_evaluation

from foundry.errors import FoundryError
from foundry.evaluation.report import render_report, write_report
from foundry.runtime.evaluation.metrics import METRICS

HOSTILE = "</title><script>alert(1)</script><img src=http://x.test/ onerror='x'>{{ 7*7 }}"
SYSTEMS = {"hybrid": [0.2, 1.0], "rrf": [0.4, 0.5], "keyword": [0.0, 0.0]}


class Tags(HTMLParser):
    """Every tag of a page with its attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def render(**changes: Any) -> str:
    values = {name: np.array([0.2, 0.6]) for name in METRICS}
    sweep = dict.fromkeys((0.0, 0.5, 1.0), values)
    return render_report("A <title>", make_evaluation(SYSTEMS, sweep=sweep, **changes), None)


def test_every_text_is_escaped() -> None:
    asked = [
        {
            "query": HOSTILE,
            "relevant": {HOSTILE: 2.0},
            "paths": [HOSTILE],
            "mode": "hybrid",
            "reason": "default",
            "hits": [{**hit(HOSTILE, 0.5, relevant=False), "title": HOSTILE, "path": HOSTILE}],
        }
    ] * 2
    html = render(asked=asked, missing=[HOSTILE])
    found = Tags(html)
    assert not {tag for tag, _ in found.tags} & {"script", "img", "iframe", "link", "object"}
    assert html.count("<title>A &lt;title&gt;: evaluation</title>") == 1
    assert "{{ 7*7 }}" in found.text
    assert HOSTILE in found.text


def test_report_loads_nothing_from_elsewhere() -> None:
    html = render()
    found = Tags(html)
    names = {name for _, attributes in found.tags for name in attributes}
    assert not names & {"src", "href", "onclick", "onload", "action"}
    assert not re.search(r"url\(|@import|https?:", html)
    policies = [a["content"] for t, a in found.tags if a.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_drawings_are_well_formed_and_stay_inside() -> None:
    drawings = re.findall(r"<svg viewBox=\"-40.*?</svg>", render(), re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        root = ET.fromstring(drawing)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        for bar in root.iter("rect"):
            x, y = float(bar.attrib["x"]), float(bar.attrib["y"])
            assert left <= x <= x + float(bar.attrib["width"]) <= left + width
            assert top <= y <= y + float(bar.attrib["height"]) <= top + height
        for curve in root.iter("polyline"):
            for point in curve.attrib["points"].split():
                x, y = map(float, point.split(","))
                assert left <= x <= left + width and top <= y <= top + height


def test_figures_notes_and_worst_questions_are_there() -> None:
    text = Tags(render(kind="known-item", unjudged=4)).text
    assert "2 known-item queries" in text
    assert "do not measure real questions" in text
    assert "4 queries left out, without a relevant document" in text
    assert "0.6000" in text
    assert "question 0" in text
    assert "question 1" not in text  # The question was answered perfectly.


def test_perfect_evaluations_and_those_without_ranks_have_a_report() -> None:
    perfect = make_evaluation({"hybrid": [1.0], "keyword": [1.0]})
    assert "every relevant document ranks above" in render_report("x", perfect, None)
    empty = make_evaluation({"hybrid": [0.0]}, asked=[{**perfect.questions[0], "hits": []}])
    assert "0.000" in render_report("x", empty, None)


def test_unwritable_report(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FoundryError, match="cannot be written"):
        write_report(tmp_path / "file" / "r.html", "x", make_evaluation(SYSTEMS), None)
