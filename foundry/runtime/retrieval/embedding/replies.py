"""Replies of embedding models: checked unit vectors, or a failure that suggests a remedy.

EmbeddingFailure (ServerError)
    is_temporary    the same call may succeed later (429, 5xx, a lost connection)
    is_bad_reply    the reply is invalid, or the service rejects these texts
    neither         retrying cannot help (no such model, no permission, quota used up)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ServerError

SHORTEST = 1e-12
"""A vector counts as zero, without a direction, if all its absolute values are smaller."""


class EmbeddingFailure(ServerError):
    """An embedding model failed."""

    def __init__(
        self,
        message: str,
        *,
        is_temporary: bool = False,
        retry_after: float | None = None,
        is_unreachable: bool = False,
        is_bad_reply: bool = False,
        status: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.is_temporary = is_temporary
        self.retry_after = retry_after
        self.is_unreachable = is_unreachable
        self.is_bad_reply = is_bad_reply
        self.status = status


def check_vectors(
    rows: Sequence[Any] | NDArray[Any], count: int, dimensions: int | None
) -> NDArray[np.float32]:
    """Check rows of numbers and return them as unit vectors (count, d).

    Args:
        rows: One for each text.
        count: Number of texts.
        dimensions: Expected width; None accepts any width that all rows share.

    Raises:
        EmbeddingFailure: With `is_bad_reply`, for a wrong count or width, or a row that is not
            numeric, not finite, or all zero.
    """
    if len(rows) != count:
        raise bad_reply(f"the reply has {len(rows)} vectors for {count} texts")
    try:
        matrix = np.asarray(rows)
        is_numeric = matrix.dtype.kind in "fiu" or count == 0
    except (ValueError, TypeError, OverflowError):
        raise bad_reply("the reply has vectors of different lengths") from None
    if not is_numeric or (count and (matrix.ndim != 2 or not matrix.shape[1])):
        raise bad_reply("the reply has no vectors of numbers")
    if count == 0:
        return np.zeros((0, dimensions or 0), dtype=np.float32)
    if dimensions is not None and matrix.shape[1] != dimensions:
        raise bad_reply(
            f"the reply has vectors of {matrix.shape[1]} numbers, expected {dimensions}"
        )
    exact = matrix.astype(np.float64)
    if not np.isfinite(exact).all():
        raise bad_reply("a vector has a number that is not finite")
    largest = np.abs(exact).max(axis=1, keepdims=True)
    if (largest < SHORTEST).any():
        raise bad_reply("a vector is all zeros")
    exact /= largest
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    return exact.astype(np.float32)


def read_vectors(rows: list[Any], count: int, dimensions: int | None) -> NDArray[np.float32]:
    """Call `check_vectors`, with a clearer error if the service ignored `dimensions`."""
    widths = {len(row) for row in rows if isinstance(row, list | np.ndarray)}
    if dimensions is not None and len(widths) == 1 and widths != {dimensions}:
        width = widths.pop()
        raise bad_reply(
            f"the reply has vectors of {width} numbers, requested {dimensions}",
            hint=f"if the service ignores embedding.dimensions, set it to {width}",
        )
    return check_vectors(rows, count, dimensions)


def name_dimensions(failure: EmbeddingFailure, dimensions: int | None) -> EmbeddingFailure:
    """Return the failure, marked as permanent if the service rejected the number of dimensions."""
    if dimensions is None or not failure.is_bad_reply or "dimension" not in failure.message.lower():
        return failure
    return EmbeddingFailure(
        failure.message, hint="remove embedding.dimensions, or set it to what the model supports"
    )


def bad_reply(message: str, *, hint: str | None = None) -> EmbeddingFailure:
    """Return the failure for an invalid reply."""
    return EmbeddingFailure(message, is_bad_reply=True, hint=hint)
