"""Prometheus metrics, and a log line and a trace for each request."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial, wraps
from typing import Any, TypeVar

import prometheus_client as prometheus
from fastapi import APIRouter, Response
from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import Scope

from ..hosts import plain_host
from ..retrieval.results import SearchResponse
from ..retrieval.timing import observers
from .middleware import OPEN_PATHS, Outcome

REGISTRY = prometheus.CollectorRegistry()
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

# If an OpenTelemetry SDK is configured, each request gets a span.
TELEMETRY: TelemetryConfig = {"metrics": False, "logs": False, "operation_spans": False}
Metric = TypeVar("Metric", bound=MetricWrapperBase)

# Metrics of creation times would double the number of series.
prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]


def _labelled(
    kind: Callable[..., Metric], name: str, meaning: str, *labels: str
) -> Callable[..., Metric]:
    # Cached, because looking up labels takes 10 microseconds per search.
    return cache(kind(name, meaning, labels, registry=REGISTRY).labels)


_counter = partial(_labelled, prometheus.Counter)
_histogram = partial(_labelled, partial(prometheus.Histogram, buckets=BUCKETS_SECONDS))

REQUESTS = _counter("http_requests", "Requests answered.", "method", "route", "status")
REQUEST_SECONDS = _histogram("http_request_duration_seconds", "Duration of requests.", "route")
# The fields of a response that counters and logs use.
OBSERVED_FIELDS = ["mode", "reason", "degraded", "match"]
SEARCHES = _counter("searches", "Searches.", *OBSERVED_FIELDS)
STAGE_SECONDS = _histogram(
    "search_stage_seconds", "Duration of searches and their stages.", "stage"
)
QUESTIONS = _counter("questions", "Lines for the question log: kept, or lost.", "result")
INDEX_RELOADS = _counter("index_reloads", "New indexes, opened or found unusable.", "result")

_logger = logging.getLogger(__name__)

metrics_routes = APIRouter(include_in_schema=False)


@metrics_routes.get("/metrics")
async def show_metrics() -> Response:
    """Return the metrics."""
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        # The metrics are summed over all workers.
        registry = prometheus.CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return Response(prometheus.generate_latest(registry), media_type=prometheus.CONTENT_TYPE_LATEST)


_found: ContextVar[dict[str, object] | None] = ContextVar("found", default=None)


def observe_search(search: Callable[..., SearchResponse]) -> Callable[..., SearchResponse]:
    """Wrap a search so that it is counted, timed by stage, and logged.

    Its query is logged only if LOG_QUERIES is 1.
    """
    log_queries = os.environ.get("LOG_QUERIES") == "1"
    observers.append(lambda name, seconds: STAGE_SECONDS(name).observe(seconds))

    @wraps(search)
    def observed(query: str, *arguments: Any, **options: Any) -> SearchResponse:
        started = time.perf_counter()
        response = search(query, *arguments, **options)
        STAGE_SECONDS("all").observe(time.perf_counter() - started)
        found = {name: getattr(response, name) for name in OBSERVED_FIELDS}
        SEARCHES(*(str(value).lower() for value in found.values())).inc()
        if (logged := _found.get()) is not None:
            asked = {"query": query} if log_queries else {}
            logged.update(found, results=len(response.hits), **asked)
        return response

    return observed


@contextmanager
def observe_request(scope: Scope, request_id: str) -> Iterator[Outcome]:
    """Count, trace and log a request once it has been answered."""
    started = time.perf_counter()
    outcome = Outcome()
    found: dict[str, object] = {}
    _found.set(found)
    span = trace.get_current_span()
    if span.is_recording():
        # FastAPI sets this attribute, which may contain a query.
        span.set_attribute("url.query", "")
    try:
        yield outcome
    finally:
        seconds = time.perf_counter() - started
        REQUESTS(scope["method"], outcome.route, str(outcome.status)).inc()
        REQUEST_SECONDS(outcome.route).observe(seconds)
        client = scope.get("client")
        fields = {
            "method": scope["method"],
            "route": outcome.route,
            "status": outcome.status,
            "duration_ms": round(seconds * 1000, 3),
            "bytes": outcome.sent_bytes,
            "request_id": request_id,
            "client": plain_host(str(client[0])) if client else None,
            **found,
        }
        level = logging.DEBUG if scope["path"] in OPEN_PATHS else logging.INFO
        _logger.log(level, "request", extra={"fields": fields})


def count_question(result: str) -> None:
    """Count a line of the question log: `kept`, or `lost` because it could not be written."""
    QUESTIONS(result).inc()


def count_reload(result: str) -> None:
    """Count a new index: `ok`, or `refused` if it is unusable."""
    INDEX_RELOADS(result).inc()
