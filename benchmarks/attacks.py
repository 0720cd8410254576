"""Measures how much a malicious client affects others: `python benchmarks/attacks.py`.

A generated corpus (see `synthetic`) is built, or taken from `--folder` if it is there. For each
attack, its export runs as a separate process with one worker and the default limits, over loopback.
During an attack, another client requests /healthz and /search in turn, each time over a new
connection. The memory counted belongs to no file: its maximum during the attack, and its size after
all attackers have left, both minus its size after a few hundred ordinary searches. The exit
code is 1 if a bound is exceeded.
"""

import argparse
import http.client
import json
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from common import machine, row
from hostile_queries import Words, hostile_queries
from processes import Memory, MemoryWatch, memory_of
from serve import running, touch_mcp
from synthetic import CHUNKS_OF_DOCUMENT, built_project, queries_of

from foundry import pipeline
from foundry.runtime.retrieval.filter_schemas import MAX_FILTER_VALUES
from foundry.runtime.retrieval.journal import MAX_QUERY_LENGTH, MAX_TOP_K

MAX_HEALTH_SECONDS = 0.5
MAX_GROWN_MB = 50
MAX_RATIO = 5

CONNECTIONS = 4
"""Connections with sequential requests, for attacks that are not about connections."""

BODY_BYTES = 262_144
FILTER_VALUES = 32_000
"""Values that nearly fill a body of BODY_BYTES, the most that a server takes."""

HEAD_BYTES = 65_000
FILTER_VALUES_OF_GET = 4_900
"""Values that nearly fill a head, of which a server takes little more than HEAD_BYTES."""

PROBE_PAUSE_SECONDS = 0.02
SETTLE_SECONDS = 1.0
TIMEOUT_SECONDS = 60
TIMED_QUERIES = 40
UNREADING = 400
PIPELINED = 4

HOSTILE = ("excluded phrases", "frequent words", "snake_case, 200 characters", "everything")

JSON = {"Content-Type": "application/json"}
MCP = {**JSON, "Accept": "application/json, text/event-stream"}

Answers = Counter[str]


@dataclass(slots=True)
class Waits:
    """How many seconds the other client waited for responses, and how often /search said 503."""

    health: list[float] = field(default_factory=list)
    search: list[float] = field(default_factory=list)
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Server:
    """A server under attack: its address, and queries that find something."""

    address: str
    queries: Sequence[str]
    seconds: float

    @property
    def place(self) -> tuple[str, int]:
        """The server's host and port."""
        parts = urlsplit(self.address)
        return parts.hostname or "", parts.port or 0

    def connect(self) -> http.client.HTTPConnection:
        """Open a new connection."""
        return http.client.HTTPConnection(*self.place, timeout=TIMEOUT_SECONDS)


@dataclass(frozen=True, slots=True)
class Request:
    """A request, in the arguments of `http.client`."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack on a server; `run` returns how often it got each response."""

    name: str
    run: Callable[[Server], Answers]
    may_refuse: bool = True
    """Whether the other client may get 503 during the attack."""


def search_request(query: str, **fields: object) -> Request:
    """Return a search by POST."""
    return Request("POST", "/search", json.dumps({"query": query, **fields}).encode(), JSON)


def ask(connection: http.client.HTTPConnection, request: Request) -> int:
    """Send a request and read the whole response; returns its status."""
    connection.request(request.method, request.path, request.body, request.headers)
    with connection.getresponse() as reply:
        reply.read()
        return reply.status


