"""Measures which parts of a rebuild grow with the corpus: `python benchmarks/passes.py`.

For each of `--chunks`, a generated corpus (see `synthetic`) is built in `--folder`, and built again
after one of its records changed. For the second build, each pass reports the processor time of its
thread, without passes inside it. The last column has the additional time per million chunks, from
the smaller size to the larger. Figures are medians of `--times` builds.
"""

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import Any

from common import build, machine, row
from publishing import change
from synthetic import CHUNKS_OF_DOCUMENT, built_project

from foundry.building import run
from foundry.indexing import behind, files, writer
from foundry.indexing.carried import carried
from foundry.indexing.dense import vectors
from foundry.indexing.queries import builder

PASSES: dict[str, tuple[tuple[Any, str], ...]] = {
    "look at the sources": ((run, "survey"),),
    "read those that changed": ((run._Build, "_collect"),),
    "check the index before": ((run, "intact_index"),),
    "open what is left of the build before": ((carried._Before, "open"),),
    "decide what to take over": ((run, "add_documents"),),
    "copy records and vectors": ((writer.IndexWriter, "copy"), (writer.IndexWriter, "add")),
    "merge and write postings": ((writer.IndexWriter, "_write_postings"),),
    "write tables of documents": ((writer.IndexWriter, "_write_columns"),),
    "centre and sketch vectors": ((vectors.VectorsBuilder, "write"),),
    "write what queries need": ((builder.QueryFilesBuilder, "write"),),
    "calibrate the dense lane": ((writer.IndexWriter, "make_query_encoder"),),
    "force files to disk": ((writer, "sync_file"),),
    "hash files": ((writer, "hash_file"), (files, "hash_file")),
    "finish": ((writer.IndexWriter, "finish"),),
    "publish, and keep for the next": (
        (run, "publish_version"),
        (carried.Carried, "finish"),
        (run, "remove_older"),
    ),
}
COPIES = "copy records and vectors"
REST = "everything else"
STAMP_SECONDS = 2.5
"""Time after which the stamp of a written file is trusted."""


class Watch:
    """The processor time, in seconds, of this process's threads in each pass."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._local = threading.local()

    def watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that measures a call."""

        @wraps(call)
        def wrapped(*given: Any, **named: Any) -> Any:
            stack = self._stack()
            begun = time.thread_time()
            stack.append([name, 0.0])
            try:
                return call(*given, **named)
            finally:
                _, inside = stack.pop()
                used = time.thread_time() - begun
                self.seconds[name] = self.seconds.get(name, 0.0) + used - inside
                if stack:
                    stack[-1][1] += used

        return wrapped

    def executor(self, name: str) -> type[ThreadPoolExecutor]:
        """Return executors whose work counts towards the submitting pass, or else the named one."""
        watch = self

        class Executor(ThreadPoolExecutor):
            def submit(self, work: Any, /, *given: Any, **named: Any) -> Any:
                stack = watch._stack()
                return super().submit(
                    watch.watched(stack[-1][0] if stack else name, work), *given, **named
                )

        return Executor

    def _stack(self) -> list[list[Any]]:
        found: list[list[Any]] = self._local.__dict__.setdefault("stack", [])
        return found


def patch_passes(watch: Watch) -> None:
    """Measure all passes from now on."""
    for name, calls in PASSES.items():
        for owner, attribute in calls:
            call = watch.watched(name, getattr(owner, attribute))
            is_plain = isinstance(vars(owner)[attribute], classmethod)
            setattr(owner, attribute, staticmethod(call) if is_plain else call)
    for module, name in ((vectors, "calibrate the dense lane"), (behind, COPIES)):
        vars(module)["ThreadPoolExecutor"] = watch.executor(name)


def measure(folder: Path, chunks: int, times: int, watch: Watch) -> list[float]:
    """Return the processor time of each pass, of everything else, and in all, for one size."""
    project = built_project(folder, chunks)
    seconds: list[list[float]] = []
    for number in range(times):
        change(project, "one", number)
        time.sleep(STAMP_SECONDS)
        watch.seconds.clear()
        begun = time.process_time()
        result = build(project)
        whole = time.process_time() - begun
        assert result.changes.embedded <= 2 * CHUNKS_OF_DOCUMENT, "more than one document was read"
        parts = [watch.seconds.get(name, 0.0) for name in PASSES]
        seconds.append([*parts, whole - sum(parts), whole])
    return [statistics.median(each) for each in zip(*seconds, strict=True)]


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs=2, default=[10_000, 100_000])
    parser.add_argument("--folder", type=Path, required=True, help="corpora are kept here")
    parser.add_argument("--times", type=int, default=3)
    chosen = parser.parse_args()
    print(machine(), end="\n\n")
    watch = Watch()
    few, many = chosen.chunks
    for size in (few, many):
        built_project(chosen.folder, size)
    patch_passes(watch)
    one, other = (measure(chosen.folder, size, chosen.times, watch) for size in (few, many))
    row("pass", f"{few:,} chunks, ms", f"{many:,}, ms", "a million more, ms")
    row(*["---"] * 4)
    rise = 1e6 / (many - few)
    for place, name in enumerate([*PASSES, REST, "all"]):
        row(
            name,
            f"{one[place] * 1000:.0f}",
            f"{other[place] * 1000:.0f}",
            f"{(other[place] - one[place]) * rise * 1000:,.0f}",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
