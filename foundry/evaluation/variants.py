"""Variants of a configuration: each number of the stages in use, made smaller and larger."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from foundry.config import Config
from foundry.config_stages import STAGE_SECTIONS

FACTORS = (0.5, 0.75, 1.5, 2.0)
"""What a number is multiplied by; results that the key does not allow are left out."""

LEFT_OUT = frozenset({"understanding", "rerank", "minimum_score"})
"""Stages that ask a model, or whose numbers can only take results away."""

BUILT_IN = frozenset({("expansion", "vocabulary")})
"""Numbers that the index is built with."""


def vary_stages(config: Config) -> Iterator[tuple[dict[str, Any], Config]]:
    """Each variant's one changed option, as `stage.key`, and the configuration that has it."""
    for stage, values in config.stages.items():
        if values is None or stage in LEFT_OUT:
            continue
        for key, value in values.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or (stage, key) in BUILT_IN:
                continue
            for changed in _around(value):
                if _is_allowed(stage, {**values, key: changed}):
                    stages = {**config.stages, stage: {**values, key: changed}}
                    yield {f"{stage}.{key}": changed}, replace(config, stages=stages)


def _around(value: float) -> list[float]:
    numbers = [round(value * factor, 6) for factor in FACTORS]
    if isinstance(value, int):
        numbers = [round(number) for number in numbers]
    return [number for number in dict.fromkeys(numbers) if number != value]


def _is_allowed(stage: str, values: dict[str, Any]) -> bool:
    try:
        STAGE_SECTIONS[stage].model_validate(values)
    except ValidationError:
        return False
    return True
