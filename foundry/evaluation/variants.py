"""Variants of a configuration: each number of the stages in use, made smaller and larger."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from foundry.config.project import Config
from foundry.features.stage import Stage

FACTORS = (0.5, 0.75, 1.5, 2.0)
"""What a number is multiplied by; results that the key does not allow are left out."""


def vary_stages(config: Config) -> Iterator[tuple[dict[str, Any], Config]]:
    """Yield each variant's one changed option, as `stage.key`, and the configuration that has
    it."""
    for name, stage in config.stages.items():
        if not stage.is_tuned:
            continue
        for key, value in stage:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or key in stage.built_in:
                continue
            for changed in _around(value):
                if tried := _change(stage, key, changed):
                    search = config.search.model_copy(update={name: tried})
                    yield {f"{name}.{key}": changed}, replace(config, search=search)


def _around(value: float) -> list[float]:
    numbers = [round(value * factor, 6) for factor in FACTORS]
    if isinstance(value, int):
        numbers = [round(number) for number in numbers]
    return [number for number in dict.fromkeys(numbers) if number != value]


def _change(stage: Stage, key: str, value: float) -> Stage | None:
    """Return the stage with another value of a key, if that allows it."""
    try:
        return type(stage).model_validate({**stage.model_dump(exclude_none=True), key: value})
    except ValidationError:
        return None
