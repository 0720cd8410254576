"""Objects anchored in a paragraph: boxes, charts, diagrams, controls, alternatives."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.formats.office.alternatives import DESCRIBED, EMBEDDED, choose
from foundry.readers.formats.office.embedded import OBJECT
from foundry.readers.formats.office.parts import ALTERNATIVES, Relation
from foundry.readers.formats.office.stored_pictures import describe, picture_files, write_pictures
from foundry.readers.formats.word.names import BOX, VAL, W, is_on

_SHAPE = "{urn:schemas-microsoft-com:vml}shape"


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote by its kind and id, with the label that refers to it."""

    kind: str
    name: str
    label: str


def control_omission(element: Element) -> Omission | None:
    """Return why a control's content is left out: as a prompt or a table of contents; else None."""
    properties = element.find(f"{W}sdtPr")
    if properties is None:
        return None
    shows_prompt = properties.find(f"{W}showingPlcHdr")
    if shows_prompt is not None and is_on(shows_prompt.get(VAL)):
        return Omission.FORM
    gallery = properties.find(f".//{W}docPartGallery")
    is_contents = gallery is not None and gallery.get(VAL, "").startswith("Table of")
    return Omission.DUPLICATE if is_contents else None


def find_boxes(parent: Element, part: str) -> Iterator[Element]:
    """Yield the text boxes, charts and diagrams in a drawing, except those inside a box."""
    for element in parent:
        if element.tag == BOX or element.tag in EMBEDDED or element.tag == OBJECT:
            yield element
        elif element.tag == ALTERNATIVES:
            yield from find_boxes(choose(element, part), part)
        else:
            yield from find_boxes(element, part)


def write_drawing(
    drawing: Element, relations: Mapping[str, Relation], *, has_boxes: bool = False
) -> str:
    """Return the pictures of a drawing that are parts of the document, and its description.

    Boxes are read separately, with the pictures in them.
    """
    described, shapes = drawing.iter(DESCRIBED), drawing.iter(_SHAPE)
    if has_boxes:
        described, shapes = drawing.iterfind(f"*/{DESCRIBED}"), drawing.iterfind(_SHAPE)
        relations = {}
    texts = (*map(describe, described), *(describe(each, "alt") for each in shapes))
    description = next(filter(None, texts), "")
    return write_pictures(description, picture_files(drawing, relations))
