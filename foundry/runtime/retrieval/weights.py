"""The weights of the lanes: from settings.json, unless the environment overrides them."""

import math
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..index.errors import ConfigurationError
from .settings import SETTINGS_FILE, reading


class Weights(NamedTuple):
    """How much each lane counts in a hybrid search; not negative, and not both 0."""

    semantic: float
    keyword: float


@cache
def weights() -> Weights:
    """Return the weights of a hybrid search, read once. Raises ConfigurationError."""
    return read_weights(SETTINGS_FILE)


def rest(weight: float) -> float:
    """Return what is left of 1, for the lane whose weight is not given. Raises ValueError."""
    if weight > 1:
        raise ValueError("a weight given alone must be at most 1: the other one is the rest to 1")
    return round(1 - weight, 6)


def read_weights(file: Path) -> Weights:
    """Read the weights of a settings file, or of the environment, where one alone is enough.

    Raises ConfigurationError.
    """
    semantic, keyword = _read("SEMANTIC_WEIGHT"), _read("KEYWORD_WEIGHT")
    if semantic is None and keyword is None:
        with reading(file) as values:
            return Weights(float(values["semantic_weight"]), float(values["keyword_weight"]))
    if semantic is None:
        assert keyword is not None
        semantic = _rest("KEYWORD_WEIGHT", keyword, "SEMANTIC_WEIGHT")
    elif keyword is None:
        keyword = _rest("SEMANTIC_WEIGHT", semantic, "KEYWORD_WEIGHT")
    if semantic + keyword == 0:
        raise ConfigurationError(
            "SEMANTIC_WEIGHT and KEYWORD_WEIGHT are both 0", hint="give at least one lane weight"
        )
    return Weights(semantic, keyword)


def _rest(variable: str, weight: float, other: str) -> float:
    try:
        return rest(weight)
    except ValueError as error:
        raise ConfigurationError(
            f"{variable} is {weight:g} and {other} is not set: {error}",
            hint=f"set {other} too, or give {variable} at most 1",
        ) from None


def _read(variable: str) -> float | None:
    written = os.environ.get(variable, "").strip()
    if not written:
        return None
    try:
        weight = float(written)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise ConfigurationError(
            f"{variable} must be a number of 0 or more, got {written!r}",
            hint=f"correct or unset {variable}",
        )
    return weight
