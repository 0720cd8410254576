"""Values in the form fields of a PDF page, and texts added to the page.

PDFium keeps both separate from the text of a page, although every viewer shows them.
"""

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from foundry.documents.left_out import Omission
from foundry.readers.decoding import normalise
from foundry.readers.notes import leave_out, note_source

BOXES = TICKED, NOT_TICKED = "[x]", "[ ]"
MAX_ANNOTATIONS = 5_000
MAX_VALUE_BYTES = 200_000
_PASSWORD = 1 << 13
_CONTENTS, _VALUE = b"Contents", b"V"


class Filled(NamedTuple):
    """A text and its position, in points from the left and the bottom of the page."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def is_box(self) -> bool:
        """True for a checkbox or radio button, ticked or not."""
        return self.text in BOXES


def find_filled(page: Any, number: int) -> Iterator[Filled]:
    """Yield the values of a page's form fields, and the texts that were added to it.

    Checkboxes are `[x]` if ticked and `[ ]` otherwise. Comments, passwords and hidden values are
    recorded as left out.
    """
    from pypdfium2 import raw

    for place in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, place)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET:
            text = _value(raw, page.formenv, annotation, number)
        elif kind == raw.FPDF_ANNOT_FREETEXT:
            text = _string(raw, annotation, _CONTENTS)
        else:
            text = ""
            _leave_out(Omission.COMMENT, _string(raw, annotation, _CONTENTS), number)
        if raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN:
            _leave_out(Omission.HIDDEN, "" if text in BOXES else text, number)
            text = ""
        box = raw.FS_RECTF()
        if text and raw.FPDFAnnot_GetRect(annotation, box):
            bottom, top = sorted((box.bottom, box.top))
            yield Filled(text, box.left, bottom, box.right, top)
        raw.FPDFPage_CloseAnnot(annotation)


def _value(raw: Any, form: Any, annotation: Any, number: int) -> str:
    """Return the displayed value of a field; "" for buttons, signatures and empty fields."""
    if form is None:
        return _string(raw, annotation, _VALUE)
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}:
        return TICKED if raw.FPDFAnnot_IsChecked(form, annotation) else NOT_TICKED
    if kind in {raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}:
        count = raw.FPDFAnnot_GetOptionCount(form, annotation)
        chosen = [
            _read(raw.FPDFAnnot_GetOptionLabel, form, annotation, option)
            for option in range(min(count, MAX_ANNOTATIONS))
            if raw.FPDFAnnot_IsOptionSelected(form, annotation, option)
        ]
        return ", ".join(chosen) or _read(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
    if kind != raw.FPDF_FORMFIELD_TEXTFIELD:
        return ""
    value = _read(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
    if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        _leave_out(Omission.HIDDEN, value, number)
        return ""
    return value


def _leave_out(reason: Omission, text: str, number: int) -> None:
    """Record a text of an annotation as left out; such texts are not part of the page's text."""
    note_source(text)
    leave_out(reason, text, f"page {number}")


def _string(raw: Any, annotation: Any, key: bytes) -> str:
    return _read(raw.FPDFAnnot_GetStringValue, annotation, key)


def _read(function: Any, *arguments: Any) -> str:
    """Return the text that a PDFium function writes, on one line; "" if it is too long."""
    size = function(*arguments, None, 0)
    if not 2 < size <= MAX_VALUE_BYTES:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    text = bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
    return " ".join(normalise(text).split())
