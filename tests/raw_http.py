"""A real server process on a real socket, and exchanges with it byte by byte."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import warm_python
from servers import LIBRARIES
from waiting import within

SERVER = """
import sys
# Import Foundry from this folder, even if the process that forked this one has another.
sys.path.insert(0, "")
for name in [*sys.modules]:
    if name.partition(".")[0] == "foundry":
        del sys.modules[name]
import asyncio, json, os, time
from functools import partial
from types import SimpleNamespace
from fastapi import FastAPI
from starlette.responses import StreamingResponse
from foundry.runtime.web import middleware as web_middleware
from foundry.runtime.web import connections as web_connections
from foundry.runtime.web import serving as web_serving
from foundry.runtime.settings import Limits
from foundry.runtime.web.access import rate_checks
from foundry.runtime.web.problems import FAILURES, answer_failure
from foundry.runtime.web.routes import JsonResponse, JsonRoute
from foundry.runtime.web.middleware import Middleware
from foundry.runtime.web.observing import metrics_routes, observe_request
from foundry.runtime.web.requests import SearchArguments
from foundry.runtime.web.routes import health_routes
from foundry.runtime.web.workers import run_workers

print(os.getpid(), file=sys.stderr, flush=True)
options = json.loads(sys.argv[1])
limits = Limits(**{"connections": 2000, "searches": 8, "chats": 8, "mcp_calls": 8, "streams": 8,
                   "requests_per_minute": 0, "chat_requests_per_minute": 0,
                   **options.get("limits", {})})
web_connections.HEAD_SECONDS = options["head_seconds"]
web_middleware.BODY_SECONDS = options["body_seconds"]
web_connections.READING_SECONDS = options["reading_seconds"]
web_serving.uvicorn.Config = partial(
    web_serving.uvicorn.Config, timeout_keep_alive=options["keep_alive_seconds"]
)
web_serving.load = lambda verify: SimpleNamespace(document_count=1, chunk_count=2)
web_serving.settings = lambda: SimpleNamespace(title="Test", limits=limits)


def create_app():
    handlers = dict.fromkeys(FAILURES, answer_failure)
    app = FastAPI(redirect_slashes=False, exception_handlers=handlers)
    app.router.route_class = JsonRoute

    @app.post("/search")
    async def search(request: SearchArguments):
        return JsonResponse(request.model_dump())

    @app.get("/documents/{document_id:path}")
    async def document(document_id: str):
        return JsonResponse({"id": document_id})

    @app.get("/large")
    async def large(size: int = 20_000_000):
        return JsonResponse("x" * size)

    @app.get("/stream")
    async def whole(pieces: int = 1000):
        async def blocks():
            for _ in range(pieces):
                yield b"x" * 32_768
        return StreamingResponse(blocks(), media_type="text/markdown")

    @app.get("/busy")
    async def busy():
        time.sleep(0.02)
        return JsonResponse("done")

    # How often all streams were ended.
    ends = 0

    @app.get("/end")
    async def end():
        nonlocal ends
        ends += 1
        return JsonResponse("ended")

    @app.get("/die")
    async def die():
        import os
        os._exit(3)

    @app.api_route("/chat", methods=["GET", "POST"])
    async def stream(seconds: float = 3600, size: int = 1):
        before = ends
        async def pieces():
            until = time.monotonic() + seconds
            while time.monotonic() < until and ends == before:
                yield b"x" * size
                await asyncio.sleep(0 if size > 1 else 0.02)
        return StreamingResponse(pieces(), media_type="text/event-stream")

    @app.get("/stuck")
    def stuck():
        # In a thread, like a search that asks a service.
        time.sleep(3600)

    app.include_router(health_routes())
    app.include_router(metrics_routes)
    app.add_middleware(
        Middleware,
        allowed_hosts=frozenset(),
        limits=limits,
        max_body_bytes=262144,
        observe=observe_request,
        queues={"/chat": "chat"},
        check_rates=rate_checks(limits),
    )
    return app


web_serving.serve(
    create_app,
    "127.0.0.1",
    0,
    grace=options["grace"],
    follow=lambda served: None,
    spread=partial(run_workers, options["workers"]) if options["workers"] > 1 else None,
)
"""
HEAD = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"query": "a"}'
SEARCH = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
REPOSITORY = Path(__file__).parents[1]


def get(path: str, *, method: str = "GET", close: bool = True) -> bytes:
    """Return a plain request without a body."""
    fields = "Connection: close\r\n" if close else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode()


class Server:
    """A server process, and the port that it has reported."""

    def __init__(
        self,
        head_seconds: float = 20.0,
        body_seconds: float = 20.0,
        reading_seconds: float = 20.0,
        keep_alive_seconds: int = 5,
        *,
        workers: int = 1,
        grace: float = 30.0,
        prefix: tuple[str, ...] = (),
        **limits: int,
    ) -> None:
        options = {
            "head_seconds": head_seconds,
            "body_seconds": body_seconds,
            "reading_seconds": reading_seconds,
            "keep_alive_seconds": keep_alive_seconds,
            "workers": workers,
            "grace": grace,
            "limits": limits,
        }
        # A prefix sets limits, which must apply to this server's process only.
        begin = [sys.executable, "-c"] if prefix else warm_python.command(*LIBRARIES)
        self.process = subprocess.Popen(
            [*prefix, *begin, SERVER, json.dumps(options)],
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            text=True,
        )
        # Ends the server even if a test fails.
        atexit.register(self.process.kill)
        assert self.process.stderr is not None
        with within(self.process):
            self.pid = self.process.stderr.readline().strip()
            self.line = self.process.stderr.readline()
        if "127.0.0.1:" not in self.line:
            pytest.fail(self.line + self.process.communicate()[1])
        self.port = int(self.line.partition("127.0.0.1:")[2].partition(" ")[0])
        self.log: list[dict[str, Any]] = []
        # Keep reading, so that no line is lost.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(json.loads(line) for line in self.process.stderr)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Suspend the server, so that data sent in the meantime arrives at once."""
        os.kill(int(self.pid), signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(int(self.pid), signal.SIGCONT)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def exchange(self, *pieces: bytes) -> bytes:
        """Send bytes, and return everything received until the server closes the connection."""
        with self.connect() as connection:
            try:
                for piece in pieces:
                    connection.sendall(piece)
            except OSError:
                pass
            return read_all(connection)

    def peak_memory(self) -> int:
        """Return the peak memory in kilobytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0])

    def holds(self, connection: socket.socket) -> bool:
        """Return whether the process still has its end of a connection."""
        ends = f":{self.port:04X}", f":{connection.getsockname()[1]:04X}"
        for line in Path("/proc/net/tcp").read_text().splitlines():
            _, *places, _, _, _, _, _, _, inode = line.split()[:10]
            if all(place.endswith(end) for place, end in zip(places, ends, strict=True)):
                return inode != "0"
        return False

    def memory(self) -> int:
        """Return the current memory in kilobytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        code = self.process.wait(timeout=120)
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


def read_all(connection: socket.socket) -> bytes:
    answer = bytearray()
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionError:
        pass
    return bytes(answer)


def statuses(answer: bytes) -> list[int]:
    """Return the status of each response on a connection; errors must be problem documents."""
    found = []
    for part in answer.split(b"HTTP/1.1 ")[1:]:
        head, _, body = part.partition(b"\r\n\r\n")
        found.append(int(head[:3]))
        if found[-1] >= 400:
            assert b"content-type: application/problem+json" in head
            assert b'"status":%d' % found[-1] in body
    return found
