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

_BLOCK = 1_024


class Address(ctypes.c_void_p):
    """A pointer. ctypes passes instances unchanged, and does not convert results of a subclass."""


@cache
def function(name: str) -> Any:
    """Return a PDFium function that takes instances of `Address` and whole numbers."""
    from pypdfium2 import raw

    declared = getattr(raw, name)
    kind = Address if hasattr(declared.restype, "contents") else declared.restype
    taken = [ctypes.c_void_p if hasattr(t, "contents") else t for t in declared.argtypes]
    # Without types, ctypes passes addresses and C's `int` correctly, in 0.6 of the time.
    types = [] if {ctypes.c_void_p, ctypes.c_int}.issuperset(taken) else taken
    # These functions return at once, so releasing the GIL would cost more.
    return ctypes.PYFUNCTYPE(kind, *types)(address_of(declared).value or 0)


def read_floats(name: str, count: int, outputs: int, *arguments: Sequence[object]) -> Floats:
    """Read the `count` floats that a function writes for each of its arguments; zeros if it fails.

    Its last parameters are the output addresses: one for all floats, or one for each.
    """
    call, (room, addresses) = function(name), _room(count, outputs)
    blocks = [room[:0]]
    for begin in range(0, len(arguments[-1]), _BLOCK):
        part = [argument[begin : begin + _BLOCK] for argument in arguments]
        room[:] = 0
        deque(map(call, *part, *addresses), maxlen=0)
        blocks.append(room[: len(part[-1])].copy())
    return np.concatenate(blocks)


def address_of(pointer: Any) -> Address:
    """Return the address in a pointer."""
    return ctypes.cast(pointer, Address)


@cache
def _room(count: int, outputs: int) -> tuple[Floats, list[list[Address]]]:
    """Return memory for the floats that functions write, and each output's addresses by row."""
    room = np.zeros((_BLOCK, count), np.float32)
    first, size = room.ctypes.data, 4 * count
    starts = range(first, first + 4 * outputs, 4)
    return room, [
        [Address(at) for at in range(start, start + size * _BLOCK, size)] for start in starts
    ]
