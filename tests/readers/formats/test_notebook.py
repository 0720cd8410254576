"""Notebooks as Jupyter, Colab and Quarto write them."""

import json
from typing import Any

from document_files import read_document

from foundry.documents import Document, RawDocument
from foundry.documents.left_out import Omission
from foundry.readers import read

MAGICS = ("%md", "%md-sandbox", "%%markdown")


def read_notebook(*cells: dict[str, Any], **more: Any) -> Document:
    content = json.dumps({"nbformat": 4, "metadata": {}, "cells": cells, **more}).encode()
    return read_document(content, "a.ipynb")


def code(*outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": "show()", "outputs": outputs}


def shown(**data: Any) -> dict[str, Any]:
    kinds = {"plain": "text/plain", "html": "text/html", "md": "text/markdown"}
    kinds |= {"svg": "image/svg+xml", "latex": "text/latex", "png": "image/png"}
    kinds |= {"jpeg": "image/jpeg", "plotly": "application/vnd.plotly.v1+json"}
    kinds["vega"] = "application/vnd.vegalite.v5+json"
    return {"output_type": "display_data", "data": {kinds[key]: data[key] for key in data}}


def outputs_of(*outputs: dict[str, Any]) -> str:
    return read_notebook(code(*outputs)).reading.text.partition("show()\n```\n\n")[2]


def test_richest_form_with_words_is_read() -> None:
    table = "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"
    assert outputs_of(
        shown(md="**42** quinces", plain="<IPython.core.display.Markdown object>")
    ) == ("**42** quinces")
    assert "| a |" in outputs_of(shown(html=table, plain="   a\n0  1"))
    assert outputs_of(shown(html="<script>draw()</script>", plain="Bars of 3")) == (
        "```\nBars of 3\n```"
    )
    assert outputs_of(shown(latex=["$x", "^2$"], plain="x**2")) == "$x^2$"
    assert outputs_of(shown(svg="<svg><text>root</text></svg>", plain="<Graph at 0x7>")) == (
        "![root](cell-1/output-1.svg)"
    )


def test_pictures_are_named_after_their_cell() -> None:
    figure = shown(png="iVBO", plain="<Figure size 640x480 with 1 Axes>")
    described = shown(jpeg="/9j/", plain="a plot without a title")
    pasted = {
        "cell_type": "markdown",
        "source": "See ![the pump](attachment:image.png).",
        "attachments": {"image.png": {"image/png": "iVBO"}},
    }
    assert read_notebook(pasted, code(figure, described)).reading.text.split("\n\n") == [
        "See ![the pump](cell-1/image.png).",
        "```\nshow()\n```",
        "![](cell-2/output-1.png)",
        "![a plot without a title](cell-2/output-2.jpg)",
    ]


def test_other_forms_are_reported() -> None:
    document = read_notebook(code(shown(html="<p>Rows of plums</p>", plain="plums plain")))
    assert [(each.reason, each.text) for each in document.reading.left_out] == [
        (Omission.DUPLICATE, "plums plain")
    ]


def test_colours_of_streams_and_errors_are_removed() -> None:
    stream = {"output_type": "stream", "text": ["\x1b[32mINFO\x1b[0m 10%\r", "20%\rdone\n"]}
    trace = ["\x1b[0;31mZeroDivisionError\x1b[0m: division by zero"]
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": trace}
    assert outputs_of(stream, error) == (
        "```\ndone\n```\n\n```\nZeroDivisionError: division by zero\n```"
    )
    assert outputs_of({**error, "traceback": []}) == "```\nE: v\n```"


def test_overwritten_output_is_reported() -> None:
    bars = ["\r 10% loading", "\r\x1b[32m100% loaded\x1b[0m\r\n", "Rain now\b\b\b\n"]
    document = read_notebook(code({"output_type": "stream", "text": bars}))
    assert "```\n100% loaded\nRain" in document.reading.text
    told = {(each.reason, each.text.strip()) for each in document.reading.left_out}
    assert told == {(Omission.HIDDEN, "now"), (Omission.HIDDEN, "10% loading")}
    assert document.reading.words is not None and document.reading.unaccounted == ()


def test_markdown_and_raw_cells() -> None:
    front = {
        "cell_type": "raw",
        "source": "---\ntitle: The plums\ndate: 2024-05-03\n---",
        "metadata": {},
    }
    words = '<div class="alert">Alert</div>\n\n<h2>Html heading</h2>\n\n<!-- remark -->\ntext'
    page = {"cell_type": "raw", "source": "<p>Raw page</p>", "metadata": {"format": "text/html"}}
    document = read_notebook(front, {"cell_type": "markdown", "source": words}, page)
    assert (document.title, document.modified) == ("The plums", "2024-05-03")
    assert [each.text for each in document.reading.headings] == ["Html heading"]
    assert document.reading.text.endswith("Raw page")
    assert "remark" not in document.reading.text and "<div" not in document.reading.text


def test_code_with_fences_and_long_outputs() -> None:
    text = read_notebook({"cell_type": "code", "source": '"""\n```\nx\n```\n"""'}).reading.text
    assert text.startswith("````\n") and text.endswith("\n````")
    document = read_notebook(code({"output_type": "stream", "text": "plum " * 20_000}))
    assert document.reading.left_out[0].reason is Omission.TOO_LONG


def test_notebooks_of_format_3() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "1", "outputs": [{"output_type": "pyout", "text": ["2"]}]},
    ]
    content = json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()
    document = read(RawDocument("s", "a.ipynb", "a.ipynb", content))
    assert isinstance(document, Document)
    assert document.reading.text == "## Old\n\n```\n1\n```\n\n```\n2\n```"


