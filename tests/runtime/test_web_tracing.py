"""Spans are recorded if an SDK is installed. Providers are global, so each test is a process."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys, time
from fastapi import FastAPI, Response
from starlette.testclient import TestClient
from foundry.runtime.retrieval.timing import stage
from foundry.runtime.settings import Limits
from foundry.runtime.web.middleware import Middleware
from foundry.runtime.web.observing import TELEMETRY, observe_request, observe_search

@stage("keyword")
def work():
    time.sleep(0.002)

app = FastAPI(telemetry=TELEMETRY)

@app.get("/search")
async def search():
    work()
    return Response("secret", 503)

app.add_middleware(
    Middleware,
    allowed_hosts=frozenset(),
    limits=Limits(connections=9, searches=9, streams=9),
    max_body_bytes=9,
    observe=observe_request,
)

if sys.argv[1] == "sdk":
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    observe_search(work)
    headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    TestClient(app, base_url="http://localhost").get("/search?q=secret", headers=headers)
    print(json.dumps([json.loads(span.to_json()) for span in exporter.get_finished_spans()]))
else:
    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "headers": []}
    begun = time.process_time()
    for _ in range(10_000):
        with observe_request(scope, "1"):
            pass
    print((time.process_time() - begun) / 10_000)
    print("opentelemetry.sdk" in sys.modules)
"""


def run(argument: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, argument],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    return done.stdout


def test_each_request_has_a_span() -> None:
    (request,) = json.loads(run("sdk"))
    assert request["name"] == "GET /search"
    # The parent is the caller's span.
    assert request["context"]["trace_id"] == "0x" + "a" * 32
    assert request["parent_id"] == "0x" + "b" * 16
    assert (
        request["attributes"].items()
        >= {
            "http.request.method": "GET",
            "http.route": "/search",
            "http.response.status_code": 503,
            "url.query": "",
        }.items()
    )
    assert request["status"]["status_code"] == "ERROR"
    assert "secret" not in json.dumps(request)


def test_tracing_costs_almost_nothing_without_an_sdk() -> None:
    seconds, sdk = run("none").split()
    assert sdk == "False"
    assert float(seconds) < 0.001
