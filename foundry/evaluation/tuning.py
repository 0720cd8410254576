"""Tuning: finds the options that serve the questions best, and whether that is beyond chance.

The best of many candidates on some questions looks better than it is. So questions are split into
folds; for each fold, the best candidate is chosen on the other folds and measured on this one. The
gain is the mean over these held-out questions (Stone 1974, Cross-validatory choice and assessment
of statistical predictions), with a bootstrap interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from foundry.config.project import Config
from foundry.evaluation.intervals import SEED, Interval, bootstrap
from foundry.evaluation.results import HEADLINE
from foundry.features.stage import Stage

FOLDS = 5
FEWEST_QUESTIONS = 2 * FOLDS
"""With fewer questions, there is no tuning: a fold would have a single question."""

FACTORS = (0.5, 0.75, 1.5, 2.0)
"""Factors by which numbers are multiplied; values that a key does not allow are skipped."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Options of [search] by key, and the metric's values (questions,) with them."""

    options: Mapping[str, Any]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The outcome: the options that are `best` on all questions, or the options in use.

    `apparent` is the metric's mean with the `best` options, and `configured` the mean with the
    options in use. `gain` is the gain on questions other than those for which the options were
    chosen; `chosen` are the options chosen for each fold.
    """

    best: Mapping[str, Any]
    apparent: float
    configured: float
    gain: Interval
    chosen: tuple[Mapping[str, Any], ...]
    candidates: int

    def to_json(self) -> dict[str, Any]:
        """Return everything, by name."""
        return {
            "metric": HEADLINE,
            "best": dict(self.best),
            "apparent": self.apparent,
            "configured": self.configured,
            "gain": {"mean": self.gain.mean, "interval": [self.gain.low, self.gain.high]},
            "within_noise": self.gain.low <= 0,
            "chosen": [dict(options) for options in self.chosen],
            "candidates": self.candidates,
        }

    def describe(self, file: Path | str = "foundry.toml") -> str:
        """Format the outcome for people, with the lines to put into `file`."""
        tried = f"{self.candidates} candidates, {FOLDS}-fold cross-validation on {HEADLINE}"
        if self.apparent <= self.configured:
            return f"tuning: {tried}: none is better than the current foundry.toml"
        lines = [
            f"tuning: {tried}",
            f"best on all questions: {self.apparent:.4f}, against {self.configured:.4f} now",
            f"held-out gain: {self.gain.mean:+.4f},"
            f" 95 % interval {self.gain.low:+.4f} to {self.gain.high:+.4f}",
        ]
        if self.gain.low <= 0:
            verdict = "a loss" if self.gain.high < 0 else "within noise"
            lines.append(f"That is {verdict}: there is no reason to change foundry.toml.")
            lines.append("To try the best options anyway, put these lines into")
        else:
            lines.append("To use the best options, put these lines into")
        tables = sorted({line for line in toml_lines(self.best) if line.startswith("[")})
        lines.append(f"{file}, under {' and '.join(tables)}, in place of those with the same keys:")
        return "\n".join([*lines, "", *toml_lines(self.best)])


def tune(configured: Candidate, others: Sequence[Candidate]) -> Tuning | None:
    """Choose between the options in use and others; None if there are too few questions."""
    candidates = [configured, *others]
    values = np.array([candidate.values for candidate in candidates])
    count = values.shape[1]
    if count < FEWEST_QUESTIONS:
        return None
    folds = np.random.default_rng(SEED).permutation(count) % FOLDS
    held_out = np.empty(count)
    chosen = []
    for fold in range(FOLDS):
        outside, inside = folds != fold, folds == fold
        # Among equal values, argmax returns the first: the options in use, or those nearest to
        # them.
        choice = int(np.argmax(values[:, outside].mean(axis=1).round(9)))
        held_out[inside] = values[choice, inside]
        chosen.append(candidates[choice].options)
    means = values.mean(axis=1).round(9)
    best = int(np.argmax(means))
    [gain] = bootstrap((held_out - configured.values)[:, np.newaxis])
    return Tuning(
        best=candidates[best].options,
        apparent=round(float(means[best]), 6),
        configured=round(float(means[0]), 6),
        gain=gain,
        chosen=tuple(chosen),
        candidates=len(candidates),
    )


def toml_lines(options: Mapping[str, Any]) -> list[str]:
    """Return options as lines of foundry.toml, under the tables of [search] and of its stages.

    Values that are texts are names, so they need no escaping.
    """
    lines: list[str] = []
    for name, value in options.items():
        stage, _, key = name.rpartition(".")
        table = f"[search.{stage}]" if stage else "[search]"
        lines += [] if table in lines else [table]
        lines.append(f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value:g}")
    return lines


def vary_stages(config: Config) -> Iterator[tuple[dict[str, Any], Config]]:
    """Yield variants: the changed option, as `stage.key`, and the configuration."""
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
                    yield {f"{name}.{key}": changed}, config.model_copy(update={"search": search})


def _around(value: float) -> list[float]:
    numbers = [round(value * factor, 6) for factor in FACTORS]
    if isinstance(value, int):
        numbers = [round(number) for number in numbers]
    return [number for number in dict.fromkeys(numbers) if number != value]


def _change(stage: Stage, key: str, value: float) -> Stage | None:
    """Return the stage with another value of a key; None if the value is not allowed."""
    try:
        return type(stage).model_validate({**stage.model_dump(exclude_none=True), key: value})
    except ValidationError:
        return None
