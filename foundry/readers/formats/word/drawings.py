"""What lies in a paragraph beside its text: boxes, charts, diagrams, controls, alternatives."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from foundry.material.left_out import Omission
from foundry.readers.formats.office.equations import MATH
from foundry.readers.formats.office.parts import ALTERNATIVES, CHOICE, FALLBACK, texts_of
from foundry.readers.formats.word.names import BOX, TEXT, VAL, W, is_on
from foundry.readers.notes import leave_out

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_CHART_EX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
EMBEDDED = frozenset({_CHART, _CHART_EX, _DIAGRAM})
DESCRIBED = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_SAYING = frozenset({TEXT, f"{MATH}t", DESCRIBED, f"{W}sym", *EMBEDDED})


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote by its kind and id, with the label that refers to it."""

    kind: str
    name: str
    label: str


def control_omission(element: Element) -> Omission | None:
    """Return why the content of a control is left out: a prompt to fill it in, or contents."""
    properties = element.find(f"{W}sdtPr")
    if properties is None:
        return None
    shows_prompt = properties.find(f"{W}showingPlcHdr")
    if shows_prompt is not None and is_on(shows_prompt.get(VAL)):
        return Omission.FORM
    gallery = properties.find(f".//{W}docPartGallery")
    is_contents = gallery is not None and gallery.get(VAL, "").startswith("Table of")
    return Omission.DUPLICATE if is_contents else None


def choose(element: Element, part: str) -> Element:
    """Return the one branch of alternatives that is read; the others say the same."""
    branches = [each for each in element if each.tag in {CHOICE, FALLBACK}]
    chosen = next((each for each in branches if _says(each)), None)
    for branch in branches:
        if branch is not chosen:
            leave_out(Omission.DUPLICATE, texts_of(branch), part)
    return Element("none") if chosen is None else chosen


def _says(element: Element) -> bool:
    return any(each.tag in _SAYING for each in element.iter())


def find_boxes(parent: Element, part: str) -> Iterator[Element]:
    """Yield the text boxes, charts and diagrams in a drawing, but not those in a box."""
    for element in parent:
        if element.tag == BOX or element.tag in EMBEDDED:
            yield element
        elif element.tag == ALTERNATIVES:
            yield from find_boxes(choose(element, part), part)
        else:
            yield from find_boxes(element, part)
