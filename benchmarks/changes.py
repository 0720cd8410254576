"""Measures how soon an edit is found under `foundry serve`: `python benchmarks/changes.py`.

A generated corpus (see `synthetic`) of `--chunks` chunks, with one Markdown file per document, is
served by `foundry serve FOLDER`. Then a line with a new word is added to one file after the other,
and the word is searched for until it is found. Meanwhile, a client sends other queries.
"""

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common import machine, make_project, row
from synthetic import MAX_CHARS, QUERIES, Corpus

PATIENCE_SECONDS = 600.0
PAUSE_SECONDS = 0.01
BETWEEN_SECONDS = 3.0
"""Pause after an edit was found, before the next one."""


def write_files(folder: Path, chunks: int) -> tuple[list[Path], list[str]]:
    """Write a project with its files; returns the paths and the queries."""
    corpus = Corpus(chunks)
    (folder / "files").mkdir(parents=True)
    paths = []
    for number, document in enumerate(corpus.documents()):
        path = folder / "files" / f"d{number}.md"
        path.write_text(f"# {document.title}\n\n" + "\n\n".join(document.texts) + "\n", "utf-8")
        paths.append(path)
    extra = f"\n[chunking]\nmax_chars = {MAX_CHARS}\n"
    make_project(folder, 'type = "folder"\npath = "files"', extra)
    return paths, corpus.queries(QUERIES)


@contextmanager
def served(project: Path) -> Iterator[str]:
    """Run `foundry serve`; yields its address once it responds."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "foundry", "serve", str(project), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                ask(address, "ready")
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def ask(address: str, query: str, mode: str = "hybrid") -> str:
    """Return the response of POST /search. Raises OSError if there is none."""
    body = json.dumps({"query": query, "mode": mode, "top_k": 3}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/search", body, headers)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return str(reply.read(), "utf-8")


class Client(threading.Thread):
    """Sends one query after the other until it is stopped; counts answers and failures."""

    def __init__(self, address: str, queries: list[str]) -> None:
        super().__init__(daemon=True)
        self._address, self._queries = address, queries
        self.is_stopped = threading.Event()
        self.milliseconds: list[float] = []
        self.failures: list[str] = []

    def run(self) -> None:
        """Send the queries."""
        while not self.is_stopped.wait(PAUSE_SECONDS):
            query = self._queries[len(self.milliseconds) % len(self._queries)]
            started = time.perf_counter()
            try:
                ask(self._address, query)
            except OSError as error:
                self.failures.append(str(error))
            self.milliseconds.append((time.perf_counter() - started) * 1000)


def seconds_until_found(address: str, path: Path, number: int) -> float:
    """Add a line to a file; returns the seconds until it is found."""
    word = f"zyxq{number}novel"
    started = time.perf_counter()
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\nHere stands {word}.\n")
    while word not in ask(address, word, "keyword").partition('"results"')[2]:
        if time.perf_counter() - started > PATIENCE_SECONDS:
            raise TimeoutError(f"{word} was not found")
        time.sleep(PAUSE_SECONDS)
    return time.perf_counter() - started


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--edits", type=int, default=10)
    chosen = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        paths, queries = write_files(Path(folder) / "project", chosen.chunks)
        with served(Path(folder) / "project") as address:
            client = Client(address, queries)
            client.start()
            seconds = []
            for number, path in enumerate(paths[:: max(1, len(paths) // chosen.edits)]):
                seconds.append(seconds_until_found(address, path, number))
                time.sleep(BETWEEN_SECONDS)
            client.is_stopped.set()
            client.join()
    row(
        "chunks",
        "edits",
        "found after s: median",
        "most",
        "requests",
        "failed",
        "median ms",
        "most",
    )
    row(*["---"] * 8)
    row(
        *(chosen.chunks, len(seconds)),
        *(f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}"),
        *(len(client.milliseconds), len(client.failures)),
        *(f"{statistics.median(client.milliseconds):.1f}", f"{max(client.milliseconds):.0f}"),
    )
    sys.exit(bool(client.failures))


if __name__ == "__main__":
    main()
