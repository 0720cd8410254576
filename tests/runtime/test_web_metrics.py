"""What is counted, and how Prometheus reads it."""

import pytest
from prometheus_client.parser import text_string_to_metric_families
from raw_http import Server, get

from foundry.runtime.retrieval.results import SearchResponse
from foundry.runtime.retrieval.timing import stage
from foundry.runtime.web.metrics import BUCKETS, METRICS, Metrics, metrics
from foundry.runtime.web.observer import Observer, observe_search


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Value by name and label values, sorted by label."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_gauges_and_histograms_are_rendered() -> None:
    counted = Metrics()
    counted.count("http_requests", "GET", "/search", "200")
    counted.count("http_requests", "GET", "/search", "200", by=2)
    counted.gauge("index_served", lambda: {("v1",): 1})
    for seconds in (0.0005, 0.001, 0.3, 99.0):
        counted.observe("http_request_duration_seconds", seconds, "/search")
    found = samples(counted.render().decode())
    assert found["http_requests_total", ("GET", "/search", "200")] == 3
    assert found["index_served", ("v1",)] == 1
    name = "http_request_duration_seconds"
    # A time on a bound belongs to the bucket that ends there.
    assert found[f"{name}_bucket", ("0.001", "/search")] == 2
    assert found[f"{name}_bucket", ("0.25", "/search")] == 2
    assert found[f"{name}_bucket", ("0.5", "/search")] == 3
    assert found[f"{name}_bucket", ("30.0", "/search")] == 3
    assert found[f"{name}_bucket", ("+Inf", "/search")] == 4
    assert found[f"{name}_count", ("/search",)] == 4
    assert found[f"{name}_sum", ("/search",)] == pytest.approx(99.3015)
    assert len([key for key in found if key[0] == f"{name}_bucket"]) == len(BUCKETS) + 1


def test_processes_are_added_up() -> None:
    one, two = Metrics(), Metrics()
    for counted in (one, two, two):
        counted.count("searches", "hybrid", "default", "false")
        counted.observe("search_stage_seconds", 0.002, "all")
        counted.gauge("index_served", lambda: {("v1",): 1})
    one.add_others(lambda: [two.dump()])
    found = samples(one.render().decode())
    assert found["searches_total", ("false", "hybrid", "default")] == 3
    assert found["search_stage_seconds_count", ("all",)] == 3
    assert found["index_served", ("v1",)] == 2


def test_label_values_are_escaped() -> None:
    counted = Metrics()
    counted.count("searches", 'a"b\\c\nd', "default", "false")
    assert samples(counted.render().decode())["searches_total", ("false", 'a"b\\c\nd', "default")]


def test_searches_and_their_stages_are_counted() -> None:
    Observer(lambda *_: None)  # type: ignore[arg-type, return-value]

    @stage("test")
    def work(number: int) -> int:
        return number + 1

    def search(query: str) -> SearchResponse:
        assert work(1) == 2
        return SearchResponse(query, "keyword", "identifier", True, (), 0.1, {}, ())

    key = ("searches_total", ("true", "keyword", "identifier"))
    before = samples(metrics.render().decode()).get(key, 0)
    observe_search(search)("q")
    after = samples(metrics.render().decode())
    assert after[key] == before + 1
    assert after["search_stage_seconds_count", ("test",)] >= 1


def test_a_server_shows_its_metrics() -> None:
    server = Server()
    for path in ("/busy", "/busy", "/nowhere", "/documents/1", "/documents/2"):
        server.exchange(get(path))
    server.exchange(b"BREW\r\n\r\n")
    answer = server.exchange(get("/metrics"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: text/plain; version=1.0.0; charset=utf-8" in head
    server.stop()
    assert server.wait() == 0
    found = samples(body.decode())
    assert found["http_requests_total", ("GET", "/busy", "200")] == 2
    assert found["http_requests_total", ("GET", "none", "404")] == 1
    # One series for a route, however many ids there are.
    assert found["http_requests_total", ("GET", "/documents/{document_id}", "200")] == 2
    assert found["http_connections_refused_total", ("400",)] == 1
    assert found["http_requests_working", ("search",)] == 0
    names = {family.name for family in text_string_to_metric_families(body.decode())}
    assert names == set(METRICS)
