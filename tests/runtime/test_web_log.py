"""The server's log: its format, data that it never contains, and that logging never blocks."""

import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_http import Server, get, statuses

from foundry.runtime.retrieval.results import SearchResponse
from foundry.runtime.web.observing import observe_search
from foundry.runtime.web.process import JsonHandler, configure_logging


def record(message: str, *arguments: object, **options: Any) -> logging.LogRecord:
    made = logging.LogRecord("server", logging.INFO, "", 0, message, arguments, None)
    made.created = 1_700_000_000.5
    for name, value in options.items():
        setattr(made, name, value)
    return made


@given(text=st.text(), field=st.text())
def test_log_lines_contain_no_line_ends_or_terminal_controls(text: str, field: str) -> None:
    made = record("%s", text, fields={"route": field})
    line = JsonHandler(1).format(made)
    assert line.isascii() and line.isprintable()
    parsed = json.loads(line)
    assert (parsed["message"], parsed["route"]) == (text, field)


@pytest.mark.parametrize("kind", ["full disk", "closed pipe"])
def test_a_log_that_cannot_be_written_is_not_an_error(kind: str) -> None:
    if kind == "full disk":
        descriptor = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, descriptor = os.pipe()
        os.close(reader)
    handler = JsonHandler(descriptor)
    for _ in range(3):
        handler.emit(record("lost"))
    os.close(descriptor)
    handler.emit(record("lost"))


@pytest.fixture
def own_root() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = handlers, level


def test_closed_standard_error_is_not_an_error(
    monkeypatch: pytest.MonkeyPatch, own_root: None
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    configure_logging()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    configure_logging()
    logging.getLogger("server").error("unheard")


def answer(query: str) -> SearchResponse:
    return SearchResponse(query, "hybrid", "default", False, "strong", (), 0.1, {}, ())


def test_logging_does_not_change_results() -> None:
    assert observe_search(answer)("q") == answer("q")


def test_requests_are_logged_without_their_queries() -> None:
    server = Server()
    secret = "whatisourpassword"
    for request in (
        get(f"/documents/{secret}?q={secret}"),
        get(f"/%0d%0a{secret}%1b[31m"),
        b"POST /search HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: mine-1\r\n"
        b"Connection: close\r\nContent-Type: application/json\r\n"
        b'Content-Length: 30\r\n\r\n{"query": "%b"}' % secret.encode(),
        get("/healthz").replace(b"\r\n\r\n", b"\r\nX-Request-ID: evil\x1b[31m\r\n\r\n"),
        b"BREW / HTTP/1.1\r\n\r\n",
    ):
        assert statuses(server.exchange(request))
    server.stop()
    assert server.wait() == 0
    assert secret not in json.dumps(server.log)
    requests = [line for line in server.log if line["message"] == "request"]
    # Health checks are logged at level debug only.
    assert [(line["method"], line["route"], line["status"]) for line in requests] == [
        ("GET", "/documents/{document_id}", 200),
        ("GET", "none", 404),
        ("POST", "/search", 200),
    ]
    assert requests[2]["request_id"] == "mine-1"
    assert all(line["duration_ms"] > 0 and line["bytes"] > 0 for line in requests)
    assert all(line["client"] == "127.0.0.1" for line in requests)
    refused = [line["status"] for line in server.log if line["message"] == "connection refused"]
    assert refused == [400, 400]
    assert server.log[-1]["message"] == "stopped"
