"""Traces through OpenTelemetry, if whoever runs the server has set it up.

Only the API is needed here. Without an SDK (`opentelemetry-instrument` brings one) there is no
tracer, and the cost is one comparison a request. Spans never hold what was asked.
"""

import time
from contextlib import AbstractContextManager, nullcontext

from opentelemetry import propagate, trace
from starlette.types import Scope

from ..retrieval.timing import observe_stages


def request_span(scope: Scope) -> AbstractContextManager[trace.Span | None]:
    """A span for a request, below the caller's own if it sent a `traceparent`."""
    tracer = _tracer()
    if tracer is None:
        return nullcontext()
    observe_stages(_stage_span)
    carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return tracer.start_as_current_span(
        scope["method"],
        context=propagate.extract(carrier),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": scope["method"], "url.scheme": scope["scheme"]},
    )


def end_request_span(span: trace.Span, method: str, route: str, status: int) -> None:
    """Say what has become of the request."""
    span.update_name(f"{method} {route}")
    span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(trace.StatusCode.ERROR)


def _tracer() -> trace.Tracer | None:
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer(__name__)


def _stage_span(name: str, begun: int, ended: int) -> None:
    tracer = _tracer()
    if tracer is not None:
        # Stages are timed by a monotonic clock, spans by the time of day.
        offset = time.time_ns() - time.perf_counter_ns()
        span = tracer.start_span(f"search {name}", start_time=begun + offset)
        span.end(end_time=ended + offset)
