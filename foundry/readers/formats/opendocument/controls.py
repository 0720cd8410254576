"""Form controls of OpenDocument files, in the place where the page shows them."""

from xml.etree.ElementTree import Element, SubElement

from foundry.documents.left_out import Omission
from foundry.readers.formats.opendocument.names import DRAW, OFFICE, TEXT
from foundry.readers.notes import leave_out

CONTROL = f"{DRAW}control"
_FORM = "{urn:oasis:names:tc:opendocument:xmlns:form:1.0}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_TICKED = frozenset(("checkbox", "radio"))
_UNREAD = frozenset(("button", "hidden", "image", "password"))


def place_controls(body: Element) -> None:
    """Put the label or value of each form control into the shape that shows it."""
    controls = {
        name: each
        for forms in body.iter(f"{OFFICE}forms")
        for each in forms.iter()
        if each.tag.startswith(_FORM)
        for name in (each.get(f"{_FORM}id"), each.get(_ID))
        if name
    }
    for shape in body.iter(CONTROL) if controls else ():
        control = controls.get(shape.get(f"{DRAW}control", ""))
        if control is not None and (shown := _shown(control)):
            SubElement(shape, f"{TEXT}p").text = shown


def _shown(control: Element) -> str:
    kind, label = control.tag.removeprefix(_FORM), control.get(f"{_FORM}label", "")
    if kind in _UNREAD:
        leave_out(Omission.FORM, label)
        return ""
    if kind in _TICKED:
        states = {control.get(f"{_FORM}current-{name}") for name in ("state", "selected")}
        return f"{'☒' if states & {'checked', 'true'} else '☐'} {label}"
    value = control.get(f"{_FORM}current-value") or control.get(f"{_FORM}value") or ""
    chosen = (
        each.get(f"{_FORM}label", "")
        for each in control.iter(f"{_FORM}option")
        if each.get(f"{_FORM}current-selected") == "true"
    )
    return " ".join(filter(None, (label, value, *chosen)))
