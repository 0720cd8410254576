"""What a search may return: the chunks themselves, and as far as filters say it, by what."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..retrieval.filters import Filters, parse_filters


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """The chunks (n,) that are `allowed`."""

    allowed: NDArray[np.bool_]
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # They all pass these.
    is_picked: bool = True  # Others pass the filters too.


def restrict(
    allowed: NDArray[np.bool_] | None,
    filters: Filters | None = None,
    *,
    is_picked: bool = False,
) -> Restriction | None:
    """Return what a search may return, if not everything.

    The chunks `allowed` are all that pass `filters`, or some of these that were picked.
    """
    if allowed is None:
        return None
    return Restriction(allowed, parse_filters(filters), is_picked)
