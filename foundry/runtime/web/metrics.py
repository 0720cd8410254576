"""Metrics for Prometheus: what is counted, and GET /metrics.

Counting is a dictionary's work; the exposition format is prometheus-client's, which is imported
when somebody asks.
"""

import json
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import APIRouter, Response

if TYPE_CHECKING:
    from prometheus_client import Metric

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of every histogram, in seconds."""

Key = tuple[str, tuple[str, ...]]
"""A metric's name, and the values of its labels."""

Gauge = Callable[[], Mapping[tuple[str, ...], float]]
"""Reads the numbers of a gauge by the values of its labels."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a metric means, the names of its labels, and its type."""

    help: str
    labels: tuple[str, ...]
    type: str = "counter"


METRICS = {
    "http_requests": Kind("Requests answered.", ("method", "route", "status")),
    "http_request_duration_seconds": Kind("Time to answer.", ("route",), "histogram"),
    "http_response_bytes": Kind("Bytes of answers.", ("route",)),
    "http_connections_refused": Kind("Connections refused before a request.", ("status",)),
    "http_requests_working": Kind("Requests that are worked on.", ("kind",), "gauge"),
    "http_requests_waiting": Kind("Requests that wait for a turn.", ("kind",), "gauge"),
    "searches": Kind("Searches, by the mode that answered.", ("mode", "reason", "degraded")),
    "search_results": Kind("Passages found.", ("mode",)),
    "search_stage_seconds": Kind("Time of a search, and of its stages.", ("stage",), "histogram"),
    "index_served": Kind("Workers that answer from this index.", ("version",), "gauge"),
    "index_reloads": Kind("New indexes, opened or found unusable.", ("result",)),
}


class Metrics:
    """Counts since this process began; safe to share between threads.

    A counter or gauge is one number; a histogram is a number for each bucket, one for what is
    above them, and the sum.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[Key, list[float]] = {}
        self._gauges: dict[str, Gauge] = {}
        self._others: Callable[[], Iterable[bytes]] = tuple

    def add_others(self, others: Callable[[], Iterable[bytes]]) -> None:
        """Answer with what `others` delivers added: the `dump` of each other process."""
        self._others = others

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._values.setdefault((name, labels), [0.0])[0] += by

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        """Add a time to a histogram."""
        with self._lock:
            values = self._values.setdefault((name, labels), [0.0] * (len(BUCKETS) + 2))
            values[bisect_left(BUCKETS, seconds)] += 1
            values[-1] += seconds

    def gauge(self, name: str, read: Gauge) -> None:
        """Read a gauge anew for every answer."""
        self._gauges[name] = read

    def dump(self) -> bytes:
        """Everything that this process has counted, for another one to add up."""
        with self._lock:
            values: list[list[object]] = [
                [*key, [*numbers]] for key, numbers in self._values.items()
            ]
        for name, read in self._gauges.items():
            values += [[name, labels, [number]] for labels, number in read().items()]
        return json.dumps(values).encode()

    def render(self) -> bytes:
        """The sum of what this process and the others have counted, as Prometheus reads it."""
        from prometheus_client import generate_latest

        totals: dict[Key, list[float]] = {}
        for dump in (self.dump(), *self._others()):
            for name, labels, numbers in json.loads(dump):
                total = totals.setdefault((name, tuple(labels)), [0.0] * len(numbers))
                total[:] = map(sum, zip(total, numbers, strict=True))
        return generate_latest(_Collected(totals))


metrics = Metrics()
"""The metrics of this process."""


class _Collected:
    def __init__(self, totals: dict[Key, list[float]]) -> None:
        self._totals = totals

    def collect(self) -> Iterator["Metric"]:
        from prometheus_client import core

        for name, kind in METRICS.items():
            found = sorted(item for item in self._totals.items() if item[0][0] == name)
            if kind.type == "histogram":
                histogram = core.HistogramMetricFamily(name, kind.help, labels=kind.labels)
                for (_, labels), numbers in found:
                    histogram.add_metric(labels, _cumulated(numbers), sum_value=numbers[-1])
                yield histogram
                continue
            family = core.GaugeMetricFamily if kind.type == "gauge" else core.CounterMetricFamily
            numbered = family(name, kind.help, labels=kind.labels)
            for (_, labels), numbers in found:
                numbered.add_metric(labels, numbers[0])
            yield numbered


def _cumulated(numbers: list[float]) -> list[tuple[str, float]]:
    bounds = [*map(str, BUCKETS), "+Inf"]
    return [(bound, sum(numbers[: place + 1])) for place, bound in enumerate(bounds)]


metrics_routes = APIRouter(include_in_schema=False)


@metrics_routes.get("/metrics")
async def show_metrics() -> Response:
    """Counts and times, for Prometheus."""
    from prometheus_client import CONTENT_TYPE_LATEST

    return Response(metrics.render(), media_type=CONTENT_TYPE_LATEST)
