"""Checks the numbers of an index: hashes that agree say nothing of what was hashed."""

from pathlib import Path

import numpy as np

from foundry.errors import IndexUnusableError

_BLOCK = 1_000_000
"""Numbers that are looked at at a time."""


def check_numbers(index: Path) -> None:
    """Refuse an index whose arrays hold NaN or infinity: IndexUnusableError, naming the file."""
    for path in sorted(index.rglob("*.npy")):
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise IndexUnusableError(f"{path}: cannot be read: {error}") from None
        if array.dtype.kind != "f":
            continue
        numbers = array.reshape(-1)
        for start in range(0, len(numbers), _BLOCK):
            if not np.isfinite(numbers[start : start + _BLOCK]).all():
                raise IndexUnusableError(
                    f"{path}: holds numbers that are none", hint="build the index again"
                )
