"""Values in the form fields of a PDF page, and texts added to the page.

PDFium keeps both separate from the text of a page, although every viewer shows them.
"""

import ctypes
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from foundry.documents.left_out import Omission
from foundry.readers.decoding import normalise
from foundry.readers.formats.pdf.characters import Boxes
from foundry.readers.formats.pdf.layout import body_size
from foundry.readers.formats.pdf.lines import Line
from foundry.readers.formats.pdf.rows import Word
from foundry.readers.notes import leave_out, note_source

BOXES = TICKED, NOT_TICKED = "[x]", "[ ]"
MAX_ANNOTATIONS = 5_000
MAX_VALUE_BYTES = 200_000
ELSEWHERE = 1_000.0
"""Penalty in points for a label on the side of a field where labels are unusual."""
_PASSWORD = 1 << 13
# Operators that show text, or content that may have text.
_SHOWS = re.compile(r"\b(?:Tj|TJ|Do)\b|[)>]\s*['\"]")
_CONTENTS, _VALUE = b"Contents", b"V"


Area = tuple[float, float, float, float]
"""Left, bottom, right and top, in points from the left and the bottom of the page."""


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


def find_filled(page: Any, number: int) -> tuple[list[Filled], dict[int, Area]]:
    """Return the values of a page's form fields, and the texts that were added to it.

    Checkboxes are `[x]` if ticked and `[ ]` otherwise. Comments, passwords and hidden values are
    recorded as left out. Also returns the numbers and areas of other annotations that may show
    text, such as stamps and signatures.
    """
    from pypdfium2 import raw

    filled: list[Filled] = []
    drawn: dict[int, Area] = {}
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
        is_hidden = raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN
        if is_hidden:
            _leave_out(Omission.HIDDEN, "" if text in BOXES else text, number)
            text = ""
        box = raw.FS_RECTF()
        is_placed = raw.FPDFAnnot_GetRect(annotation, box)
        bottom, top = sorted((box.bottom, box.top))
        if text and is_placed:
            filled.append(Filled(text, box.left, bottom, box.right, top))
        elif not is_hidden and _may_show_text(raw, page.formenv, annotation, kind):
            drawn[place] = (box.left, bottom, box.right, top)
        raw.FPDFPage_CloseAnnot(annotation)
    return filled, drawn


def draw_annotations(page: Any, places: Collection[int]) -> None:
    """Draw these annotations into the page, and remove all others; it must be opened again."""
    from pypdfium2 import raw

    for place in reversed(range(raw.FPDFPage_GetAnnotCount(page))):
        if place not in places:
            raw.FPDFPage_RemoveAnnot(page, place)
    raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)


def shrink_stamps(lines: list[Line], begins: Boxes, stamps: Iterable[Area]) -> None:
    """Limit the type size of lines in these areas to that of the page: a stamp is no heading.

    `begins` has the box of each line's first character.
    """
    usual = body_size(lines)
    x, y = begins[:, [0, 2]].mean(axis=1), begins[:, [1, 3]].mean(axis=1)
    for left, bottom, right, top in stamps:
        is_inside = (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
        for number in np.flatnonzero(is_inside).tolist():
            lines[number] = replace(lines[number], size=min(lines[number].size, usual))


def fill_in(
    lines: list[Line], words: list[Word], values: Iterable[Filled], page_top: float, height: float
) -> None:
    """Insert the values of a page's fields next to their labels; sizes are in points."""
    usual = body_size(lines)
    for filled in values:
        top, bottom = page_top - filled.top, page_top - filled.bottom
        middle = (top + bottom) / 2
        beside = [word for word in words if word.top < middle < word.bottom]
        near = min(beside, key=lambda word: _distance(word, filled), default=None)
        if near is None:
            words.append(Word(filled.text, filled.left, filled.right, top, bottom, len(lines)))
            size = usual or bottom - top
            top, bottom = (each / height for each in (top, bottom))
            lines.append(Line(filled.text, size, max(top, 0.0), min(bottom, 1.0)))
            continue
        if filled.is_box and 0 <= near.left - filled.right < near.bottom - near.top:
            # In a table, a field's label must be in the same cell as the field.
            words.remove(near)
            words.append(replace(near, text=f"{filled.text} {near.text}", left=filled.left))
        else:
            left, right = filled.left, filled.right
            words.append(Word(filled.text, left, right, top, bottom, near.line))
        members = sorted((w for w in words if w.line == near.line), key=lambda w: w.left)
        text = " ".join(member.text for member in members)
        lines[near.line] = replace(lines[near.line], text=text)


def _distance(word: Word, filled: Filled) -> float:
    """Return a word's distance from a field, increased if the word is not where labels are.

    Labels are left of fields, but right of checkboxes.
    """
    after, before = word.left - filled.right, filled.left - word.right
    is_behind = after >= before
    return max(after, before) + (ELSEWHERE if is_behind != filled.is_box else 0.0)


def _may_show_text(raw: Any, form: Any, annotation: Any, kind: int) -> bool:
    """Return whether an annotation without a value has a drawing that may have text."""
    if kind == raw.FPDF_ANNOT_WIDGET:
        kinds = {raw.FPDF_FORMFIELD_SIGNATURE, raw.FPDF_FORMFIELD_UNKNOWN}
        is_drawn = form is None or raw.FPDFAnnot_GetFormFieldType(form, annotation) in kinds
    else:
        is_drawn = kind in {
            raw.FPDF_ANNOT_FREETEXT,
            raw.FPDF_ANNOT_LINE,
            raw.FPDF_ANNOT_SQUARE,
            raw.FPDF_ANNOT_STAMP,
            raw.FPDF_ANNOT_WATERMARK,
        }
    get_drawing = raw.FPDFAnnot_GetAP
    mode = raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL
    return is_drawn and _SHOWS.search(_read(get_drawing, annotation, mode)) is not None


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
