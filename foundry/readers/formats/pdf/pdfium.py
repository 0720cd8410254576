"""PDFium's functions that are called for each character of a page, and for each line drawn on it.

pypdfium2 declares pointers by the type of what they lead to; checking and wrapping them at each
call takes as long as what is called.
"""

import ctypes
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from struct import Struct
from typing import Any


@cache
def function(name: str) -> Any:
    """Return a function of PDFium that takes and returns addresses, as numbers, for pointers."""
    from pypdfium2 import raw

    declared = getattr(raw, name)
    kinds = map(_by_address, (declared.restype, *declared.argtypes))
    # These functions return at once: giving the interpreter's lock away would cost more.
    return ctypes.PYFUNCTYPE(*kinds)(address_of(declared))


def read_floats(name: str, count: int, *arguments: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """Return the `count` floats that a function writes for each of its arguments; zeros if none.

    Its last parameters are where to write them: all, or each of them.
    """
    record = Struct(f"{count}f")
    call = function(name)
    written = array("f", bytes(record.size * len(arguments[-1])))
    first, size = written.buffer_info()
    pointers = range(first, first + 4 * (len(call.argtypes) - len(arguments)), 4)
    addresses = (range(pointer, first + 4 * size, record.size) for pointer in pointers)
    deque(map(call, *arguments, *addresses), maxlen=0)
    return record.iter_unpack(written)


def address_of(pointer: Any) -> int:
    """Return where a pointer leads to."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _by_address(kind: Any) -> Any:
    return ctypes.c_void_p if hasattr(kind, "contents") else kind
