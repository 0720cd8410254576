"""PowerPoint's .pptx: a section for each slide, with its tables and notes."""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from foundry.material import Reading
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.formats.packed import Package, describe
from foundry.readers.formats.pictures import extend, read_pictures

MAX_GROUPS = 20
_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


def read(content: bytes, *, ocr: bool = False) -> Reading:
    """Read the slides in their order; a slide's number is its page, its title its heading.

    Hidden slides are left out. With `ocr`, pictures of slides without text are read. Raises
    UnreadableError for a bomb.
    """
    from pptx import Presentation

    package = Package(content)
    presentation = Presentation(io.BytesIO(content))
    composer = Composer()
    seen: list[int] = []
    unsure = 0
    for number, slide in enumerate(presentation.slides, 1):
        composer.page()
        if slide.element.get("show") == "0":
            continue
        title = slide.shapes.title
        named = title.text_frame.text.strip() if title is not None else ""
        composer.heading(2, named or f"Slide {number}")
        shapes = list(_in_reading_order(slide.shapes))
        for shape in shapes:
            if title is None or shape.shape_id != title.shape_id:
                _add_shape(composer, shape)
        if ocr and not any(map(_has_text, shapes)):
            found = read_pictures(_pictures(shapes))
            composer.include(found)
            seen += [number] * bool(found.text)
            unsure += found.unsure
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            composer.text(f"Notes: {notes}" if notes else "")
    reading = composer.finish(**describe(package.xml("docProps/core.xml")))
    return replace(reading, seen=tuple(seen), unsure=unsure)


def _has_text(shape: Any) -> bool:
    if getattr(shape, "has_table", False) or getattr(shape, "has_chart", False):
        return True
    is_title = shape.is_placeholder and shape.placeholder_format.idx == 0
    return shape.has_text_frame and not is_title and bool(shape.text_frame.text.strip())


def _pictures(shapes: Sequence[Any]) -> Iterator[bytes]:
    for shape in shapes:
        with suppress(AttributeError, KeyError, ValueError):
            yield shape.image.blob


def _add_shape(composer: Composer, shape: Any) -> None:
    if getattr(shape, "has_table", False):
        composer.table([[cell.text for cell in row.cells] for row in shape.table.rows])
    elif getattr(shape, "has_chart", False):
        _add_chart(composer, shape.chart)
    elif shape.has_text_frame:
        composer.text("\n".join(_lines(shape.text_frame)))
    else:
        # A picture's description is all that its reader can know of it.
        description = shape.element.xpath(".//p:cNvPr/@descr")
        composer.text(description[0] if description else "")


def _add_chart(composer: Composer, chart: Any) -> None:
    if chart.has_title and chart.chart_title.has_text_frame:
        composer.text(chart.chart_title.text_frame.text)
    for plot in chart.plots:
        series = list(plot.series)
        header = ["", *(str(one.name) for one in series)]
        values = [list(one.values) for one in series]
        rows = [
            [str(category), *(str(column[place]) for column in values if place < len(column))]
            for place, category in enumerate(plot.categories)
        ]
        composer.table([header, *rows])


def _lines(frame: Any) -> Iterator[str]:
    for paragraph in frame.paragraphs:
        text = paragraph.text.replace("\v", "\n").strip()
        if text:
            yield "  " * paragraph.level + text


def _in_reading_order(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """Yield shapes from top to bottom and left to right, a group's in its place."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes") and depth < MAX_GROUPS:
            yield from _in_reading_order(shape.shapes, depth + 1)
        else:
            yield shape


READER = extend(
    FileReader(
        "pptx/1", {"PowerPoint": _TYPE}, {".pptx": _TYPE, ".pptm": _TYPE}, read, ("pptx",), "office"
    ),
    partial(read, ocr=True),
)
