"""Reads the weights of the lanes from settings.json, unless the environment overrides them."""

import math
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..index.errors import ConfigurationError
from .settings import SETTINGS_FILE, reading

VARIABLES = ("SEMANTIC_WEIGHT", "KEYWORD_WEIGHT")


class Weights(NamedTuple):
    """How much each lane counts in a hybrid search; not negative, and not both 0."""

    semantic: float
    keyword: float


@cache
def weights() -> Weights:
    """Return the weights of a hybrid search, read once. Raises ConfigurationError."""
    return read_weights(SETTINGS_FILE)


def read_weights(file: Path) -> Weights:
    """Read the weights of a settings file, or of the environment, where one alone is enough.

    Raises ConfigurationError.
    """
    given = {name: found for name in VARIABLES if (found := _read(name)) is not None}
    if not given:
        with reading(file) as values:
            return Weights(float(values["semantic_weight"]), float(values["keyword_weight"]))
    for one, other in (VARIABLES, VARIABLES[::-1]):
        if other not in given:
            if given[one] > 1:
                raise ConfigurationError(
                    f"{one} is {given[one]:g} and {other} is not set: a weight given alone must be"
                    " at most 1: the other one is the rest to 1",
                    hint=f"set {other} too, or give {one} at most 1",
                )
            given[other] = round(1 - given[one], 6)
    if sum(given.values()) == 0:
        raise ConfigurationError(
            "SEMANTIC_WEIGHT and KEYWORD_WEIGHT are both 0", hint="give at least one lane weight"
        )
    return Weights(*(given[name] for name in VARIABLES))


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