def test_notebooks_of_format_1() -> None:
    cells = [
        {"cell_type": "text", "text": "Plums"},
        {"cell_type": "code", "code": "print(7)", "prompt_number": 1},
    ]
    document = read_document(json.dumps({"nbformat": 1, "cells": cells}).encode(), "a.ipynb")
    assert document.reading.text == "Plums\n\n```\nprint(7)\n```"


def test_cells_of_markdown_in_code_are_markdown() -> None:
    cells = [{"cell_type": "code", "source": f"{magic}\n# Plums\nripe"} for magic in MAGICS]
    document = read_notebook(*cells)
    assert [heading.text for heading in document.reading.headings] == ["Plums"] * len(MAGICS)
    assert not document.reading.unaccounted


def test_messages_of_errors_that_their_trace_lacks_are_read() -> None:
    error = {"output_type": "error", "ename": "KeyError", "evalue": "no plum"}
    assert outputs_of({**error, "traceback": ["\x1b[31mcell 1\x1b[0m"]}) == (
        "```\ncell 1\nKeyError: no plum\n```"
    )


def test_titles_of_charts_are_read() -> None:
    plotly = {
        "data": [{"name": "Quinces", "y": [1, 2]}, {"name": "Medlars"}],
        "layout": {
            "title": {"text": "Harvest<br>of 2024"},
            "xaxis": {"title": "Week"},
            "template": {"layout": {"title": {"text": "no title"}}},
        },
    }
    vega = {
        "title": ["Prices", "in May"],
        "datasets": {"a": [{"title": "a value"}]},
        "encoding": {"x": {"field": "d", "title": "Day"}, "y": {"axis": {"title": "Euro"}}},
    }
    text = outputs_of(
        shown(plotly=plotly, html="<div></div>"),
        shown(vega=vega, plain="alt.Chart(...)"),
    )
    assert text.split("\n\n")[-7:] == [
        *("Harvest of 2024", "Week", "Quinces", "Medlars", "Prices in May", "Day", "Euro"),
    ]


def test_words_of_outputs_without_a_plain_form_are_counted() -> None:
    document = read_notebook(code(shown(html="<p>Medlar <b>rows</b></p>")))
    assert document.reading.words is not None
    assert document.reading.words.source == 3
