"""Chooses between alternatives in Office documents (`mc:AlternateContent`)."""

from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.formats.office.equations import MATH
from foundry.readers.formats.office.parts import CHOICE, FALLBACK, texts_of
from foundry.readers.notes import leave_out

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_CHART_EX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
EMBEDDED = frozenset({_CHART, _CHART_EX, _DIAGRAM})
DESCRIBED = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_TEXT = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SAYING = frozenset({f"{_TEXT}t", f"{_TEXT}sym", f"{_DRAWING}t", f"{MATH}t", DESCRIBED, *EMBEDDED})


def choose(element: Element, part: str) -> Element:
    """Return the first alternative with text, or an empty element; the others repeat it."""
    branches = [each for each in element if each.tag in {CHOICE, FALLBACK}]
    chosen = next((each for each in branches if _says(each)), None)
    for branch in branches:
        if branch is not chosen:
            leave_out(Omission.DUPLICATE, texts_of(branch), part)
    return Element("none") if chosen is None else chosen


def _says(element: Element) -> bool:
    return any(each.tag in _SAYING for each in element.iter())
