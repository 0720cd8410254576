"""What happened to each request and each search: metrics for Prometheus, a log line, a trace.

Workers count into files of PROMETHEUS_MULTIPROC_DIR, if it was set before this was imported, and
each of them shows the sum. Spans go to OpenTelemetry if whoever runs the server has set up an SDK
(`opentelemetry-instrument` does), and never hold what was asked.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

import prometheus_client
from fastapi import APIRouter, Response
from opentelemetry import propagate, trace
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import Scope

from ..retrieval.results import SearchResponse
from ..retrieval.timing import observe_stages
from .access import OPEN_PATHS

REGISTRY = CollectorRegistry()
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

NO_ROUTE = "none"
CLIENT_GONE = 499
"""The status that is logged if the client went away before there was an answer, as by nginx."""


# A metric is called with the values of its labels, and keeps what it finds for them: to look it up
# each time takes 10 microseconds of every search.
def _counter(name: str, help_text: str, *labels: str) -> Callable[..., Counter]:
    return cache(Counter(name, help_text, labels, registry=REGISTRY).labels)


def _gauge(name: str, help_text: str, *labels: str) -> Callable[..., Gauge]:
    gauge = Gauge(name, help_text, labels, registry=REGISTRY, multiprocess_mode="livesum")
    return cache(gauge.labels)


def _histogram(name: str, help_text: str, *labels: str) -> Callable[..., Histogram]:
    histogram = Histogram(name, help_text, labels, registry=REGISTRY, buckets=BUCKETS_SECONDS)
    return cache(histogram.labels)


REQUESTS = _counter("http_requests", "Requests answered.", "method", "route", "status")
REQUEST_SECONDS = _histogram("http_request_duration_seconds", "Time to answer.", "route")
RESPONSE_BYTES = _counter("http_response_bytes", "Bytes of answers.", "route")
CONNECTIONS_REFUSED = _counter(
    "http_connections_refused", "Connections refused before a request.", "status"
)
REQUESTS_WORKING = _gauge("http_requests_working", "Requests that are worked on.", "kind")
REQUESTS_WAITING = _gauge("http_requests_waiting", "Requests that wait for a turn.", "kind")
SEARCHES = _counter(
    "searches", "Searches, by the mode that answered.", "mode", "reason", "degraded"
)
SEARCH_RESULTS = _counter("search_results", "Passages found.", "mode")
STAGE_SECONDS = _histogram("search_stage_seconds", "Time of a search, and of its stages.", "stage")
INDEX_SERVED = _gauge("index_served", "Workers that answer from this index.", "version")
INDEX_RELOADS = _counter("index_reloads", "New indexes, opened or found unusable.", "result")

_search_fields: ContextVar[dict[str, object] | None] = ContextVar("search_fields", default=None)
_logger = logging.getLogger(__name__)


def metrics_routes() -> APIRouter:
    """GET /metrics: counts and times, for Prometheus."""
    routes = APIRouter(include_in_schema=False)
    # When each series began would double their number.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]

    @routes.get("/metrics")
    async def show_metrics() -> Response:
        metrics = prometheus_client.generate_latest(registry)
        return Response(metrics, media_type=prometheus_client.CONTENT_TYPE_LATEST)

    return routes


def observe_search(search: Callable[..., SearchResponse]) -> Callable[..., SearchResponse]:
    """Count and time a search and its stages, and put the outcome in its request's log line.

    The line has the query itself only if LOG_QUERIES is 1.
    """
    log_queries = os.environ.get("LOG_QUERIES") == "1"
    observe_stages(_observe_stage)

    @wraps(search)
    def observed(query: str, *arguments: Any, **options: Any) -> SearchResponse:
        begun = time.perf_counter()
        response = search(query, *arguments, **options)
        STAGE_SECONDS("all").observe(time.perf_counter() - begun)
        degraded = "true" if response.degraded else "false"
        SEARCHES(response.mode, response.reason, degraded).inc()
        SEARCH_RESULTS(response.mode).inc(len(response.hits))
        fields = _search_fields.get()
        if fields is not None:
            fields |= {
                "mode": response.mode,
                "reason": response.reason,
                "degraded": response.degraded,
                "results": len(response.hits),
            }
            if log_queries:
                fields["query"] = query
        return response

    return observed


@dataclass(slots=True)
class Outcome:
    """What became of a request, filled in by whoever answers it."""

    status: int = CLIENT_GONE
    sent_bytes: int = 0
    route: str = NO_ROUTE


@contextmanager
def observed_request(scope: Scope, request_id: str) -> Iterator[Outcome]:
    """Count, trace and log a request once it has been answered."""
    begun = time.perf_counter()
    outcome = Outcome()
    found: dict[str, object] = {}
    _search_fields.set(found)
    method = scope["method"]
    with _request_span(scope) as span:
        try:
            yield outcome
        finally:
            seconds = time.perf_counter() - begun
            REQUESTS(method, outcome.route, str(outcome.status)).inc()
            REQUEST_SECONDS(outcome.route).observe(seconds)
            RESPONSE_BYTES(outcome.route).inc(outcome.sent_bytes)
            if span is not None:
                span.update_name(f"{method} {outcome.route}")
                span.set_attribute("http.route", outcome.route)
                span.set_attribute("http.response.status_code", outcome.status)
                if outcome.status >= 500:
                    span.set_status(trace.StatusCode.ERROR)
            client = scope.get("client")
            fields = {
                "method": method,
                "route": outcome.route,
                "status": outcome.status,
                "duration_ms": round(seconds * 1000, 3),
                "bytes": outcome.sent_bytes,
                "request_id": request_id,
                "client": client[0] if client else None,
                **found,
            }
            level = logging.DEBUG if scope["path"] in OPEN_PATHS else logging.INFO
            _logger.log(level, "request", extra={"fields": fields})


def _request_span(scope: Scope) -> AbstractContextManager[trace.Span | None]:
    """Begin a span below the caller's own, if it sent a `traceparent`; None without an SDK."""
    tracer = _tracer()
    if tracer is None:
        return nullcontext()
    observe_stages(_trace_stage)
    carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return tracer.start_as_current_span(
        scope["method"],
        context=propagate.extract(carrier),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": scope["method"], "url.scheme": scope["scheme"]},
    )


def _tracer() -> trace.Tracer | None:
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer(__name__)


def _observe_stage(name: str, begun: int, ended: int) -> None:
    STAGE_SECONDS(name).observe((ended - begun) / 1e9)


def _trace_stage(name: str, begun: int, ended: int) -> None:
    tracer = _tracer()
    if tracer is not None:
        # Stages are timed by a monotonic clock, spans by the time of day.
        offset = time.time_ns() - time.perf_counter_ns()
        span = tracer.start_span(f"search {name}", start_time=begun + offset)
        span.end(end_time=ended + offset)
