"""Responds at the server's address until its first index is built, with the build's progress."""

import json
import socket
import threading
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from foundry.progress import Progress, Reporter

RETRY_SECONDS = 1
REQUEST_SECONDS = 5.0
MAX_THREADS, MAX_BODY_BYTES = 64, 65_536

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Building the index</title>
<noscript><meta http-equiv="refresh" content="{seconds}"></noscript>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1.1rem system-ui, sans-serif; margin: 20vh auto; max-width: 30rem; padding: 0 1rem }}
</style>
</head>
<body>
<main><h1>Building the index</h1><p role="status" id="state">{state}</p></main>
<script>
// For a moment before the server starts, nothing listens; a page that only reloads would stop then.
setInterval(async () => {{
  try {{
    const answer = await fetch(location.href, {{ headers: {{ Accept: "application/json" }} }});
    if (answer.status !== 503 || !answer.headers.has("Retry-After")) location.reload();
    else document.getElementById("state").textContent = (await answer.json()).detail;
  }} catch {{}}
}}, {seconds}000);
</script>
</body>
</html>
"""
_HEADERS = {
    "Retry-After": str(RETRY_SECONDS),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
        " connect-src 'self'"
    ),
}


class Waiting:
    """A server that shows the progress of a build; it has stopped once `close` returns."""

    def __init__(self, listener: socket.socket) -> None:
        """Respond on a listening socket, which `close` closes."""
        self.port: int = listener.getsockname()[1]
        self.state = "It is about to begin."
        self._server = _Server(self, listener)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="waiting", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop responding and free the port; may be called repeatedly."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def following(self, reporter: Reporter) -> Reporter:
        """Return a reporter whose steps are also shown here."""
        return _FollowedReporter(reporter, self)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, waiting: Waiting, listener: socket.socket) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.waiting = listener, waiting

    def verify_request(self, *_: object) -> bool:
        return threading.active_count() < MAX_THREADS

    def handle_error(self, *_: object) -> None:
        """Ignore clients that have disconnected."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = REQUEST_SECONDS

    def __getattr__(self, name: str) -> Any:
        """Handle requests of every method in the same way."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        state = self.server.waiting.state
        # Closing a connection with an unread body resets it, and the response is lost.
        length = self.headers.get("Content-Length", "0")
        self.rfile.read(min(int(length), MAX_BODY_BYTES) if length.isdecimal() else 0)
        status = HTTPStatus.SERVICE_UNAVAILABLE
        if "text/html" in self.headers.get("Accept", ""):
            media_type = "text/html; charset=utf-8"
            body = _PAGE.format(seconds=RETRY_SECONDS, state=escape(state))
        else:
            media_type = "application/problem+json"
            problem = {"type": "about:blank", "title": status.phrase, "status": status.value}
            body = json.dumps({**problem, "detail": f"The index is being built. {state}"})
        content = body.encode()
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _FollowedReporter(Reporter):
    def __init__(self, reporter: Reporter, waiting: Waiting) -> None:
        self._reporter, self._waiting = reporter, waiting

    def step(self, label: str, unit: str, total: int | None = None) -> Progress:
        step = self._reporter.step(label, unit, total)
        return _FollowedStep(step, self._waiting, label, unit, total)

    def warn(self, message: str, hint: str) -> None:
        self._reporter.warn(message, hint)


class _FollowedStep(Progress):
    def __init__(
        self, step: Progress, waiting: Waiting, label: str, unit: str, total: int | None
    ) -> None:
        self._step, self._waiting = step, waiting
        self._label, self._unit, self._total, self._done = label, unit, total, 0

    def __enter__(self) -> Self:
        self._step.__enter__()
        self._say()
        return self

    def __exit__(self, kind: object, error: object, traceback: object, /) -> None:
        self._step.__exit__(kind, error, traceback)

    def advance(self, count: int = 1) -> None:
        self._step.advance(count)
        self._done += count
        self._say()

    def wait_for(self, name: str, seconds: float) -> None:
        self._step.wait_for(name, seconds)

    def _say(self) -> None:
        of = "" if self._total is None else f" of {max(self._total, self._done):,}"
        self._waiting.state = f"{self._label}: {self._done:,}{of} {self._unit}."
