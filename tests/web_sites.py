"""Web sites on loopback that respond like real, broken and hostile ones.

A site is a dictionary of paths. Other paths are answered with status 404.
"""

import hashlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ports import free_port, listen_on_any_address

TICK = 0.02
"""Seconds between two bytes of a reply that drips."""


@dataclass(frozen=True)
class Reply:
    """A response; `length` is its Content-Length, None for the true one, -1 for none.

    `drips` sends the body byte by byte without end, `endless` as fast as possible.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = "text/html"
    length: int | None = None
    drips: bool = False
    drips_headers: bool = False
    endless: bool = False
    hangs_up: bool = False


Route = Reply | Callable[["Request"], Reply]


@dataclass(frozen=True)
class Request:
    """A received request: path with query, and headers with lower-case names."""

    path: str
    headers: Mapping[str, str]
    number: int
    """How many requests for this path came before."""


@dataclass
class Site:
    """A running site."""

    url: str
    host: str
    port: int
    routes: dict[str, Route]
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def allow_private(self) -> tuple[str]:
        """The site's host, as a private address that fetching may use."""
        return (f"{self.host}:{self.port}",)

    @property
    def allowing(self) -> tuple[str, str]:
        """The command-line option that allows fetching from it."""
        return ("--allow-private", *self.allow_private)

    def asked(self, path: str) -> list[Request]:
        """Return the requests for a path."""
        with self.lock:
            return [request for request in self.requests if request.path == path]

    def paths(self) -> list[str]:
        """Return the paths of all requests, in order of arrival."""
        with self.lock:
            return [request.path for request in self.requests]

    def answer(self, path: str, headers: Mapping[str, str]) -> Reply:
        """Return the response to a request."""
        with self.lock:
            number = sum(request.path == path for request in self.requests)
            request = Request(path, headers, number)
            self.requests.append(request)
        route = self.routes.get(path, Reply(b"not here", 404))
        return route if isinstance(route, Reply) else route(request)


def page(title: str, *links: str, head: str = "", text: str = "") -> Reply:
    """A page with links, and with an ETag, so that it is answered with "not modified" if known."""
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    body = (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body><main>"
        f"<h1>{title}</h1><p>{text or f'All about {title}.'}</p>{anchors}</main></body></html>"
    )
    return Reply(body.encode(), headers={"ETag": f'"{hash_of(body)}"'})


def redirect(to: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"Location": to})


def text(content: str, kind: str = "text/plain", **headers: str) -> Reply:
    """A plain-text response."""
    return Reply(content.encode(), kind=kind, headers=headers)


def sitemap(*urls: str) -> Reply:
    """A sitemap of pages; an entry may be `url|lastmod`."""
    entries = []
    for entry in urls:
        url, _, modified = entry.partition("|")
        stated = f"<lastmod>{modified}</lastmod>" if modified else ""
        entries.append(f"<url><loc>{url}</loc>{stated}</url>")
    return _xml("urlset", entries)


def sitemap_index(*urls: str) -> Reply:
    """A sitemap of sitemaps."""
    return _xml("sitemapindex", [f"<sitemap><loc>{url}</loc></sitemap>" for url in urls])


def _xml(root: str, entries: list[str]) -> Reply:
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = f'<?xml version="1.0"?>\n<{root} xmlns="{space}">{"".join(entries)}</{root}>'
    return Reply(body.encode(), kind="application/xml")


def hash_of(content: str) -> str:
    """Return a short hash of a content."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


@contextmanager
def serving(
    routes: dict[str, Route] | None = None, *, tls: ssl.SSLContext | None = None
) -> Iterator[Site]:
    """Run a site while the context lasts; its routes may be changed while it runs."""
    stopped = threading.Event()

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Log nothing: clients may disconnect at any time."""

    class Handler(_Handler):
        pass

    server = Server(("127.0.0.1", free_port()), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    port = server.server_port
    scheme = "http" if tls is None else "https"
    site = Site(f"{scheme}://127.0.0.1:{port}", "127.0.0.1", port, {} if routes is None else routes)
    Handler.site, Handler.stopped = site, stopped
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site
    stopped: threading.Event

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.site.answer(self.path, headers)
        tag = reply.headers.get("ETag")
        if reply.status == 200 and tag and headers.get("if-none-match") == tag:
            reply = Reply(status=304, headers={"ETag": tag}, kind=None)
        with suppress(OSError):
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        if reply.hangs_up:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if reply.drips_headers:
            self._drip(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 10_000)
            return
        self.send_response_only(reply.status)
        if reply.kind:
            self.send_header("Content-Type", reply.kind)
        for name, value in reply.headers.items():
            # Some servers put raw UTF-8 into this header.
            self.send_header(name, value.encode().decode("latin-1"))
        if not (reply.drips or reply.endless) and reply.length != -1 and reply.status != 304:
            length = len(reply.body) if reply.length is None else reply.length
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.close_connection = True
        if reply.drips:
            self._drip(reply.body or b"a" * 10_000)
        elif reply.endless:
            while not self.stopped.is_set():
                self.wfile.write(b"a" * 65_536)
        else:
            self.wfile.write(reply.body)

    def _drip(self, content: bytes) -> None:
        self.close_connection = True
        for byte in content:
            if self.stopped.wait(TICK):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()


class Canary:
    """A listener that nothing may connect to."""

    def __init__(self) -> None:
        self._socket = listen_on_any_address()
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]

    def visits(self) -> int:
        """Return how many connections were made."""
        count = 0
        while True:
            try:
                connection, _ = self._socket.accept()
            except BlockingIOError:
                return count
            connection.close()
            count += 1

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


@contextmanager
def canary() -> Iterator[Canary]:
    """A canary on every address of this machine, IPv4 and, if available, IPv6."""
    listener = Canary()
    try:
        yield listener
    finally:
        listener.close()
