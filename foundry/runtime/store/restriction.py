"""The chunks that a search may return, and the filters that select them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..retrieval.filters import Filters, parse_filters


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """The chunks (n,) that are `allowed`."""

    allowed: NDArray[np.bool_]
    # Filters that all allowed chunks pass.
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_picked: bool = True  # Whether some chunks that pass the filters are not allowed.

    def listed(self) -> tuple[NDArray[np.int64], bool]:
        """Return chunks (m,), and whether these are excluded: all others are then allowed.

        Required and excluded words and phrases cannot be written as filters of an engine, so chunks
        are listed: the allowed ones or the others, whichever are fewer.
        """
        is_mostly = 2 * int(self.allowed.sum()) > len(self.allowed)
        return np.flatnonzero(self.allowed != is_mostly), is_mostly


def restrict(
    allowed: NDArray[np.bool_] | None,
    filters: Filters | None = None,
    *,
    is_picked: bool = False,
) -> Restriction | None:
    """Return the restriction of a search; None if every chunk is allowed.

    `allowed` are all chunks that pass `filters`, or with `is_picked` some of them.
    """
    if allowed is None:
        return None
    return Restriction(allowed, parse_filters(filters), is_picked)
