"""A reranking service on loopback that replies like Cohere, Jina and TEI, and wrongly if told to.

A passage's score is the share of the query's words that it contains.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from ports import free_port

Kind = Literal["cohere", "jina", "tei"]
PATHS: dict[Kind, str] = {"cohere": "/v2", "jina": "/v1", "tei": ""}


@dataclass
class FakeReranker:
    """The service's settings, and the requests that it received.

    Attributes:
        base_url: The URL for foundry.toml.
        change: Makes an invalid reply from a valid one; bytes are sent unchanged.
        status: HTTP status of every reply.
        requests: The request bodies.
        keys: The `Authorization` headers of the requests.
    """

    base_url: str
    kind: Kind
    change: Callable[[Any], Any] = lambda reply: reply
    status: int = 200
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


def share(query: str, passage: str) -> float:
    """Return the share of a query's words that a passage contains."""
    asked = set(re.findall(r"\w+", query.casefold()))
    return len(asked & set(re.findall(r"\w+", passage.casefold()))) / max(1, len(asked))


def reply_of(kind: Kind, body: dict[str, Any]) -> Any:
    """Return the reply of this kind of service, best passage first."""
    passages = body["texts"] if kind == "tei" else body["documents"]
    scores = sorted(
        ((share(body["query"], passage), place) for place, passage in enumerate(passages)),
        reverse=True,
    )
    if kind == "tei":
        return [{"index": place, "score": score} for score, place in scores]
    results = [{"index": place, "relevance_score": score} for score, place in scores]
    if kind == "jina":
        usage = {"total_tokens": 50, "prompt_tokens": 50}
        return {"model": body["model"], "usage": usage, "results": results}
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf", "results": results, "meta": meta}


@contextmanager
def fake_reranker(kind: Kind, **settings: Any) -> Iterator[FakeReranker]:
    """Run a service on any free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            service.requests.append(body)
            service.keys.append(self.headers["authorization"])
            known = self.path == f"{PATHS[kind]}/rerank"
            reply = service.change(reply_of(kind, body))
            content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(service.status if known else 404)
            self.send_header("location", "http://127.0.0.1:1/")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    service = FakeReranker(f"http://127.0.0.1:{server.server_port}{PATHS[kind]}", kind, **settings)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
