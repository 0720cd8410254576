"""The counted events, and how Prometheus parses the counts."""

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from raw_http import Server, get

from foundry.runtime.web.observing import REGISTRY, STAGE_SECONDS


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return values by name and label values, sorted by label."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_durations_are_counted_in_buckets() -> None:
    for seconds in (0.0005, 0.001, 0.3, 99.0):
        STAGE_SECONDS("buckets").observe(seconds)
    found = samples(generate_latest(REGISTRY).decode())
    name = "search_stage_seconds"
    # A duration equal to a bound belongs to the bucket that ends there.
    assert found[f"{name}_bucket", ("0.001", "buckets")] == 2
    assert found[f"{name}_bucket", ("0.25", "buckets")] == 2
    assert found[f"{name}_bucket", ("0.5", "buckets")] == 3
    assert found[f"{name}_bucket", ("30.0", "buckets")] == 3
    assert found[f"{name}_bucket", ("+Inf", "buckets")] == 4
    assert found[f"{name}_sum", ("buckets",)] == pytest.approx(99.3015)


def test_a_server_shows_its_metrics() -> None:
    server = Server()
    for path in ("/busy", "/busy", "/nowhere", "/documents/1", "/documents/2"):
        server.exchange(get(path))
    answer = server.exchange(get("/metrics"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: text/plain; version=1.0.0; charset=utf-8" in head
    server.stop()
    assert server.wait() == 0
    found = samples(body.decode())
    assert found["http_requests_total", ("GET", "/busy", "200")] == 2
    assert found["http_requests_total", ("GET", "none", "404")] == 1
    # One series per route, however many ids there are.
    assert found["http_requests_total", ("GET", "/documents/{document_id}", "200")] == 2
    names = {family.name for family in text_string_to_metric_families(body.decode())}
    assert names == {family.name for family in REGISTRY.collect()}