def flood(server: Server, requests: Iterator[Request], seconds: float | None) -> Answers:
    """Send requests over CONNECTIONS, each one at a time, until they run out or time is up."""
    answers = Answers()
    lock = threading.Lock()
    end = time.monotonic() + seconds if seconds else None

    def send() -> None:
        with closing(server.connect()) as connection:
            while end is None or time.monotonic() < end:
                with lock:
                    request = next(requests, None)
                if request is None:
                    return
                status = str(ask(connection, request))
                with lock:
                    answers[status] += 1

    threads = [threading.Thread(target=send) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def repeating(request: Request) -> Callable[[Server], Answers]:
    """Return an attack that repeats one request."""

    def run(server: Server) -> Answers:
        return flood(server, iter(lambda: request, None), server.seconds)

    return run


def filter_attacks() -> Iterator[Attack]:
    """Yield requests whose bodies or addresses are full of filter values."""
    few = {"path": [f"{number:05x}" for number in range(MAX_FILTER_VALUES)]}
    many = {"source": [f"{number:05x}" for number in range(FILTER_VALUES)]}
    body = {"query": "a", "filters": many}
    posted = Request("POST", "/search", _compact(body), JSON)
    yield Attack(f"POST /search, {FILTER_VALUES:,} filter values", repeating(posted))
    pairs = [("source", f"{number:05x}") for number in range(FILTER_VALUES_OF_GET)]
    asked = Request("GET", f"/search?{urlencode([('q', 'a'), *pairs])}")
    assert len(asked.path) <= HEAD_BYTES, len(asked.path)
    yield Attack(f"GET /search, {FILTER_VALUES_OF_GET:,} filter values", repeating(asked))
    call = {"method": "tools/call", "params": {"name": "search", "arguments": body}}
    told = Request("POST", "/mcp", _compact({"jsonrpc": "2.0", "id": 1, **call}), MCP)
    yield Attack(f"MCP search, {FILTER_VALUES:,} filter values", repeating(told))
    allowed = search_request("a", filters=few)
    yield Attack(f"POST /search, {MAX_FILTER_VALUES} filter values", repeating(allowed))


def _compact(value: object) -> bytes:
    body = json.dumps(value, separators=(",", ":")).encode()
    assert len(body) <= BODY_BYTES, len(body)
    return body


def unread_answers() -> Attack:
    """Return an attack by clients that request much and read nothing."""

    def run(server: Server) -> Answers:
        body = search_request(server.queries[0], top_k=MAX_TOP_K).body or b""
        head = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        request = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
        with ExitStack() as stack:
            for _ in range(UNREADING):
                connection = stack.enter_context(closing(_stingy(server)))
                connection.sendall(request * PIPELINED)
            time.sleep(server.seconds)
        return Answers({"unread": UNREADING * PIPELINED})

    return Attack(f"{UNREADING * PIPELINED:,} answers of {MAX_TOP_K} passages, none read", run)


def hostile_attacks(queries: Sequence[str]) -> Iterator[Attack]:
    """Yield the most expensive kinds of queries from several clients, after two controls."""
    yield Attack("control: nothing", _wait, may_refuse=False)
    yield Attack("control: ordinary queries", _repeating_all([*map(search_request, queries)]))
    kinds = hostile_queries(Words.of(queries))
    for name in HOSTILE:
        requests = [search_request(kinds[name](random.Random(seed))) for seed in range(200)]
        yield Attack(f"hostile queries: {name}", _repeating_all(requests))


def _wait(server: Server) -> Answers:
    time.sleep(server.seconds)
    return Answers()


def _repeating_all(requests: Sequence[Request]) -> Callable[[Server], Answers]:
    return lambda server: flood(server, cycle(requests), server.seconds)


def _stingy(server: Server) -> socket.socket:
    """Return a connection whose client reads little at a time."""
    connection = socket.socket()
    connection.settimeout(TIMEOUT_SECONDS)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(server.place)
    return connection


def unique_queries(count: int) -> Attack:
    """Return an attack with distinct queries of maximum length."""

    def run(server: Server) -> Answers:
        words = sorted({word for query in server.queries for word in query.split()})
        requests = (search_request(_long_query(words, seed)) for seed in range(count))
        return flood(server, requests, None)

    return Attack(f"{count:,} unique queries of {MAX_QUERY_LENGTH:,} characters", run)


def _long_query(words: Sequence[str], seed: int) -> str:
    """Return MAX_QUERY_LENGTH characters: half words of the corpus, half unknown ones."""
    chooser = random.Random(seed)
    chosen = (f"{chooser.choice(words)} x{chooser.getrandbits(32):x}" for _ in range(200))
    return " ".join(chosen)[:MAX_QUERY_LENGTH]


def kinds_of_queries(words: Sequence[str]) -> dict[str, Callable[[random.Random], str]]:
    """Return functions that make queries of MAX_QUERY_LENGTH characters, ordinary ones first."""

    def repeat(draw: Callable[[random.Random], str], joined: str) -> Callable[[random.Random], str]:
        def write(chooser: random.Random) -> str:
            pieces = joined.join(draw(chooser) for _ in range(MAX_QUERY_LENGTH))
            return pieces[:MAX_QUERY_LENGTH].strip()

        return write

    def camel(chooser: random.Random) -> str:
        return "".join(chooser.choice(words).capitalize() for _ in range(4))

    return {
        "ordinary words": repeat(lambda chooser: chooser.choice(words), " "),
        "camelCase": repeat(camel, " "),
        # U+FDFA normalises to 18 characters.
        "U+FDFA": repeat(lambda _: "\ufdfa", ""),
        "Han": repeat(lambda chooser: chr(chooser.randrange(0x4E00, 0x9FA5)), ""),
    }


def time_kinds(server: Server) -> dict[str, float]:
    """Return the median seconds of a response to each kind of long query, measured in turn."""
    words = sorted({word for query in server.queries for word in query.split()})
    kinds = kinds_of_queries(words)
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    with closing(server.connect()) as connection:
        for seed in range(TIMED_QUERIES):
            for name, write in kinds.items():
                request = search_request(write(random.Random(seed)))
                begun = time.perf_counter()
                assert ask(connection, request) == 200, name
                taken[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in taken.items()}


@contextmanager
def somebody_else(server: Server) -> Iterator[Waits]:
    """Request /healthz and /search in turn, each over a new connection."""
    waits = Waits()
    stop = threading.Event()

    def time_one(request: Request, times: list[float]) -> int:
        begun = time.perf_counter()
        with closing(server.connect()) as connection:
            status = ask(connection, request)
        times.append(time.perf_counter() - begun)
        return status

    def ask_both() -> None:
        number = 0
        while not stop.wait(PROBE_PAUSE_SECONDS):
            assert time_one(Request("GET", "/healthz"), waits.health) == 200
            query = server.queries[number % len(server.queries)]
            waits.refused += time_one(search_request(query), waits.search) == 503
            number += 1

    asking = threading.Thread(target=ask_both)
    asking.start()
    try:
        yield waits
    finally:
        stop.set()
        asking.join()


@contextmanager
def warm_server(
    export: Path, queries: Sequence[str], seconds: float
) -> Iterator[tuple[Server, int]]:
    """Run a server that has answered all queries and an MCP client; yields also its process id."""
    with running(export, LOG_LEVEL="warning") as (address, pid):
        server = Server(address, queries, seconds)
        touch_mcp(address)
        flood(server, map(search_request, queries), None)
        time.sleep(SETTLE_SECONDS)
        yield server, pid


def measure(attack: Attack, export: Path, queries: Sequence[str], seconds: float) -> bool:
    """Print the row of an attack; returns whether every bound was kept."""
    with warm_server(export, queries, seconds) as (server, pid):
        before = memory_of(pid)
        with somebody_else(server) as waits, MemoryWatch(pid) as watch:
            answers = attack.run(server)
        time.sleep(SETTLE_SECONDS)
        after = memory_of(pid)
    most, kept = _grown(before, watch.most), _grown(before, after)
    is_kept = (
        max(waits.health) < MAX_HEALTH_SECONDS
        and max(most, kept) < MAX_GROWN_MB
        and (attack.may_refuse or not waits.refused)
    )
    told = ", ".join(f"{status}: {count:,}" for status, count in sorted(answers.items()))
    row(
        *(attack.name, told, _times(waits.health), _times(waits.search), waits.refused),
        *(f"{most:+.0f}, {kept:+.0f}", "pass" if is_kept else "fail"),
    )
    return is_kept


def measure_kinds(export: Path, queries: Sequence[str], seconds: float) -> bool:
    """Print the time of each kind of query; returns whether none takes much longer than others."""
    with warm_server(export, queries, seconds) as (server, _):
        taken = time_kinds(server)
    ordinary = next(iter(taken.values()))
    is_kept = True
    for name, median in taken.items():
        ratio = median / ordinary
        is_kept &= ratio <= MAX_RATIO
        row(
            name,
            f"{median * 1000:.1f} ms",
            f"{ratio:.1f}",
            "pass" if ratio <= MAX_RATIO else "fail",
        )
    return is_kept


def _grown(before: Memory, after: Memory) -> float:
    return after.private - before.private


def _times(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f}, {max(seconds) * 1000:.0f} ms"


@contextmanager
def configured(project: Path, tables: str) -> Iterator[None]:
    """Add tables to a project's configuration while the context lasts."""
    file = project / "foundry.toml"
    written = file.read_text(encoding="utf-8")
    file.write_text(f"{written}\n{tables}", encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(written, encoding="utf-8")


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=5_000, help="of the corpus (%(default)s)")
    parser.add_argument("--folder", type=Path, help="keep the corpus here, and use it again")
    parser.add_argument("--seconds", type=float, default=4.0, help="of an attack (%(default)s)")
    parser.add_argument("--queries", type=int, default=3_000, help="unique ones (%(default)s)")
    parser.add_argument("--only", default="", help="attacks whose name has this")
    chosen = parser.parse_args()
    print(machine(), end="\n\n")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        project = built_project(chosen.folder or work, chosen.documents * CHUNKS_OF_DOCUMENT)
        with configured(project, "[search.operators]\n"):
            export = pipeline.export(project, work / "export", print, force=False, trust=False)
        queries = queries_of(project)
        columns = "attack|answers|/healthz median, worst|/search median, worst|/search refused"
        row(*f"{columns}|MB grown at most, kept|verdict".split("|"))
        row(*["---"] * 7)
        attacks = [
            *hostile_attacks(queries),
            *filter_attacks(),
            unique_queries(chosen.queries),
            unread_answers(),
        ]
        wanted = [attack for attack in attacks if chosen.only in attack.name]
        kept = [measure(attack, export, queries, chosen.seconds) for attack in wanted]
        if chosen.only:
            return 0 if all(kept) else 1
        print()
        row(f"queries of {MAX_QUERY_LENGTH:,} characters", "median", "to ordinary words", "verdict")
        row(*["---"] * 4)
        kept.append(measure_kinds(export, queries, chosen.seconds))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
