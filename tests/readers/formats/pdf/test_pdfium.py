"""Functions of PDFium that are called by address have the declared types."""

import ctypes

from foundry.readers.formats.pdf.pdfium import Address, function


def test_types_other_than_int_are_declared() -> None:
    assert function("FPDFFormObj_GetObject").argtypes == (ctypes.c_void_p, ctypes.c_ulong)
    assert function("FPDFFormObj_GetObject").restype is Address
