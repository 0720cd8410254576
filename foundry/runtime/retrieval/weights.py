"""Reads the weights of the lanes from settings.json, unless the environment overrides them."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..index.errors import ConfigurationError
from .settings import SETTINGS_FILE, read_number, reading


class Weights(NamedTuple):
    """How much each lane counts in a hybrid search; not negative, and not both 0."""

    semantic: float
    keyword: float


@cache
def weights(file: Path = SETTINGS_FILE) -> Weights:
    """Read weights once, of a file unless the environment has one or both; ConfigurationError."""
    semantic, keyword = read_number("SEMANTIC_WEIGHT"), read_number("KEYWORD_WEIGHT")
    if semantic is None and keyword is not None:
        semantic = round(1 - keyword, 6)
    if keyword is None and semantic is not None:
        keyword = round(1 - semantic, 6)
    if semantic is None or keyword is None:
        with reading(file) as values:
            return Weights(float(values["semantic_weight"]), float(values["keyword_weight"]))
    if semantic < 0 or keyword < 0 or semantic + keyword == 0:
        raise ConfigurationError(
            f"the weights of the lanes are {semantic:g} and {keyword:g}, but the sum must be above"
            " 0, and a weight given alone at most 1: the other is the rest",
            hint="correct SEMANTIC_WEIGHT and KEYWORD_WEIGHT, or set both",
        )
    return Weights(semantic, keyword)
