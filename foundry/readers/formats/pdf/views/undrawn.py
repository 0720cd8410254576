"""Leaves out texts without which a PDF page looks the same: on layers that are off, or in white.

PDFium knows which layers are off, but this can only be seen in what it draws. So the page is drawn
without the texts of each layer, and without those in white.
"""

import ctypes
from collections.abc import Iterator, Sequence
from itertools import compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.documents.left_out import Omission
from foundry.readers.decoding import normalise
from foundry.readers.formats.pdf.pdfium import Address, address_of, function, read_floats
from foundry.readers.notes import leave_out, note_source

MAX_OBJECTS = 10_000
MAX_LAYERS = 20
"""Maximum number of layers of a page that are looked at; others count as shown."""
MAX_SIDE = 1_000
"""Maximum side of a drawing in pixels."""
WHITE = 240
"""Minimum of red, green and blue that counts as white."""

Group = list[Address]
Pixels = NDArray[np.uint8]


def leave_out_undrawn(page: Any, number: int, *, with_layers: bool) -> bool:
    """Deactivate the texts that the page does not show, and record them as left out.

    Returns whether there are any; if so, the page's text must be read again. Texts on layers are
    left out only `with_layers`. Nothing is left out if no text would remain, because recognised
    text may be behind the picture of its page. Text without ink is not left out.
    """
    layers, white = _suspects(page, with_layers=with_layers)
    if not layers and not white:
        return False
    whole = _draw(page)
    hidden = _unchanged(page, white, whole) if white else []
    for layer in islice(layers, MAX_LAYERS):
        if np.array_equal(whole, _draw(page, layer)):
            hidden += layer
    _activate(hidden, active=False)
    if not hidden or not _text_of(page).strip():
        _activate(hidden, active=True)
        return False
    others = [each for each in _objects(page) if each.value not in {one.value for one in hidden}]
    _activate(hidden, active=True)
    _activate(others, active=False)
    text = _text_of(page)
    _activate(others, active=True)
    _activate(hidden, active=False)
    note_source(text)
    leave_out(Omission.HIDDEN, normalise(" ".join(text.split())), f"page {number}")
    return True


def _suspects(page: Any, *, with_layers: bool) -> tuple[list[Group], Group]:
    """Return the texts of each layer, and those in white."""
    from pypdfium2 import raw

    objects = _objects(page)
    kinds = list(map(function("FPDFPageObj_GetType"), objects))
    layers: dict[object, Group] = {}
    for each, kind in zip(objects, kinds, strict=True) if with_layers else ():
        # A form may itself be on a layer, without a mark.
        if kind == raw.FPDF_PAGEOBJ_FORM and any(map(_has_ink, _inner_texts(each))):
            layers.setdefault(_layer(each) or each.value, []).append(each)
        elif kind == raw.FPDF_PAGEOBJ_TEXT and _has_ink(each) and (layer := _layer(each)):
            layers.setdefault(layer, []).append(each)
    layered = {each.value for layer in layers.values() for each in layer}
    texts = list(compress(objects, [kind == raw.FPDF_PAGEOBJ_TEXT for kind in kinds]))
    white = compress(texts, _are_white(texts))
    return list(layers.values()), [t for t in white if t.value not in layered and _has_ink(t)]


def _unchanged(page: Any, texts: Group, whole: Pixels) -> Group:
    """Return the texts at whose places the `whole` page stays the same without the `texts`."""
    differs = whole != _draw(page, texts)
    left, _, _, top = page.get_bbox()
    scale = _scale(page)
    boxes = read_floats("FPDFPageObj_GetBounds", 4, 4, texts)
    begins = np.stack([boxes[:, 0] - left, top - boxes[:, 3]], axis=1) * scale
    ends = np.stack([boxes[:, 2] - left, top - boxes[:, 1]], axis=1) * scale
    begins, ends = np.maximum(begins, 0).astype(int), np.maximum(ends, 0).astype(int) + 1
    places = zip(texts, begins.tolist(), ends.tolist(), strict=True)
    return [
        each for each, (x, y), (next_x, next_y) in places if not differs[y:next_y, x:next_x].any()
    ]


def _objects(page: Any) -> list[Address]:
    get, parent = function("FPDFPage_GetObject"), address_of(page.raw)
    count = function("FPDFPage_CountObjects")(parent)
    return [get(parent, place) for place in range(min(count, MAX_OBJECTS))]


def _inner_texts(form: Address) -> Iterator[Address]:
    from pypdfium2 import raw

    get = function("FPDFFormObj_GetObject")
    count = min(function("FPDFFormObj_CountObjects")(form), MAX_OBJECTS)
    for each in (get(form, place) for place in range(count)):
        if function("FPDFPageObj_GetType")(each) == raw.FPDF_PAGEOBJ_TEXT:
            yield each


def _has_ink(text: Address) -> bool:
    from pypdfium2 import raw

    mode: int = function("FPDFTextObj_GetTextRenderMode")(text)
    has_ink: bool = mode != raw.FPDF_TEXTRENDERMODE_INVISIBLE
    return has_ink


def _are_white(texts: Group) -> list[bool]:
    """Return whether each text is filled with opaque white."""
    # PDFium writes the channels as integers, which have the same size as floats.
    channels = read_floats("FPDFPageObj_GetFillColor", 4, 4, texts).view(np.uint32)
    is_white: list[bool] = ((channels[:, :3] >= WHITE).all(axis=1) & (channels[:, 3] > 0)).tolist()
    return is_white


def _layer(drawn: Address) -> object:
    """Return a key for the layer that an object is on; None without a layer."""
    from pypdfium2 import raw

    pointer = ctypes.cast(drawn, raw.FPDF_PAGEOBJECT)
    for place in range(raw.FPDFPageObj_CountMarks(pointer)):
        mark = raw.FPDFPageObj_GetMark(pointer, place)
        if _read(raw.FPDFPageObjMark_GetName, mark) == "OC":
            name = _read(raw.FPDFPageObjMark_GetParamStringValue, mark, b"Name")
            return name or address_of(mark).value
    return None


def _read(call: Any, *arguments: Any) -> str:
    buffer, length = (ctypes.c_ushort * 500)(), ctypes.c_ulong()
    if not call(*arguments, buffer, ctypes.sizeof(buffer), length):
        return ""
    return bytes(buffer)[: max(length.value - 2, 0)].decode("utf-16-le", "replace")


def _activate(objects: Sequence[Address], *, active: bool) -> None:
    for each in objects:
        function("FPDFPageObj_SetIsActive")(each, int(active))


def _text_of(page: Any) -> str:
    opened = page.get_textpage()
    try:
        text: str = opened.get_text_range()
        return text
    finally:
        opened.close()


def _draw(page: Any, without: Sequence[Address] = ()) -> Pixels:
    _activate(without, active=False)
    drawn = page.render(scale=_scale(page), grayscale=True, may_draw_forms=False)
    pixels: Pixels = drawn.to_numpy().reshape(drawn.height, drawn.width).copy()
    _activate(without, active=True)
    return pixels


def _scale(page: Any) -> float:
    width, height = page.get_size()
    return min(1.0, MAX_SIDE / float(max(width, height, 1.0)))
