"""The counts, times and log lines of requests and searches."""

import logging
import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import generate_latest

from workshop.retrieval.journal import Journal
from workshop.retrieval.results import SearchResponse, respond
from workshop.web.observing import (
    REGISTRY,
    count_reload,
    observe_request,
    observe_search,
)

OBSERVERS: list[Any] = []


@pytest.fixture(autouse=True)
def observers(monkeypatch: pytest.MonkeyPatch) -> None:
    OBSERVERS.clear()
    monkeypatch.setattr("workshop.web.observing.observers", OBSERVERS)


def search(query: str, top_k: int = 10) -> SearchResponse:
    assert top_k == 3
    journal = Journal(query, top_k)
    journal.reason = "no_vectors"
    return respond(journal, iter(()), "none")


def counted(line: str) -> float:
    """The value of a metrics line; 0 if there is none."""
    lines = (each.rpartition(" ") for each in generate_latest(REGISTRY).decode().splitlines())
    return next((float(value) for name, _, value in lines if name == line), 0.0)


def test_a_search_and_its_stages_are_counted_and_timed() -> None:
    labels = [
        'degraded="true"',
        'match="none"',
        *('mode="keyword"', 'reason="no_vectors"'),
    ]
    line = f"searches_total{{{','.join(labels)}}}"
    stages = [f'search_stage_seconds_{kind}{{stage="all"}}' for kind in ("count", "sum")]
    before = counted(line), *map(counted, stages)
    observed = observe_search(search)
    for _ in range(2):
        observed("seal", 3)
    after = counted(line), *map(counted, stages)
    calls, count, seconds = (now - then for now, then in zip(after, before, strict=True))
    assert (calls, count) == (2, 2)
    assert 0 < seconds < 60
    (observer,) = OBSERVERS
    observer("a-stage", 2.5)
    assert counted('search_stage_seconds_sum{stage="a-stage"}') == 2.5
    # Bucket bounds are in seconds.
    assert counted('search_stage_seconds_bucket{le="2.5",stage="a-stage"}') == 1
    assert counted('search_stage_seconds_bucket{le="1.0",stage="a-stage"}') == 0
    metrics = generate_latest(REGISTRY).decode()
    bounds = re.findall(r'(?m)^search_stage_seconds_bucket\{le="(.*)",stage="a-stage"', metrics)
    assert [float(bound) for bound in bounds] == [
        *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, math.inf)
    ]


@pytest.mark.parametrize(
    ("path", "level"), [("/search", "INFO"), ("/healthz", "DEBUG"), ("/readyz", "DEBUG")]
)
def test_a_request_is_counted_timed_and_logged(
    path: str, level: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    line = f'http_requests_total{{method="POST",route="{path}",status="201"}}'
    timed = f'http_request_duration_seconds_count{{route="{path}"}}'
    before = counted(line), counted(timed)
    scope = {"method": "POST", "path": path, "client": ("10.0.0.1", 4711)}
    for log_queries in ("", "1"):
        monkeypatch.setenv("LOG_QUERIES", log_queries)
        observed = observe_search(search)
        with observe_request(scope, "an-id") as outcome:
            observed("a-secret", 3)
            outcome.status, outcome.sent_bytes, outcome.route = 201, 7, path
    assert (counted(line), counted(timed)) == (before[0] + 2, before[1] + 2)
    first, second = (vars(record) for record in caplog.records)
    assert {first["levelname"], second["levelname"]} == {level}
    assert 0 <= first["fields"].pop("duration_ms") < 60_000
    assert first["fields"] == {
        "method": "POST",
        "route": path,
        "status": 201,
        "bytes": 7,
        "request_id": "an-id",
        "client": "10.0.0.1",
        "match": "none",
        "mode": "keyword",
        "reason": "no_vectors",
        "degraded": True,
        "results": 0,
    }
    assert second["fields"]["query"] == "a-secret"


def test_durations_are_logged_in_milliseconds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    clock = SimpleNamespace(perf_counter=iter([1.0, 1.0123456]).__next__)
    monkeypatch.setattr("workshop.web.observing.time", clock)
    with observe_request({"method": "GET", "path": "/search"}, "an-id"):
        pass
    (record,) = caplog.records
    assert vars(record)["fields"]["duration_ms"] == 12.346


def test_a_request_that_fails_without_a_response_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    scope = {"method": "GET", "path": "/search", "client": None}
    with pytest.raises(ZeroDivisionError), observe_request(scope, "an-id"):
        raise ZeroDivisionError
    (record,) = caplog.records
    fields = vars(record)["fields"]
    assert (fields["status"], fields["route"], fields["client"]) == (499, "none", None)


def test_reloads_are_counted() -> None:
    line = 'index_reloads_total{result="refused"}'
    before = counted(line)
    count_reload("refused")
    assert counted(line) == before + 1
