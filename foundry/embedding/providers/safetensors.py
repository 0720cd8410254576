"""Reads tensors from a safetensors file, a format that contains no code.

A file has the length of a JSON header in eight bytes, then the header, then the numbers:

    {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}

https://huggingface.co/docs/safetensors
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.index.tree import file_status

LONGEST_HEADER = 100_000_000
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


class Tensors:
    """The tensors of a file, mapped into memory. Raises ValueError or OSError."""

    def __init__(self, path: Path) -> None:
        file_status(path)
        self._bytes = np.memmap(path, np.uint8, "r")
        length = int.from_bytes(self._bytes[:8].tobytes(), "little")
        if len(self._bytes) < 8 or not 2 <= length <= min(LONGEST_HEADER, len(self._bytes) - 8):
            raise ValueError(f"{path}: not a safetensors file")
        try:
            header = json.loads(self._bytes[8 : 8 + length].tobytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: the header is unreadable: {error}") from None
        if not isinstance(header, dict):
            raise ValueError(f"{path}: the header is unreadable: not an object")
        self._path, self._entries, self._start = path, header, 8 + length

    def __contains__(self, name: str) -> bool:
        return name in self._entries and name != "__metadata__"

    def read(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Return a tensor of real numbers with this shape. Raises ValueError."""
        place = f"{self._path}: {name}"
        entry: Any = self._entries.get(name)
        if entry is None:
            raise ValueError(f"{place}: missing")
        try:
            dtype, found = TYPES.get(entry["dtype"]), tuple(entry["shape"])
            begin, end = entry["data_offsets"]
        except (TypeError, KeyError, ValueError):
            raise ValueError(f"{place}: malformed entry") from None
        if dtype is None:
            raise ValueError(f"{place}: has type {entry['dtype']!r}, expected {', '.join(TYPES)}")
        if found != shape:
            raise ValueError(f"{place}: has shape {found}, expected {shape}")
        size = math.prod(shape) * np.dtype(dtype).itemsize
        room = len(self._bytes) - self._start
        is_place = isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end <= room
        if not is_place or end - begin != size:
            raise ValueError(
                f"{place}: is outside the file, or its length does not match its shape"
            )
        content = self._bytes[self._start + begin : self._start + end].view(np.uint8)
        numbers = np.frombuffer(content.tobytes(), dtype).reshape(shape)
        if entry["dtype"] == "BF16":
            # A bfloat16 is the upper half of a float32.
            return (numbers.astype("<u4") << 16).view("<f4")
        return numbers.astype(np.float32)
