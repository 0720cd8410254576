"""Figures to hold a server to: those recorded when it was exported, and limits given by hand."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..index.errors import ConfigurationError
from ..index.reader import Index
from ..index.records import DocumentRecord
from ..retrieval.settings import reading
from .metrics import METRICS

RECORDED_FIGURES = Path(__file__).parents[1] / "figures.json"
"""What the questions of this server came to when it was exported, if they were measured."""

DIGITS = 6
"""Decimal places of a metric in what is written for programs."""

Metrics = Mapping[str, Mapping[str, float]]
"""Mean of each metric, by the name of the mode that was asked and the metric's."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Means, and what they are means of: the questions and the corpus, each by its hash."""

    corpus: str
    questions_sha256: str
    questions: int
    metrics: Metrics

    def to_bytes(self) -> bytes:
        """The figures as they stand on disk."""
        return json.dumps(asdict(self), indent=2, sort_keys=True).encode() + b"\n"

    @classmethod
    def read(cls, file: Path) -> "Figures | None":
        """Read figures; None if there is no file. Raises ConfigurationError."""
        if not file.exists():
            return None
        with reading(file) as values:
            metrics = {
                str(mode): {str(name): float(value) for name, value in means.items()}
                for mode, means in values["metrics"].items()
            }
            return cls(
                corpus=str(values["corpus"]),
                questions_sha256=str(values["questions_sha256"]),
                questions=int(values["questions"]),
                metrics=metrics,
            )


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one metric of one mode."""

    mode: str
    metric: str
    before: float
    now: float

    @property
    def drop(self) -> float:
        """By how much it is worse; negative if it is better."""
        return self.before - self.now


def compare(before: Metrics, now: Metrics) -> list[Change]:
    """Every metric that both have."""
    return [
        Change(mode, metric, value, now[mode][metric])
        for mode, means in before.items()
        for metric, value in means.items()
        if metric in now.get(mode, {})
    ]


def corpus_hash(index: Index) -> str:
    """16 hex digits that name the documents of an index: their ids and contents, in any order."""
    lines = sorted(f"{document.id}\0{document.sha256}" for document in _documents(index))
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]


def parse_minimum(written: str) -> tuple[str, float]:
    """A limit such as `nDCG@10=0.40`. Raises ConfigurationError, naming the metrics there are."""
    name, separator, number = written.partition("=")
    name = name.strip()
    if name not in METRICS:
        raise ConfigurationError(
            f"{written!r}: there is no metric {name!r}",
            hint=f"write METRIC=VALUE with one of {', '.join(METRICS)}",
        )
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not separator or not 0 <= value <= 1:
        raise ConfigurationError(
            f"{written!r}: the value must be a number from 0 to 1",
            hint=f"write, for example, {name}=0.8",
        )
    return name, value


def find_shortfalls(minimums: Sequence[tuple[str, float]], means: Mapping[str, float]) -> list[str]:
    """A line for each metric that is below its limit."""
    return [
        f"{name} is {means[name]:.4f}, below the minimum of {value:g}"
        for name, value in minimums
        # As exact as the means are written: 0.85 from 17 of 20 is not below 0.85.
        if round(means[name], DIGITS) < value
    ]


def _documents(index: Index) -> list[DocumentRecord]:
    return index.documents(limit=index.document_count)
