"""An embedding service on loopback that responds, and misbehaves, like real ones.

Its vectors count hashed words in whole numbers, so texts that share words are close to each other,
and results are the same on every machine. It needs only Python.
"""

import base64
import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from ports import free_port

Shape = Literal["openai", "vllm", "ollama", "cohere"]
Lie = Literal[
    "reset",
    "half",
    "html",
    "not json",
    "not an object",
    "empty",
    "short",
    "long",
    "reordered",
    "duplicate index",
    "nan",
    "infinite",
    "null",
    "zero",
    "wrong width",
    "mixed widths",
    "strings",
    "base64",
    "base64 that is none",
    "no index",
    "no usage",
    "trickle",
]
"""Faults of a reply with status 200, or of the connection."""

HONEST: frozenset[Lie] = frozenset({"reordered", "base64", "no index", "no usage"})
"""Faults that are harmless: the replies are unusual, but correct."""

# Replies in the services' formats; the vectors are filled in.
REPLIES: dict[Shape, dict[str, Any]] = {
    "openai": {
        "object": "list",
        "data": [{"object": "embedding", "index": 0, "embedding": []}],
        "model": "text-embedding-3-small",
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    },
    "vllm": {
        "id": "embd-2b5e0ad1f2e94f0d8f1c1fd3c7b4a8d6",
        "object": "list",
        "created": 1763700000,
        "model": "intfloat/e5-small-v2",
        "data": [{"index": 0, "object": "embedding", "embedding": []}],
        "usage": {
            "prompt_tokens": 8,
            "total_tokens": 8,
            "completion_tokens": 0,
            "prompt_tokens_details": None,
        },
    },
    "ollama": {
        "object": "list",
        "data": [{"object": "embedding", "embedding": [], "index": 0}],
        "model": "all-minilm",
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    },
    "cohere": {
        "id": "da6e531f-54c5-4a73-bf92-f60566d8d753",
        "embeddings": {"float": []},
        "texts": [],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 8}},
        "response_type": "embeddings_by_type",
    },
}
UNKNOWN_MODEL: dict[Shape, dict[str, Any]] = {
    "openai": {
        "error": {
            "message": "The model `nope` does not exist or you do not have access to it.",
            "type": "invalid_request_error",
            "param": None,
            "code": "model_not_found",
        }
    },
    "vllm": {
        "error": {
            "message": "The model `nope` does not exist.",
            "type": "NotFoundError",
            "param": "model",
            "code": 404,
        }
    },
    "ollama": {
        "error": {
            "message": 'model "nope" not found, try pulling it first',
            "type": "not_found_error",
            "param": None,
            "code": None,
        }
    },
    "cohere": {"id": "b6a1", "message": "model 'nope' not found"},
}
WRONG_KEY = {
    "error": {
        "message": "Incorrect API key provided: sk-wr**********key.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_api_key",
    }
}
RATE_LIMIT = {
    "error": {
        "message": "Rate limit reached for text-embedding-3-small on requests per min.",
        "type": "requests",
        "param": None,
        "code": "rate_limit_exceeded",
    }
}
QUOTA = {
    "error": {
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
}
TOO_LONG = {
    "error": {
        "message": "the input length exceeds the context length",
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
}
NO_DIMENSIONS = {
    "error": {
        "message": 'Model "fake" does not support matryoshka representation, changing output '
        "dimensions will lead to poor results.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
}


@dataclass(frozen=True)
class Refusal:
    """A reply with a status other than 200."""

    status: int
    body: Any = field(default_factory=lambda: {"error": {"message": "refused"}})
    retry_after: str | None = None


Fault = Lie | Refusal | None


@dataclass
class FakeService:
    """The service's settings, and a record of its calls.

    Attributes:
        base_url: The URL for foundry.toml.
        shape: The API whose replies are imitated.
        dimensions: Width of the vectors, unless a request names another.
        salt: Another value makes it another model of the same width.
        key: The required API key; None for any.
        most_texts: Maximum number of texts per call; more are refused with status 413.
        most_words: Maximum number of words per text; longer ones are refused with status 400.
        honours_dimensions: Whether a request may name the width: yes, no, or ignored.
        decide: Returns the failure of a call, given its number from 0 and its texts.
        delay: Seconds before each response.
        calls: The texts of each valid call.
        answered: How often each text was in a correct and complete reply.
        requests: The request bodies.
    """

    base_url: str
    shape: Shape
    dimensions: int = 64
    salt: str = ""
    key: str | None = None
    most_texts: int = 10_000
    most_words: int = 1_000_000
    honours_dimensions: bool | None = True
    decide: Callable[[int, list[str]], Fault] = lambda *_: None
    delay: float = 0.0
    calls: list[list[str]] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reset_counters(self) -> None:
        """Clear the records."""
        with self.lock:
            self.calls.clear()
            self.answered.clear()
            self.requests.clear()


def embed_text(
    text: str, dimensions: int = 64, side: str = "document", salt: str = ""
) -> list[float]:
    """Return a text's vector: two components for each word, and one that is always set."""
    vector = [0.0] * dimensions
    vector[0] = 1.0
    if side == "query":
        vector[1 % dimensions] += 1.0
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256((salt + word).encode("utf-8", errors="surrogatepass")).digest()
        for start in (0, 8):
            place = int.from_bytes(digest[start : start + 8], "big")
            vector[place % dimensions] += 1.0 if place >> 63 else -1.0
    if not any(vector):
        vector[-1] = 1.0
    return vector


@contextmanager
def fake_service(
    shape: Shape = "openai", *, port: int = 0, **settings: Any
) -> Iterator[FakeService]:
    """Run a service on a local port, by default one that stays free afterwards."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

        def __init__(self, *arguments: Any) -> None:
            self.open: set[socket.socket] = set()
            super().__init__(*arguments)

        def process_request(self, request: Any, client_address: Any) -> None:
            self.open.add(request)
            super().process_request(request, client_address)

        def shutdown_request(self, request: Any) -> None:
            self.open.discard(request)
            super().shutdown_request(request)

        def hang_up(self) -> None:
            """Close connections that clients keep open, as the end of a real process would."""
            for connection in list(self.open):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Log nothing: clients of a misbehaving service may disconnect."""

    class Handler(_Handler):
        service: FakeService

    server = Server(("127.0.0.1", port or free_port()), Handler)
    path = "/v2" if shape == "cohere" else "/v1"
    service = FakeService(f"http://127.0.0.1:{server.server_port}{path}", shape, **settings)
    Handler.service = service
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        server.hang_up()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: FakeService

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        service = self.service
        wanted = "/v2/embed" if service.shape == "cohere" else "/v1/embeddings"
        if self.path != wanted:
            self._send(404, b"404 page not found", "text/plain")
            return
        texts: list[str] = body["texts"] if service.shape == "cohere" else body["input"]
        with service.lock:
            number = len(service.calls)
            service.calls.append(texts)
            service.requests.append(body)
        if service.delay:
            time.sleep(service.delay)
        fault = self._standing_refusal(body, texts) or service.decide(number, texts)
        if isinstance(fault, Refusal):
            self._refuse(fault)
        elif fault == "reset":
            # Closing with this option sends RST instead of FIN.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif fault == "html":
            page = b"<!doctype html><title>Sign in</title><p>Please sign in to the proxy.</p>"
            self._send(200, page, "text/html")
        else:
            self._answer(body, texts, fault)

    def _standing_refusal(self, body: dict[str, Any], texts: list[str]) -> Refusal | None:
        service = self.service
        if service.key and self.headers.get("authorization") != f"Bearer {service.key}":
            return Refusal(401, WRONG_KEY)
        if body["model"] == "nope":
            return Refusal(404, UNKNOWN_MODEL[service.shape])
        if len(texts) > service.most_texts:
            return Refusal(413, {"error": "batch size > maximum allowed batch size"})
        if any(len(text.split()) > service.most_words for text in texts):
            return Refusal(400, TOO_LONG)
        if not all(text.strip() for text in texts):
            return Refusal(400, {"error": {"message": "input cannot be an empty string"}})
        if self._asked_width(body) and service.honours_dimensions is False:
            return Refusal(400, NO_DIMENSIONS)
        return None

    def _asked_width(self, body: dict[str, Any]) -> int | None:
        width: int | None = body.get("dimensions") or body.get("output_dimension")
        return width

    def _answer(self, body: dict[str, Any], texts: list[str], lie: Lie | None) -> None:
        service = self.service
        width = service.dimensions
        if service.honours_dimensions:
            width = self._asked_width(body) or width
        side = "query" if body.get("input_type") == "search_query" else "document"
        vectors: list[Any] = [embed_text(text, width, side, service.salt) for text in texts]
        vectors = _corrupt(vectors, lie)
        if service.shape == "cohere":
            reply = {**REPLIES["cohere"], "embeddings": {"float": vectors}, "texts": texts}
        else:
            item = REPLIES[service.shape]["data"][0]
            data = [
                {**item, "index": index, "embedding": vector}
                for index, vector in enumerate(vectors)
            ]
            reply = {**REPLIES[service.shape], "data": _renumber(data, lie)}
        if lie == "no usage":
            reply.pop("usage", None)
            reply.pop("meta", None)
        content = json.dumps(reply).encode()
        if lie == "not json":
            content = content[:-20]
        elif lie == "not an object":
            content = b"[1, 2, 3]"
        elif lie == "empty":
            content = b""
        if lie in {"half", "trickle"}:
            self._send_part(content, slowly=lie == "trickle")
            return
        counted = Counter(texts if lie is None or lie in HONEST else ())
        # Counted before the client gets the reply, because the client may check immediately.
        with service.lock:
            service.answered += counted
        try:
            self._send(200, content)
        except OSError:
            with service.lock:
                service.answered -= counted
            raise

    def _refuse(self, refusal: Refusal) -> None:
        body = refusal.body
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self._send(refusal.status, content, retry_after=refusal.retry_after)

    def _send(
        self,
        status: int,
        content: bytes,
        kind: str = "application/json",
        retry_after: str | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def _send_part(self, content: bytes, *, slowly: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if slowly:
            with suppress(OSError):
                for byte in content[:200]:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.05)
        else:
            self.wfile.write(content[: len(content) // 2])
        self.close_connection = True


def date_in(seconds: float) -> str:
    """Return a date in the format of Retry-After."""
    return formatdate(time.time() + seconds, usegmt=True)


def _corrupt(vectors: list[Any], lie: Lie | None) -> list[Any]:
    last = len(vectors) - 1
    match lie:
        case "short":
            return vectors[:-1]
        case "long":
            return [*vectors, vectors[0]]
        case "nan" | "infinite" | "null":
            value = {"nan": float("nan"), "infinite": float("inf"), "null": None}[lie]
            return [*vectors[:last], [value, *vectors[last][1:]]]
        case "zero":
            return [*vectors[:last], [0.0] * len(vectors[last])]
        case "wrong width":
            return [vector[:-1] for vector in vectors]
        case "mixed widths":
            return [*vectors[:last], vectors[last][:-1]]
        case "strings":
            return [[str(value) for value in vector] for vector in vectors]
        case "base64":
            return [
                base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
                for vector in vectors
            ]
        case "base64 that is none":
            return ["!" for _ in vectors]
        case _:
            return vectors


def _renumber(data: list[dict[str, Any]], lie: Lie | None) -> list[dict[str, Any]]:
    if lie == "reordered":
        return data[::-1]
    if lie == "duplicate index":
        return [{**item, "index": max(0, item["index"] - 1)} for item in data[:-1]] + [
            {**data[-1], "index": 0 if len(data) > 1 else 1}
        ]
    if lie == "no index":
        return [{key: value for key, value in item.items() if key != "index"} for item in data]
    return data


def texts_about(count: int, words: Sequence[str] = ("pump", "valve", "air", "roof")) -> list[str]:
    """Return different texts that are close to each other because they share words."""
    return [
        f"{words[n % len(words)]} number {n} of {words[n // 3 % len(words)]}" for n in range(count)
    ]
