"""Runs a transformer in several processes, one per core.

Threads would share numpy's own threads, which then compete: on two busy cores, a call took ten
times as long with two threads as with one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.replies import bad_reply

_WORKER = Path(__file__).with_name("worker.py")
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class TransformerProcesses:
    """A pool of processes that run the model in a folder.

    The pool grows if a call finds no idle process. Threads can share the pool.
    """

    def __init__(self, folder: Path) -> None:
        self._options = json.dumps({"path": sys.path, "folder": str(folder.resolve())})
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"]
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d). Raises EmbeddingFailure, or BuildError if a process ends."""
        del side
        worker = self._take()
        try:
            vectors = _ask(worker, texts)
        except (OSError, ValueError, KeyError) as error:
            worker.kill()
            raise BuildError(
                f"an embedding process has ended: {error}",
                hint="free memory and build again: each process takes at least 200 MB; finished"
                " embeddings are kept",
            ) from None
        self._idle.append(worker)
        if isinstance(vectors, str):
            raise bad_reply(vectors)
        return vectors

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._all:
            worker.kill()
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            worker.wait()

    def _take(self) -> subprocess.Popen[bytes]:
        with suppress(IndexError):
            return self._idle.pop()
        worker = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(_WORKER), self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD},
        )
        self._all.append(worker)
        return worker


def _ask(worker: subprocess.Popen[bytes], texts: Sequence[str]) -> NDArray[np.float32] | str:
    """Return the vectors of a process, or its error message."""
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(json.dumps(list(texts)).encode() + b"\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise ValueError(f"exit status {worker.wait()}")
    answer = json.loads(line)
    if "failure" in answer:
        return str(answer["failure"])
    rows, width = answer["shape"]
    content = worker.stdout.read(4 * rows * width)
    return np.frombuffer(content, "<f4").astype(np.float32).reshape(rows, width)
