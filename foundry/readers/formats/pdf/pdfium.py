"""PDFium's functions that are called for each character of a page, and for each line drawn on it.

pypdfium2 declares pointers by the type of what they lead to; checking and wrapping them at each
call takes as long as what is called.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def function(name: str) -> Callable[..., Any]:
    """Return a function of PDFium that takes and returns addresses, as numbers, for pointers."""
    from pypdfium2 import raw

    declared = getattr(raw, name)
    kinds = map(_by_address, (declared.restype, *declared.argtypes))
    # These functions return at once: giving the interpreter's lock away would cost more.
    return ctypes.PYFUNCTYPE(*kinds)(address_of(declared))


def address_of(pointer: Any) -> int:
    """Return where a pointer leads to."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _by_address(kind: Any) -> Any:
    return ctypes.c_void_p if hasattr(kind, "contents") else kind
