"""PDFium functions that are called for each character of a page, and for each line drawn on it.

pypdfium2 declares typed pointers; checking and wrapping them at each call takes as long as the call
itself.
"""

import ctypes
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@cache
def function(name: str) -> Any:
    """Return a PDFium function that takes and returns addresses as numbers, not pointers."""
    from pypdfium2 import raw

    declared = getattr(raw, name)
    kinds = map(_by_address, (declared.restype, *declared.argtypes))
    # These functions return at once, so releasing the GIL would cost more.
    return ctypes.PYFUNCTYPE(*kinds)(address_of(declared))


def read_floats(name: str, count: int, *arguments: Sequence[int]) -> Floats:
    """Read the `count` floats that a function writes for each of its arguments; zeros if it fails.

    Its last parameters are the output addresses: one for all floats, or one for each.
    """
    call = function(name)
    written = np.zeros((len(arguments[-1]), count), np.float32)
    first, size = written.ctypes.data, 4 * count
    pointers = range(first, first + 4 * (len(call.argtypes) - len(arguments)), 4)
    addresses = (range(pointer, first + written.nbytes, size) for pointer in pointers)
    deque(map(call, *arguments, *addresses), maxlen=0)
    return written


def address_of(pointer: Any) -> int:
    """Return the address in a pointer."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _by_address(kind: Any) -> Any:
    return ctypes.c_void_p if hasattr(kind, "contents") else kind
